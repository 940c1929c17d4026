//! Faults that can be switched on in any stand-in: what real networks and services do on bad days.
//!
//! A fault picks requests by method and path, applies a number of times and then is spent. Without
//! [`Fault::after_effect`] a fault that replaces the answer keeps the request away from the model;
//! with it the model acts first and only the answer is spoilt, as when an answer is lost.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What a fault does to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Nothing but the delay.
    Delay,
    /// This answer in place of the real one.
    Answer {
        /// The status code.
        status: u16,
        /// Header names and values.
        headers: Vec<(String, String)>,
        /// The body.
        body: Vec<u8>,
    },
    /// The real status and headers with another body and content type.
    Body {
        /// The content type.
        content_type: String,
        /// The body.
        body: Vec<u8>,
    },
    /// The connection is reset (RST) before a byte of the answer.
    Reset,
    /// The request is read and never answered; the line stays open.
    Hang,
    /// Headers that promise the whole body, half of it, then the line is closed.
    HalfThenClose,
    /// Headers that promise the whole body, half of it, then silence on an open line.
    HalfThenHang,
    /// The whole answer, a few bytes at a time.
    Drip {
        /// Bytes sent at once.
        bytes: usize,
        /// Pause between two portions.
        pause: Duration,
    },
}

/// A fault with the requests it is meant for. It applies once unless said otherwise.
#[derive(Debug, Clone)]
pub struct Fault {
    pub(crate) effect: Effect,
    method: String,
    path: PathPick,
    left: Option<u32>,
    skip: u32,
    pub(crate) after_effect: bool,
    pub(crate) delay: Option<Duration>,
}

#[derive(Debug, Clone)]
enum PathPick {
    Any,
    Contains(String),
    Prefix(String),
}

impl Fault {
    fn new(effect: Effect, after_effect: bool) -> Self {
        let (method, path) = ("*".to_owned(), PathPick::Any);
        Self {
            effect,
            method,
            path,
            left: Some(1),
            skip: 0,
            after_effect,
            delay: None,
        }
    }

    /// Answers with this status and a small JSON body `{"detail": "fault"}`.
    pub fn status(status: u16) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        let body = br#"{"detail":"fault"}"#.to_vec();
        Self::new(
            Effect::Answer {
                status,
                headers,
                body,
            },
            false,
        )
    }

    /// Resets the connection without an answer and without an effect.
    pub fn reset() -> Self {
        Self::new(Effect::Reset, false)
    }

    /// Lets the request have its effect and resets the connection in place of the answer.
    pub fn answer_lost() -> Self {
        Self::new(Effect::Reset, true)
    }

    /// Never answers; the line stays open.
    pub fn hang() -> Self {
        Self::new(Effect::Hang, false)
    }

    /// Sends half the body that the headers promise and closes the line.
    pub fn half_then_close() -> Self {
        Self::new(Effect::HalfThenClose, true)
    }

    /// Sends half the body that the headers promise and keeps the line open, silent.
    pub fn half_then_hang() -> Self {
        Self::new(Effect::HalfThenHang, true)
    }

    /// Sends the answer in portions of `bytes` with a pause after each.
    pub fn drip(bytes: usize, pause: Duration) -> Self {
        Self::new(
            Effect::Drip {
                bytes: bytes.max(1),
                pause,
            },
            true,
        )
    }

    /// Keeps the status of the real answer but sends another body and content type.
    pub fn wrong_body(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let content_type = content_type.to_owned();
        Self::new(
            Effect::Body {
                content_type,
                body: body.into(),
            },
            true,
        )
    }

    /// Only makes the request wait before the model sees it.
    pub fn delay(by: Duration) -> Self {
        let mut fault = Self::new(Effect::Delay, true);
        fault.delay = Some(by);
        fault
    }

    /// Applies to this method (`*` = any) where path and query contain `path_part`.
    #[must_use]
    pub fn on(mut self, method: &str, path_part: &str) -> Self {
        method.clone_into(&mut self.method);
        self.path = PathPick::Contains(path_part.to_owned());
        self
    }

    /// Applies to this method (`*` = any) where the path starts with `prefix`.
    #[must_use]
    pub fn on_prefix(mut self, method: &str, prefix: &str) -> Self {
        method.clone_into(&mut self.method);
        self.path = PathPick::Prefix(prefix.to_owned());
        self
    }

    /// Applies to `n` requests.
    #[must_use]
    pub fn times(mut self, n: u32) -> Self {
        self.left = Some(n);
        self
    }

    /// Applies until it is removed.
    #[must_use]
    pub fn always(mut self) -> Self {
        self.left = None;
        self
    }

    /// Lets the first `n` requests that it is meant for pass.
    #[must_use]
    pub fn skip(mut self, n: u32) -> Self {
        self.skip = n;
        self
    }

    /// Lets the model act first, so that only the answer is spoilt.
    #[must_use]
    pub fn after_effect(mut self) -> Self {
        self.after_effect = true;
        self
    }

    /// Waits before anything else happens.
    #[must_use]
    pub fn delayed(mut self, by: Duration) -> Self {
        self.delay = Some(by);
        self
    }

    /// Adds a header to the answer of [`Fault::status`], replacing one of that name.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Effect::Answer { headers, .. } = &mut self.effect {
            headers.retain(|(have, _)| !have.eq_ignore_ascii_case(name));
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Sets the body of the answer of [`Fault::status`].
    #[must_use]
    pub fn body(mut self, content_type: &str, text: impl Into<Vec<u8>>) -> Self {
        if let Effect::Answer { body, .. } = &mut self.effect {
            *body = text.into();
        }
        self.header("content-type", content_type)
    }

    fn is_for(&self, method: &str, path: &str, target: &str) -> bool {
        let path_fits = match &self.path {
            PathPick::Any => true,
            PathPick::Contains(part) => target.contains(part.as_str()),
            PathPick::Prefix(prefix) => path.starts_with(prefix.as_str()),
        };
        path_fits && (self.method == "*" || self.method.eq_ignore_ascii_case(method))
    }
}

/// Names a fault that was added, so that it can be asked about and removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultId(u64);

#[derive(Debug)]
struct Entry {
    id: u64,
    fault: Fault,
    hits: u32,
}

#[derive(Debug, Default)]
struct Inner {
    entries: Vec<Entry>,
    next: u64,
    latency: Duration,
}

/// The faults of one stand-in. Of several that fit a request, the one added first applies.
#[derive(Debug, Default)]
pub struct Faults {
    inner: Mutex<Inner>,
}

impl Faults {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Switches a fault on.
    pub fn add(&self, fault: Fault) -> FaultId {
        let mut inner = self.lock();
        inner.next += 1;
        let id = inner.next;
        inner.entries.push(Entry { id, fault, hits: 0 });
        FaultId(id)
    }

    /// Switches a fault off; it keeps its count.
    pub fn remove(&self, id: FaultId) {
        if let Some(entry) = self.lock().entries.iter_mut().find(|e| e.id == id.0) {
            entry.fault.left = Some(0);
        }
    }

    /// Switches all faults off and forgets their counts; the latency stays.
    pub fn clear(&self) {
        self.lock().entries.clear();
    }

    /// How often a fault has been applied.
    pub fn hits(&self, id: FaultId) -> u32 {
        self.lock()
            .entries
            .iter()
            .find(|e| e.id == id.0)
            .map_or(0, |e| e.hits)
    }

    /// How many limited faults have not been applied as often as was asked for: a test that
    /// expects its faults to bite checks that this is 0.
    pub fn unspent(&self) -> usize {
        self.lock()
            .entries
            .iter()
            .filter(|e| e.fault.left.is_some_and(|left| left > 0))
            .count()
    }

    /// Makes every request wait this long, as if the service were that far away.
    pub fn set_latency(&self, latency: Duration) {
        self.lock().latency = latency;
    }

    pub(crate) fn latency(&self) -> Duration {
        self.lock().latency
    }

    /// The fault for this request, if any; counts it as applied.
    pub(crate) fn take(&self, method: &str, path: &str, target: &str) -> Option<Fault> {
        let mut inner = self.lock();
        for entry in &mut inner.entries {
            if entry.fault.left == Some(0) || !entry.fault.is_for(method, path, target) {
                continue;
            }
            if entry.fault.skip > 0 {
                entry.fault.skip -= 1;
                continue;
            }
            entry.fault.left = entry.fault.left.map(|left| left - 1);
            entry.hits += 1;
            return Some(entry.fault.clone());
        }
        None
    }
}
