//! The `.git` of a workspace, read by us as plain files: which commits there are to look at. No
//! link is followed, nothing is executed, and what does not look right counts as absent.

use std::ffi::OsStr;
use std::io;

use super::argument::is_object_id;
use crate::beneath::{Dir, Kind};
use crate::error::WorkspaceError;
use crate::workspace::Workspace;

/// Longest reference file, in bytes.
const MAX_REF: u64 = 4 << 10;
/// Longest list of packed references, in bytes.
const MAX_PACKED_REFS: u64 = 64 << 20;
/// Longest of the other files, in bytes.
const MAX_FILE: u64 = 1 << 20;
/// References that point to references.
const MAX_SYMBOLIC: usize = 5;

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Theirs {
    /// The commit that `HEAD` names.
    pub head: Option<String>,
    /// The commit of the branch asked for.
    pub branch: Option<String>,
    /// Commits whose parents were not fetched.
    pub shallow: Vec<String>,
    /// The clone's own list of files to ignore.
    pub exclude: Vec<u8>,
    /// Whether files may be absent on purpose.
    pub sparse: bool,
    /// The object store.
    pub objects: Option<Dir>,
}

/// Reads the `.git` of a workspace. One that is not a directory is not looked into: a file or link
/// there leads to somebody else's repository.
pub(super) fn read(workspace: &Workspace, branch: Option<&str>) -> Result<Theirs, WorkspaceError> {
    let failed = |source| WorkspaceError::io("read", &workspace.path().join(".git"), source);
    let Some(git) = sub(workspace.dir(), ".git").map_err(failed)? else {
        return Ok(Theirs::default());
    };
    read_git(&git, branch).map_err(failed)
}

fn read_git(git: &Dir, branch: Option<&str>) -> io::Result<Theirs> {
    let branch = branch.map(|name| format!("refs/heads/{name}"));
    let config = [
        file(git, "config", MAX_FILE)?,
        file(git, "config.worktree", MAX_FILE)?,
    ];
    let info = sub(git, "info")?;
    let exclude = match &info {
        Some(info) => file(info, "exclude", MAX_FILE)?,
        None => None,
    };
    Ok(Theirs {
        head: head(git)?,
        branch: match branch {
            Some(name) => resolve(git, &name)?,
            None => None,
        },
        shallow: file(git, "shallow", MAX_FILE)?
            .map(|list| String::from_utf8_lossy(&list).into_owned())
            .unwrap_or_default()
            .lines()
            .filter(|line| is_object_id(line))
            .map(str::to_owned)
            .collect(),
        exclude: exclude.unwrap_or_default(),
        sparse: config.iter().flatten().any(|config| says_sparse(config)),
        objects: sub(git, "objects")?,
    })
}

fn head(git: &Dir) -> io::Result<Option<String>> {
    let Some(text) = file(git, "HEAD", MAX_REF)? else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&text);
    match text.trim_end().strip_prefix("ref:") {
        Some(name) => resolve(git, name.trim()),
        None => Ok(Some(text.trim_end().to_owned()).filter(|sha| is_object_id(sha))),
    }
}

/// Follows a reference to a commit id.
fn resolve(git: &Dir, name: &str) -> io::Result<Option<String>> {
    let mut name = name.to_owned();
    for _ in 0..MAX_SYMBOLIC {
        if !name.starts_with("refs/") {
            return Ok(None);
        }
        let Some(text) = loose(git, &name)? else {
            return packed(git, &name);
        };
        let text = String::from_utf8_lossy(&text);
        match text.trim_end().strip_prefix("ref:") {
            Some(next) => next.trim().clone_into(&mut name),
            None => return Ok(Some(text.trim_end().to_owned()).filter(|sha| is_object_id(sha))),
        }
    }
    Ok(None)
}

fn loose(git: &Dir, name: &str) -> io::Result<Option<Vec<u8>>> {
    let mut current = git.again()?;
    let mut parts = name.split('/').peekable();
    while let Some(part) = parts.next() {
        if part.is_empty() || part == "." || part == ".." || part.contains('\0') {
            return Ok(None);
        }
        if parts.peek().is_none() {
            return file(&current, part, MAX_REF);
        }
        match sub(&current, part)? {
            Some(next) => current = next,
            None => return Ok(None),
        }
    }
    Ok(None)
}

fn packed(git: &Dir, name: &str) -> io::Result<Option<String>> {
    let Some(list) = file(git, "packed-refs", MAX_PACKED_REFS)? else {
        return Ok(None);
    };
    let found = list.split(|byte| *byte == b'\n').find_map(|line| {
        let (sha, of) = std::str::from_utf8(line).ok()?.split_once(' ')?;
        (of == name && is_object_id(sha)).then(|| sha.to_owned())
    });
    Ok(found)
}

/// Whether a configuration switches sparse checkout on. Read loosely: all that depends on it is
/// that an absent file is not taken for a deleted one.
fn says_sparse(config: &[u8]) -> bool {
    let config: String = String::from_utf8_lossy(config)
        .to_lowercase()
        .split_whitespace()
        .collect();
    config.contains("sparsecheckout=true")
}

fn sub(dir: &Dir, name: &str) -> io::Result<Option<Dir>> {
    let name = OsStr::new(name);
    match dir.kind(name)? {
        Some(Kind::Dir) => dir.sub_repaired(name).map(Some),
        _ => Ok(None),
    }
}

/// A file's content; `None` also when its name is one that no file can have.
fn file(dir: &Dir, name: &str, max: u64) -> io::Result<Option<Vec<u8>>> {
    match dir.read(OsStr::new(name), max) {
        Err(error) if error.kind() == io::ErrorKind::InvalidFilename => Ok(None),
        other => other,
    }
}
