//! What can go wrong between the task runner and the real services.

use std::io;
use std::path::PathBuf;

use testbed::TestbedError;

/// A failure of the real services, or of starting and driving them.
#[derive(Debug, thiserror::Error)]
pub(crate) enum E2eError {
    /// The machine has no Python that the services run on.
    #[error(
        "no Python >= 3.12 on this machine: the real services cannot run, and nothing was tried \
         against them; install one or set E2E_PYTHON"
    )]
    NoPython,
    /// The script that installs the services failed.
    #[error("{script} failed with {status}; what it printed says why", script = script.display())]
    Install {
        /// The script.
        script: PathBuf,
        /// How it ended.
        status: String,
    },
    /// A file or process could not be dealt with.
    #[error("cannot {what}: {source}")]
    Io {
        /// What was tried, on what.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// A service did not come up.
    #[error("the {service} {why}; the end of {log}:\n{tail}", log = log.display())]
    NotReady {
        /// The service's name.
        service: &'static str,
        /// Whether it ended or only took too long.
        why: String,
        /// Its log file.
        log: PathBuf,
        /// The last lines of the log.
        tail: String,
    },
    /// A call got no answer.
    #[error(transparent)]
    Call(#[from] TestbedError),
    /// A call was answered with another status than the one it needs.
    #[error("{call} was answered with {status}: {body}")]
    Refused {
        /// Method and URL.
        call: String,
        /// The status.
        status: u16,
        /// The start of the body.
        body: String,
    },
    /// An answer lacks what is read from it.
    #[error("the answer to {call} has no {missing}: {body}")]
    Shape {
        /// Method and URL.
        call: String,
        /// The field.
        missing: String,
        /// The start of the body.
        body: String,
    },
    /// A run did not end as it should.
    #[error("run {run} of automation {automation} {why}; its output:\n{output}")]
    Run {
        /// Its id.
        run: String,
        /// The automation's id.
        automation: String,
        /// What happened instead.
        why: String,
        /// What the run printed.
        output: String,
    },
    /// A conversation did not come to an end in time.
    #[error("conversation {id} is still {status} after {seconds} s")]
    ConversationUnfinished {
        /// Its id.
        id: String,
        /// Its `execution_status`.
        status: String,
        /// How long was waited.
        seconds: u64,
    },
    /// What is tried could not be built or set up.
    #[error("{0}")]
    Setup(String),
}

impl E2eError {
    /// An [`E2eError::Io`] for use with `map_err`.
    pub(super) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
