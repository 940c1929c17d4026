//! The work tree of a workspace as a tree object in our repository.
//!
//! git lists the files (so that ignore rules count) and stores their content (so that line endings
//! are converted), both with our repository's configuration. What each of them is, we look at
//! ourselves, without following links. `git add` is not used: for a repository inside the work tree
//! it starts a git process there, with that repository's configuration.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;

use super::classify::failure;
use super::inspect::LeftOut;
use super::ours::{Ours, Place};
use super::process::Input;
use super::runner::Output;
use crate::beneath::{Dir, Kind};
use crate::error::WorkspaceError;
use crate::offload::blocking;
use crate::tree::{Met, walk};
use crate::workspace::Workspace;

/// Where the target of a link is put to be stored.
const LINKS: &str = "links";
const FILE: &str = "100644";
const EXECUTABLE: &str = "100755";
const LINK: &str = "120000";
const SUBMODULE: &str = "160000";

/// A work tree, stored.
pub(super) struct Snapshot {
    /// Its tree object.
    pub tree: String,
    pub left_out: LeftOut,
}

/// An entry of the index.
struct Tracked {
    path: Vec<u8>,
    mode: String,
    id: String,
}

/// What is to be stored.
#[derive(Default)]
struct Plan {
    files: Vec<(Vec<u8>, bool)>,
    links: Vec<(Vec<u8>, Vec<u8>)>,
    gone: Vec<Vec<u8>>,
    left_out: LeftOut,
}

/// Stores the work tree, seen as a change of `commit`. With `sparse`, absent files are not deleted.
pub(super) async fn snapshot(
    ours: &Ours,
    commit: &str,
    sparse: bool,
) -> Result<Snapshot, WorkspaceError> {
    let limits = *ours.runner().limits();
    let workspace = ours.workspace().clone();
    let special_files = blocking("looking through the work tree", move || {
        remove_special_files(&workspace, limits.max_entries)
    })
    .await?;
    ours.ok("git read-tree", &["read-tree", commit]).await?;
    let listed = ours
        .ok("git ls-files", &["ls-files", "-z", "--stage"])
        .await?;
    let others = ["ls-files", "-z", "--others", "--exclude-standard"];
    let others = ours
        .ok_with("git ls-files", &others, Input::Nothing, Place::WorkTree)
        .await?;
    let workspace = ours.workspace().clone();
    let (tracked, mut plan) = blocking("looking at the work tree", move || {
        let tracked = parse_index(&listed);
        let examine = Examine {
            workspace: &workspace,
            last: None,
            bytes_left: limits.max_tree_bytes,
            max_file_bytes: limits.max_file_bytes,
            plan: Plan::default(),
        };
        let plan = examine.all(&tracked, &others, sparse)?;
        Ok((tracked, plan))
    })
    .await?;
    plan.left_out.special_files = special_files;
    let tree = store(ours, &tracked, &plan).await?;
    Ok(Snapshot {
        tree,
        left_out: plan.left_out,
    })
}

/// Removes what git would wait for when it opens it, such as a FIFO named `.gitignore`.
fn remove_special_files(workspace: &Workspace, max_entries: u64) -> Result<u64, WorkspaceError> {
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
fn parse_index(listed: &[u8]) -> Vec<Tracked> {
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

/// Looks at each listed path.
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

/// Stores all content, brings the index up to date, and writes the tree.
async fn store(ours: &Ours, tracked: &[Tracked], plan: &Plan) -> Result<String, WorkspaceError> {
    let known: HashMap<&[u8], (&str, &str)> = tracked
        .iter()
        .map(|entry| (&entry.path[..], (&entry.mode[..], &entry.id[..])))
        .collect();
    let mut changes = Vec::new();
    for path in &plan.gone {
        let none = "0".repeat(tracked.first().map_or(40, |entry| entry.id.len()));
        record(&mut changes, "0", &none, path);
    }
    let paths: Vec<&[u8]> = plan.files.iter().map(|(path, _)| &path[..]).collect();
    let ids = hash_files(ours, &paths).await?;
    for ((path, executable), id) in plan.files.iter().zip(&ids) {
        let before = known.get(path.as_slice());
        let mode = match before {
            Some((mode, _)) if !ours.file_modes && (*mode == FILE || *mode == EXECUTABLE) => mode,
            _ if *executable && ours.file_modes => EXECUTABLE,
            _ => FILE,
        };
        if before != Some(&(mode, id)) {
            record(&mut changes, mode, id, path);
        }
    }
    let ids = hash_links(ours, &plan.links).await?;
    for ((path, _), id) in plan.links.iter().zip(&ids) {
        if known.get(path.as_slice()) != Some(&(LINK, id)) {
            record(&mut changes, LINK, id, path);
        }
    }
    if !changes.is_empty() {
        let update = ["update-index", "-z", "--index-info"];
        let input = Input::Bytes(changes);
        ours.ok_with("git update-index", &update, input, Place::Repository)
            .await?;
    }
    ours.line("git write-tree", &["write-tree"]).await
}

fn record(changes: &mut Vec<u8>, mode: &str, id: &str, path: &[u8]) {
    changes.extend_from_slice(format!("{mode} {id}\t").as_bytes());
    changes.extend_from_slice(path);
    changes.push(0);
}

/// A link is stored as its target; the targets are put into files of ours for that.
async fn hash_links(
    ours: &Ours,
    links: &[(Vec<u8>, Vec<u8>)],
) -> Result<Vec<String>, WorkspaceError> {
    if links.is_empty() {
        return Ok(Vec::new());
    }
    let dir = ours.path().join(LINKS);
    std::fs::create_dir(&dir).map_err(|source| WorkspaceError::io("create", &dir, source))?;
    let mut names = Vec::new();
    for (i, (_, target)) in links.iter().enumerate() {
        let name = format!("{LINKS}/{i}");
        ours.write(&name, target)?;
        names.push(name.into_bytes());
    }
    let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
    let ids = hash(ours, &names, &["--no-filters"], Place::Repository).await?;
    ids.map_err(|output| failure(&output, None))
}

/// Stores files of the work tree. Attributes may ask for a conversion that a file does not allow;
/// such a file is searched for and stored as it is, so that none of them costs all of the work.
async fn hash_files(ours: &Ours, paths: &[&[u8]]) -> Result<Vec<String>, WorkspaceError> {
    let mut ids = Vec::new();
    let mut pending = vec![paths];
    while let Some(part) = pending.pop() {
        match hash(ours, part, &[], Place::InWorkTree).await? {
            Ok(found) => ids.extend(found),
            Err(_) if part.len() > 1 => {
                let (first, second) = part.split_at(part.len() / 2);
                pending.extend([second, first]);
            }
            Err(_) => {
                let plain = hash(ours, part, &["--no-filters"], Place::InWorkTree).await?;
                ids.extend(plain.map_err(|output| failure(&output, None))?);
            }
        }
    }
    Ok(ids)
}

/// Stores files as blobs and returns their ids in order, or what git said when it could not.
async fn hash(
    ours: &Ours,
    paths: &[&[u8]],
    options: &[&str],
    place: Place,
) -> Result<Result<Vec<String>, Output>, WorkspaceError> {
    if paths.is_empty() {
        return Ok(Ok(Vec::new()));
    }
    let mut list = Vec::new();
    for path in paths {
        quote(&mut list, path);
    }
    let mut arguments = vec!["hash-object", "-w", "--stdin-paths"];
    arguments.extend(options);
    let output = ours
        .run("git hash-object", &arguments, Input::Bytes(list), place)
        .await?;
    let ids: Vec<String> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(str::to_owned)
        .collect();
    let whole = output.code == Some(0) && ids.len() == paths.len();
    Ok(if whole { Ok(ids) } else { Err(output) })
}

/// A line with a path, quoted as in C if it needs it.
fn quote(list: &mut Vec<u8>, path: &[u8]) {
    let plain = |byte: &u8| !byte.is_ascii_control() && !matches!(byte, b'"' | b'\\');
    if path.iter().all(plain) {
        list.extend_from_slice(path);
    } else {
        list.push(b'"');
        for byte in path {
            if plain(byte) {
                list.push(*byte);
            } else {
                list.extend_from_slice(format!("\\{byte:03o}").as_bytes());
            }
        }
        list.push(b'"');
    }
    list.push(b'\n');
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

    #[test]
    fn quoting() {
        let mut list = Vec::new();
        for path in ["plain é", "two\nlines", "\"quoted\"", "back\\slash", "cr\r"] {
            quote(&mut list, path.as_bytes());
        }
        let expected =
            "plain é\n\"two\\012lines\"\n\"\\042quoted\\042\"\n\"back\\134slash\"\n\"cr\\015\"\n";
        assert_eq!(String::from_utf8(list).unwrap(), expected);
    }
}
