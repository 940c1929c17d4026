//! The binaries as real processes against stand-ins: what they leave in documents, on forges and on
//! disk, alone, eight at once, killed, and on bad days of the network.

#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests say what went wrong by panicking"
)]

mod disks;
mod issue;
mod kills;
mod network;
mod news;
mod overlap;
mod review;
mod sandbox;
mod stage;
mod strangers;
