//! GitLab's rate limit: a budget a minute with its headers, and the plain 429 of the middleware.
//! From "Rate limits" in GitLab's documentation: `RateLimit-Reset` is in seconds since the epoch,
//! `Retry-After` counts seconds, the refusal is text.

use std::collections::VecDeque;

use crate::rest::Reply;

const WINDOW: f64 = 60.0;

/// The budget of an instance: one for all tokens, which is what a run with one token sees.
#[derive(Debug)]
pub(super) struct Limits {
    pub(super) limit: u64,
    pub(super) remaining: u64,
    pub(super) reset: Option<f64>,
    /// Refusals to come, with the seconds to wait if they name them.
    pub(super) refusals: VecDeque<Option<u64>>,
}

impl Limits {
    pub(super) fn new() -> Self {
        Self {
            limit: 2_000,
            remaining: 2_000,
            reset: None,
            refusals: VecDeque::new(),
        }
    }

    /// Counts a request. `Some` is the refusal that it gets.
    pub(super) fn take(&mut self, now: f64) -> Option<Reply> {
        let reset = *self.reset.get_or_insert(now + WINDOW);
        if now >= reset {
            self.remaining = self.limit;
            self.reset = Some(now + WINDOW);
        }
        if let Some(wait) = self.refusals.pop_front() {
            return Some(refusal(wait));
        }
        if self.remaining == 0 {
            return Some(refusal(Some(whole((reset - now).ceil()))));
        }
        self.remaining -= 1;
        None
    }

    /// The headers of an answer.
    pub(super) fn headers(&self, now: f64, reply: Reply) -> Reply {
        let reset = self.reset.unwrap_or(now + WINDOW);
        reply
            .header("ratelimit-limit", self.limit.to_string())
            .header("ratelimit-name", "throttle_authenticated_api")
            .header(
                "ratelimit-observed",
                (self.limit - self.remaining).to_string(),
            )
            .header("ratelimit-remaining", self.remaining.to_string())
            .header("ratelimit-reset", whole(reset).to_string())
    }
}

fn refusal(wait: Option<u64>) -> Reply {
    let reply = Reply::bytes(429, "text/plain", "Retry later\n");
    match wait {
        Some(seconds) => reply.header("retry-after", seconds.to_string()),
        None => reply,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float cast saturates, and a moment of a test fits"
)]
fn whole(seconds: f64) -> u64 {
    seconds as u64
}
