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

/// Names the newest label event in a snapshot: proof that the events were looked at when it was
/// written. An addition of ours; a snapshot of the deployed scripts has none.
const LABEL_EVENT_ID: &str = "label_event_id";
/// When the pull request had last changed when its label events were looked at, as the forge wrote
/// it: our own clock may be wrong by hours. An addition of ours as well.
const UPDATED_AT: &str = "updated_at";

/// What this poll knows of the label events of a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// They were looked at in this poll; this is the newest.
    Looked(u64),
    /// They were looked at before, and nothing changed since.
    Unchanged,
}

/// The newest event of `label`, if the listing proves that nothing changed since it was looked for.
pub(super) fn event_unless_changed(
    document: &Document,
    pull: &Pull,
    label: &str,
    now: f64,
) -> Option<u64> {
    // With another label configured, what was learned of the old one proves nothing.
    let looked_for = document.get("trigger_label")?.as_str()?;
    if looked_for.to_lowercase() != label.to_lowercase() {
        return None;
    }
    let snapshot = document.get("prs")?.get(pull.number.to_string())?;
    let labelled = snapshot.get("label_present")?.as_bool()?;
    let looked = snapshot.get("last_seen")?.as_f64()?;
    let updated = moment::parse_rfc3339(&pull.updated_at)?;
    // A change within the same second shows by our clock only, any other by the forge's.
    let same = snapshot.get(UPDATED_AT)?.as_str()? == pull.updated_at;
    let settled = looked <= now && updated < looked - CLOCK_SKEW_SECONDS;
    let unchanged = labelled && same && settled;
    unchanged.then(|| snapshot.get(LABEL_EVENT_ID)?.as_u64())?
}

/// Writes the snapshots of all open pull requests; those of others go.
///
/// A snapshot is written anew only when it says something new, so that an unchanged repository
/// costs no write. One that had to go for want of room meanwhile comes back as it was in
/// `document`, the one that was looked at: so the effect is the same however often it is applied.
pub(super) fn effect(
    document: &Document,
    pulls: &[Pull],
    label: &str,
    known: &HashMap<u64, Known>,
    now: f64,
) -> Effect {
    let label = label.to_lowercase();
    let found = snapshots(document);
    let fresh: Vec<(String, Value, Option<Known>)> = pulls
        .iter()
        .map(|pull| {
            let number = pull.number.to_string();
            let present = pull.labels.iter().any(|l| l.to_lowercase() == label);
            let mut snapshot = json!({
                "head_sha": pull.head_sha,
                "label_present": present,
                "labels": pull.labels,
                "last_seen": now,
            });
            let known = known.get(&pull.number).copied();
            if let Some(Known::Looked(event)) = known {
                snapshot[LABEL_EVENT_ID] = event.into();
                snapshot[UPDATED_AT] = pull.updated_at.as_str().into();
            } else if let Some(before) = found.get(&number).filter(|old| same(old, &snapshot)) {
                snapshot = before.clone();
            }
            (number, snapshot, known)
        })
        .collect();
    Rc::new(move |document: &mut Document| {
        let old = snapshots(document);
        let mut new = Map::new();
        for (number, snapshot, known) in &fresh {
            let before = old.get(number);
            // A newer look by another poll stays.
            let newer = before
                .and_then(|before| before.get("last_seen")?.as_f64())
                .is_some_and(|seen| seen > now);
            let keep = newer
                || before.is_some_and(|before| same(before, snapshot))
                    && !matches!(known, Some(Known::Looked(_)));
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

fn snapshots(document: &Document) -> Map<String, Value> {
    let all = document.get("prs").and_then(Value::as_object);
    all.cloned().unwrap_or_default()
}

fn same(a: &Value, b: &Value) -> bool {
    ["head_sha", "label_present", "labels"]
        .iter()
        .all(|field| a.get(field) == b.get(field))
}
