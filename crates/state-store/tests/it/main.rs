//! Tests of the stores over real folders and real sockets.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests say what is wrong by panicking"
)]

mod contract;
mod files;
mod fixtures;
mod killed;
mod kv;

use lifecycle::document::{Document, Record, Status};
use lifecycle::ports::Change;

/// A change that puts a record in place, once.
fn claim(task: &str) -> impl FnMut(&mut Document) -> Change {
    move |document| {
        if document.has_record(task) {
            return Change::Keep;
        }
        let mut record = Record::default();
        record.set_status(Status::Starting);
        document.put_record(task, record);
        Change::Write
    }
}
