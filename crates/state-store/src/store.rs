//! The store of a target, in whichever backend its run has.

use crate::file::FileStore;
use crate::kv::{HttpWire, KvStore};
use crate::location::{Slot, state_folder};
use crate::settings::StoreEnv;
use http_client::Client;
use lifecycle::document::Document;
use lifecycle::ports::{Change, Guard, Store, StoreError};
use serde_json::Value;
use std::path::PathBuf;

/// Why a store cannot be opened. Nothing was read or written.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum OpenError {
    /// The address of the KV store is none.
    #[error("AUTOMATION_API_URL is no http address ({url}): {detail}")]
    BadUrl {
        /// What was given.
        url: String,
        /// What is wrong with it.
        detail: String,
    },
    /// There is neither a KV store nor a folder.
    #[error(
        "no place for state: set WORKSPACE_BASE or HOME, or run where AUTOMATION_API_URL and AUTOMATION_KV_TOKEN are given"
    )]
    NoFolder,
}

/// The store of one target: the KV store of the service where the run has a token for it, else
/// files. There is no falling back from one to the other while a run goes on: two copies of the
/// state would drift apart, and work would be done twice.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a run has one store for each target"
)]
pub enum StateStore {
    /// Keys of the automation service.
    Kv(KvStore<HttpWire>),
    /// Local files.
    Files(FileStore),
}

/// Opens the store of a slot. Nothing is read or written yet.
///
/// # Errors
/// [`OpenError`], when the environment names no usable place.
pub fn open(env: &StoreEnv, client: &Client, slot: Slot) -> Result<StateStore, OpenError> {
    let url = env
        .kv_url
        .as_deref()
        .map(str::trim)
        .filter(|url| !url.is_empty());
    let token = env.kv_token.as_ref().filter(|token| !token.is_empty());
    if let (Some(url), Some(token)) = (url, token) {
        let wire = HttpWire::new(client.clone(), url, token, env.timing)?;
        return Ok(StateStore::Kv(KvStore::new(wire, slot, env)));
    }
    let folder = folder_of(env).ok_or(OpenError::NoFolder)?;
    Ok(StateStore::Files(FileStore::new(folder, slot, env)))
}

/// The folder of the documents of an installation (see [`state_folder`]), symlinks in
/// `WORKSPACE_BASE` resolved as the deployed scripts do.
pub fn folder_of(env: &StoreEnv) -> Option<PathBuf> {
    let base = env
        .workspace_base
        .as_deref()
        .filter(|base| !base.as_os_str().is_empty());
    let resolved = base.map(|base| base.canonicalize().unwrap_or_else(|_| base.to_owned()));
    state_folder(resolved.as_deref(), env.home.as_deref())
}

macro_rules! each {
    ($self:ident, $store:ident => $call:expr) => {
        match $self {
            StateStore::Kv($store) => $call,
            StateStore::Files($store) => $call,
        }
    };
}

impl StateStore {
    /// Where the document lives, for people: a path, or `KV key …`.
    pub fn place(&self) -> String {
        each!(self, store => store.place())
    }

    /// What a person should know of what was found, though it was no failure; each once.
    pub fn take_notes(&self) -> Vec<String> {
        each!(self, store => store.take_notes())
    }

    /// The stored text as it is, readable or not; `None` when this target has no document. A
    /// document of another target under the same name is passed over.
    ///
    /// # Errors
    /// [`StoreError`], when the place is out of reach.
    pub async fn read_raw(&self) -> Result<Option<Vec<u8>>, StoreError> {
        each!(self, store => store.read_raw().await)
    }

    /// The names of all that is stored in this place, also of other targets: file names or keys.
    ///
    /// # Errors
    /// [`StoreError`], when the place is out of reach or cannot be listed.
    pub async fn stored_names(&self) -> Result<Vec<String>, StoreError> {
        each!(self, store => store.stored_names().await)
    }

    /// Removes the document of this target, the generation before it, its guards and its cache, so
    /// that it starts as one that was never polled; tells whether there was a document. Where an
    /// older document could still be adopted for it, an empty one takes its place.
    ///
    /// # Errors
    /// [`StoreError`], when the place is out of reach or refuses.
    pub async fn reset(&self) -> Result<bool, StoreError> {
        each!(self, store => store.reset().await)
    }
}

impl Store for StateStore {
    async fn load(&self) -> Result<Document, StoreError> {
        each!(self, store => store.load().await)
    }

    async fn update(
        &self,
        change: &mut dyn FnMut(&mut Document) -> Change,
    ) -> Result<Document, StoreError> {
        each!(self, store => store.update(change).await)
    }

    async fn create_guard(&self, name: &str, content: &Value) -> Result<Guard, StoreError> {
        each!(self, store => store.create_guard(name, content).await)
    }

    async fn read_guard(&self, name: &str) -> Result<Option<Value>, StoreError> {
        each!(self, store => store.read_guard(name).await)
    }

    async fn delete_guard(&self, name: &str) -> Result<(), StoreError> {
        each!(self, store => store.delete_guard(name).await)
    }

    fn budget(&self) -> usize {
        each!(self, store => store.budget())
    }

    async fn load_cache(&self) -> Option<Value> {
        each!(self, store => store.load_cache().await)
    }

    async fn save_cache(&self, cache: &Value) {
        each!(self, store => store.save_cache(cache).await);
    }
}
