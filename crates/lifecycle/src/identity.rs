//! Names that must be the same for everybody who computes them: task keys, conversation ids, marks.

use uuid::Uuid;

/// The namespace of our conversation ids (RFC 9562, version 5). Never change it: the same task must
/// give the same conversation for ever.
const NAMESPACE: Uuid = Uuid::from_u128(0x6f70_656e_6861_6e64_732d_6175_746f_6d61);

/// The task key of a label event: `42:label:123`.
pub fn label_task(number: u64, event_id: u64) -> String {
    format!("{number}:label:{event_id}")
}

/// The number and the label event of a task key; `None` for another form.
pub fn parse_label_task(task: &str) -> Option<(u64, u64)> {
    let (number, event_id) = task.split_once(":label:")?;
    Some((number.parse().ok()?, event_id.parse().ok()?))
}

/// The task key of a day: `news:2026-08-20`.
pub fn day_task(day: &str) -> String {
    format!("news:{day}")
}

/// The id of the conversation of a task: a UUID of version 5 of automation, target and task key,
/// known before the conversation is created. The target counts without regard to case, as forges
/// do.
pub fn conversation_id(automation_id: &str, target: &str, task: &str) -> String {
    let name = format!("{automation_id}\n{}\n{task}", target.to_lowercase());
    Uuid::new_v5(&NAMESPACE, name.as_bytes()).to_string()
}

/// What a posted text is, so that it is posted once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// "Work has started."
    Acknowledgement,
    /// The result, whatever it is.
    Result,
}

/// The invisible mark of a posted text. Whoever has to post looks for it first.
pub fn marker(task: &str, kind: Kind) -> String {
    let kind = match kind {
        Kind::Acknowledgement => "acknowledgement",
        Kind::Result => "result",
    };
    format!("<!-- openhands-automation task={task} kind={kind} -->")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversation_ids_never_change() {
        let id = conversation_id("abc", "Acme/Widget", "42:label:123");
        assert_eq!(id, conversation_id("abc", "acme/widget", "42:label:123"));
        assert_ne!(id, conversation_id("abd", "acme/widget", "42:label:123"));
        insta::assert_snapshot!(id, @"88cca966-d491-5284-af5f-c0cc9c836d60");
    }

    /// Whoever takes over looks for these very bytes in what an earlier release has posted.
    #[test]
    fn marks_never_change() {
        let acknowledgement = marker("42:label:123", Kind::Acknowledgement);
        insta::assert_snapshot!(acknowledgement, @"<!-- openhands-automation task=42:label:123 kind=acknowledgement -->");
        let result = marker("42:label:123", Kind::Result);
        insta::assert_snapshot!(result, @"<!-- openhands-automation task=42:label:123 kind=result -->");
    }

    /// Tasks of one number never share an id, nor do numbers that begin alike.
    #[test]
    fn every_task_has_a_conversation_of_its_own() {
        let mut ids = std::collections::HashSet::new();
        for target in ["acme/widget", "acme/widget2", "acme2/widget"] {
            for number in 1..30 {
                for event in 1..30 {
                    ids.insert(conversation_id("abc", target, &label_task(number, event)));
                }
            }
        }
        ids.insert(conversation_id("abc", "news", &day_task("2026-08-20")));
        assert_eq!(ids.len(), 3 * 29 * 29 + 1);
        assert!(ids.iter().all(|id| Uuid::parse_str(id).is_ok()));
    }

    #[test]
    fn task_keys_are_read_back() {
        assert_eq!(day_task("2026-08-20"), "news:2026-08-20");
        assert_eq!(parse_label_task(&label_task(42, 123)), Some((42, 123)));
        for wrong in [
            "42:label:",
            "news:2026-08-20",
            "x:label:1",
            "1:label:2:label:3",
            "",
        ] {
            assert_eq!(parse_label_task(wrong), None, "{wrong}");
        }
    }
}
