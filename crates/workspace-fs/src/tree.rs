//! Removal of a directory tree that somebody hostile may have shaped: links are removed and never
//! followed, permissions are repaired, depth costs neither stack nor file handles, and a directory
//! of any size is listed in portions.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use crate::beneath::{Dir, Kind};
use crate::error::WorkspaceError;

/// Levels walked down before a directory is moved up to the top instead.
const MAX_DEPTH: usize = 48;
/// How often a directory is emptied that fills again.
const ATTEMPTS: usize = 5;
/// Names read at a time.
const PORTION: usize = 4096;
/// Levels that [`walk`] goes down. What lies deeper cannot be named by a path (4,096 bytes), so no
/// other program gets there by walking either.
const MAX_WALK_DEPTH: usize = 2048;
/// Portions of one directory before we take it that something keeps filling it.
const MAX_PORTIONS: usize = 100_000;

/// Removes what stands under `name`, a directory with all that is in it or anything else (a link
/// itself, never its target). Gone already is success. `path` is for error texts.
pub(crate) fn remove(parent: &Dir, name: &OsStr, path: &Path) -> Result<(), WorkspaceError> {
    let failed = |source| WorkspaceError::io("remove", path, source);
    match parent.kind(name).map_err(failed)? {
        None => Ok(()),
        Some(Kind::Dir) => {
            let top = match parent.sub_repaired(name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                other => other.map_err(failed)?,
            };
            let mut work = Removal {
                top: &top,
                moved: 0,
            };
            for _ in 1..ATTEMPTS {
                work.empty(&top, 0, path)?;
                match gone(parent.remove_dir(name)) {
                    // A process that was left behind still writes.
                    Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                    other => return other.map_err(failed),
                }
            }
            work.empty(&top, 0, path)?;
            gone(parent.remove_dir(name)).map_err(failed)
        }
        Some(_) => gone(parent.remove_file(name)).map_err(failed),
    }
}

struct Removal<'a> {
    top: &'a Dir,
    moved: u64,
}

impl Removal<'_> {
    fn empty(&mut self, dir: &Dir, depth: usize, path: &Path) -> Result<(), WorkspaceError> {
        for _ in 0..MAX_PORTIONS {
            let names = dir
                .names(PORTION)
                .map_err(|source| WorkspaceError::io("list", path, source))?;
            if names.is_empty() {
                return Ok(());
            }
            let mut progress = false;
            let mut first_error = None;
            for name in names {
                match self.one(dir, &name, depth, path) {
                    Ok(()) => progress = true,
                    Err(error) => first_error = first_error.or(Some(error)),
                }
            }
            // What is left now is only what cannot be removed.
            if let (false, Some(error)) = (progress, first_error) {
                return Err(error);
            }
        }
        let full = io::Error::new(io::ErrorKind::DirectoryNotEmpty, "it keeps being filled");
        Err(WorkspaceError::io("empty", path, full))
    }

    fn one(
        &mut self,
        dir: &Dir,
        name: &OsStr,
        depth: usize,
        path: &Path,
    ) -> Result<(), WorkspaceError> {
        let Err(error) = gone(dir.remove_file(name)) else {
            return Ok(());
        };
        let path = path.join(name);
        let failed = |source| WorkspaceError::io("remove", &path, source);
        if dir.kind(name).map_err(failed)? != Some(Kind::Dir) {
            return Err(failed(error));
        }
        let sub = dir.sub_repaired(name).map_err(failed)?;
        if depth < MAX_DEPTH {
            self.empty(&sub, depth + 1, &path)?;
            return gone(dir.remove_dir(name)).map_err(failed);
        }
        self.moved += 1;
        let new_name = OsString::from(format!(".deep-{}-{}", std::process::id(), self.moved));
        dir.move_to(name, self.top, &new_name).map_err(failed)
    }
}

/// Somebody else was faster: as good as done.
fn gone(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// What [`walk`] met.
pub(crate) struct Met<'a> {
    /// The directory that holds it.
    pub dir: &'a Dir,
    /// Its name there.
    pub name: &'a OsStr,
    /// What it is.
    pub kind: Kind,
    /// Whether it lies directly in the top directory.
    pub at_top: bool,
}

/// Visits all entries below `top`, directories before what is in them, without following a link;
/// permissions of directories are repaired on the way. `visit` says whether to go into a directory.
/// More than `max_entries` are an error. Returns how many there were.
pub(crate) fn walk(
    top: &Dir,
    path: &Path,
    max_entries: u64,
    visit: &mut dyn FnMut(&Met<'_>) -> io::Result<bool>,
) -> Result<u64, WorkspaceError> {
    let mut seen = 0;
    let mut pending: Vec<PathBuf> = vec![PathBuf::new()];
    while let Some(relative) = pending.pop() {
        let here = path.join(&relative);
        let failed = |source| WorkspaceError::io("read", &here, source);
        let opened = match descend(top, &relative) {
            // Replaced or removed since it was seen.
            Err(error) if is_absent(&error) => continue,
            other => other.map_err(failed)?,
        };
        let dir = opened.as_ref().unwrap_or(top);
        let left = usize::try_from(max_entries - seen).unwrap_or(usize::MAX);
        for name in dir.names(left.saturating_add(1)).map_err(failed)? {
            seen += 1;
            if seen > max_entries {
                return Err(failed(io::Error::other(format!(
                    "more than {max_entries} entries"
                ))));
            }
            let Some(kind) = dir.kind(&name).map_err(failed)? else {
                continue;
            };
            let met = Met {
                dir,
                name: &name,
                kind,
                at_top: relative.as_os_str().is_empty(),
            };
            if visit(&met).map_err(failed)? && kind == Kind::Dir {
                let below = relative.join(&name);
                if below.components().count() <= MAX_WALK_DEPTH {
                    pending.push(below);
                }
            }
        }
    }
    Ok(seen)
}

/// Opens the directory at a relative path one name at a time; `None` for the top itself.
fn descend(top: &Dir, relative: &Path) -> io::Result<Option<Dir>> {
    let mut current: Option<Dir> = None;
    for name in relative {
        current = Some(current.as_ref().unwrap_or(top).sub_repaired(name)?);
    }
    Ok(current)
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    ) || error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}
