//! What a store is opened with, as values. This crate reads no environment.

use http_client::Secret;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Where state lives and who writes it: what the environment of a run says about it.
#[derive(Clone, Debug)]
pub struct StoreEnv {
    /// `AUTOMATION_API_URL`, ends in `/api/automation`.
    pub kv_url: Option<String>,
    /// `AUTOMATION_KV_TOKEN`.
    pub kv_token: Option<Secret>,
    /// `WORKSPACE_BASE`.
    pub workspace_base: Option<PathBuf>,
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// Id of the run; every document that is written says which run wrote it.
    pub run_id: String,
    /// How many documents this automation has: each may take an even share of the room.
    pub targets: usize,
    /// Opened for looking only: nothing is written, not even to set aside what is damaged.
    pub read_only: bool,
    /// How long to wait, how often to try.
    pub timing: Timing,
}

impl Default for StoreEnv {
    fn default() -> Self {
        Self {
            kv_url: None,
            kv_token: None,
            workspace_base: None,
            home: None,
            run_id: "local".into(),
            targets: 1,
            read_only: false,
            timing: Timing::default(),
        }
    }
}

/// How long a store waits and how often it tries.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// How long the lock of a file is waited for.
    pub lock_wait: Duration,
    /// How long an accepted write is left alone before it is read back: once to twice this, longer
    /// where reading and writing took longer. The service may let two conditional writes win that
    /// start up to 20 ms apart.
    pub settle: Duration,
    /// Pause after the first conflict; it grows to thirty times this, and half of each pause is
    /// left to chance.
    pub pause: Duration,
    /// How often a change is tried against other writers.
    pub attempts: u32,
    /// How often a service that is busy or answers with a server error is asked.
    pub tries: u32,
    /// The longest `Retry-After` that is waited for.
    pub longest_wait: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            lock_wait: Duration::from_secs(10),
            settle: Duration::from_millis(30),
            pause: Duration::from_millis(10),
            attempts: 30,
            tries: 4,
            longest_wait: Duration::from_secs(5),
        }
    }
}

impl Timing {
    /// Short pauses, for tests against stand-ins whose writers overlap within `window` at most.
    pub fn quick(window: Duration) -> Self {
        Self {
            lock_wait: Duration::from_secs(5),
            settle: window,
            pause: Duration::from_millis(1),
            longest_wait: Duration::from_millis(2),
            ..Self::default()
        }
    }

    /// The pause before attempt `attempt` (from 2 on).
    pub(crate) fn backoff(&self, attempt: u32) -> Duration {
        let full = self.pause * 2_u32.saturating_pow(attempt.saturating_sub(2)).min(30);
        full.mul_f64(0.5 + fastrand::f64() / 2.0)
    }

    /// The pause before a service is asked again for the `attempt`th time: what it asks for, within
    /// bounds, else a growing one.
    pub(crate) fn wait_for_service(&self, asked: Option<Duration>, attempt: u32) -> Duration {
        let own = self.backoff(attempt) * 10;
        asked
            .map_or(own, |asked| asked.saturating_add(self.backoff(attempt)))
            .min(self.longest_wait)
    }

    /// How long a write is left alone that took `took` from reading to writing.
    pub(crate) fn settling(&self, took: Duration) -> Duration {
        self.settle
            .max(took * 2)
            .mul_f64(1.0 + fastrand::f64())
            .min(self.longest_settle())
    }

    fn longest_settle(&self) -> Duration {
        self.settle * 40
    }
}

/// Names every write, so that one's own is recognised: `{run_id}/{counter}`.
#[derive(Debug)]
pub(crate) struct Signature {
    run_id: String,
    counter: AtomicU32,
}

impl Signature {
    pub(crate) fn new(run_id: &str) -> Self {
        // Another process may write under the same run id (a run without one is called `local`),
        // so the counter does not start at one.
        Self {
            run_id: lifecycle::text::cut_bytes(run_id, 80),
            counter: AtomicU32::new(fastrand::u32(..)),
        }
    }

    pub(crate) fn next(&self) -> String {
        format!(
            "{}/{}",
            self.run_id,
            self.counter.fetch_add(1, Ordering::Relaxed)
        )
    }
}
