//! The work tree of a workspace as a tree object in our repository.
//!
//! git lists the files (so that ignore rules count) and stores their content (so that line endings
//! are converted), both with our repository's configuration. What each of them is, we look at
//! ourselves, without following links. `git add` is not used: for a repository inside the work tree
//! it starts a git process there, with that repository's configuration.

use std::collections::HashMap;

use super::classify::failure;
use super::inspect::LeftOut;
use super::ours::{Ours, Place};
use super::process::Input;
use super::runner::Output;
use super::worktree::{Plan, Tracked, plan, read_index, remove_special_files};
use crate::error::WorkspaceError;
use crate::offload::blocking;

/// Where the target of a link is put to be stored.
const LINKS: &str = "links";
const FILE: &str = "100644";
const EXECUTABLE: &str = "100755";
const LINK: &str = "120000";

/// A work tree, stored.
pub(super) struct Snapshot {
    /// Its tree object.
    pub tree: String,
    pub left_out: LeftOut,
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
        let tracked = read_index(&listed);
        let plan = plan(&workspace, &tracked, &others, sparse, &limits)?;
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
