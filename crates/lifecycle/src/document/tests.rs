//! Reading, changing and writing documents: nothing is lost, and what is wrong is named.

use super::*;
use crate::fixtures;
use serde_json::json;
use std::fmt::Write as _;

const SCHEMAS: [&Schema; 3] = [&NEWS, &REVIEW, &ISSUE];

/// Reads a document, writes it and reads it again: every field is still there.
fn check_round_trip(schema: &'static Schema, path: &str) -> Document {
    let document = Document::parse(schema, &fixtures::bytes(path)).expect(path);
    let mut expected = fixtures::json(path);
    expected["version"] = schema.version.into();
    if !expected[schema.records].is_object() {
        expected[schema.records] = json!({});
    }
    assert_eq!(document.to_value(), expected, "{path}");
    let again = Document::parse(schema, document.to_text().as_bytes()).expect(path);
    assert_eq!(again, document, "{path}");
    document
}

#[test]
fn every_document_survives_a_round_trip() {
    for schema in SCHEMAS {
        for path in fixtures::files(&format!("fixtures/state/{}", schema.automation)) {
            let document = check_round_trip(schema, &path);
            for (task, record) in document.records() {
                assert_eq!(document.record(task).as_ref(), Some(&record), "{path}");
                assert_eq!(
                    Record::from_value(record.to_value()),
                    Some(record),
                    "{path}"
                );
            }
        }
    }
}

/// What reading a document says that cannot be used.
fn refusal(schema: &'static Schema, text: &[u8]) -> String {
    Document::parse(schema, text).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_used_is_refused_with_the_place() {
    let mut messages = String::new();
    for folder in [
        "fixtures/state/damaged",
        "fixtures/state/newer",
        "fixtures/schemas/refused",
    ] {
        for path in fixtures::files(folder) {
            let schema = SCHEMAS
                .into_iter()
                .find(|schema| path.contains(schema.automation))
                .unwrap_or(&NEWS);
            let message = refusal(schema, &fixtures::bytes(&path));
            writeln!(messages, "{path}\n  {message}").unwrap();
        }
    }
    fixtures::shown("documents-that-are-refused", &messages);
}

#[test]
fn a_newer_version_is_told_apart_from_damage() {
    let newer = Document::parse(&REVIEW, br#"{"version": 4, "reviews": "of another shape"}"#);
    assert_eq!(
        newer,
        Err(DocumentError::NewerVersion { found: 4, known: 3 })
    );
    for fine in ["3", "3.0", "2", "0", "-1", "null"] {
        let text = format!(r#"{{"version": {fine}}}"#);
        let document = Document::parse(&REVIEW, text.as_bytes()).expect(fine);
        assert_eq!(document.get("version"), Some(&json!(3)), "{fine}");
    }
}

#[test]
fn null_counts_as_absent_and_is_kept() {
    let text = br#"{"version": 1, "seen": null, "last_digest": null, "tasks":
        {"news:2026-08-20": {"status": "active", "workspace_dir": null, "conversation_id": null}}}"#;
    let document = Document::parse(&NEWS, text).unwrap();
    assert_eq!(document.get("seen"), None);
    let record = document.record("news:2026-08-20").unwrap();
    assert_eq!(record.workspace_dir(), None);
    assert_eq!(record.conversation_id(), None);
    assert_eq!(Some(record.last_activity()), Some(0.0));
    assert!(document.to_text().contains(r#""workspace_dir": null"#));
}

#[test]
fn empty_names_count_as_absent() {
    let mut record = Record::default();
    record
        .set(Field::WorkspaceDir, "")
        .set(Field::ConversationId, "");
    assert_eq!(
        (record.workspace_dir(), record.conversation_id()),
        (None, None)
    );
}

#[test]
fn numbers_are_read_however_they_were_written() {
    let counts = [
        (json!(3), Some(3)),
        (json!(3.0), Some(3)),
        (json!(0), Some(0)),
        (
            json!(9_007_199_254_740_992_u64),
            Some(9_007_199_254_740_992),
        ),
        (json!(3.5), None),
        (json!(-1), None),
        (json!(1e300), None),
        (json!("3"), None),
        (json!(null), None),
    ];
    for (value, expected) in counts {
        let mut record = Record::default();
        record.set(Field::PrNumber, value.clone());
        assert_eq!(record.count(Field::PrNumber), expected, "{value}");
    }
    let mut record = Record::default();
    record.set(Field::LastActivity, 1_787_044_320);
    assert_eq!(Some(record.last_activity()), Some(1_787_044_320.0));
}

#[test]
fn a_status_that_is_not_known_is_kept() {
    let text = br#"{"version": 3, "reviews": {"4:label:9": {"status": "paused-by-hand"}}}"#;
    let mut document = Document::parse(&REVIEW, text).unwrap();
    let mut record = document.record("4:label:9").unwrap();
    assert_eq!(record.status(), Status::Unknown);
    record.set(Field::PrNumber, 4);
    assert!(document.put_record("4:label:9", record));
    let record = document.record("4:label:9").unwrap();
    assert_eq!(record.text(Field::Status), Some("paused-by-hand"));
}

#[test]
fn every_status_has_one_name() {
    for schema in SCHEMAS {
        for status in schema.statuses {
            assert_eq!(Status::from_name(status.name()), *status);
            assert_eq!(
                status.is_live(),
                matches!(status.name(), "starting" | "active")
            );
        }
    }
    assert_eq!(Status::from_name("Active"), Status::Unknown);
}

#[test]
fn changes_tell_whether_they_changed_anything() {
    let mut document = Document::empty(&ISSUE, "group/service");
    assert_eq!(document.owner(), Some("group/service"));
    let mut record = Record::default();
    record.set_status(Status::Starting);
    assert!(document.put_record("42:label:1", record.clone()));
    assert!(!document.put_record("42:label:1", record.clone()));
    assert!(document.has_record("42:label:1"));
    assert!(document.set("updated_at", 5.0));
    assert!(!document.set("updated_at", 5.0));
    assert!(document.unset("updated_at"));
    assert!(!document.unset("updated_at"));
    assert!(document.remove_record("42:label:1"));
    assert!(!document.remove_record("42:label:1"));
    assert_eq!(document.records().count(), 0);
}

#[test]
fn a_new_document_has_the_documented_beginning() {
    let of = |schema| Document::empty(schema, "acme/widget").to_value();
    assert_eq!(of(&NEWS), json!({"version": 1, "tasks": {}}));
    assert_eq!(
        of(&REVIEW),
        json!({"version": 3, "repo": "acme/widget", "reviews": {}})
    );
    assert_eq!(
        of(&ISSUE),
        json!({"version": 1, "project": "acme/widget", "tasks": {}})
    );
}

mod retries {
    use super::*;

    fn retry(attempts: u64, next_try: f64, last_error: &str) -> Retry {
        Retry {
            attempts,
            next_try,
            last_error: last_error.into(),
        }
    }

    #[test]
    fn what_failed_is_remembered_and_forgotten() {
        let mut document = Document::empty(&REVIEW, "acme/widget");
        let before = document.clone();
        let first = retry(1, 1_787_044_320.5, "git clone: no route to host");
        assert!(document.put_retry("4:label:9", &first));
        assert!(!document.put_retry("4:label:9", &first));
        assert_eq!(document.retry("4:label:9"), Some(first));
        assert_eq!(document.retry("5:label:9"), None);
        assert!(document.put_retry("5:label:9", &retry(2, 7.0, "")));
        assert_eq!(document.retry_tasks(), ["4:label:9", "5:label:9"]);
        assert!(document.remove_retry("4:label:9"));
        assert!(!document.remove_retry("4:label:9"));
        assert!(document.remove_retry("5:label:9"));
        assert_eq!(document, before, "an empty map leaves nothing behind");
    }

    #[test]
    fn errors_are_cut_at_a_character() {
        let mut document = Document::empty(&REVIEW, "acme/widget");
        document.put_retry("4:label:9", &retry(1, 0.0, &"ö".repeat(500)));
        let kept = document.retry("4:label:9").unwrap().last_error;
        assert!(kept.len() <= 200 && kept.ends_with("ö…"), "{kept}");
    }

    #[test]
    fn entries_of_another_shape_are_read_as_far_as_they_go() {
        let text = br#"{"retries": {"a": {"attempts": "two"}, "b": 7, "c": {"next_try": 5}}}"#;
        let document = Document::parse(&NEWS, text).unwrap();
        assert_eq!(document.retry("a"), Some(Retry::default()));
        assert_eq!(document.retry("b"), Some(Retry::default()));
        assert_eq!(document.retry("c"), Some(retry(0, 5.0, "")));
    }
}
