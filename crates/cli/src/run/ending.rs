//! The end of a run: exit code and callback, on every way out.

use super::{RunError, RunReport};
use agent_server::Outcome;

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// It ran; the report says what happened.
    Ran(Box<RunReport>),
    /// It could not begin.
    NotBegun(RunError),
    /// It was told to stop (SIGTERM, SIGINT).
    Stopped,
}

impl Ended {
    /// 0 done, 1 failed, 2 configuration, 3 some targets failed and `--strict`.
    pub fn exit_code(&self, strict: bool) -> u8 {
        match self {
            Self::Ran(report) if report.all_failed() => 1,
            Self::Ran(report) if strict && report.some_failed() => 3,
            Self::Ran(_) => 0,
            Self::NotBegun(RunError::Config(_)) => 2,
            Self::NotBegun(RunError::Setup(_) | RunError::OutOfTime) | Self::Stopped => 1,
        }
    }

    /// What the automation service is told.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Ran(report) if report.all_failed() => Outcome::Failed(report.errors()),
            Self::Ran(_) => Outcome::Completed,
            other => Outcome::Failed(other.error().unwrap_or_default()),
        }
    }

    /// Why there is no report.
    pub fn error(&self) -> Option<String> {
        match self {
            Self::Ran(_) => None,
            Self::NotBegun(error) => Some(error.to_string()),
            Self::Stopped => Some("stopped by a signal; the next run goes on from here".into()),
        }
    }
}
