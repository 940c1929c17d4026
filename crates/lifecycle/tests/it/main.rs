//! The engine and the three policies against small worlds made by hand: one readable test for each
//! rule of the lifecycle.

#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests of one binary"
)]

mod abandoned;
mod bare_records;
mod caps;
mod claims;
mod digest_trouble;
mod dry_run;
mod finishing;
mod forge_errors;
mod giving_up;
mod issue_ends;
mod issue_setup;
mod issue_starts;
mod issues;
mod keys;
mod merge_requests;
mod news;
mod planned;
mod review_facts;
mod review_starts;
mod reviews;
mod room;
mod settling;
mod setup;
mod stalled;
mod stopping;
mod unrecorded;
mod world;
