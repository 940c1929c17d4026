//! GitHub's rate limits: the hourly budget with its headers, and the refusals that secondary limits
//! give. From "Rate limits for the REST API": both 403 and 429 can mean a limit, `retry-after`
//! counts seconds, `x-ratelimit-reset` is in seconds since the epoch.

use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::rest::Reply;

/// Seconds that a budget is for.
const WINDOW: f64 = 3_600.0;

/// A way to say "slow down".
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Refusal {
    /// 403 with a secondary limit's text, and the seconds to wait if it names them.
    Secondary(Option<u64>),
    /// 429, and the seconds to wait if it names them.
    TooMany(Option<u64>),
    /// 403 because the budget is used up until this moment, seconds since the epoch.
    Exhausted(u64),
}

/// The budget of a GitHub: one for all tokens, which is what a run with one token sees.
#[derive(Debug)]
pub(super) struct Limits {
    pub(super) limit: u64,
    pub(super) remaining: u64,
    /// When the budget is filled up; `None` until the first request.
    pub(super) reset: Option<f64>,
    pub(super) refusals: VecDeque<Refusal>,
}

impl Limits {
    pub(super) fn new() -> Self {
        Self {
            limit: 5_000,
            remaining: 5_000,
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
        if let Some(refusal) = self.refusals.pop_front() {
            return Some(refusal.reply());
        }
        if self.remaining == 0 {
            return Some(Refusal::Exhausted(whole_seconds(self.reset_at(now))).reply());
        }
        self.remaining -= 1;
        None
    }

    /// Gives back a request that is not counted.
    pub(super) fn give_back(&mut self) {
        self.remaining = self.limit.min(self.remaining + 1);
    }

    fn reset_at(&self, now: f64) -> f64 {
        self.reset.unwrap_or(now + WINDOW)
    }

    /// The headers of an answer; those that the answer brings itself stay.
    pub(super) fn headers(&self, now: f64, mut reply: Reply) -> Reply {
        let figures = [
            ("x-ratelimit-limit", self.limit),
            ("x-ratelimit-remaining", self.remaining),
            ("x-ratelimit-used", self.limit - self.remaining),
            ("x-ratelimit-reset", whole_seconds(self.reset_at(now))),
        ];
        for (name, figure) in figures {
            if !reply.headers.iter().any(|(have, _)| have == name) {
                reply = reply.header(name, figure.to_string());
            }
        }
        reply.header("x-ratelimit-resource", "core")
    }

    /// The answer of `GET /rate_limit`.
    pub(super) fn overview(&self, now: f64) -> Value {
        let core = json!({
            "limit": self.limit,
            "remaining": self.remaining,
            "reset": whole_seconds(self.reset_at(now)),
            "used": self.limit - self.remaining,
        });
        let search = json!({
            "limit": 30,
            "remaining": 30,
            "reset": whole_seconds(now + 60.0),
            "used": 0,
        });
        json!({"resources": {"core": core, "search": search, "graphql": core}, "rate": core})
    }
}

impl Refusal {
    fn reply(self) -> Reply {
        let (status, message, wait) = match self {
            Self::Secondary(wait) => (403, "You have exceeded a secondary rate limit.", wait),
            Self::TooMany(wait) => (429, "Too many requests", wait),
            Self::Exhausted(_) => (403, "API rate limit exceeded for user ID 1.", None),
        };
        let mut reply = super::replies::error(status, message, "/rest/rate-limit");
        if let Some(seconds) = wait {
            reply = reply.header("retry-after", seconds.to_string());
        }
        if let Self::Exhausted(reset) = self {
            reply = reply
                .header("x-ratelimit-remaining", "0")
                .header("x-ratelimit-reset", reset.to_string());
        }
        reply
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float cast saturates, and a moment of a test fits"
)]
fn whole_seconds(epoch: f64) -> u64 {
    epoch as u64
}
