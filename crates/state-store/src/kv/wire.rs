//! What the key store asks of a service, in its own words: one call each, no repetition.

use lifecycle::ports::StoreError;
use serde_json::Value;
use std::time::Duration;

/// When a key may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Only if there is no such key (`nx=true`). Exclusive on every service.
    Absent,
    /// Only if the shared version is still this one (`if_version`). Not exclusive everywhere.
    Version(u64),
    /// In any case.
    None,
}

/// What came of a write.
#[derive(Clone, Debug, PartialEq)]
pub enum Put {
    /// It was accepted. Others may have been told so at the same time.
    Accepted,
    /// The condition did not hold.
    Refused,
    /// The service asks to come back after this long, if it says how long.
    Busy(Option<Duration>),
    /// It may have had its effect: no answer, half an answer, a server error.
    Unknown(String),
    /// It does not fit; the size in bytes as the service measured it, if it says.
    TooLarge(Option<usize>),
}

/// A key-value service. Implemented for HTTP by [`super::HttpWire`] and in memory by
/// [`crate::Memory`].
pub trait Wire {
    /// The value of a key and the version that is shared by all keys.
    fn get(&self, key: &str) -> impl Future<Output = Result<Option<(Value, u64)>, StoreError>>;

    /// Writes a key.
    fn put(
        &self,
        key: &str,
        value: &Value,
        condition: Condition,
    ) -> impl Future<Output = Result<Put, StoreError>>;

    /// Deletes a key; tells whether it was there.
    fn delete(&self, key: &str) -> impl Future<Output = Result<bool, StoreError>>;

    /// All keys, sorted; `None` when the service cannot list them.
    fn keys(&self) -> impl Future<Output = Result<Option<Vec<String>>, StoreError>>;

    /// Waits.
    fn pause(&self, duration: Duration) -> impl Future<Output = ()>;
}
