//! Why the automation service did not do what it was asked.

use super::MAX_UPLOAD_BYTES;
use super::host::Host;
use http_client::HttpError;

/// What went wrong, and what to do about it.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub(crate) enum ServiceError {
    /// Nobody answers there.
    #[error("{host} cannot be reached: {source}")]
    Unreachable {
        /// The address that was given.
        host: String,
        /// Why.
        source: HttpError,
    },
    /// Something answers, and it is no automation service.
    #[error(
        "{host} is no automation service: {host}/api/automation/health was answered with {found}; \
         give the address of the OpenHands installation with --host"
    )]
    NotThere {
        /// The address that was given.
        host: String,
        /// What came.
        found: String,
    },
    /// The service is at another address.
    #[error(
        "{host} sends callers on to {to}; give that address with --host, because a key does not \
         follow to another place"
    )]
    Moved {
        /// The address that was given.
        host: String,
        /// The other one.
        to: String,
    },
    /// The key is not accepted, in neither way.
    #[error(
        "{host} does not accept the key; check OPENHANDS_AUTOMATION_API_KEY or OPENHANDS_API_KEY \
         (a self-hosted service wants its AUTOMATION_LOCAL_API_KEY, a cloud one a key of your \
         account)"
    )]
    KeyRefused {
        /// The address that was given.
        host: String,
    },
    /// The key is accepted, and this is not allowed with it.
    #[error("the automation service forbids {call}: {why}")]
    Forbidden {
        /// What was asked.
        call: String,
        /// Its words.
        why: String,
    },
    /// There is no automation of that id.
    #[error(
        "there is no automation {id} at the automation service; `openhands-automations deploy list` \
         shows those that are there"
    )]
    NoSuchAutomation {
        /// The id that was given.
        id: String,
    },
    /// The archive is larger than the service takes.
    #[error(
        "the archive has {bytes} bytes and the automation service takes at most {MAX_UPLOAD_BYTES}; \
         put it where the service can fetch it and name its https:// address with --archive"
    )]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// The service took the archive and could not keep it.
    #[error("the automation service could not keep the archive: {why}")]
    UploadFailed {
        /// Its words.
        why: String,
    },
    /// Something about the request is wrong.
    #[error("the automation service refuses {call}: {why}")]
    Refused {
        /// What was asked.
        call: String,
        /// Its words.
        why: String,
    },
    /// It could not be asked, or did not answer as it should.
    #[error(transparent)]
    Http(#[from] HttpError),
}

impl ServiceError {
    pub(super) fn unreachable(host: &Host, source: &HttpError) -> Self {
        Self::Unreachable {
            host: host.to_string(),
            source: source.clone(),
        }
    }

    /// Whether the request may have had its effect all the same.
    pub(crate) fn is_effect_unknown(&self) -> bool {
        match self {
            Self::Http(error) => error.is_effect_unknown(),
            Self::Unreachable { .. }
            | Self::NotThere { .. }
            | Self::Moved { .. }
            | Self::KeyRefused { .. }
            | Self::Forbidden { .. }
            | Self::NoSuchAutomation { .. }
            | Self::TooLarge { .. }
            | Self::UploadFailed { .. }
            | Self::Refused { .. } => false,
        }
    }
}
