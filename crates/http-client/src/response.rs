//! An answer: status, headers, body, and what can be read out of them.

use reqwest::header::HeaderMap;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use url::Url;

use crate::error::HttpError;
use crate::limits::{self, RateLimit};
use crate::link;
use crate::secret::{Secret, redact};

/// Characters of a body that an error shows.
const SNIPPET_CHARS: usize = 200;
/// Bytes of a body that are looked at for them; one word of this length is no secret.
const MOST_READ: usize = 16 * 1024;

/// The headers of an answer.
#[derive(Debug, Clone, Default)]
pub struct Headers(pub(crate) HeaderMap);

impl Headers {
    /// The value of a header, by its name in any case; `None` when it is absent or no text.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(|value| value.to_str().ok())
    }
}

/// An answer whose body has been read. Any status that was not repeated ends up here; [`Response::ok`]
/// turns a failure into an error.
///
/// `url` may hold a one-time token in its query: it is for resolving links, not for a log.
#[derive(Clone)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: Headers,
    /// The address that answered in the end: the base for relative links.
    pub url: Url,
    /// Whether a redirect was followed.
    pub redirected: bool,
    /// Whether all redirects that were followed were permanent ones (301, 308), and there was one.
    pub moved_permanently: bool,
    /// The body, decompressed.
    pub body: Vec<u8>,
    /// The name that the request gave the service.
    pub service: &'static str,
    /// The method (`GET`).
    pub method: String,
    pub(crate) about: About,
}

/// What an answer knows about the request it belongs to.
#[derive(Clone)]
pub(crate) struct About {
    /// The address that was asked.
    pub(crate) asked: Url,
    /// The call in words, with the host.
    pub(crate) call: String,
    /// What must not appear in an error.
    pub(crate) secrets: Vec<Secret>,
}

impl std::fmt::Debug for Response {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Response")
            .field("call", &self.about.call)
            .field("status", &self.status)
            .field("redirected", &self.redirected)
            .field("body", &self.snippet())
            .finish_non_exhaustive()
    }
}

impl Response {
    /// The answer itself when its status is 2xx, else [`HttpError::Status`].
    pub fn ok(self) -> Result<Self, HttpError> {
        if (200..300).contains(&self.status) {
            Ok(self)
        } else {
            Err(self.status_error())
        }
    }

    /// The error that this status means, with the start of the body.
    pub fn status_error(&self) -> HttpError {
        HttpError::Status {
            service: self.service,
            call: self.about.call.clone(),
            status: self.status,
            snippet: self.snippet(),
        }
    }

    /// The body as JSON; a byte order mark before it is accepted. [`HttpError::Body`] names
    /// service, call and status, and shows the start of what came instead.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, HttpError> {
        let body = self
            .body
            .strip_prefix(b"\xEF\xBB\xBF")
            .unwrap_or(&self.body);
        if body.is_empty() {
            return Err(self.body_error("JSON was expected, and the body is empty"));
        }
        serde_json::from_slice(body).map_err(|error| {
            let detail = match error.classify() {
                serde_json::error::Category::Data => format!("the JSON has another shape: {error}"),
                _ => format!("it is no JSON: {error}"),
            };
            self.body_error(&detail)
        })
    }

    /// An error about the body of this answer, for callers that find more wrong with it.
    pub fn body_error(&self, detail: &str) -> HttpError {
        HttpError::Body {
            service: self.service,
            call: self.about.call.clone(),
            status: self.status,
            detail: redact(detail, &self.secrets()),
            snippet: self.snippet(),
        }
    }

    /// The next page (`Link` with `rel="next"`, RFC 8288), as it is given. `None` when there is
    /// none, and also when it lies on another origin than the one that was asked: no credential
    /// may go there. Where a missing page must not pass for the end, use [`Response::next_page`].
    pub fn next_link(&self) -> Option<Url> {
        self.next_page().ok().flatten()
    }

    /// The next page, or an error when the answer names one that cannot be asked: a list that
    /// ends there is not complete.
    pub fn next_page(&self) -> Result<Option<Url>, HttpError> {
        let links = self
            .headers
            .0
            .get_all("link")
            .iter()
            .filter_map(|value| value.to_str().ok());
        let Some(target) = links.into_iter().find_map(link::next_link) else {
            return Ok(None);
        };
        let next = self.url.join(target).map_err(|_| {
            self.body_error("the address of the next page in its Link header is no address")
        })?;
        if next.origin() == self.about.asked.origin() {
            Ok(Some(next))
        } else {
            Err(self.body_error(&format!(
                "its next page lies on another host ({}) than the one that was asked",
                next.host_str().unwrap_or("none"),
            )))
        }
    }

    /// The limit that this answer states: a 429 always, a 403 when its headers or its body say so.
    pub fn limit(&self) -> Option<RateLimit> {
        limits::read(self.status, &self.headers, says_limit(&self.body))
    }

    /// `Retry-After`, on any status.
    pub fn retry_after(&self) -> Option<RateLimit> {
        self.headers
            .get("retry-after")
            .and_then(limits::retry_after)
    }

    /// The call in words: `GET /repos/a/b/pulls`.
    pub fn call(&self) -> String {
        format!("{} {}", self.method, self.about.asked.path())
    }

    /// A short start of the body on one line, without control characters and secrets.
    pub fn snippet(&self) -> String {
        snippet(&self.body, &self.secrets())
    }

    fn secrets(&self) -> Vec<&Secret> {
        self.about.secrets.iter().collect()
    }
}

/// Whether the body of a 403 speaks of a rate limit (GitHub words secondary limits that way).
pub(crate) fn says_limit(body: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&body[..body.len().min(4096)]).to_ascii_lowercase();
    start.contains("rate limit") || start.contains("abuse detection")
}

/// The start of a body that is to be redacted and then shortened. It ends between words: half a
/// secret is not recognised any more.
pub fn start_of_text(body: &[u8]) -> Cow<'_, str> {
    let Some(start) = body.get(..MOST_READ) else {
        return String::from_utf8_lossy(body);
    };
    let blank = start.iter().rposition(u8::is_ascii_whitespace);
    String::from_utf8_lossy(blank.map_or(start, |blank| &start[..blank]))
}

pub(crate) fn snippet(body: &[u8], secrets: &[&Secret]) -> String {
    let clean = redact(&start_of_text(body), secrets);
    let mut line = String::new();
    for word in clean.split(|c: char| c.is_whitespace() || c.is_control() || c == '\u{feff}') {
        if word.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > SNIPPET_CHARS * 4 {
            break;
        }
    }
    match line.char_indices().nth(SNIPPET_CHARS) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
