//! The client: attempts, and when one more is worth making.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::attempt;
use crate::body::BodyStream;
use crate::error::HttpError;
use crate::hosts::Hosts;
use crate::limits::{self, RateLimit};
use crate::policy::Policy;
use crate::request::Request;
use crate::response::{Response, says_limit};
use crate::transport::Transport;

/// Without a time budget there is nothing a long wait could fit into.
const LONGEST_WAIT_WITHOUT_BUDGET: Duration = Duration::from_secs(5);
/// A limit without a word about its end: GitHub asks for at least a minute.
const UNSPECIFIED_WAIT: Duration = Duration::from_mins(1);

/// Makes calls by the policy. Clones share connections, turns, counters and the time budget.
///
/// A new client does no work: connections, TLS and the certificate store come with the first call
/// that needs them.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) policy: Policy,
    pub(crate) transport: Transport,
    pub(crate) hosts: Hosts,
    pub(crate) counters: Counting,
    deadline: Mutex<Option<Instant>>,
}

/// What was sent so far, for the report of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Requests that went out, each redirect and each repetition counted.
    pub requests: u64,
    /// Repetitions of a call.
    pub retries: u64,
    /// Answers with status 304.
    pub not_modified: u64,
}

#[derive(Default)]
pub(crate) struct Counting {
    requests: AtomicU64,
    retries: AtomicU64,
    not_modified: AtomicU64,
}

impl Counting {
    pub(crate) fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_not_modified(&self) {
        self.not_modified.fetch_add(1, Ordering::Relaxed);
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("counters", &self.counters())
            .finish_non_exhaustive()
    }
}

impl Client {
    /// A client that follows `policy`. The error names what in the policy cannot be used.
    pub fn new(policy: Policy) -> Result<Self, HttpError> {
        if policy.user_agent.is_empty() || policy.user_agent.chars().any(char::is_control) {
            return Err(HttpError::Setup(
                "the user agent must be one line of text and not empty".to_owned(),
            ));
        }
        Ok(Self {
            inner: Arc::new(Inner {
                transport: Transport::new(&policy),
                hosts: Hosts::new(policy.max_in_flight, policy.max_per_host),
                counters: Counting::default(),
                deadline: Mutex::new(policy.deadline),
                policy,
            }),
        })
    }

    /// Sets when the time budget of the run is used up, for all clones.
    pub fn set_deadline(&self, deadline: Option<Instant>) {
        *self
            .inner
            .deadline
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = deadline;
    }

    /// What was sent so far.
    pub fn counters(&self) -> Counters {
        let counting = &self.inner.counters;
        Counters {
            requests: counting.requests.load(Ordering::Relaxed),
            retries: counting.retries.load(Ordering::Relaxed),
            not_modified: counting.not_modified.load(Ordering::Relaxed),
        }
    }

    /// Makes a call and reads its body. Every status that is not repeated is an answer; a limit
    /// that is not waited out is [`HttpError::Limited`] (see [`Request::retry_statuses`]).
    pub async fn send(&self, request: Request) -> Result<Response, HttpError> {
        self.run(request, async |mut stream: BodyStream| {
            let body = stream.read_to_end().await?;
            Ok(stream.with_body(body))
        })
        .await
    }

    /// Makes a call and leaves its body to the caller, for archives that do not fit in memory.
    /// The stream keeps its place among the calls under way: whoever holds four of one origin and
    /// asks for a fifth waits for itself.
    pub async fn stream(&self, request: Request) -> Result<BodyStream, HttpError> {
        self.run(request, async |stream| Ok(stream)).await
    }

    /// Attempts the call until it is answered, or one more attempt is not worth it.
    async fn run<T>(
        &self,
        request: Request,
        read: impl AsyncFn(BodyStream) -> Result<T, HttpError>,
    ) -> Result<T, HttpError> {
        if let Some(fault) = &request.fault {
            return Err(HttpError::Setup(format!(
                "{}: {fault}",
                request.call_with_host()
            )));
        }
        let inner = &*self.inner;
        let mut attempt = 1;
        loop {
            inner.wait_out_known_limit(&request).await?;
            let last = attempt >= inner.policy.max_attempts;
            let outcome = match inner.attempt(&request, attempt).await {
                Ok(Verdict::Answer(stream)) => read(*stream).await,
                Ok(Verdict::Again(wait, refusal)) => {
                    if !last && inner.fits(&request, wait) {
                        // Gives the turn back before the pause.
                        drop(refusal);
                        inner.pause(wait).await;
                        attempt += 1;
                        continue;
                    }
                    match refusal {
                        Refusal::Limit(limit) => return Err(limited(&request, limit)),
                        Refusal::Answer(stream) => read(*stream).await,
                    }
                }
                Err(error) => Err(error),
            };
            let again = match &outcome {
                // Nothing was sent: safe for any call.
                Err(HttpError::Connect { .. }) => true,
                Err(HttpError::Broken { .. }) => request.idempotent,
                _ => false,
            };
            let wait = inner.backoff(attempt);
            if !again || last || !inner.fits(&request, wait) {
                return outcome;
            }
            inner.pause(wait).await;
            attempt += 1;
        }
    }
}

/// What an answer means for the call.
enum Verdict {
    Answer(Box<BodyStream>),
    /// It is worth waiting this long and asking again; else this is the result.
    Again(Duration, Refusal),
}

enum Refusal {
    Limit(RateLimit),
    Answer(Box<BodyStream>),
}

fn limited(request: &Request, wait: RateLimit) -> HttpError {
    HttpError::Limited {
        service: request.service,
        call: request.call_with_host(),
        wait,
    }
}

impl Inner {
    pub(crate) fn deadline(&self) -> Option<tokio::time::Instant> {
        let deadline = *self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        deadline.map(tokio::time::Instant::from_std)
    }

    /// Whether a wait leaves time for the attempt after it.
    fn fits(&self, request: &Request, wait: Duration) -> bool {
        match self.deadline() {
            Some(deadline) if !request.urgent => tokio::time::Instant::now() + wait < deadline,
            _ => wait <= LONGEST_WAIT_WITHOUT_BUDGET,
        }
    }

    async fn pause(&self, wait: Duration) {
        tokio::time::sleep(wait).await;
        self.counters.retries.fetch_add(1, Ordering::Relaxed);
    }

    /// Doubles with each attempt; half of it is left to chance, so that runs that failed together
    /// do not come back together.
    fn backoff(&self, attempt: u32) -> Duration {
        let full = self.policy.retry_pause * 2_u32.saturating_pow(attempt.saturating_sub(1));
        full.mul_f64(0.5 + fastrand::f64() / 2.0)
    }

    /// A host that asked to be left alone is left alone by all calls of the run.
    async fn wait_out_known_limit(&self, request: &Request) -> Result<(), HttpError> {
        if !request.retry_statuses || request.urgent {
            return Ok(());
        }
        let host = self.hosts.host(&request.url);
        while let Some((left, limit)) = host.limit_left() {
            if !self.fits(request, left) {
                return Err(limited(request, limit));
            }
            tokio::time::sleep(left).await;
        }
        Ok(())
    }

    /// Makes the call once and judges the answer.
    async fn attempt(&self, request: &Request, attempt: u32) -> Result<Verdict, HttpError> {
        let mut stream = attempt::open(self, request).await?;
        let status = stream.status;
        let again = request.idempotent
            && (matches!(status, 502..=504) || (status == 500 && request.retry_server_error));
        if !request.retry_statuses || !(again || matches!(status, 403 | 429)) {
            return Ok(Verdict::Answer(Box::new(stream)));
        }
        // Whether a 403 is a limit may only stand in its body; and a body that has been read
        // leaves the connection fit for the next attempt.
        let body = stream.read_to_end().await?;
        let says_limit = says_limit(&body);
        stream.replay(body);
        if again {
            let asked = stream
                .headers
                .get("retry-after")
                .and_then(limits::retry_after);
            let wait = asked
                .and_then(|limit| limits::wait_from(limit, &stream.headers))
                .unwrap_or_else(|| self.backoff(attempt));
            return Ok(Verdict::Again(wait, Refusal::Answer(Box::new(stream))));
        }
        let Some(limit) = limits::read(status, &stream.headers, says_limit) else {
            return Ok(Verdict::Answer(Box::new(stream)));
        };
        let wait = limits::wait_from(limit, &stream.headers);
        if let Some(wait) = wait {
            self.hosts.host(&stream.url).limited(wait, limit);
        }
        if !request.idempotent {
            return Err(limited(request, limit));
        }
        let unspecified = if status == 429 {
            self.backoff(attempt)
        } else {
            UNSPECIFIED_WAIT
        };
        Ok(Verdict::Again(
            wait.unwrap_or(unspecified),
            Refusal::Limit(limit),
        ))
    }
}
