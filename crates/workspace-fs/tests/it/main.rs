//! Tests of the crate from the outside: real directories, real archives, real git.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail this way"
)]

mod roots;
