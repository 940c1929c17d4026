//! A call as a value: what to ask, of which service, within which bounds.

use std::time::Duration;

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Serialize;
use url::Url;

use crate::error::HttpError;
use crate::secret::Secret;

/// Bytes of a body that are read at most, unless the request says other.
pub const DEFAULT_MAX_BYTES: u64 = 16 * 1024 * 1024;

/// What happens when the answer is a redirect. Redirects go to `http` and `https` only, ten at
/// most, and never take a credential to another origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Redirects {
    /// Reads follow; writes are sent again as they are on 307 and 308, to the same origin only.
    #[default]
    Follow,
    /// The redirect is the answer.
    No,
    /// As `Follow`, but once a public host took part, never to a private, loopback or link-local
    /// address, neither by number nor by name: strangers write the redirects of feeds.
    FollowGuarded,
}

/// One call. Built in steps, sent by [`crate::Client::send`] or [`crate::Client::stream`].
#[derive(Debug, Clone)]
pub struct Request {
    pub(crate) service: &'static str,
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) credentials: Vec<(&'static str, Secret)>,
    pub(crate) body: Option<Bytes>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_bytes: u64,
    pub(crate) idempotent: bool,
    pub(crate) retry_statuses: bool,
    pub(crate) retry_server_error: bool,
    pub(crate) urgent: bool,
    pub(crate) redirects: Redirects,
    /// The first thing that was wrong while building; reported when the request is sent.
    pub(crate) fault: Option<String>,
}

impl Request {
    /// A call of any method. `service` is the name for errors (`GitHub`, `agent server`).
    pub fn new(method: Method, service: &'static str, url: Url) -> Self {
        let idempotent = matches!(method, Method::GET | Method::HEAD | Method::DELETE);
        Self {
            service,
            method,
            url,
            headers: HeaderMap::new(),
            credentials: Vec::new(),
            body: None,
            timeout: None,
            max_bytes: DEFAULT_MAX_BYTES,
            idempotent,
            retry_statuses: true,
            retry_server_error: false,
            urgent: false,
            redirects: Redirects::default(),
            fault: None,
        }
    }

    /// A GET.
    pub fn get(service: &'static str, url: Url) -> Self {
        Self::new(Method::GET, service, url)
    }

    /// A POST.
    pub fn post(service: &'static str, url: Url) -> Self {
        Self::new(Method::POST, service, url)
    }

    /// A PUT.
    pub fn put(service: &'static str, url: Url) -> Self {
        Self::new(Method::PUT, service, url)
    }

    /// A PATCH.
    pub fn patch(service: &'static str, url: Url) -> Self {
        Self::new(Method::PATCH, service, url)
    }

    /// A DELETE.
    pub fn delete(service: &'static str, url: Url) -> Self {
        Self::new(Method::DELETE, service, url)
    }

    /// Adds a header that is no credential.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl AsRef<str>) -> Self {
        match (
            HeaderName::try_from(name),
            HeaderValue::try_from(value.as_ref()),
        ) {
            (Ok(name), Ok(value)) => {
                self.headers.insert(name, value);
            }
            _ => {
                self.fault
                    .get_or_insert(format!("the header {name} holds characters it may not"));
            }
        }
        self
    }

    /// Adds a header whose value is a credential, as it goes over the wire (`Bearer …` included).
    /// It is sent to the origin (scheme, host, port) of the address of this request only, never
    /// across a redirect to another origin, and taken out of every error text.
    #[must_use]
    pub fn credential(mut self, header_name: &'static str, value: Secret) -> Self {
        self.credentials.push((header_name, value));
        self
    }

    /// Sets the body to the JSON of a value.
    pub fn json<T: Serialize + ?Sized>(self, value: &T) -> Result<Self, HttpError> {
        let body = serde_json::to_vec(value)
            .map_err(|error| HttpError::Setup(format!("the body is no JSON: {error}")))?;
        Ok(self.body(body, "application/json"))
    }

    /// Sets the body and its type.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>, content_type: &str) -> Self {
        self.body = Some(body.into());
        self.header("content-type", content_type)
    }

    /// Limit for one attempt, its redirects and its body included. Default: that of the policy.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Bytes of the body that are read at most, counted after decompression. Default:
    /// [`DEFAULT_MAX_BYTES`].
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Whether the call may be repeated when it is not known whether it had its effect. Default:
    /// true for GET, HEAD and DELETE. A PUT that carries a condition is one more.
    #[must_use]
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.idempotent = idempotent;
        self
    }

    /// Whether 429, 502, 503 and 504 (and a 403 that is a rate limit) are dealt with here: an
    /// idempotent call is repeated when time allows, and a limit that is not waited out is
    /// [`HttpError::Limited`]. With `false` every status is an answer for the caller.
    #[must_use]
    pub fn retry_statuses(mut self, retry: bool) -> Self {
        self.retry_statuses = retry;
        self
    }

    /// Whether a 500 is treated like a 503. Default: false.
    #[must_use]
    pub fn retry_server_error(mut self, retry: bool) -> Self {
        self.retry_server_error = retry;
        self
    }

    /// For the call that must go out on every way out of a run: it is made although the time
    /// budget is used up, the host has just not answered, or other calls wait for their turn.
    #[must_use]
    pub fn urgent(mut self) -> Self {
        self.urgent = true;
        self
    }

    /// What happens on a redirect. Default: [`Redirects::Follow`].
    #[must_use]
    pub fn redirects(mut self, redirects: Redirects) -> Self {
        self.redirects = redirects;
        self
    }

    /// The call in words, without host and query: `GET /repos/a/b/pulls`.
    pub(crate) fn call(&self) -> String {
        format!("{} {}", self.method, self.url.path())
    }

    /// The call in words for an error: with the host.
    pub(crate) fn call_with_host(&self) -> String {
        let host = self.url.host_str().unwrap_or("no host");
        match self.url.port() {
            Some(port) => format!("{} ({host}:{port})", self.call()),
            None => format!("{} ({host})", self.call()),
        }
    }
}
