//! Why a call failed, in words that name service and call and say what to do.
//!
//! No message holds a query value, user information of an address, or a credential.

use std::time::Duration;

use crate::limits::RateLimit;

/// Why a call failed. `service` is the name that the request was given (`GitHub`), `call` is the
/// method, the path and the host (`GET /repos/a/b/pulls (api.github.com)`).
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// No connection came about (refused, no route, unknown name, proxy). Nothing was sent.
    #[error(
        "{service}: no connection for {call}: {detail}. Check the address, the network and the proxy settings"
    )]
    Connect {
        /// Name of the service.
        service: &'static str,
        /// Method, path and host.
        call: String,
        /// What the network said.
        detail: String,
    },
    /// The limit for the attempt passed. It is not repeated: a hung server costs one time limit.
    #[error(
        "{service}: no complete answer to {call} within {after:.1?}. The service may be down or overloaded; the next run tries again"
    )]
    Timeout {
        /// Name of the service.
        service: &'static str,
        /// Method, path and host.
        call: String,
        /// The limit.
        after: Duration,
        /// Whether the request may have reached the service.
        sent: bool,
    },
    /// The service has just let a call run into its limit, so this one was not made.
    #[error(
        "{service}: {call} was not made, because the host has just left another call without an answer; the next run tries again"
    )]
    Unresponsive {
        /// Name of the service.
        service: &'static str,
        /// Method, path and host.
        call: String,
    },
    /// The certificate of the server is not trusted, or TLS failed otherwise. Nothing was sent.
    #[error(
        "{service}: no trusted connection for {call}: {detail}. If a certificate authority of your own is in use, name its file in SSL_CERT_FILE"
    )]
    Tls {
        /// Name of the service.
        service: &'static str,
        /// Method, path and host.
        call: String,
        /// What TLS said.
        detail: String,
    },
    /// The connection broke, or spoke no HTTP, after the request was sent.
    #[error("{service}: the connection broke during {call}: {detail}")]
    Broken {
        /// Name of the service.
        service: &'static str,
        /// Method, path and host.
        call: String,
        /// What the connection said.
        detail: String,
    },
    /// The body is longer than the request allows, counted after decompression.
    #[error("{service}: the answer to {call} is longer than {limit} bytes")]
    TooLarge {
        /// Name of the service.
        service: &'static str,
        /// Method, path and host.
        call: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// A redirect that is not followed: to another scheme, in a circle, to a private address, or
    /// of a write to another origin.
    #[error("{service}: the redirect of {call} is not followed: {detail}")]
    Redirect {
        /// Name of the service.
        service: &'static str,
        /// Method, path and host.
        call: String,
        /// Why not.
        detail: String,
    },
    /// The service answered with a status that means failure ([`crate::Response::ok`]).
    #[error(
        "{service}: {call} was answered with status {status}{}",
        colon(snippet)
    )]
    Status {
        /// Name of the service.
        service: &'static str,
        /// Method, path and host.
        call: String,
        /// The status.
        status: u16,
        /// Short, cleaned start of the body.
        snippet: String,
    },
    /// The body is not what was expected (no JSON, another shape, damaged compression).
    #[error(
        "{service}: the answer to {call} (status {status}) cannot be read: {detail}{}",
        colon(snippet)
    )]
    Body {
        /// Name of the service.
        service: &'static str,
        /// Method, path and host.
        call: String,
        /// The status.
        status: u16,
        /// What is wrong.
        detail: String,
        /// Short, cleaned start of the body.
        snippet: String,
    },
    /// The service asks to slow down, for longer than the time budget allows.
    #[error("{service}: {call} is limited{}. What is left is done by the next run", wait.in_words())]
    Limited {
        /// Name of the service.
        service: &'static str,
        /// Method, path and host.
        call: String,
        /// How long.
        wait: RateLimit,
    },
    /// The time budget of the run was used up before the call was made.
    #[error("{service}: {call} was not made, because the time budget of the run is used up")]
    Deadline {
        /// Name of the service.
        service: &'static str,
        /// Method, path and host.
        call: String,
    },
    /// The call cannot be made as it was asked for: a wrong address, header, body or proxy.
    #[error("the HTTP call cannot be made: {0}")]
    Setup(String),
}

impl HttpError {
    /// Whether the request may have had its effect although no proper answer came: the caller of
    /// a write looks before it repeats it.
    pub fn is_effect_unknown(&self) -> bool {
        match self {
            Self::Timeout { sent, .. } => *sent,
            Self::Broken { .. } | Self::TooLarge { .. } | Self::Body { .. } => true,
            Self::Status { status, .. } => *status >= 500,
            Self::Connect { .. }
            | Self::Unresponsive { .. }
            | Self::Tls { .. }
            | Self::Redirect { .. }
            | Self::Limited { .. }
            | Self::Deadline { .. }
            | Self::Setup(_) => false,
        }
    }

    /// The status of the answer, where there was one.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Status { status, .. } | Self::Body { status, .. } => Some(*status),
            _ => None,
        }
    }
}

fn colon(snippet: &str) -> String {
    if snippet.is_empty() {
        String::new()
    } else {
        format!(": {snippet}")
    }
}
