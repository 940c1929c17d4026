//! The key-value service: values under one shared version.

use super::World;
use crate::mutation::Mutation;
use crate::plan::Ground;
use serde_json::Value;
use state_store::{Condition, Put};
use std::collections::BTreeMap;

/// All keys.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    pub(crate) values: BTreeMap<String, Value>,
    pub(crate) version: u64,
    /// The key of the document.
    pub(crate) document_key: String,
}

impl Keys {
    pub(crate) fn document(&self) -> Option<&Value> {
        self.values.get(&self.document_key)
    }

    /// Guards that exist.
    pub(crate) fn guards(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.values
            .iter()
            .filter(|(_, value)| value.get("run_id").is_some())
    }

    fn size(&self) -> usize {
        let sizes = self
            .values
            .values()
            .map(lifecycle::document::size::wire_size);
        sizes.sum()
    }
}

impl World {
    /// A write arrives. `None` as an outcome is not known yet: check and write are two steps.
    pub(crate) fn put(
        &mut self,
        run: usize,
        key: &str,
        value: Value,
        condition: Condition,
        done: impl FnOnce(&mut Self, Put) + 'static,
    ) {
        let holds = match condition {
            Condition::Absent => !self.keys.values.contains_key(key),
            Condition::Version(version) => {
                self.keys.version == version || self.is_mutated(Mutation::CompareAndSwap)
            }
            Condition::None => true,
        };
        if !holds {
            done(self, Put::Refused);
            return;
        }
        let size = lifecycle::document::size::wire_size(&value);
        let before = self.keys.values.get(key);
        let before = before.map_or(0, lifecycle::document::size::wire_size);
        let room = self.plan.kv_room;
        let too_large =
            size > 65_536 || (room > 0 && self.keys.size() + size > room.max(before) + before);
        if too_large {
            done(self, Put::TooLarge(Some(size)));
            return;
        }
        let version = self.keys.version + 1;
        let overlaps =
            self.plan.ground == Ground::Overlapping && matches!(condition, Condition::Version(_));
        let key = key.to_owned();
        if overlaps {
            let gap = self.rng.between(500, self.plan.gap);
            let seen = self.keys.values.get(&key).cloned();
            self.after(gap, move |w| {
                if w.keys.values.get(&key) != seen.as_ref() {
                    w.counts.overtaken += 1;
                    w.note(|w| {
                        let by = w.runs[run].base.clone();
                        format!("           a write to {key} overtakes another (run {run}, {by})")
                    });
                }
                w.store_value(run, key, value, version);
                done(w, Put::Accepted);
            });
        } else {
            self.store_value(run, key, value, version);
            done(self, Put::Accepted);
        }
    }

    fn store_value(&mut self, run: usize, key: String, value: Value, version: u64) {
        self.keys.version = version;
        if key == self.keys.document_key {
            let before = self.keys.values.insert(key, value.clone());
            self.check_document(run, before.as_ref(), &value);
        } else {
            self.check_text("a key", &value.to_string());
            self.keys.values.insert(key, value);
        }
    }

    pub(crate) fn delete_key(&mut self, key: &str) -> bool {
        self.keys.version += 1;
        self.keys.values.remove(key).is_some()
    }
}
