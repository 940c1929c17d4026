//! Reading a bare repository back: commits, files, pushes.

use std::fs;

use super::git::{Bare, text};
use crate::tree::{Entry, Tree};

/// What stands between two fields of a log, and between two records.
const FIELD: char = '\u{1f}';
const RECORD: char = '\u{1e}';

/// A commit, as a test reads it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The commit id.
    pub sha: String,
    /// Ids of its parents.
    pub parents: Vec<String>,
    /// Name of the author.
    pub author_name: String,
    /// Mail address of the author.
    pub author_email: String,
    /// When it was authored, RFC 3339.
    pub authored_at: String,
    /// Name of the committer.
    pub committer_name: String,
    /// Mail address of the committer.
    pub committer_email: String,
    /// When it was committed, RFC 3339.
    pub committed_at: String,
    /// The whole message.
    pub message: String,
}

/// A push that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Push {
    /// The whole name of the reference, as `refs/heads/main`.
    pub reference: String,
    /// Where it stood before; `None` when the push created it.
    pub before: Option<String>,
    /// Where it stands; `None` when the push deleted it.
    pub after: Option<String>,
    /// Whether commits were thrown away.
    pub forced: bool,
}

impl Bare {
    /// The commits of a range, newest first, `count` at most.
    pub(super) fn log(&self, range: &str, count: usize) -> Vec<Commit> {
        let format = format!(
            "--format=%H{FIELD}%P{FIELD}%an{FIELD}%ae{FIELD}%aI{FIELD}%cn{FIELD}%ce{FIELD}%cI{FIELD}%B{RECORD}"
        );
        let count = format!("--max-count={count}");
        let listed = self.run(
            &["log", &count, &format, "--end-of-options", range, "--"],
            &[],
        );
        let listed = text(&listed.unwrap_or_default());
        listed
            .split(RECORD)
            .filter_map(|record| commit(record.trim_start_matches('\n')))
            .collect()
    }

    /// Everything that a commit or branch holds.
    pub(super) fn files(&self, name: &str) -> Tree {
        let Some(sha) = self.resolve(name) else {
            return Tree::new();
        };
        let listed = self
            .run(&["ls-tree", "-r", "-z", &sha], &[])
            .unwrap_or_default();
        let mut entries = Vec::new();
        for line in text(&listed).split('\0') {
            let Some((facts, path)) = line.split_once('\t') else {
                continue;
            };
            let facts: Vec<&str> = facts.split(' ').collect();
            if let [mode, _, id] = facts.as_slice() {
                entries.push((path.to_owned(), (*mode).to_owned(), (*id).to_owned()));
            }
        }
        let ids: Vec<&str> = entries.iter().map(|(_, _, id)| id.as_str()).collect();
        let wanted = ids.join(
            "
",
        ) + "
";
        let found = self
            .run(&["cat-file", "--batch"], wanted.as_bytes())
            .unwrap_or_default();
        let mut rest = found.as_slice();
        let mut tree = Tree::new();
        for (path, mode, id) in entries {
            let bytes = next_object(&mut rest).unwrap_or_default();
            let entry = match mode.as_str() {
                "160000" => Entry::Submodule(id),
                "120000" => Entry::Symlink(text(&bytes)),
                "100755" => Entry::Executable(bytes),
                _ => Entry::File(bytes),
            };
            tree.insert(path, entry);
        }
        tree
    }

    /// The pushes that were taken, oldest first.
    pub(super) fn pushes(&self) -> Vec<Push> {
        let text = fs::read_to_string(self.dir.join("pushes")).unwrap_or_default();
        let known = |sha: &str| (!sha.starts_with("0000000000")).then(|| sha.to_owned());
        let push = |line: &str| match line.split(' ').collect::<Vec<_>>().as_slice() {
            [reference, before, after, forced] => Some(Push {
                reference: (*reference).to_owned(),
                before: known(before),
                after: known(after),
                forced: *forced == "yes",
            }),
            _ => None,
        };
        text.lines().filter_map(push).collect()
    }
}

fn commit(record: &str) -> Option<Commit> {
    match record.split(FIELD).collect::<Vec<_>>().as_slice() {
        [sha, parents, an, ae, at, cn, ce, ct, message] => Some(Commit {
            sha: (*sha).to_owned(),
            parents: parents
                .split(' ')
                .filter(|one| !one.is_empty())
                .map(str::to_owned)
                .collect(),
            author_name: (*an).to_owned(),
            author_email: (*ae).to_owned(),
            authored_at: (*at).to_owned(),
            committer_name: (*cn).to_owned(),
            committer_email: (*ce).to_owned(),
            committed_at: (*ct).to_owned(),
            message: (*message).to_owned(),
        }),
        _ => None,
    }
}

/// The next object of a batch: a line with its size, its bytes, a line end. One that is not there,
/// as the commit of a submodule, has a line only.
fn next_object(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let size = text(&rest[..end])
        .rsplit(' ')
        .next()
        .and_then(|size| size.parse::<usize>().ok());
    let after = &rest[end + 1..];
    let Some(size) = size else {
        *rest = after;
        return None;
    };
    let bytes = after.get(..size)?.to_vec();
    *rest = after.get(size + 1..).unwrap_or_default();
    Some(bytes)
}
