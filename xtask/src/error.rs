//! Why a task failed.

use std::path::PathBuf;

/// The one error of the tasks.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TaskError {
    /// A program failed.
    #[error("`{command}` failed ({status})")]
    Program {
        /// The command line.
        command: String,
        /// How it ended.
        status: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A check found something.
    #[error("{0}")]
    Found(String),
    /// Something that the task needs is not on this machine.
    #[error("{0}")]
    CannotRunHere(String),
}

impl TaskError {
    /// For a file.
    pub(crate) fn file(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::File {
            path: path.into(),
            source,
        }
    }

    /// For anything that a check finds wrong.
    pub(crate) fn found(text: impl std::fmt::Display) -> Self {
        Self::Found(text.to_string())
    }
}
