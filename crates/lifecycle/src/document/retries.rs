//! The top-level `retries` map: task key → how often, when next, and why. An addition of ours that
//! older programs ignore and keep.

use super::Document;
use serde_json::{Map, Value, json};

/// What is remembered of a task that did not work out yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Retry {
    /// Attempts so far.
    pub attempts: u64,
    /// When the next one is due, seconds since the epoch.
    pub next_try: f64,
    /// Why the last one failed.
    pub last_error: String,
}

impl Retry {
    /// When it goes on, and what stood against it.
    pub(crate) fn in_words(&self) -> String {
        let at = crate::moment::rfc3339(self.next_try);
        format!("next try after {at}; last time: {}", self.last_error)
    }
}

impl Document {
    /// What is remembered of a task's failed attempts.
    pub fn retry(&self, task: &str) -> Option<Retry> {
        let entry = self.get("retries")?.get(task)?;
        Some(Retry {
            attempts: entry.get("attempts").and_then(Value::as_u64).unwrap_or(0),
            next_try: entry.get("next_try").and_then(Value::as_f64).unwrap_or(0.0),
            last_error: entry
                .get("last_error")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
        })
    }

    /// Remembers a failed attempt, and tells whether that changed anything.
    pub fn put_retry(&mut self, task: &str, retry: &Retry) -> bool {
        let mut retries = self.retry_map();
        let entry = json!({
            "attempts": retry.attempts,
            "next_try": retry.next_try,
            "last_error": crate::text::cut_bytes(&retry.last_error, 200),
        });
        if retries.get(task) == Some(&entry) {
            return false;
        }
        retries.insert(task.into(), entry);
        self.set("retries", retries)
    }

    /// Forgets a task's failed attempts, and tells whether there were any.
    pub fn remove_retry(&mut self, task: &str) -> bool {
        let mut retries = self.retry_map();
        if retries.remove(task).is_none() {
            return false;
        }
        if retries.is_empty() {
            self.unset("retries")
        } else {
            self.set("retries", retries)
        }
    }

    /// The tasks with failed attempts.
    pub fn retry_tasks(&self) -> Vec<String> {
        self.retry_map().into_iter().map(|(task, _)| task).collect()
    }

    fn retry_map(&self) -> Map<String, Value> {
        self.get("retries")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default()
    }
}
