//! Why a target fails.

use crate::ports::{ForgeError, StoreError};

/// What ends the poll of one target. The other targets go on.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum TargetError {
    /// The state document could not be read or written; nothing was started.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The forge could not be asked.
    #[error(transparent)]
    Forge(#[from] ForgeError),
    /// Every configured feed failed.
    #[error("no feed could be read, of {count} configured; the first: {first}")]
    AllFeedsFailed {
        /// How many feeds are configured.
        count: usize,
        /// The first failure.
        first: String,
    },
    /// The target cannot be worked on as it is; the text says what a person can change.
    #[error("{0}")]
    Unsuitable(String),
}

impl TargetError {
    /// A rate limit is no failure: the poll ends, and the next one goes on.
    pub fn is_limited(&self) -> bool {
        matches!(self, Self::Forge(error) if error.is_limited())
    }
}
