//! The issue automation, run by run.

mod finishing;
mod hostile;
mod lifecycle;
mod projects;
