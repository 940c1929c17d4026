//! Where state documents live: the automation service's KV store, or local files.
//!
//! Implements the port [`lifecycle::ports::Store`]: load, transactions, guards, and a cache whose
//! loss costs nothing. Which backend a run has, and under which name its document lies, follows
//! from what the run was given ([`StoreEnv`], [`Slot`]). Nothing in here knows what is in a
//! document beyond its version, its owner and who wrote it last (`written_by`).
//!
//! ```
//! use http_client::{Client, Policy};
//! use lifecycle::document::NEWS;
//! use state_store::{Slot, StoreEnv, open};
//!
//! let env = StoreEnv { home: Some("/home/user".into()), ..StoreEnv::default() };
//! let store = open(&env, &Client::new(Policy::default())?, Slot::new(&NEWS, Some("a1"), "news"))?;
//! assert_eq!(
//!     store.place(),
//!     "/home/user/.openhands/workspaces/automation-state/news_digest_a1.json"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[doc(hidden)]
pub mod contract;
mod file;
#[doc(hidden)]
pub mod fuzzing;
mod kv;
mod location;
mod memory;
mod notes;
mod settings;
mod shelf;
mod store;

pub use file::{Entry, EntryKind, FileStore, list};
pub use kv::{Condition, HttpWire, KvStore, Put, Wire};
pub use location::{STATE_FOLDER, Slot, state_folder};
pub use memory::{Memory, MemoryStore, Overlap};
pub use settings::{StoreEnv, Timing};
pub use store::{OpenError, StateStore, folder_of, open};
