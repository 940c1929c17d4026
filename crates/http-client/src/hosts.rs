//! Turns: at most so many calls at once, over all and to one origin; and what is known about an
//! origin within this run: that it has just not answered, or asked to be left alone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use url::Url;

use crate::limits::RateLimit;

/// A host that kept silent is left alone for this long at most.
const LONGEST_SILENCE: Duration = Duration::from_secs(30);

/// The right to have one call under way. Held until its body has been read.
pub(crate) struct Turn {
    _permits: Option<(OwnedSemaphorePermit, OwnedSemaphorePermit)>,
}

/// All origins that were talked to.
pub(crate) struct Hosts {
    all: Arc<Semaphore>,
    per_host: usize,
    by_origin: Mutex<HashMap<String, Arc<Host>>>,
}

/// One origin.
pub(crate) struct Host {
    turns: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    answered_at: Option<Instant>,
    silent_until: Option<Instant>,
    limited: Option<(Instant, RateLimit)>,
}

impl Hosts {
    pub(crate) fn new(max_in_flight: usize, max_per_host: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(max_in_flight.max(1))),
            per_host: max_per_host.max(1),
            by_origin: Mutex::new(HashMap::new()),
        }
    }

    pub(crate) fn host(&self, url: &Url) -> Arc<Host> {
        let origin = url.origin().ascii_serialization();
        let mut hosts = self
            .by_origin
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Arc::clone(hosts.entry(origin).or_insert_with(|| {
            Arc::new(Host {
                turns: Arc::new(Semaphore::new(self.per_host)),
                state: Mutex::new(State::default()),
            })
        }))
    }

    /// Waits for a turn at a host, then for one over all: so that those who wait for a slow host
    /// do not keep others from theirs.
    pub(crate) async fn turn(&self, host: &Host) -> Turn {
        let own = Arc::clone(&host.turns).acquire_owned().await;
        let all = Arc::clone(&self.all).acquire_owned().await;
        // Neither semaphore is ever closed.
        Turn {
            _permits: own.ok().zip(all.ok()),
        }
    }
}

impl Turn {
    /// A call that waits for nobody.
    pub(crate) fn out_of_line() -> Self {
        Self { _permits: None }
    }
}

impl Host {
    fn state<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes that the host has answered something.
    pub(crate) fn answered(&self) {
        self.state(|state| {
            state.answered_at = Some(Instant::now());
            state.silent_until = None;
        });
    }

    /// Notes that a call made at `since` ran into the usual limit. Unless something else was
    /// answered meanwhile, the host is left alone for as long as it has kept us waiting.
    pub(crate) fn kept_silent(&self, since: Instant) {
        self.state(|state| {
            if state.answered_at.is_none_or(|at| at < since) {
                state.silent_until = Some(Instant::now() + since.elapsed().min(LONGEST_SILENCE));
            }
        });
    }

    /// Whether the host has just kept silent.
    pub(crate) fn is_silent(&self) -> bool {
        self.state(|state| {
            state
                .silent_until
                .is_some_and(|until| Instant::now() < until)
        })
    }

    /// Notes that the host asked to be left alone.
    pub(crate) fn limited(&self, wait: Duration, limit: RateLimit) {
        self.state(|state| state.limited = Some((Instant::now() + wait, limit)));
    }

    /// How long the host still wants to be left alone.
    pub(crate) fn limit_left(&self) -> Option<(Duration, RateLimit)> {
        self.state(|state| {
            let (until, limit) = state.limited?;
            let left = until.saturating_duration_since(Instant::now());
            (!left.is_zero()).then_some((left, limit))
        })
    }
}
