//! State documents of all three schemas, as another program, an older release or a broken disk may
//! have left them.
//!
//! Rules 5 and 6 of the architecture: what parses survives a round trip with every field that is
//! not known here; what does not parse is an error and never an empty document; a document that was
//! made to fit does fit, and has lost nothing that must stay.

use lifecycle::decide::decide;
use lifecycle::document::{Document, DocumentError, ISSUE, NEWS, REVIEW, Schema, size};
use lifecycle::ports::{Conversation, Observation};
use serde_json::Value;

/// Looks that lead to different decisions.
const LOOKS: [Conversation; 5] = [
    Conversation::IdleFresh,
    Conversation::IdleDone,
    Conversation::Running,
    Conversation::Paused,
    Conversation::Error,
];
/// Room that documents are made to fit into, in bytes.
const BUDGETS: [usize; 4] = [300, 2_000, 12_000, size::ONE_BYTES];
/// When all this happens, in seconds since the epoch.
const NOW: f64 = 1_787_044_320.0;

/// Reads a document by each schema.
///
/// # Panics
/// When a property does not hold.
pub fn target(data: &[u8]) {
    for schema in [&NEWS, &REVIEW, &ISSUE] {
        match Document::parse(schema, data) {
            Ok(document) => {
                round_trip(schema, &document, data);
                decisions(&document);
                sizes(&document, BUDGETS[data.len() % BUDGETS.len()]);
            }
            Err(DocumentError::NewerVersion { found, known }) => assert!(found > known),
            Err(DocumentError::Unreadable(why)) => {
                assert!(why.len() < 1000, "a reason of {} bytes", why.len());
            }
        }
    }
}

fn round_trip(schema: &'static Schema, document: &Document, data: &[u8]) {
    let again = Document::parse(schema, document.to_text().as_bytes());
    assert_eq!(again.as_ref(), Ok(document));
    // What was read is still there, but for the version and a map of records that was not there.
    let text = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
    let (Ok(Value::Object(before)), Value::Object(mut after)) =
        (serde_json::from_slice(text), document.to_value())
    else {
        panic!("what was read is no object");
    };
    for (name, value) in before {
        if name != "version" && (name != schema.records || value.is_object()) {
            assert_eq!(after.remove(&name), Some(value), "{name}");
        }
    }
}

fn decisions(document: &Document) {
    for (task, record) in document.records() {
        assert!(document.has_record(task));
        for sandbox in [false, true] {
            for look in LOOKS {
                let _step = decide(&record, &Observation::Seen(look), sandbox, "run", NOW);
            }
            let _step = decide(&record, &Observation::Unknown, sandbox, "run", NOW);
            let silent = Observation::Unavailable(String::new());
            let _step = decide(&record, &silent, sandbox, "run", NOW);
        }
    }
    for task in document.retry_tasks() {
        let _retry = document.retry(&task);
    }
    let _seen = lifecycle::news::seen(document);
}

fn sizes(document: &Document, budget: usize) {
    let value = document.to_value();
    let wire = size::wire_size(&value);
    // The longest form that is in use is no shorter than ours.
    assert!(wire >= value.to_string().len(), "{wire}");
    let in_force = |task: &str, _: &lifecycle::document::Record| task.len().is_multiple_of(2);
    let mut fitted = document.clone();
    let result = size::fit(&mut fitted, budget, &in_force);
    let needed = size::wire_size(&fitted.to_value()) + size::reserved(&fitted);
    match result {
        Ok(()) => assert!(needed <= budget, "{needed} bytes do not fit into {budget}"),
        Err(overfull) => {
            assert_eq!(overfull.budget, budget);
            assert!(overfull.needed > budget && needed >= overfull.needed.min(needed));
        }
    }
    for (task, record) in document.records() {
        let kept = fitted.record(task);
        if size::must_stay(&record) || in_force(task, &record) {
            assert!(kept.is_some(), "the record of {task:?} must stay");
        }
        if let Some(kept) = kept {
            assert_eq!(kept.status(), record.status(), "{task:?}");
            if size::must_stay(&record) {
                assert_eq!(kept.workspace_dir(), record.workspace_dir(), "{task:?}");
                assert_eq!(kept.conversation_id(), record.conversation_id(), "{task:?}");
            }
        }
    }
    let again = Document::parse(fitted.schema(), fitted.to_text().as_bytes());
    assert_eq!(again.as_ref(), Ok(&fitted));
}
