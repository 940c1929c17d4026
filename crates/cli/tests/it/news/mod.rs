//! The news digest, run by run.

mod documents;
mod endings;
mod lifecycle;
