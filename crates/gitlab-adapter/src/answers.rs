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

use serde::Deserialize;

#[derive(Deserialize)]
struct Account {
    id: Option<u64>,
    username: String,
}

#[cfg(test)]
mod tests;
