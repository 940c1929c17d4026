//! A key-value service in memory, for tests and simulations.
//!
//! It behaves as the real ones do, in both kinds, and every call lets other tasks go first, before
//! its effect and after it: a task that is dropped at such a point has lost its answer.

use crate::kv::{Condition, KvStore, Put, Wire};
use crate::location::Slot;
use crate::settings::StoreEnv;
use lifecycle::ports::StoreError;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

/// A store in memory. It runs the transactions of the KV store; only the wire is another.
pub type MemoryStore = KvStore<Memory>;

/// What a memory does with writers that overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// Check and write are one step.
    Exclusive,
    /// All conditional writers that overlap are told that they won; the last write stands.
    LastWins,
}

/// The memory of one automation. Clones share it; stores opened on it are like runs that overlap.
///
/// ```
/// use lifecycle::document::REVIEW;
/// use state_store::{Memory, Overlap, Slot, StoreEnv};
///
/// let memory = Memory::new(Overlap::LastWins);
/// let slot = Slot::new(&REVIEW, None, "acme/widget");
/// let store = memory.open(slot, &StoreEnv { run_id: "run-1".into(), ..StoreEnv::default() });
/// ```
#[derive(Clone, Debug)]
pub struct Memory {
    inner: Rc<RefCell<Inner>>,
    overlap: Overlap,
}

#[derive(Debug, Default)]
struct Inner {
    version: u64,
    values: BTreeMap<String, Value>,
}

impl Memory {
    /// An empty memory.
    pub fn new(overlap: Overlap) -> Self {
        Self {
            inner: Rc::default(),
            overlap,
        }
    }

    /// A store for a slot in this memory.
    pub fn open(&self, slot: Slot, env: &StoreEnv) -> MemoryStore {
        KvStore::new(self.clone(), slot, env)
    }

    /// A value, at once.
    pub fn value(&self, key: &str) -> Option<Value> {
        self.inner.borrow().values.get(key).cloned()
    }

    /// Writes a value, at once.
    pub fn put_value(&self, key: &str, value: Value) {
        let mut inner = self.inner.borrow_mut();
        inner.version += 1;
        inner.values.insert(key.to_owned(), value);
    }

    /// Deletes a value, at once; tells whether it was there.
    pub fn remove_value(&self, key: &str) -> bool {
        let mut inner = self.inner.borrow_mut();
        inner.version += 1;
        inner.values.remove(key).is_some()
    }

    /// All keys, sorted.
    pub fn all_keys(&self) -> Vec<String> {
        self.inner.borrow().values.keys().cloned().collect()
    }

    fn holds(&self, key: &str, condition: Condition) -> bool {
        let inner = self.inner.borrow();
        match condition {
            Condition::Absent => !inner.values.contains_key(key),
            Condition::Version(version) => inner.version == version,
            Condition::None => true,
        }
    }
}

impl Wire for Memory {
    async fn get(&self, key: &str) -> Result<Option<(Value, u64)>, StoreError> {
        others_first().await;
        let found = {
            let inner = self.inner.borrow();
            inner
                .values
                .get(key)
                .map(|value| (value.clone(), inner.version))
        };
        others_first().await;
        Ok(found)
    }

    async fn put(&self, key: &str, value: &Value, condition: Condition) -> Result<Put, StoreError> {
        others_first().await;
        if !self.holds(key, condition) {
            return Ok(Put::Refused);
        }
        if self.overlap == Overlap::LastWins {
            others_first().await;
            // Creating is exclusive all the same.
            if condition == Condition::Absent && !self.holds(key, condition) {
                return Ok(Put::Unknown("status 500".into()));
            }
        }
        self.put_value(key, value.clone());
        others_first().await;
        Ok(Put::Accepted)
    }

    async fn delete(&self, key: &str) -> Result<bool, StoreError> {
        others_first().await;
        let found = self.remove_value(key);
        others_first().await;
        Ok(found)
    }

    async fn keys(&self) -> Result<Option<Vec<String>>, StoreError> {
        others_first().await;
        Ok(Some(self.all_keys()))
    }

    async fn pause(&self, _duration: Duration) {
        // There is no clock in here: others get a few turns, which is what a pause is for. More
        // than a call takes, so that a write which was under way has landed by then.
        for _ in 0..fastrand::u32(4..=8) {
            others_first().await;
        }
    }
}

/// Lets every other task that is ready go first.
fn others_first() -> OthersFirst {
    OthersFirst { has_waited: false }
}

struct OthersFirst {
    has_waited: bool,
}

impl Future for OthersFirst {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.has_waited {
            return Poll::Ready(());
        }
        self.has_waited = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests;
