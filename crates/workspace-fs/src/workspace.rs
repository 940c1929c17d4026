//! A workspace that exists: an open directory below a root of ours.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::beneath::{Dir, Kind};
use crate::error::WorkspaceError;
use crate::names::finish_name;
use crate::tree;

/// An existing workspace, reached without following a link below the root. Only
/// [`WorkspaceRoots`](crate::WorkspaceRoots) makes one, and what fills, reads or pushes a directory asks for it.
#[derive(Clone, Debug)]
pub struct Workspace {
    path: PathBuf,
    name: OsString,
    parent: Arc<Dir>,
    dir: Arc<Dir>,
}

impl Workspace {
    pub(crate) fn new(path: PathBuf, name: OsString, parent: Dir, dir: Dir) -> Self {
        Self {
            path,
            name,
            parent: Arc::new(parent),
            dir: Arc::new(dir),
        }
    }

    /// Its absolute path, as a record holds it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Removes the whole of it, after something went wrong while it was being filled.
    pub(crate) fn discard(&self) -> Result<(), WorkspaceError> {
        tree::remove(&self.parent, &self.name, &self.path)
    }

    /// Makes the directory beside the workspace that finishing works in, anew and empty.
    pub(crate) fn finish_dir(&self) -> Result<FinishDir, WorkspaceError> {
        let name = finish_name(&self.name);
        let finish = FinishDir {
            path: self.path.with_file_name(&name),
            parent: Arc::clone(&self.parent),
            name,
        };
        let failed = |source| WorkspaceError::io("create", &finish.path, source);
        tree::remove(&finish.parent, &finish.name, &finish.path)?;
        if finish
            .parent
            .make_sub(&finish.name, 0o700)
            .map_err(failed)?
        {
            Ok(finish)
        } else {
            Err(failed(io::ErrorKind::AlreadyExists.into()))
        }
    }
}

/// The directory beside a workspace that finishing works in. It goes when this value goes; if the
/// process dies first, it goes with the workspace.
#[derive(Debug)]
pub(crate) struct FinishDir {
    path: PathBuf,
    parent: Arc<Dir>,
    name: OsString,
}

impl FinishDir {
    /// Its absolute path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// It, opened.
    pub(crate) fn open(&self) -> Result<Dir, WorkspaceError> {
        let opened = self.parent.sub(&self.name);
        opened.map_err(|source| WorkspaceError::io("open", &self.path, source))
    }
}

impl Drop for FinishDir {
    fn drop(&mut self) {
        // What stays is found when the workspace is removed.
        let _stays = tree::remove(&self.parent, &self.name, &self.path);
    }
}

/// See [`WorkspaceRoots::read_file`](crate::WorkspaceRoots::read_file).
pub(crate) fn read_beneath(
    workspace: &Workspace,
    relative: &Path,
    max: u64,
) -> Result<Option<String>, WorkspaceError> {
    let path = workspace.path.join(relative);
    let failed = |source| WorkspaceError::io("read", &path, source);
    let names: Option<Vec<&OsStr>> = relative
        .components()
        .filter(|part| *part != Component::CurDir)
        .map(|part| match part {
            Component::Normal(name) => Some(name),
            _ => None,
        })
        .collect();
    let Some((file, above)) = names.as_deref().and_then(<[_]>::split_last) else {
        return Ok(None);
    };
    let mut current = Arc::clone(&workspace.dir);
    for name in above {
        // A link or a file in the way is the same as no such file.
        if current.kind(name).map_err(failed)? != Some(Kind::Dir) {
            return Ok(None);
        }
        current = Arc::new(current.sub(name).map_err(failed)?);
    }
    let Some(file) = current.open_file(file).map_err(failed)? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    file.take(max).read_to_end(&mut bytes).map_err(failed)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}
