//! Directories in memory, below `/root`.

use super::{Log, others};
use lifecycle::decide::Stopped;
use lifecycle::ports::{WorkspaceError, Workspaces};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

const ROOT: &str = "/root";

/// Files by directory and path.
pub type Dirs = RefCell<BTreeMap<String, BTreeMap<String, String>>>;

pub struct FakeWorkspaces {
    pub dirs: Rc<Dirs>,
    pub removal_fails: Cell<bool>,
    pub reading_fails: Cell<bool>,
    log: Log,
}

impl FakeWorkspaces {
    pub fn new(log: Log) -> Self {
        Self {
            dirs: Rc::default(),
            removal_fails: Cell::new(false),
            reading_fails: Cell::new(false),
            log,
        }
    }

    pub fn all(&self) -> Vec<String> {
        self.dirs.borrow().keys().cloned().collect()
    }

    /// Makes a directory by hand.
    pub fn make(&self, dir: &str) {
        self.dirs.borrow_mut().entry(dir.into()).or_default();
    }

    /// The agent writes a file.
    pub fn write(&self, dir: &str, path: &str, text: &str) {
        let mut dirs = self.dirs.borrow_mut();
        dirs.get_mut(dir).unwrap().insert(path.into(), text.into());
    }
}

impl Workspaces for FakeWorkspaces {
    async fn create(&self, parts: &[&str]) -> Result<String, WorkspaceError> {
        others().await;
        let dir = self.path_of(parts);
        self.log.add(format!("create {dir}"));
        self.dirs.borrow_mut().insert(dir.clone(), BTreeMap::new());
        Ok(dir)
    }

    fn path_of(&self, parts: &[&str]) -> String {
        format!("{ROOT}/{}", parts.join("/"))
    }

    async fn remove(&self, dir: &str, _stopped: &Stopped) -> Result<(), WorkspaceError> {
        others().await;
        if !dir.starts_with(ROOT) {
            return Err(WorkspaceError::OutsideRoots { dir: dir.into() });
        }
        if self.removal_fails.get() {
            let detail = "removing: permission denied".into();
            return Err(WorkspaceError::Io {
                dir: dir.into(),
                detail,
            });
        }
        self.log.add(format!("remove {dir}"));
        self.dirs.borrow_mut().remove(dir);
        Ok(())
    }

    async fn read_file(
        &self,
        dir: &str,
        path: &str,
        max: u64,
    ) -> Result<Option<String>, WorkspaceError> {
        others().await;
        if self.reading_fails.get() {
            return Err(WorkspaceError::Io {
                dir: dir.into(),
                detail: format!("reading {path}: input/output error"),
            });
        }
        let dirs = self.dirs.borrow();
        let text = dirs.get(dir).and_then(|files| files.get(path));
        let max = usize::try_from(max).unwrap();
        Ok(text.map(|text| text.chars().take(max).collect()))
    }

    async fn exists(&self, dir: &str) -> Result<bool, WorkspaceError> {
        if self.reading_fails.get() {
            return Err(WorkspaceError::Io {
                dir: dir.into(),
                detail: "looking for it: input/output error".into(),
            });
        }
        Ok(self.dirs.borrow().contains_key(dir))
    }
}
