//! The `prs` map: how each open pull request looked, for people, and as proof that nothing changed.

use crate::document::Document;
use crate::engine::Effect;
use crate::moment;
use crate::ports::Pull;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::rc::Rc;

/// The forge's clock and ours may differ by this much.
const CLOCK_SKEW_SECONDS: f64 = 120.0;

/// What this poll knows of the label events of a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// They were looked at in this poll.
    Looked,
    /// They were looked at before, and nothing changed since.
    Unchanged,
}

/// Whether the listing proves that nothing changed since the label events were looked at.
pub(super) fn unchanged_since_look(document: &Document, pull: &Pull, now: f64) -> bool {
    let snapshot = document
        .get("prs")
        .and_then(|prs| prs.get(pull.number.to_string()));
    let Some(snapshot) = snapshot else {
        return false;
    };
    let labelled = snapshot.get("label_present").and_then(Value::as_bool) == Some(true);
    let looked = snapshot
        .get("last_seen")
        .and_then(Value::as_f64)
        .unwrap_or(0.0);
    let Some(updated) = moment::parse_rfc3339(&pull.updated_at) else {
        return false;
    };
    labelled && looked <= now && updated < looked - CLOCK_SKEW_SECONDS
}

/// Writes the snapshots of all open pull requests; those of others go.
///
/// A snapshot is written anew only when it says something new, so that an unchanged repository
/// costs no write.
pub(super) fn effect(pulls: &[Pull], label: &str, known: &HashMap<u64, Known>, now: f64) -> Effect {
    let label = label.to_lowercase();
    let fresh: Vec<(String, Value, Option<Known>)> = pulls
        .iter()
        .map(|pull| {
            let present = pull.labels.iter().any(|l| l.to_lowercase() == label);
            let snapshot = json!({
                "head_sha": pull.head_sha,
                "label_present": present,
                "labels": pull.labels,
                "last_seen": now,
            });
            (
                pull.number.to_string(),
                snapshot,
                known.get(&pull.number).copied(),
            )
        })
        .collect();
    Rc::new(move |document: &mut Document| {
        let old = document
            .get("prs")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        let mut new = Map::new();
        for (number, snapshot, known) in &fresh {
            let before = old.get(number);
            // A newer look by another poll stays.
            let newer = before
                .and_then(|before| before.get("last_seen")?.as_f64())
                .is_some_and(|seen| seen > now);
            let keep = newer
                || before.is_some_and(|before| same(before, snapshot))
                    && *known != Some(Known::Looked);
            let chosen = if keep {
                before.unwrap_or(snapshot)
            } else {
                snapshot
            };
            new.insert(number.clone(), chosen.clone());
        }
        document.set("prs", new);
    })
}

fn same(a: &Value, b: &Value) -> bool {
    ["head_sha", "label_present", "labels"]
        .iter()
        .all(|field| a.get(field) == b.get(field))
}
