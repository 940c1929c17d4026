//! What GitLab answers, read into the words of the core. Wire types stay in here.
//!
//! Members that some instances leave out or set to null (deleted labels and accounts, young
//! members of old instances) are optional; what identifies an item is not. The items of a list are
//! read one by one. Moments come with offsets and fractions and compare as instants.

mod issues;
mod merge_requests;
mod project;

pub(crate) use issues::{
    Marked, Spelling, carries, issue, listed_issue, marked_note, newest_label_event, spelling,
};
pub(crate) use merge_requests::{is_merge_base, merge_request};
pub(crate) use project::{identity, membership, project};

use lifecycle::text::{cut_chars, one_line};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Characters of the reason why an answer cannot be read.
const MAX_REASON: usize = 160;

/// An item of a list, not yet read.
pub(crate) type Item = Box<RawValue>;

#[derive(Deserialize)]
struct Account {
    id: Option<u64>,
    username: String,
}

/// Whether two label names are the same but for case.
fn same_label(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}

/// Reads one value. The reason of a failure is short: it may repeat what a stranger wrote.
fn read<'a, T: Deserialize<'a>>(value: &'a RawValue) -> Result<T, String> {
    serde_json::from_str(value.get())
        .map_err(|error| cut_chars(&one_line(&error.to_string()), MAX_REASON))
}

#[cfg(test)]
mod tests;
