//! A document always fits: what goes first when room gets short.
//!
//! Older services limit the sum over all keys of an automation, so each document has an even
//! share of [`ALL_BYTES`] and never more than [`ONE_BYTES`]. What goes, in this order: snapshots of
//! items without the label, ended records whose trigger is no longer in force (oldest first), the
//! other snapshots, texts that are for people only; then ended records that must stay are cut down
//! to what identifies them, retries that are due soon are forgotten, and so is what a digest told
//! longest ago. Never dropped: what is `starting` or `active` or holds a `workspace_dir`.

use super::{Document, Field, Record};
use serde_json::{Map, Value};

/// Room for all documents of one automation together, in bytes.
pub const ALL_BYTES: usize = 60 * 1024;
/// Room for one document, in bytes.
pub const ONE_BYTES: usize = 48 * 1024;
/// Room kept free for every live record, for the fields that starting and finishing it will add.
pub const LIVE_RESERVE_BYTES: usize = 320;

/// Room that is kept free for all live records of a document, in bytes.
pub fn reserved(document: &Document) -> usize {
    let live = document
        .records()
        .filter(|(_, record)| record.status().is_live());
    live.count() * LIVE_RESERVE_BYTES
}

/// The even share of one document among `documents`, in bytes.
pub fn share(documents: usize) -> usize {
    (ALL_BYTES / documents.max(1)).min(ONE_BYTES)
}

/// Bytes of a value as the service counts them: JSON with a blank after `:` and `,` and with
/// everything outside ASCII escaped, which is the longest form that is in use.
pub fn wire_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(true) => 4,
        Value::Bool(false) => 5,
        Value::Number(number) => number.to_string().len(),
        Value::String(text) => text_size(text),
        Value::Array(items) => 2 + items.iter().map(|item| wire_size(item) + 2).sum::<usize>(),
        Value::Object(fields) => map_size(fields),
    }
}

fn map_size(fields: &Map<String, Value>) -> usize {
    2 + fields
        .iter()
        .map(|(name, value)| entry_size(name, value))
        .sum::<usize>()
}

fn entry_size(name: &str, value: &Value) -> usize {
    text_size(name) + wire_size(value) + 4
}

fn text_size(text: &str) -> usize {
    let escaped = |c: char| match c {
        '"' | '\\' | '\n' | '\r' | '\t' => 2,
        ' '..='~' => 1,
        _ => 6 * c.len_utf16(),
    };
    2 + text.chars().map(escaped).sum::<usize>()
}

/// It does not fit, whatever is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overfull {
    /// Bytes that remain, room for live records included.
    pub needed: usize,
    /// Bytes that there are.
    pub budget: usize,
}

/// Makes a document fit into `budget` bytes. `in_force` tells of an ended record whether its
/// trigger still is in force.
///
/// # Errors
/// [`Overfull`] when what must stay is too large; the document is then as small as it gets.
pub fn fit(
    document: &mut Document,
    budget: usize,
    in_force: &dyn Fn(&str, &Record) -> bool,
) -> Result<(), Overfull> {
    let mut scale = Scale::of(document, budget);
    if scale.fits() {
        return Ok(());
    }
    drop_snapshots(document, &mut scale, false);
    drop_records(document, &mut scale, in_force);
    drop_snapshots(document, &mut scale, true);
    cut_texts(document, &mut scale);
    cut_records(document, &mut scale, IDENTIFYING, |record| {
        record.status().is_live()
    });
    cut_records(document, &mut scale, BARE, must_stay);
    drop_retries(document, &mut scale);
    drop_seen(document, &mut scale);
    if scale.fits() {
        Ok(())
    } else {
        Err(Overfull {
            needed: scale.bytes,
            budget,
        })
    }
}

/// What an ended record keeps at least as long as there is room for it.
const IDENTIFYING: &[Field] = &[
    Field::Status,
    Field::PrNumber,
    Field::IssueIid,
    Field::LabelEventId,
    Field::CompletedAt,
    Field::LeaseOwner,
    Field::LeaseUntil,
    Field::Attempt,
    Field::ConversationId,
    Field::WorkspaceDir,
    Field::LastActivity,
];
/// The task key identifies it; what is left says that it is done.
const BARE: &[Field] = &[
    Field::Status,
    Field::LeaseOwner,
    Field::LeaseUntil,
    Field::Attempt,
];

/// Fingerprints of what was told that are never forgotten for want of room.
const LEAST_SEEN: usize = 500;

struct Scale {
    bytes: usize,
    budget: usize,
}

impl Scale {
    fn of(document: &Document, budget: usize) -> Self {
        let bytes = map_size(&document.fields) + reserved(document);
        Self { bytes, budget }
    }

    fn fits(&self) -> bool {
        self.bytes <= self.budget
    }

    fn lose(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    fn replace(&mut self, place: &mut Value, value: Value) {
        self.lose(wire_size(place).saturating_sub(wire_size(&value)));
        *place = value;
    }
}

/// Drops snapshots, the newest first, until the document fits: so those that were there before
/// stay, and a full document is not written anew by every poll.
fn drop_snapshots(document: &mut Document, scale: &mut Scale, labelled: bool) {
    let Some(Value::Object(snapshots)) = document.fields.get_mut("prs") else {
        return;
    };
    let mut candidates: Vec<(f64, String)> = snapshots
        .iter()
        .filter(|(_, snapshot)| {
            labelled || snapshot.get("label_present").and_then(Value::as_bool) != Some(true)
        })
        .map(|(number, snapshot)| {
            let seen = snapshot
                .get("last_seen")
                .and_then(Value::as_f64)
                .unwrap_or(0.0);
            (seen, number.clone())
        })
        .collect();
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (_, number) in candidates {
        if scale.fits() {
            return;
        }
        if let Some(snapshot) = snapshots.remove(&number) {
            scale.lose(entry_size(&number, &snapshot));
        }
    }
}

/// Drops ended records that nothing depends on, oldest first, until the document fits.
fn drop_records(
    document: &mut Document,
    scale: &mut Scale,
    in_force: &dyn Fn(&str, &Record) -> bool,
) {
    let mut candidates: Vec<(f64, String, usize)> = document
        .records()
        .filter(|(task, record)| !must_stay(record) && !in_force(task, record))
        .map(|(task, record)| {
            (
                record.last_activity(),
                task.to_owned(),
                entry_size(task, &record.to_value()),
            )
        })
        .collect();
    candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (_, task, bytes) in candidates {
        if scale.fits() {
            return;
        }
        if document.remove_record(&task) {
            scale.lose(bytes);
        }
    }
}

/// Cuts records, unless they are `spared`, down to some fields, oldest first, until the document
/// fits.
fn cut_records(
    document: &mut Document,
    scale: &mut Scale,
    keep: &[Field],
    spared: impl Fn(&Record) -> bool,
) {
    let mut candidates: Vec<(f64, String, Record)> = document
        .records()
        .filter(|(_, record)| !spared(record))
        .map(|(task, record)| (record.last_activity(), task.to_owned(), record))
        .collect();
    candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (_, task, mut record) in candidates {
        if scale.fits() {
            return;
        }
        let before = wire_size(&record.to_value());
        record.keep_only(keep);
        scale.lose(before.saturating_sub(wire_size(&record.to_value())));
        document.put_record(&task, record);
    }
}

/// Shortens what is only there for people to read.
fn cut_texts(document: &mut Document, scale: &mut Scale) {
    if scale.fits() {
        return;
    }
    if let Some(Value::Object(retries)) = document.fields.get_mut("retries") {
        for text in retries
            .values_mut()
            .filter_map(|retry| retry.get_mut("last_error"))
        {
            scale.replace(text, Value::String(String::new()));
        }
    }
    if let Some(text) = document
        .fields
        .get_mut("last_digest")
        .and_then(|digest| digest.get_mut("text"))
    {
        while let Some(whole) = text
            .as_str()
            .filter(|whole| !scale.fits() && !whole.is_empty())
        {
            let half = crate::text::cut_chars(whole, whole.chars().count() / 2);
            scale.replace(text, Value::String(half));
        }
    }
    if let Some(errors) = document
        .fields
        .get_mut("last_feed_errors")
        .filter(|_| !scale.fits())
    {
        scale.replace(errors, Value::Array(Vec::new()));
    }
}

/// Forgets failed attempts, those that are due soonest first, until the document fits. Attempts at
/// finishing what is live are not forgotten.
fn drop_retries(document: &mut Document, scale: &mut Scale) {
    let live: Vec<String> = document
        .records()
        .filter(|(_, record)| record.status().is_live())
        .map(|(task, _)| task.to_owned())
        .collect();
    let mut candidates: Vec<(f64, String)> = document
        .retry_tasks()
        .into_iter()
        .filter(|task| !live.contains(task))
        .filter_map(|task| Some((document.retry(&task)?.next_try, task)))
        .collect();
    candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
    let Some(Value::Object(retries)) = document.fields.get_mut("retries") else {
        return;
    };
    for (_, task) in candidates {
        if scale.fits() {
            return;
        }
        if let Some(retry) = retries.remove(&task) {
            scale.lose(entry_size(&task, &retry));
        }
    }
}

/// Forgets what was told longest ago, until the document fits or only what is recent is left.
fn drop_seen(document: &mut Document, scale: &mut Scale) {
    if let Some(Value::Array(seen)) = document.fields.get_mut("seen") {
        let mut forgotten = 0;
        while seen.len() - forgotten > LEAST_SEEN && !scale.fits() {
            scale.lose(wire_size(&seen[forgotten]) + 2);
            forgotten += 1;
        }
        seen.drain(..forgotten);
    }
}

/// Whether a record may never be dropped: work may go on, or a directory waits.
pub fn must_stay(record: &Record) -> bool {
    record.status().is_live() || record.workspace_dir().is_some()
}

#[cfg(test)]
mod tests;
