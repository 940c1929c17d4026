//! What answers of both forges have in common: items are read one by one, so that one that cannot be
//! read does not take the others along.

use http_client::{AtMost, redact};
use lifecycle::moment;
use lifecycle::ports::LabelEvent;
use lifecycle::text::{cut_chars, one_line};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Characters of the reason why an answer cannot be read.
const MAX_REASON: usize = 160;

/// An item of a list, not yet read.
pub type Item = Box<RawValue>;

/// The items of a page, ten times as many as a forge puts on one.
pub type Listed = AtMost<Item, 1000>;

/// Reads one value. The reason of a failure is short: it may repeat what a stranger wrote.
pub fn read<'a, T: Deserialize<'a>>(value: &'a RawValue) -> Result<T, String> {
    serde_json::from_str(value.get())
        .map_err(|error| cut_chars(&one_line(&redact(&error.to_string(), &[])), MAX_REASON))
}

/// The line about an item of a list that cannot be read: by its number where that can be, else by
/// its place, which counts from 1. `kind` is one word or two that take an `s`.
pub fn unreadable(kind: &str, number: Option<u64>, place: usize, why: &str) -> String {
    match number {
        Some(number) => format!("{kind} {number} cannot be read: {why}"),
        None => format!("item {place} of the list of {kind}s cannot be read: {why}"),
    }
}

/// Whether two label names are the same but for case.
pub fn same_label(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}

/// The newest of some label events: by their moments, whatever zone these are written in, and among
/// those of one moment by number.
#[derive(Debug, Default)]
pub struct Newest(Option<(f64, LabelEvent)>);

impl Newest {
    /// Looks at one more event. One whose moment cannot be read is an error, because an older one
    /// must not take its place.
    pub fn look_at(&mut self, event: LabelEvent) -> Result<(), String> {
        let moment = moment::parse_rfc3339(&event.created_at)
            .ok_or_else(|| format!("the moment of label event {} cannot be read", event.id))?;
        let is_newer = self.0.as_ref().is_none_or(|(when, newest)| {
            moment > *when || (moment >= *when && event.id > newest.id)
        });
        if is_newer {
            self.0 = Some((moment, event));
        }
        Ok(())
    }

    /// The newest of those that were looked at.
    pub fn found(self) -> Option<LabelEvent> {
        self.0.map(|(_, event)| event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: u64, created_at: &str) -> LabelEvent {
        LabelEvent {
            id,
            created_at: created_at.to_owned(),
            actor: None,
            actor_id: None,
        }
    }

    #[test]
    fn the_newest_counts_by_instant_and_then_by_number() {
        let mut newest = Newest::default();
        for (id, created_at) in [
            (4, "2026-08-18T09:12:00Z"),
            (9, "2026-08-18T09:12:00+02:00"),
            (5, "2026-08-18T11:12:00+02:00"),
            (3, "2026-08-18T09:12:00Z"),
        ] {
            newest.look_at(event(id, created_at)).unwrap();
        }
        let why = newest.look_at(event(6, "soon")).unwrap_err();
        assert_eq!(why, "the moment of label event 6 cannot be read");
        assert_eq!(newest.found().map(|event| event.id), Some(5));
        assert_eq!(Newest::default().found(), None);
    }

    #[test]
    fn what_cannot_be_read_is_named_in_a_short_line() {
        let secret = format!("https://me:{}@x.example", "pw".repeat(1000));
        for text in [
            format!("\"{}\"", "a\\n".repeat(1000)),
            format!("\"{secret}\""),
        ] {
            let value: Item = serde_json::from_str(&text).unwrap();
            let why = read::<u64>(&value).unwrap_err();
            assert!(
                why.chars().count() <= MAX_REASON + 1 && !why.contains('\n'),
                "{why}"
            );
            assert!(!why.contains("pwpw"), "{why}");
        }
        assert_eq!(
            unreadable("issue", Some(7), 2, "x"),
            "issue 7 cannot be read: x"
        );
        assert_eq!(
            unreadable("issue", None, 2, "x"),
            "item 2 of the list of issues cannot be read: x"
        );
    }

    #[test]
    fn labels_differ_in_more_than_case() {
        assert!(same_label("ÄRGER", "ärger"));
        assert!(!same_label("a", "a "));
    }
}
