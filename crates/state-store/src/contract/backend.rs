//! How the checks reach a backend: through the port, and past it.

use super::text;
use crate::file::FileStore;
use crate::kv::{Condition, KvStore, Put, Wire};
use crate::location::Slot;
use crate::settings::{StoreEnv, Timing};
use lifecycle::ports::Store;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

/// A place that stores can be opened in, and that others write to as well.
pub trait Backend {
    /// Its stores.
    type Store: Store;

    /// Opens the store of a slot, as the run of this id would.
    fn open(&self, slot: &Slot, run_id: &str) -> Result<Self::Store, String>;

    /// What lies under the documented name of a slot.
    fn stored(&self, slot: &Slot) -> impl Future<Output = Result<Option<Value>, String>>;

    /// Puts something there as another program would.
    fn put(&self, slot: &Slot, value: &Value) -> impl Future<Output = Result<(), String>>;

    /// Removes what lies there and all that the backend keeps of it, as a person would.
    fn remove(&self, slot: &Slot) -> impl Future<Output = Result<(), String>>;

    /// Puts something where earlier versions had their one document; `None` removes it.
    fn put_legacy(
        &self,
        slot: &Slot,
        value: Option<&Value>,
    ) -> impl Future<Output = Result<(), String>>;

    /// Whether it needs guards.
    fn has_guards(&self) -> bool;
}

/// The environment that the checks open stores with.
fn env(run_id: &str, timing: Timing) -> StoreEnv {
    StoreEnv {
        run_id: run_id.to_owned(),
        targets: 2,
        timing,
        ..StoreEnv::default()
    }
}

/// Keys of a key-value service; `wire` opens a connection to it.
pub struct Keys<F> {
    wire: F,
    timing: Timing,
}

impl<W: Wire, F: Fn() -> Result<W, String>> Keys<F> {
    /// `timing` fits the service: a write settles for longer than its writers overlap.
    pub fn new(wire: F, timing: Timing) -> Self {
        Self { wire, timing }
    }

    async fn write(&self, key: &str, value: Option<&Value>) -> Result<(), String> {
        let wire = (self.wire)()?;
        match value {
            None => wire.delete(key).await.map(|_| ()).map_err(text),
            Some(value) => match wire.put(key, value, Condition::None).await.map_err(text)? {
                Put::Accepted => Ok(()),
                other => Err(format!("{key}: {other:?}")),
            },
        }
    }
}

impl<W: Wire, F: Fn() -> Result<W, String>> Backend for Keys<F> {
    type Store = KvStore<W>;

    fn open(&self, slot: &Slot, run_id: &str) -> Result<Self::Store, String> {
        Ok(KvStore::new(
            (self.wire)()?,
            slot.clone(),
            &env(run_id, self.timing),
        ))
    }

    async fn stored(&self, slot: &Slot) -> Result<Option<Value>, String> {
        let found = (self.wire)()?.get(&slot.kv_key()).await.map_err(text)?;
        Ok(found.map(|(value, _)| value))
    }

    async fn put(&self, slot: &Slot, value: &Value) -> Result<(), String> {
        self.write(&slot.kv_key(), Some(value)).await
    }

    async fn remove(&self, slot: &Slot) -> Result<(), String> {
        self.write(&slot.kv_key(), None).await
    }

    async fn put_legacy(&self, slot: &Slot, value: Option<&Value>) -> Result<(), String> {
        let key = slot.legacy_kv_key().ok_or("no older documents")?;
        self.write(&key, value).await
    }

    fn has_guards(&self) -> bool {
        true
    }
}

/// A folder of files.
pub struct Folder {
    /// The folder.
    pub path: PathBuf,
}

impl Folder {
    fn write(&self, name: &str, value: Option<&Value>) -> Result<(), String> {
        let path = self.path.join(name);
        match value {
            None => {
                let _ = std::fs::remove_file(path.with_file_name(format!("{name}.prev")));
                let _ = std::fs::remove_file(path);
                Ok(())
            }
            Some(value) => {
                std::fs::create_dir_all(&self.path).map_err(text)?;
                std::fs::write(path, value.to_string()).map_err(text)
            }
        }
    }
}

impl Backend for Folder {
    type Store = FileStore;

    fn open(&self, slot: &Slot, run_id: &str) -> Result<Self::Store, String> {
        let timing = Timing::quick(Duration::ZERO);
        Ok(FileStore::new(
            self.path.clone(),
            slot.clone(),
            &env(run_id, timing),
        ))
    }

    async fn stored(&self, slot: &Slot) -> Result<Option<Value>, String> {
        match std::fs::read(self.path.join(slot.file_name())) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(text(error)),
        }
    }

    async fn put(&self, slot: &Slot, value: &Value) -> Result<(), String> {
        self.write(&slot.file_name(), Some(value))
    }

    async fn remove(&self, slot: &Slot) -> Result<(), String> {
        self.write(&slot.file_name(), None)
    }

    async fn put_legacy(&self, slot: &Slot, value: Option<&Value>) -> Result<(), String> {
        self.write(&slot.legacy_file_name().ok_or("no older documents")?, value)
    }

    fn has_guards(&self) -> bool {
        false
    }
}
