//! What stands in the work tree of a workspace, path by path, without following a link.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;

use super::inspect::LeftOut;
use super::settings::GitLimits;
use crate::beneath::{Dir, Kind};
use crate::error::WorkspaceError;
use crate::tree::{Met, walk};
use crate::workspace::Workspace;

/// Mode of a submodule's entry.
const SUBMODULE: &str = "160000";

/// An entry of the index.
pub(super) struct Tracked {
    pub path: Vec<u8>,
    pub mode: String,
    /// Name of its object.
    pub id: String,
}

/// What is to be stored.
#[derive(Default)]
pub(super) struct Plan {
    /// Regular files, and whether they are executable.
    pub files: Vec<(Vec<u8>, bool)>,
    /// Symbolic links and their targets.
    pub links: Vec<(Vec<u8>, Vec<u8>)>,
    /// Entries of the index that are not there.
    pub gone: Vec<Vec<u8>>,
    pub left_out: LeftOut,
}

/// Removes what git would wait for when it opens it, such as a FIFO named `.gitignore`.
pub(super) fn remove_special_files(
    workspace: &Workspace,
    max_entries: u64,
) -> Result<u64, WorkspaceError> {
    let mut removed = 0;
    let mut visit = |met: &Met<'_>| {
        // The repository itself is no part of its work tree; git does not look into it there.
        if met.at_top && met.name == ".git" {
            return Ok(false);
        }
        if met.kind == Kind::Special {
            met.dir.remove_file(met.name)?;
            removed += 1;
        }
        Ok(true)
    };
    walk(workspace.dir(), workspace.path(), max_entries, &mut visit)?;
    Ok(removed)
}

/// Reads `mode id stage TAB path NUL` records.
pub(super) fn read_index(listed: &[u8]) -> Vec<Tracked> {
    let records = listed.split(|byte| *byte == 0);
    records
        .filter_map(|record| {
            let tab = record.iter().position(|byte| *byte == b'\t')?;
            let (fields, path) = (
                std::str::from_utf8(&record[..tab]).ok()?,
                &record[tab + 1..],
            );
            let mut fields = fields.split(' ');
            Some(Tracked {
                path: path.to_vec(),
                mode: fields.next()?.to_owned(),
                id: fields.next()?.to_owned(),
            })
        })
        .collect()
}

/// Looks at all paths that git listed: those of the index, and the others (NUL after each). With
/// `sparse`, an absent file of the index is not gone.
pub(super) fn plan(
    workspace: &Workspace,
    tracked: &[Tracked],
    others: &[u8],
    sparse: bool,
    limits: &GitLimits,
) -> Result<Plan, WorkspaceError> {
    let examine = Examine {
        workspace,
        last: None,
        bytes_left: limits.max_tree_bytes,
        max_file_bytes: limits.max_file_bytes,
        plan: Plan::default(),
    };
    examine.all(tracked, others, sparse)
}

/// A look at one path after the other.
struct Examine<'a> {
    workspace: &'a Workspace,
    /// The directory of the last path; `None` in it when there is no such directory.
    last: Option<(Vec<u8>, Option<Dir>)>,
    bytes_left: u64,
    max_file_bytes: u64,
    plan: Plan,
}

impl Examine<'_> {
    fn all(
        mut self,
        tracked: &[Tracked],
        others: &[u8],
        sparse: bool,
    ) -> Result<Plan, WorkspaceError> {
        for entry in tracked {
            let there = self.one(&entry.path, true, entry.mode == SUBMODULE)?;
            if !there && !sparse {
                self.plan.gone.push(entry.path.clone());
            }
        }
        for path in others.split(|byte| *byte == 0) {
            if path.ends_with(b"/") {
                self.plan.left_out.nested_repositories += 1;
            } else if !path.is_empty() {
                self.one(path, false, false)?;
            }
        }
        Ok(self.plan)
    }

    /// Plans for one path; `false` when nothing that git keeps is there.
    fn one(&mut self, path: &[u8], tracked: bool, submodule: bool) -> Result<bool, WorkspaceError> {
        let failed = |source| {
            let path = self.workspace.path().join(OsStr::from_bytes(path));
            WorkspaceError::io("read", &path, source)
        };
        let (above, name) = match path.iter().rposition(|byte| *byte == b'/') {
            Some(at) => (&path[..at], &path[at + 1..]),
            None => (&[][..], path),
        };
        if !matches!(&self.last, Some((last, _)) if last == above) {
            let dir = open(self.workspace.dir(), above).map_err(failed)?;
            self.last = Some((above.to_vec(), dir));
        }
        let Some((_, Some(dir))) = &self.last else {
            return Ok(false);
        };
        let name = OsStr::from_bytes(name);
        match dir.kind(name).map_err(failed)? {
            Some(Kind::File { len, executable }) => {
                if !tracked && is_unsafe(path, false) {
                    self.plan.left_out.unsafe_names += 1;
                } else if len > self.max_file_bytes {
                    self.plan.left_out.too_large += 1;
                } else if dir.open_file(name).is_err() {
                    self.plan.left_out.unreadable += 1;
                } else {
                    let left = self.bytes_left.checked_sub(len);
                    self.bytes_left = left.ok_or_else(|| WorkspaceError::CloneUnreadable {
                        dir: self.workspace.path().to_owned(),
                        reason: "its files that are not ignored take too much space".to_owned(),
                    })?;
                    self.plan.files.push((path.to_vec(), executable));
                }
                Ok(true)
            }
            Some(Kind::Link) if is_unsafe(path, true) => {
                self.plan.left_out.unsafe_names += 1;
                Ok(true)
            }
            Some(Kind::Link) => {
                let target = dir.read_link(name).map_err(failed)?;
                self.plan.links.push((path.to_vec(), target));
                Ok(true)
            }
            Some(Kind::Dir) => Ok(submodule),
            Some(Kind::Special) | None => Ok(false),
        }
    }
}

/// Opens a directory of the work tree; `None` when some part of the path is no directory.
fn open(top: &Dir, path: &[u8]) -> io::Result<Option<Dir>> {
    let mut current = top.again()?;
    for name in path
        .split(|byte| *byte == b'/')
        .filter(|name| !name.is_empty())
    {
        let name = OsStr::from_bytes(name);
        match current.kind(name)? {
            Some(Kind::Dir) => current = current.sub(name)?,
            _ => return Ok(None),
        }
    }
    Ok(Some(current))
}

/// Names that git does not let into a tree, in the spellings that some file system takes for
/// `.git`, and links under names that git reads.
fn is_unsafe(path: &[u8], link: bool) -> bool {
    path.split(|byte| matches!(byte, b'/' | b'\\')).any(|name| {
        // HFS+ ignores some characters outside ASCII, NTFS dots and blanks at the end.
        let plain: Vec<u8> = name.iter().copied().filter(u8::is_ascii).collect();
        let stream = plain.split(|byte| *byte == b':').next().unwrap_or_default();
        let end = stream.iter().rposition(|byte| !b". ".contains(byte));
        let plain = stream[..end.map_or(0, |end| end + 1)].to_ascii_lowercase();
        let reserved = plain == b".git" || plain == b"git~1";
        let modules = [&b".gitmodules"[..], b"gitmod~", b"gi7eba~"];
        reserved || (link && modules.iter().any(|name| plain.starts_with(name)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_names() {
        for path in [
            ".git",
            "a/.GIT/config",
            "git~1/x",
            ".git. .",
            ".git::$INDEX",
            ".g\u{200c}it",
            "a\\.git\\x",
        ] {
            assert!(is_unsafe(path.as_bytes(), false), "{path}");
        }
        for path in [".gitignore", ".github/x", "git", "a.git", ".gitmodules"] {
            assert!(!is_unsafe(path.as_bytes(), false), "{path}");
        }
        assert!(is_unsafe(b"a/.GitModules", true));
        assert!(is_unsafe(b"gitmod~1", true));
        assert!(!is_unsafe(b".gitlab-ci.yml", true));
    }
}
