//! Why a command could not do what it was asked.

use crate::config::ConfigError;
use crate::run::RunError;

/// What ended a command early. The text says what to do about it.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub(crate) enum CommandError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// What was asked makes no sense.
    #[error("{0}")]
    Usage(String),
    /// It could not be done.
    #[error("{0}")]
    Failed(String),
}

impl CommandError {
    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::Config(_) | Self::Usage(_) => 2,
            Self::Failed(_) => super::WRONG,
        }
    }

    /// From anything that says why.
    pub(super) fn failed(why: impl std::fmt::Display) -> Self {
        Self::Failed(why.to_string())
    }
}

impl From<RunError> for CommandError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Config(error) => Self::Config(error),
            other @ (RunError::Setup(_) | RunError::OutOfTime) => Self::failed(other),
        }
    }
}
