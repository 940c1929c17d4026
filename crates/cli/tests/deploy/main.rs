//! `openhands-automations deploy` as people use it: real processes against stand-ins on this
//! machine. What it asks at a terminal is tested where the questions are.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "an integration test"
)]

mod addresses;
mod bench;
mod creating;
mod managing;
mod refusals;
mod undoing;
mod updating;
mod upgrade;
