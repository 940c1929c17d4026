//! The log of what a stand-in was asked: every request with its body and how it was answered.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::Value;

/// At most this many bytes of a request body are kept in the log.
pub const KEPT_BODY_BYTES: usize = 2 * 1024 * 1024;

/// One request as it arrived, and how it was answered.
#[derive(Debug, Clone)]
pub struct Logged {
    /// Counts from 1 in the order of arrival.
    pub number: u64,
    /// `GET`, `POST`, …
    pub method: String,
    /// The path as it was sent, percent-encoding included.
    pub path: String,
    /// The query as it was sent, without the question mark; empty when there is none.
    pub query: String,
    /// Header names in lower case with their values, in the order they came.
    pub headers: Vec<(String, String)>,
    /// The body, cut at [`KEPT_BODY_BYTES`].
    pub body: Vec<u8>,
    /// The whole length of the body in bytes.
    pub body_bytes: usize,
    /// Number of the connection it came on; requests that share a connection share the number.
    pub connection: u64,
    /// When it arrived.
    pub at: Instant,
    /// Status of the answer; `None` while there is none (hung, reset, still working).
    pub status: Option<u16>,
    /// The fault that was applied, in words.
    pub fault: Option<String>,
    /// Why the stand-in did not expect this request.
    pub unexpected: Option<String>,
}

impl Logged {
    /// The first value of a header; names compare without regard to case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(have, _)| have.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The body as JSON; `None` when it is not JSON.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }

    /// The body as text, with replacement characters where it is not UTF-8.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Path and query as they stood in the request line.
    pub fn target(&self) -> String {
        if self.query.is_empty() {
            self.path.clone()
        } else {
            format!("{}?{}", self.path, self.query)
        }
    }

    /// The value of a query parameter, decoded.
    pub fn query_value(&self, name: &str) -> Option<String> {
        url::form_urlencoded::parse(self.query.as_bytes())
            .find(|(have, _)| have == name)
            .map(|(_, value)| value.into_owned())
    }

    /// One line for messages: `#3 GET /path?query -> 200`.
    pub fn line(&self) -> String {
        let status = self
            .status
            .map_or_else(|| "no answer".to_owned(), |s| s.to_string());
        format!(
            "#{} {} {} -> {status}",
            self.number,
            self.method,
            self.target()
        )
    }

    pub(crate) fn is(&self, method: &str, path_part: &str) -> bool {
        (method == "*" || self.method.eq_ignore_ascii_case(method))
            && self.target().contains(path_part)
    }
}

#[derive(Debug, Default)]
struct Inner {
    requests: Vec<Logged>,
    forgotten: u64,
    in_flight: usize,
    max_in_flight: usize,
}

/// Every request a stand-in has received, in the order of arrival.
#[derive(Debug, Default)]
pub struct RequestLog {
    inner: Mutex<Inner>,
}

impl RequestLog {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All requests so far.
    pub fn all(&self) -> Vec<Logged> {
        self.lock().requests.clone()
    }

    /// The requests with this method (`*` = any) whose path and query contain `path_part`.
    pub fn matching(&self, method: &str, path_part: &str) -> Vec<Logged> {
        let inner = self.lock();
        inner
            .requests
            .iter()
            .filter(|r| r.is(method, path_part))
            .cloned()
            .collect()
    }

    /// How many requests [`matching`](Self::matching) would give.
    pub fn count(&self, method: &str, path_part: &str) -> usize {
        self.lock()
            .requests
            .iter()
            .filter(|r| r.is(method, path_part))
            .count()
    }

    /// The newest request with this method and path part.
    pub fn last(&self, method: &str, path_part: &str) -> Option<Logged> {
        self.lock()
            .requests
            .iter()
            .rfind(|r| r.is(method, path_part))
            .cloned()
    }

    /// How many requests there were since the last [`clear`](Self::clear).
    pub fn len(&self) -> usize {
        self.lock().requests.len()
    }

    /// Whether nothing has been asked since the last [`clear`](Self::clear).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many requests were being answered at once, at most, since the last clear.
    pub fn max_in_flight(&self) -> usize {
        self.lock().max_in_flight
    }

    /// How many requests are being answered now; a hung one counts until its client gives up.
    pub fn in_flight(&self) -> usize {
        self.lock().in_flight
    }

    /// One line a request, for messages and for `cargo xtask dev`.
    pub fn lines(&self) -> Vec<String> {
        self.lock().requests.iter().map(Logged::line).collect()
    }

    /// Forgets what has been asked so far, the unexpected included; numbers go on counting.
    pub fn clear(&self) {
        let mut inner = self.lock();
        inner.forgotten += inner.requests.len() as u64;
        inner.requests.clear();
        inner.max_in_flight = inner.in_flight;
    }

    pub(crate) fn unexpected(&self) -> Vec<String> {
        let inner = self.lock();
        let lines = inner.requests.iter().filter_map(|request| {
            let reason = request.unexpected.as_ref()?;
            Some(format!("{} ({reason})", request.line()))
        });
        lines.collect()
    }

    /// Enters a request and gives it its number.
    pub(crate) fn enter(&self, mut request: Logged) -> u64 {
        let mut inner = self.lock();
        inner.in_flight += 1;
        inner.max_in_flight = inner.max_in_flight.max(inner.in_flight);
        request.number = inner.forgotten + inner.requests.len() as u64 + 1;
        let number = request.number;
        inner.requests.push(request);
        number
    }

    pub(crate) fn amend(&self, number: u64, change: impl FnOnce(&mut Logged)) {
        let mut inner = self.lock();
        if let Some(request) = inner.requests.iter_mut().rfind(|r| r.number == number) {
            change(request);
        }
    }

    pub(crate) fn leave(&self) {
        let mut inner = self.lock();
        inner.in_flight = inner.in_flight.saturating_sub(1);
    }
}
