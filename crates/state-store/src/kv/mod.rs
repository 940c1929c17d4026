//! Documents as keys of a key-value service whose conditional write is not exclusive everywhere.
//!
//! A transaction reads the fresh value and its version, applies the change, writes on the
//! condition that the version still holds, lets the write settle and reads it back. Whatever comes
//! between (another writer, another key that moved the shared version, a lost answer) leads to
//! the same place: read again, apply again. When the change then finds nothing left to do, its
//! effect is there. Guards are keys created with `nx`, which is exclusive on every service.
//!
//! Where conditional writes are not exclusive, two of them may also leave the same version behind,
//! so that a writer who has read the one still passes the check after the other. It lands as late
//! as it takes from reading to writing. So a write settles for at least twice as long as that has
//! just taken here, and once others were seen to write, an effect counts only when it is found
//! again after a second such pause.
//!
//! No generation before is kept here: the service checks and encrypts what it stores and writes it
//! in a transaction of its database, so nothing is ever half-written, and a copy would cost room
//! that older services count for all keys together. A value that is no document (somebody else
//! wrote it) is kept under a key of its own and fails the target until a person has looked.

mod answers;
mod fuzzing;
mod guards;
mod http;
mod transaction;
mod wire;

pub use fuzzing::fuzzed_answer;
pub use http::HttpWire;
pub use wire::{Condition, Put, Wire};

use crate::location::Slot;
use crate::location::name::{digest, fit};
use crate::notes::Notes;
use crate::settings::{Signature, StoreEnv, Timing};
use crate::shelf::{Held, Names, Shelf, locate};
use http::place;
use lifecycle::document::{Document, size};
use lifecycle::ports::{Change, Guard, Store, StoreError};
use serde_json::Value;
use std::cell::RefCell;

/// The most that is remembered for speed only, in bytes: it takes room from documents on services
/// that limit all keys together.
const MAX_CACHE_BYTES: usize = 2 * 1024;

/// The document of one target in a key-value service.
#[derive(Debug)]
pub struct KvStore<W> {
    wire: W,
    slot: Slot,
    signature: Signature,
    timing: Timing,
    targets: usize,
    read_only: bool,
    /// What the service remembers, as far as it is known: writing the same again would only move
    /// the version that all writers depend on.
    cached: RefCell<Option<Value>>,
    notes: Notes,
}

impl<W: Wire> KvStore<W> {
    /// A store on this wire. Nothing is read or written yet.
    pub fn new(wire: W, slot: Slot, env: &StoreEnv) -> Self {
        Self {
            wire,
            slot,
            signature: Signature::new(&env.run_id),
            timing: env.timing,
            targets: env.targets,
            read_only: env.read_only,
            cached: RefCell::new(None),
            notes: Notes::default(),
        }
    }

    pub(crate) fn place(&self) -> String {
        place(&self.slot.kv_key())
    }

    pub(crate) fn take_notes(&self) -> Vec<String> {
        self.notes.take()
    }

    pub(crate) async fn read_raw(&self) -> Result<Option<Vec<u8>>, StoreError> {
        for key in self.slot.kv_keys() {
            if let Some((value, _)) = self.wire.get(&key).await?
                && self.may_be_ours(&value)
            {
                return Ok(Some(format!("{value:#}").into_bytes()));
            }
        }
        Ok(None)
    }

    pub(crate) async fn stored_names(&self) -> Result<Vec<String>, StoreError> {
        match self.wire.keys().await? {
            Some(keys) => Ok(keys),
            None => Err(StoreError::Unavailable {
                place: "KV keys".into(),
                detail: "this service does not list its keys".into(),
            }),
        }
    }

    pub(crate) async fn reset(&self) -> Result<bool, StoreError> {
        self.check_writable()?;
        let mut found = false;
        for key in self.slot.kv_keys() {
            if let Some((value, _)) = self.wire.get(&key).await?
                && self.may_be_ours(&value)
            {
                found |= self.wire.delete(&key).await?;
            }
        }
        self.wire.delete(&self.slot.cache_key()).await?;
        self.cached.take();
        // A guard that stays would have its record rebuilt from it.
        let prefix = self.slot.guard_prefix();
        match self.wire.keys().await? {
            Some(keys) => {
                for key in keys.iter().filter(|key| key.starts_with(&prefix)) {
                    self.wire.delete(key).await?;
                }
            }
            None => self.notes.add(format!(
                "{}: this service does not list its keys, so guards may be left behind",
                self.place()
            )),
        }
        if locate(self, &self.slot, &self.names()).await?.must_write {
            let empty = self.slot.empty();
            self.update(&mut |document| {
                *document = empty.clone();
                Change::Write
            })
            .await?;
        }
        Ok(found)
    }

    fn may_be_ours(&self, value: &Value) -> bool {
        self.slot
            .owner_of(value)
            .is_none_or(|owner| self.slot.is_owner(owner))
    }

    fn names(&self) -> Names {
        Names {
            own: self.slot.kv_keys(),
            legacy: self.slot.legacy_kv_key(),
        }
    }

    fn check_writable(&self) -> Result<(), StoreError> {
        if self.read_only {
            return Err(self.unavailable("it was opened for looking only".into()));
        }
        Ok(())
    }

    fn unavailable(&self, detail: String) -> StoreError {
        StoreError::Unavailable {
            place: self.place(),
            detail,
        }
    }
}

impl<W: Wire> Shelf for KvStore<W> {
    type Stamp = u64;

    async fn fetch(&self, name: &str) -> Result<Option<Held<u64>>, StoreError> {
        let found = self.wire.get(name).await?;
        Ok(found.map(|(value, stamp)| Held {
            content: Ok(value),
            stamp,
        }))
    }

    async fn previous(&self, _name: &str) -> Result<Option<Result<Value, String>>, StoreError> {
        Ok(None)
    }

    async fn set_aside(&self, name: &str, held: &Held<u64>) -> Option<String> {
        let value = held.content.as_ref().ok()?;
        let key = fit(
            name,
            &format!(":damaged-{}", digest(value.to_string().as_bytes())),
        );
        if self.read_only {
            return None;
        }
        match self.wire.put(&key, value, Condition::Absent).await {
            Ok(Put::Accepted | Put::Refused) => Some(place(&key)),
            _ => None,
        }
    }

    fn place(&self, name: &str) -> String {
        place(name)
    }

    fn note(&self, note: String) {
        self.notes.add(note);
    }
}

impl<W: Wire> Store for KvStore<W> {
    async fn load(&self) -> Result<Document, StoreError> {
        Ok(locate(self, &self.slot, &self.names()).await?.document)
    }

    async fn update(
        &self,
        change: &mut dyn FnMut(&mut Document) -> Change,
    ) -> Result<Document, StoreError> {
        self.transact(change).await
    }

    async fn create_guard(&self, name: &str, content: &Value) -> Result<Guard, StoreError> {
        self.check_writable()?;
        self.create(&self.slot.guard_key(name), content).await
    }

    async fn read_guard(&self, name: &str) -> Result<Option<Value>, StoreError> {
        Ok(self
            .wire
            .get(&self.slot.guard_key(name))
            .await?
            .map(|(value, _)| value))
    }

    async fn delete_guard(&self, name: &str) -> Result<(), StoreError> {
        self.check_writable()?;
        self.wire
            .delete(&self.slot.guard_key(name))
            .await
            .map(|_| ())
    }

    fn budget(&self) -> usize {
        size::share(self.targets)
    }

    async fn load_cache(&self) -> Option<Value> {
        let (value, _) = self.wire.get(&self.slot.cache_key()).await.ok()??;
        self.cached.replace(Some(value.clone()));
        Some(value)
    }

    async fn save_cache(&self, cache: &Value) {
        let is_known = self.cached.borrow().as_ref() == Some(cache);
        if self.read_only || is_known || size::wire_size(cache) > MAX_CACHE_BYTES {
            return;
        }
        let put = self
            .wire
            .put(&self.slot.cache_key(), cache, Condition::None)
            .await;
        if matches!(put, Ok(Put::Accepted)) {
            self.cached.replace(Some(cache.clone()));
        }
    }
}
