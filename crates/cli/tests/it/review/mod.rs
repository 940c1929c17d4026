//! The pull request reviewer, run by run.

mod archives;
mod bad_days;
mod documents;
mod lifecycle;
mod limits;
mod steady;
