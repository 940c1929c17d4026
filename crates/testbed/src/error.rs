//! What can go wrong with the test equipment itself.

use std::io;

/// A failure of the test equipment, or the verdict of a final check.
#[derive(Debug, thiserror::Error)]
pub enum TestbedError {
    /// A stand-in could not take a loopback port or start its thread.
    #[error(
        "the {service} stand-in cannot listen on loopback: {source}; are sockets allowed here?"
    )]
    Listen {
        /// The stand-in's name.
        service: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody asked for something that the stand-in does not know or does not accept.
    #[error(
        "{} unexpected request(s) to the {service} stand-in:\n  {}",
        requests.len(),
        requests.join("\n  ")
    )]
    Unexpected {
        /// The stand-in's name.
        service: &'static str,
        /// One line a request: number, call, reason.
        requests: Vec<String>,
    },
    /// A scripted deed of a stand-in failed, such as a git command.
    #[error("a scripted deed failed:\n  {}", failures.join("\n  "))]
    Deeds {
        /// One line a deed.
        failures: Vec<String>,
    },
    /// A plain HTTP call made by the equipment itself did not get an answer.
    #[error("{call} got no answer: {reason}")]
    Call {
        /// Method and URL.
        call: String,
        /// What was wrong.
        reason: String,
    },
    /// A scratch file or directory could not be made.
    #[error("cannot prepare {path}: {source}; is the temporary directory writable?")]
    Scratch {
        /// The path.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// A file of fixtures is not there, or holds something else than the test asks for.
    #[error("cannot read fixtures/{path}: {source}")]
    Fixture {
        /// The path below `fixtures/`.
        path: String,
        /// What was wrong.
        source: io::Error,
    },
}
