//! Files: what killed writers, damage, locks and refusing disks do to a document.

mod damage;
mod odd;
mod places;
mod writing;

use lifecycle::document::NEWS;
use state_store::{FileStore, Slot, StoreEnv, Timing};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

pub(crate) const GOOD: &str = r#"{"version":1,"seen":["3f2a9c1b7d4e8a05"],"tasks":{"news:2026-08-20":{"status":"completed"}}}"#;

pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) env: StoreEnv,
}

impl World {
    pub(crate) fn new() -> Self {
        let timing = Timing {
            lock_wait: Duration::from_millis(20),
            ..Timing::quick(Duration::ZERO)
        };
        let env = StoreEnv {
            run_id: "run-1".into(),
            timing,
            ..StoreEnv::default()
        };
        Self {
            folder: tempfile::tempdir().unwrap(),
            env,
        }
    }

    pub(crate) fn slot() -> Slot {
        Slot::new(&NEWS, Some("a1"), "news")
    }

    pub(crate) fn store(&self) -> FileStore {
        FileStore::new(self.folder.path().to_owned(), Self::slot(), &self.env)
    }

    pub(crate) fn path(&self, suffix: &str) -> PathBuf {
        self.folder
            .path()
            .join(format!("news_digest_a1.json{suffix}"))
    }

    pub(crate) fn write(&self, suffix: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(suffix), text).unwrap();
    }

    pub(crate) fn read(&self, suffix: &str) -> String {
        std::fs::read_to_string(self.path(suffix)).unwrap()
    }

    /// Names in the folder, lock files aside.
    pub(crate) fn names(&self) -> Vec<String> {
        names(self.folder.path())
    }
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.contains(".lock"))
        .collect();
    names.sort();
    names
}
