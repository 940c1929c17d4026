//! Which automations at the service are ours, and which of them.

use crate::automation_service::Automation as Deployed;
use crate::run::Automation;
use uuid::Uuid;

/// Which of our automations one is, by what it runs.
pub(super) fn kind(deployed: &Deployed) -> Option<Automation> {
    let command = deployed
        .entrypoint
        .split_whitespace()
        .next()
        .unwrap_or_default();
    Automation::from_name(command.rsplit('/').next().unwrap_or_default())
}

/// The template of an automation with this name: the service makes one automation of each, so that
/// a command that is given twice makes one.
pub(super) fn template_id(automation: Automation, name: &str) -> String {
    let name = name.trim().to_lowercase();
    let seed = format!("openhands-automations:{}:{name}", automation.name());
    let id = Uuid::new_v5(&Uuid::NAMESPACE_URL, seed.as_bytes());
    format!("{}:{id}", automation.name())
}

/// What stands in the way of a new automation, or deserves a word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Neighbour<'a> {
    /// The same automation, under the same name.
    Same(&'a Deployed),
    /// Something else under the same name; it may be the predecessor.
    Namesake(&'a Deployed),
    /// The same automation under another name.
    Kindred(&'a Deployed),
}

/// What is there already that matters to an automation of that name.
pub(super) fn neighbours<'a>(
    all: &'a [Deployed],
    automation: Automation,
    name: &str,
) -> Vec<Neighbour<'a>> {
    let name = name.trim().to_lowercase();
    let neighbours = all.iter().filter_map(|one| {
        let same_name = one.name.trim().to_lowercase() == name;
        match (kind(one), same_name) {
            (Some(kind), true) if kind == automation => Some(Neighbour::Same(one)),
            (Some(kind), false) if kind == automation => Some(Neighbour::Kindred(one)),
            (_, true) => Some(Neighbour::Namesake(one)),
            (_, false) => None,
        }
    });
    neighbours.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployed(name: &str, entrypoint: &str) -> Deployed {
        Deployed {
            id: "1".into(),
            name: name.into(),
            entrypoint: entrypoint.into(),
            ..Deployed::default()
        }
    }

    #[test]
    fn ours_are_known_by_what_they_run() {
        let cases = [
            ("./news-digest", Some(Automation::News)),
            ("news-digest --strict", Some(Automation::News)),
            ("bin/github-pr-reviewer", Some(Automation::Review)),
            ("python3 main.py", None),
            ("python3 github-pr-reviewer.py", None),
            ("", None),
        ];
        for (entrypoint, expected) in cases {
            assert_eq!(kind(&deployed("x", entrypoint)), expected, "{entrypoint}");
        }
    }

    #[test]
    fn a_name_is_taken_by_its_own_kind_only() {
        let all = [
            deployed("News-Digest ", "./news-digest"),
            deployed("other", "./news-digest"),
            deployed("news-digest", "python3 main.py"),
            deployed("reviews", "./github-pr-reviewer"),
        ];
        assert_eq!(
            neighbours(&all, Automation::News, "news-digest"),
            [
                Neighbour::Same(&all[0]),
                Neighbour::Kindred(&all[1]),
                Neighbour::Namesake(&all[2]),
            ]
        );
    }

    #[test]
    fn templates_go_by_name() {
        let one = template_id(Automation::News, "Morning");
        assert_eq!(one, template_id(Automation::News, " morning"));
        assert_ne!(one, template_id(Automation::News, "Evening"));
        assert_ne!(one, template_id(Automation::Review, "Morning"));
        assert!(one.len() <= 100);
    }
}
