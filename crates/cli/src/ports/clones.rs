//! Git, for the issue automation.
