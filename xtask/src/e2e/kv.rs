//! The real KV store: reading and seeding documents with the person's key, and tokens as runs have
//! them.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;
use testbed::call::Call;

use super::error::E2eError;
use super::services::{RealServices, expect_ok};
use super::token::kv_token;

/// How long a token lives, in seconds.
const DAY: u64 = 24 * 60 * 60;

impl RealServices {
    /// A fresh KV token of an automation, as a run with this id would get it.
    ///
    /// The service accepts it for any automation id, but only an automation that exists can be
    /// written for: everything else is answered with 500.
    pub(crate) fn kv_token(&self, automation_id: &str, run_id: &str) -> String {
        let now = seconds_since_epoch();
        kv_token(self.kv_secret(), automation_id, run_id, now, now + DAY)
    }

    /// A KV token that has expired.
    pub(crate) fn expired_kv_token(&self, automation_id: &str, run_id: &str) -> String {
        let then = seconds_since_epoch() - 2 * DAY;
        kv_token(self.kv_secret(), automation_id, run_id, then, then + DAY)
    }

    /// The value under a key of an automation; `None` when there is none.
    pub(crate) fn kv_get(&self, automation_id: &str, key: &str) -> Result<Option<Value>, E2eError> {
        let call = self.kv_call("GET", automation_id, key);
        match call.send()?.status {
            404 => Ok(None),
            _ => Ok(Some(expect_ok("GET /v1/kv", &call)?.json()["value"].take())),
        }
    }

    /// Stores a value under a key, for instance a document that an older version wrote.
    pub(crate) fn kv_put(
        &self,
        automation_id: &str,
        key: &str,
        value: &Value,
    ) -> Result<(), E2eError> {
        let call = self.kv_call("PUT", automation_id, key).json(value);
        expect_ok("PUT /v1/kv", &call).map(drop)
    }

    /// All keys of an automation in order (at most a thousand).
    pub(crate) fn kv_keys(&self, automation_id: &str) -> Result<Vec<String>, E2eError> {
        let path = format!("/v1/kv?limit=1000&automation_id={automation_id}");
        let answer = expect_ok("GET /v1/kv", &self.automation_call("GET", &path))?.json();
        let keys = answer["keys"].as_array().cloned().unwrap_or_default();
        let mut keys: Vec<String> = keys
            .iter()
            .filter_map(|key| key.as_str().map(str::to_owned))
            .collect();
        keys.sort();
        Ok(keys)
    }

    fn kv_call(&self, method: &str, automation_id: &str, key: &str) -> Call {
        let path = format!("/v1/kv/{key}?automation_id={automation_id}");
        self.automation_call(method, &path)
    }
}

pub(super) fn seconds_since_epoch() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
