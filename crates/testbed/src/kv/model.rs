//! The state of the store: automations, their keys, their version, the tokens, the history.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use super::{Behaviour, KvOptions, SizeLimit, Write, service_json_bytes};

/// One key.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// The value as it was written.
    pub(super) raw: String,
    /// Seconds since the epoch.
    pub(super) created_at: f64,
    /// Seconds since the epoch.
    pub(super) updated_at: f64,
}

#[derive(Debug, Default)]
struct Automation {
    version: u64,
    /// Counts effects; unlike the version it never steps back.
    writes: u64,
    entries: BTreeMap<String, Entry>,
}

/// What a writer saw when it checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) version: u64,
    writes: u64,
}

#[derive(Debug)]
pub(super) struct Model {
    pub(super) options: KvOptions,
    pub(super) secret_configured: bool,
    pub(super) busy: u32,
    pub(super) history: Vec<Write>,
    automations: HashMap<String, Automation>,
    /// Token to automation; `None` once expired.
    tokens: HashMap<String, Option<String>>,
    draws: u64,
}

impl Model {
    pub(super) fn new(options: KvOptions) -> Self {
        Self {
            options,
            secret_configured: true,
            busy: 0,
            history: Vec::new(),
            automations: HashMap::new(),
            tokens: HashMap::new(),
            draws: 0,
        }
    }

    pub(super) fn issue_token(&mut self, automation: &str) -> String {
        // Three parts with dots between, as the service's signed tokens have.
        let token = format!("kv.{automation}.{}", self.tokens.len() + 1);
        self.tokens
            .insert(token.clone(), Some(automation.to_owned()));
        token
    }

    pub(super) fn expire_token(&mut self, token: &str) {
        self.tokens.insert(token.to_owned(), None);
    }

    /// The automation a token stands for; `None` when it is unknown or expired.
    pub(super) fn automation_of(&self, token: &str) -> Option<String> {
        self.tokens.get(token).cloned().flatten()
    }

    pub(super) fn keys(&self, automation: &str) -> Vec<String> {
        let found = self.automations.get(automation);
        found.map_or_else(Vec::new, |found| found.entries.keys().cloned().collect())
    }

    pub(super) fn get(&self, automation: &str, key: &str) -> Option<&Entry> {
        self.automations.get(automation)?.entries.get(key)
    }

    pub(super) fn version(&self, automation: &str) -> u64 {
        self.automations
            .get(automation)
            .map_or(0, |found| found.version)
    }

    pub(super) fn seen(&self, automation: &str) -> Seen {
        let writes = self
            .automations
            .get(automation)
            .map_or(0, |found| found.writes);
        Seen {
            version: self.version(automation),
            writes,
        }
    }

    /// Bytes of all values of an automation.
    pub(super) fn total_bytes(&self, automation: &str) -> usize {
        self.bytes_without(automation, "")
    }

    fn bytes_without(&self, automation: &str, key: &str) -> usize {
        let Some(found) = self.automations.get(automation) else {
            return 0;
        };
        let others = found.entries.iter().filter(|(have, _)| *have != key);
        others.map(|(_, entry)| raw_bytes(&entry.raw)).sum()
    }

    /// The size that counts against the limit once `key` holds a value of `bytes`.
    pub(super) fn size_with(&self, automation: &str, key: &str, bytes: usize) -> usize {
        match self.options.size_limit {
            SizeLimit::PerValue => bytes,
            SizeLimit::Sum => bytes + self.bytes_without(automation, key),
        }
    }

    /// Puts an effect in place: `raw` of `None` deletes. The version becomes one more than the
    /// writer saw, which is a step back when others wrote meanwhile.
    pub(super) fn write(
        &mut self,
        automation: &str,
        key: &str,
        raw: Option<String>,
        seen: Seen,
        now: f64,
    ) {
        let found = self.automations.entry(automation.to_owned()).or_default();
        let overlapped = found.writes != seen.writes;
        found.version = seen.version + 1;
        found.writes += 1;
        let value = raw.as_ref().and_then(|raw| serde_json::from_str(raw).ok());
        if let Some(raw) = raw {
            let created_at = found.entries.get(key).map_or(now, |entry| entry.created_at);
            found.entries.insert(
                key.to_owned(),
                Entry {
                    raw,
                    created_at,
                    updated_at: now,
                },
            );
        } else {
            found.entries.remove(key);
        }
        self.history.push(Write {
            automation: automation.to_owned(),
            key: key.to_owned(),
            value,
            version: seen.version + 1,
            overlapped,
            at: Instant::now(),
        });
    }

    /// How long a writer that has checked waits before it writes; `None` when both are one step.
    pub(super) fn window(&mut self) -> Option<Duration> {
        if self.options.behaviour == Behaviour::Strict {
            return None;
        }
        self.draws += 1;
        let (low, high) = (
            *self.options.window_ms.start(),
            *self.options.window_ms.end(),
        );
        let span = high.saturating_sub(low).saturating_mul(1_000) + 1;
        Some(Duration::from_micros(
            low.saturating_mul(1_000) + scrambled(self.draws) % span,
        ))
    }
}

fn raw_bytes(raw: &str) -> usize {
    serde_json::from_str(raw).map_or(raw.len(), |value| service_json_bytes(&value))
}

/// A well spread number from a counter, so that a run of the tests can be repeated.
fn scrambled(counter: u64) -> u64 {
    let mut z = counter.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
