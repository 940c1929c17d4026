//! Wiring of the issue automation.
use super::{Given, RunError, RunReport};
use crate::clock::RunClock;
use crate::config::IssueConfig;
pub(super) async fn run(
    _config: &IssueConfig,
    _given: &Given<'_>,
    _clock: RunClock,
) -> Result<RunReport, RunError> {
    Err(RunError::Setup("being written".into()))
}
