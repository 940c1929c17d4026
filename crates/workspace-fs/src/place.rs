//! From a path to open directories: what is trusted is opened as it is, what lies below it one name
//! at a time, and a link in the way is an error.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use crate::beneath::{Dir, Kind};
use crate::error::WorkspaceError;
use crate::names::finish_name;
use crate::tree;
use crate::workspace::Workspace;

/// A path taken apart: a trusted directory, and the names below it that are not trusted.
pub(crate) struct Place {
    /// The root, opened as it is.
    pub anchor: PathBuf,
    /// Names below it; the last is the workspace.
    pub steps: Vec<OsString>,
}

/// The error for what stands where a directory of ours should be.
pub(crate) fn replaced(path: &Path, kind: Kind) -> WorkspaceError {
    WorkspaceError::Replaced {
        path: path.to_owned(),
        found: kind.noun(),
    }
}

/// Opens one directory below another; `None` when nothing is there.
pub(crate) fn open_step(
    parent: &Dir,
    name: &OsStr,
    path: &Path,
) -> Result<Option<Dir>, WorkspaceError> {
    let failed = |source| WorkspaceError::io("open", path, source);
    match parent.kind(name).map_err(failed)? {
        None => Ok(None),
        Some(Kind::Dir) => match parent.sub_repaired(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            other => other.map(Some).map_err(failed),
        },
        Some(other) => Err(replaced(path, other)),
    }
}

/// Opens all directories from the anchor to the one that holds the workspace; `None` when one of
/// them is gone.
pub(crate) fn open_parents(place: &Place) -> Result<Option<Vec<Dir>>, WorkspaceError> {
    let mut chain = match Dir::open(&place.anchor) {
        Ok(dir) => vec![dir],
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(WorkspaceError::io("open", &place.anchor, error)),
    };
    let mut path = place.anchor.clone();
    for name in &place.steps[..place.steps.len() - 1] {
        path.push(name);
        let parent = &chain[chain.len() - 1];
        match open_step(parent, name, &path)? {
            Some(dir) => chain.push(dir),
            None => return Ok(None),
        }
    }
    Ok(Some(chain))
}

/// Makes the workspace anew, and the folders above it where they are missing.
pub(crate) fn create_at(place: &Place) -> Result<Workspace, WorkspaceError> {
    let mut path = place.anchor.clone();
    let mut parent = Dir::open(&path).map_err(|error| WorkspaceError::io("open", &path, error))?;
    let (name, above) = place
        .steps
        .split_last()
        .ok_or(WorkspaceError::Interrupted {
            action: "making a workspace",
        })?;
    for step in above {
        path.push(step);
        parent
            .make_sub(step, 0o755)
            .map_err(|source| WorkspaceError::io("create", &path, source))?;
        let gone = || WorkspaceError::io("open", &path, io::ErrorKind::NotFound.into());
        parent = open_step(&parent, step, &path)?.ok_or_else(gone)?;
    }
    path.push(name);
    let failed = |source| WorkspaceError::io("create", &path, source);
    if parent.kind(name).map_err(failed)? == Some(Kind::Link) {
        return Err(replaced(&path, Kind::Link));
    }
    for stale in [name.clone(), finish_name(name)] {
        tree::remove(&parent, &stale, &path.with_file_name(&stale))?;
    }
    if !parent.make_sub(name, 0o700).map_err(failed)? {
        return Err(failed(io::ErrorKind::AlreadyExists.into()));
    }
    let dir = parent.sub(name).map_err(failed)?;
    Ok(Workspace::new(path, name.clone(), parent, dir))
}
