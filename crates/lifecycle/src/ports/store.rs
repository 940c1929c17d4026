//! The state store: one document of one target, and small exclusive entries (guards).

use crate::document::{Document, DocumentError};
use serde_json::Value;

/// What a change function made of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The document already says all that this change wants: nothing to write.
    Keep,
    /// The document was changed and has to be written.
    Write,
}

/// What came of creating a guard.
#[derive(Clone, Debug, PartialEq)]
pub enum Guard {
    /// The guard is ours: exactly one caller ever sees this for a name (until it is deleted).
    Created,
    /// Somebody made it before; this is what it holds.
    Exists(Value),
    /// This store's transactions are exclusive by themselves and need no guards.
    NotNeeded,
}

/// What a store could not do.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum StoreError {
    /// The store could not be reached or stayed busy, after a few tries. Nothing follows but
    /// waiting: neither another store nor an empty document is used in its place.
    #[error("{place}: the state store is out of reach ({detail}); the next run tries again")]
    Unavailable {
        /// Which document, where.
        place: String,
        /// What happened.
        detail: String,
    },
    /// The token of the store was not accepted or has expired (401).
    #[error("{place}: the KV token was not accepted ({detail}); tokens live 24 hours")]
    Unauthorized {
        /// Which document, where.
        place: String,
        /// What the service said.
        detail: String,
    },
    /// The service runs without a KV store (503).
    #[error(
        "{place}: the automation service has no KV secret configured; set AUTOMATION_KV_SECRET there"
    )]
    NotConfigured {
        /// Which document, where.
        place: String,
    },
    /// The value does not fit (413).
    #[error("{place}: {size} bytes do not fit into the state store")]
    TooLarge {
        /// Which document, where.
        place: String,
        /// Size of the refused value in bytes.
        size: usize,
    },
    /// The stored document cannot be used, and its bytes are kept; or one that was to be stored breaks its
    /// schema.
    #[error("{place}: {error}{}", kept.as_ref().map(|k| format!("; the bytes are kept as {k}")).unwrap_or_default())]
    Document {
        /// Which document, where.
        place: String,
        /// What is wrong with it.
        error: DocumentError,
        /// The name under which an unreadable document was set aside.
        kept: Option<String>,
    },
    /// The file system refused.
    #[error("{place}: {action} failed ({detail}); check permissions and free space")]
    Io {
        /// Which file.
        place: String,
        /// What was tried.
        action: &'static str,
        /// What the system said.
        detail: String,
    },
    /// Many writers at once: the change did not get through. Nothing was lost.
    #[error("{place}: gave up after {attempts} conflicting writes; the next run tries again")]
    Contended {
        /// Which document, where.
        place: String,
        /// How often it was tried.
        attempts: u32,
    },
}

/// The place of one document. Bound to an automation and a target when it is opened.
pub trait Store {
    /// Reads the document; one that was never written comes as [`Document::empty`].
    fn load(&self) -> impl Future<Output = Result<Document, StoreError>>;

    /// Changes the document in a transaction.
    ///
    /// `change` is a function of the document it is given and may be called several times, each
    /// time with a fresh one: after a conflict, after a lost answer, and after reading back what
    /// was written (where conditional writes are not exclusive), until it answers
    /// [`Change::Keep`] or the store knows that its write stands. So it must be idempotent: "make
    /// it so", not "add one". Returns the document as it stands.
    ///
    /// # Errors
    /// [`StoreError`]; among them [`StoreError::Document`] for a document that breaks its schema, which
    /// is not written.
    fn update(
        &self,
        change: &mut dyn FnMut(&mut Document) -> Change,
    ) -> impl Future<Output = Result<Document, StoreError>>;

    /// Creates an exclusive entry. `name` is free text; the store makes a key of it.
    fn create_guard(
        &self,
        name: &str,
        content: &Value,
    ) -> impl Future<Output = Result<Guard, StoreError>>;

    /// Reads an exclusive entry; `None` when there is none (or guards are not needed).
    fn read_guard(&self, name: &str) -> impl Future<Output = Result<Option<Value>, StoreError>>;

    /// Deletes an exclusive entry; one that is gone already is fine.
    fn delete_guard(&self, name: &str) -> impl Future<Output = Result<(), StoreError>>;

    /// Bytes that this document may take (see [`crate::document::size`]).
    fn budget(&self) -> usize;

    /// What an earlier run remembered for speed only; `None` when it is lost or unreadable.
    fn load_cache(&self) -> impl Future<Output = Option<Value>>;

    /// Remembers something for speed only. Failures are of no consequence.
    fn save_cache(&self, cache: &Value) -> impl Future<Output = ()>;
}
