//! Documents in local files, `{root}/automation-state/…`.
//!
//! Beside `X.json` may lie: `X.json.lock` (see [`lock`]), `X.json.prev` (the generation before),
//! `X.json.damaged-…` (what could not be read; named by its content, so that none replaces
//! another), `.….tmp` (a write under way, or what a killed one left). The folder `cache` holds
//! what is remembered for speed only.
//!
//! The lock makes transactions exclusive, so there are no guards.

mod disk;
mod folder;
mod lock;

pub use folder::{Entry, EntryKind, list};

use crate::location::Slot;
use crate::location::name::{digest, fit};
use crate::notes::Notes;
use crate::settings::{Signature, StoreEnv, Timing};
use crate::shelf::{self, Held, Names, Shelf, Spot, Under, locate};
use disk::{Care, in_background};
use lifecycle::document::{Document, size};
use lifecycle::ports::{Change, Guard, Store, StoreError};
use lock::Lock;
use serde_json::Value;
use std::cell::Cell;
use std::path::{Path, PathBuf};

/// Ends the name of the generation before.
const PREVIOUS: &str = ".prev";
const LOCK: &str = ".lock";
const CACHE_FOLDER: &str = "cache";

/// The document of one target in a file.
#[derive(Debug)]
pub struct FileStore {
    folder: PathBuf,
    slot: Slot,
    signature: Signature,
    timing: Timing,
    targets: usize,
    read_only: bool,
    has_cleaned_up: Cell<bool>,
    notes: Notes,
}

impl FileStore {
    /// A store in this folder, which need not exist. Nothing is read or written yet.
    pub fn new(folder: PathBuf, slot: Slot, env: &StoreEnv) -> Self {
        Self {
            folder,
            slot,
            signature: Signature::new(&env.run_id),
            timing: env.timing,
            targets: env.targets,
            read_only: env.read_only,
            has_cleaned_up: Cell::new(false),
            notes: Notes::default(),
        }
    }

    /// The path that the document has by its documented name.
    pub fn path(&self) -> PathBuf {
        self.folder.join(self.slot.file_name())
    }

    pub(crate) fn place(&self) -> String {
        self.path().display().to_string()
    }

    pub(crate) fn take_notes(&self) -> Vec<String> {
        self.notes.take()
    }

    #[expect(clippy::unused_async, reason = "the same shape as the other backend")]
    pub(crate) async fn read_raw(&self) -> Result<Option<Vec<u8>>, StoreError> {
        for name in self.slot.file_names() {
            if let Some(bytes) = disk::read(&self.folder.join(&name))? {
                let owner = disk::parse(&bytes).ok();
                let owner = owner.as_ref().and_then(|value| self.slot.owner_of(value));
                if owner.is_none_or(|owner| self.slot.is_owner(owner)) {
                    return Ok(Some(bytes));
                }
            }
        }
        Ok(None)
    }

    #[expect(clippy::unused_async, reason = "the same shape as the other backend")]
    pub(crate) async fn stored_names(&self) -> Result<Vec<String>, StoreError> {
        let name = |entry: Entry| entry.path.file_name()?.to_str().map(ToOwned::to_owned);
        Ok(list(&self.folder)?.into_iter().filter_map(name).collect())
    }

    pub(crate) async fn reset(&self) -> Result<bool, StoreError> {
        let lock = self.lock().await?;
        let mut found = false;
        for name in self.slot.file_names() {
            let is_foreign = |bytes: &[u8]| {
                let value = disk::parse(bytes).ok();
                let owner = value.as_ref().and_then(|value| self.slot.owner_of(value));
                owner.is_some_and(|owner| !self.slot.is_owner(owner))
            };
            // The generation before goes first: alone it would be taken for the document.
            for name in [fit(&name, PREVIOUS), name] {
                let path = self.folder.join(name);
                if disk::read(&path)?.is_some_and(|bytes| !is_foreign(&bytes)) {
                    std::fs::remove_file(&path)
                        .map_err(|error| disk::failed(&path, "removing", &error))?;
                    found = true;
                }
            }
        }
        let _ = std::fs::remove_file(self.cache_path());
        let spot = locate(self, &self.slot, &self.names()).await?;
        if spot.must_write {
            self.write(
                Spot {
                    document: self.slot.empty(),
                    ..spot
                },
                lock,
            )
            .await?;
        }
        Ok(found)
    }

    fn names(&self) -> Names {
        Names {
            own: self.slot.file_names(),
            legacy: self.slot.legacy_file_name(),
        }
    }

    fn cache_path(&self) -> PathBuf {
        self.folder
            .join(CACHE_FOLDER)
            .join(self.slot.cache_file_name())
    }

    async fn lock(&self) -> Result<Lock, StoreError> {
        self.check_writable()?;
        std::fs::create_dir_all(&self.folder)
            .map_err(|error| disk::failed(&self.folder, "creating the folder", &error))?;
        // Targets that share a documented name share its lock.
        let path = self.folder.join(fit(&self.slot.file_name(), LOCK));
        lock::acquire(&path, self.timing.lock_wait).await
    }

    fn check_writable(&self) -> Result<(), StoreError> {
        if self.read_only {
            return Err(StoreError::Unavailable {
                place: self.place(),
                detail: "it was opened for looking only".into(),
            });
        }
        Ok(())
    }

    /// Puts the document of a spot in place. A crash at any point leaves the old or the new one.
    async fn write(&self, spot: Spot<()>, lock: Lock) -> Result<Document, StoreError> {
        let Spot {
            name,
            under,
            mut document,
            ..
        } = spot;
        document.set("written_by", self.signature.next());
        self.slot.sign(&mut document);
        if let Under::Damaged(held) = &under
            && self.set_aside(&name, held).await.is_none()
        {
            return Err(StoreError::Io {
                place: Shelf::place(self, &name),
                action: "setting the damaged document aside",
                detail: "its bytes could not be copied, so it is not replaced".into(),
            });
        }
        let path = self.folder.join(&name);
        let previous = self.folder.join(fit(&name, PREVIOUS));
        let text = document.to_text();
        let clean = !self.has_cleaned_up.replace(true);
        in_background(move || {
            if clean {
                disk::clean_up(&path);
            }
            // What is damaged does not become the generation before.
            let keep = matches!(under, Under::Good(())).then_some(previous.as_path());
            disk::replace(&path, text.as_bytes(), Care::Synced, keep)?;
            drop(lock);
            Ok(())
        })
        .await?;
        Ok(document)
    }
}

impl Shelf for FileStore {
    type Stamp = ();

    async fn fetch(&self, name: &str) -> Result<Option<Held<()>>, StoreError> {
        let bytes = disk::read(&self.folder.join(name))?;
        Ok(bytes.map(|bytes| Held {
            content: disk::parse(&bytes),
            stamp: (),
        }))
    }

    async fn previous(&self, name: &str) -> Result<Option<Result<Value, String>>, StoreError> {
        let bytes = disk::read(&self.folder.join(fit(name, PREVIOUS)))?;
        Ok(bytes.map(|bytes| disk::parse(&bytes)))
    }

    async fn set_aside(&self, name: &str, _held: &Held<()>) -> Option<String> {
        let path = self.folder.join(name);
        let bytes = disk::read(&path).ok().flatten()?;
        let kept = self
            .folder
            .join(fit(name, &format!(".damaged-{}", digest(&bytes))));
        if !kept.exists() {
            if self.read_only {
                return None;
            }
            disk::copy(&path, &bytes, &kept).ok()?;
        }
        Some(kept.display().to_string())
    }

    fn place(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn note(&self, note: String) {
        self.notes.add(note);
    }
}

impl Store for FileStore {
    async fn load(&self) -> Result<Document, StoreError> {
        // A document is replaced in one step, so reading needs no lock.
        Ok(locate(self, &self.slot, &self.names()).await?.document)
    }

    async fn update(
        &self,
        change: &mut dyn FnMut(&mut Document) -> Change,
    ) -> Result<Document, StoreError> {
        let lock = self.lock().await?;
        let mut spot = locate(self, &self.slot, &self.names()).await?;
        match change(&mut spot.document) {
            Change::Keep if !spot.must_write => Ok(spot.document),
            Change::Keep | Change::Write => {
                shelf::check(self, &spot)?;
                self.write(spot, lock).await
            }
        }
    }

    async fn create_guard(&self, _name: &str, _content: &Value) -> Result<Guard, StoreError> {
        Ok(Guard::NotNeeded)
    }

    async fn read_guard(&self, _name: &str) -> Result<Option<Value>, StoreError> {
        Ok(None)
    }

    async fn delete_guard(&self, _name: &str) -> Result<(), StoreError> {
        Ok(())
    }

    fn budget(&self) -> usize {
        size::share(self.targets)
    }

    async fn load_cache(&self) -> Option<Value> {
        disk::parse(&disk::read(&self.cache_path()).ok().flatten()?).ok()
    }

    async fn save_cache(&self, cache: &Value) {
        if !self.read_only {
            save_cache(&self.cache_path(), cache);
        }
    }
}

fn save_cache(path: &Path, cache: &Value) {
    let text = cache.to_string();
    if disk::read(path).is_ok_and(|old| old.is_some_and(|old| old == text.as_bytes())) {
        return;
    }
    // Its loss costs nothing, so neither does a failure, nor the work of another run that is
    // cleaned up here.
    let _ = path.parent().map(std::fs::create_dir_all);
    disk::clean_up(path);
    let _ = disk::replace(path, text.as_bytes(), Care::Atomic, None);
}
