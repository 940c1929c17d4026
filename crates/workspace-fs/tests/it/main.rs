//! Tests of the crate from the outside: real directories, real archives, real git.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail this way"
)]

mod archive;
mod archive_stream;
mod git_hostile;
mod git_http;
mod git_refusals;
mod git_work;
mod http;
mod roots;
mod scene;
mod tarball;
