//! The automation service's key-value store: `{base}/api/automation/v1/kv/{key}`.
//!
//! Modelled on the published automation service (1.26): one version counter per automation over all
//! its keys, conditional writes, creation with `nx`, a size limit that is measured on JSON written
//! with a blank after each comma and colon, bearer tokens that name their automation. Two
//! behaviours: [`Behaviour::Strict`] locks as PostgreSQL does; [`Behaviour::LikeSqlite`] reads,
//! waits and writes without a lock, so that overlapping conditional writers are all told that they
//! won, the later write stands, and the version may even step back.

mod model;
mod routes;
mod size;

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::error::TestbedError;
use crate::server::StandIn;
use model::Model;
pub use size::service_json_bytes;

/// How writers that overlap are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// Check and write are one step, as on PostgreSQL.
    Strict,
    /// Check and write are apart by a window without a lock, as on SQLite. Creating a key stays
    /// exclusive: the loser gets 409, or a bare 500 when it had already passed the check.
    LikeSqlite,
}

/// What the size limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeLimit {
    /// Each value on its own.
    PerValue,
    /// All keys of an automation together, as older services do.
    Sum,
}

/// How the store behaves.
#[derive(Debug, Clone)]
pub struct KvOptions {
    /// How writers that overlap are kept apart.
    pub behaviour: Behaviour,
    /// What the size limit counts.
    pub size_limit: SizeLimit,
    /// The size limit in bytes; 65,536 on the service.
    pub max_bytes: usize,
    /// Milliseconds between check and write in [`Behaviour::LikeSqlite`]; drawn anew each time.
    pub window_ms: RangeInclusive<u64>,
}

impl Default for KvOptions {
    fn default() -> Self {
        Self {
            behaviour: Behaviour::Strict,
            size_limit: SizeLimit::PerValue,
            max_bytes: 65_536,
            window_ms: 5..=15,
        }
    }
}

/// One write that took effect.
#[derive(Debug, Clone)]
pub struct Write {
    /// The automation whose store was written.
    pub automation: String,
    /// The key.
    pub key: String,
    /// What was written; `None` for a deletion.
    pub value: Option<Value>,
    /// The automation's version afterwards.
    pub version: u64,
    /// Another write of the same automation took effect between this one's check and its effect:
    /// the writer did not know what it overwrote.
    pub overlapped: bool,
    /// When it took effect.
    pub at: Instant,
}

/// A running key-value store.
#[derive(Debug)]
pub struct KvStore {
    server: StandIn,
    model: Arc<Mutex<Model>>,
}

/// An API key of a person, who may read and write any automation's keys by `?automation_id=`.
pub const USER_KEY: &str = "person-key";

impl KvStore {
    /// Starts a store with the limits of the current service.
    ///
    /// # Errors
    /// [`TestbedError::Listen`] when no port can be had.
    pub fn start(behaviour: Behaviour) -> Result<Self, TestbedError> {
        Self::start_with(KvOptions {
            behaviour,
            ..KvOptions::default()
        })
    }

    /// Starts a store with these options.
    ///
    /// # Errors
    /// [`TestbedError::Listen`] when no port can be had.
    pub fn start_with(options: KvOptions) -> Result<Self, TestbedError> {
        let model = Arc::new(Mutex::new(Model::new(options)));
        let served = Arc::clone(&model);
        let server = StandIn::start("KV store", |_| routes::router(served))?;
        Ok(Self { server, model })
    }

    /// Log, faults, base URL and the final check.
    pub fn server(&self) -> &StandIn {
        &self.server
    }

    /// What `AUTOMATION_API_URL` holds: ends in `/api/automation`.
    pub fn api_url(&self) -> String {
        self.server.url("/api/automation")
    }

    /// A fresh token for this automation, as a run gets one.
    pub fn token(&self, automation: &str) -> String {
        self.lock().issue_token(automation)
    }

    /// From now on this token is answered with 401, as after 24 hours.
    pub fn expire_token(&self, token: &str) {
        self.lock().expire_token(token);
    }

    /// Whether the service has a KV secret; without one every call is answered with 503.
    pub fn set_secret_configured(&self, configured: bool) {
        self.lock().secret_configured = configured;
    }

    /// The next `n` writes find the store busy: 409 with `Retry-After: 1`.
    pub fn set_busy(&self, n: u32) {
        self.lock().busy = n;
    }

    /// Changes the behaviour while it runs.
    pub fn set_behaviour(&self, behaviour: Behaviour) {
        self.lock().options.behaviour = behaviour;
    }

    /// Changes the size limit while it runs.
    pub fn set_size_limit(&self, size_limit: SizeLimit, max_bytes: usize) {
        let mut model = self.lock();
        model.options.size_limit = size_limit;
        model.options.max_bytes = max_bytes;
    }

    /// The keys of an automation, sorted.
    pub fn keys(&self, automation: &str) -> Vec<String> {
        self.lock().keys(automation)
    }

    /// A value; `None` when there is no such key.
    pub fn value(&self, automation: &str, key: &str) -> Option<Value> {
        let raw = self.raw(automation, key)?;
        serde_json::from_str(&raw).ok()
    }

    /// A value as the very text that was written.
    pub fn raw(&self, automation: &str, key: &str) -> Option<String> {
        self.lock()
            .get(automation, key)
            .map(|entry| entry.raw.clone())
    }

    /// The automation's version; 0 before the first write.
    pub fn version(&self, automation: &str) -> u64 {
        self.lock().version(automation)
    }

    /// Writes a key as if another run had: the version is bumped, the limits do not apply.
    pub fn put(&self, automation: &str, key: &str, value: &Value) {
        self.put_raw(automation, key, &value.to_string());
    }

    /// Writes this text as the value of a key; it is up to the caller whether it is JSON.
    pub fn put_raw(&self, automation: &str, key: &str, raw: &str) {
        let mut model = self.lock();
        let seen = model.seen(automation);
        model.write(automation, key, Some(raw.to_owned()), seen, now());
    }

    /// Deletes a key as if another run had; tells whether it was there.
    pub fn remove(&self, automation: &str, key: &str) -> bool {
        let mut model = self.lock();
        let there = model.get(automation, key).is_some();
        if there {
            let seen = model.seen(automation);
            model.write(automation, key, None, seen, now());
        }
        there
    }

    /// Every write that took effect, oldest first.
    pub fn history(&self) -> Vec<Write> {
        self.lock().history.clone()
    }

    /// Bytes of all values of an automation as the service measures them.
    pub fn total_bytes(&self, automation: &str) -> usize {
        self.lock().total_bytes(automation)
    }

    fn lock(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Seconds since the epoch.
pub(crate) fn now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests;
