//! The binaries as people use them: real processes against stand-ins on this machine.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "an integration test"
)]

mod configuration;
mod doctor;
mod dry_run;
mod explain;
mod feeds;
mod place;
mod process;
mod state;
mod status;
