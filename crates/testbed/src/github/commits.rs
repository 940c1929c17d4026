//! Commits of a repository: whole trees under ids that depend on all of their content.

use sha2::{Digest, Sha256};

use super::model::{Commit, Repo};
use crate::tree::{Entry, Tree, apply};

impl Repo {
    /// `owner/name`.
    pub(super) fn full_name(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }

    /// Stores a commit on top of `parent` and returns its id.
    pub(super) fn commit(&mut self, parent: Option<&str>, change: Vec<(String, Entry)>) -> String {
        let base = parent
            .and_then(|sha| self.commits.get(sha))
            .map(|commit| &commit.tree);
        let tree = apply(base.unwrap_or(&Tree::new()), change);
        let sha = commit_sha(&tree, parent, self.commits.len());
        self.store(sha, tree, parent)
    }

    /// Stores a commit under an id that the caller chose.
    pub(super) fn store(&mut self, sha: String, tree: Tree, parent: Option<&str>) -> String {
        let commit = Commit {
            tree,
            parent: parent.map(str::to_owned),
        };
        self.commits.insert(sha.clone(), commit);
        sha
    }

    /// The commit that a branch, a full commit id or (`None`) the default branch names.
    pub(super) fn resolve(&self, reference: Option<&str>) -> Option<&str> {
        let reference = reference.unwrap_or(&self.default_branch);
        if let Some(sha) = self.branches.get(reference) {
            return Some(sha);
        }
        self.commits
            .get_key_value(reference)
            .map(|(sha, _)| sha.as_str())
    }

    /// The tree of a commit; an unknown one has no files.
    pub(super) fn tree(&self, sha: &str) -> Tree {
        self.commits
            .get(sha)
            .map(|commit| commit.tree.clone())
            .unwrap_or_default()
    }

    /// How many commits lie between a pull request's base and its head.
    pub(super) fn distance(&self, base: &str, head: &str) -> u64 {
        let mut count = 0;
        let mut at = Some(head.to_owned());
        while let Some(sha) = at.filter(|sha| sha != base) {
            count += 1;
            at = self
                .commits
                .get(&sha)
                .and_then(|commit| commit.parent.clone());
        }
        count
    }
}

/// Forty hexadecimal digits that depend on all of a commit.
fn commit_sha(tree: &Tree, parent: Option<&str>, nth: usize) -> String {
    let mut hash = Sha256::new();
    for (path, entry) in tree {
        hash.update(path.as_bytes());
        hash.update([0]);
        hash.update(entry.mode().to_be_bytes());
        hash.update(entry.bytes());
        hash.update([0]);
    }
    hash.update(parent.unwrap_or("root").as_bytes());
    hash.update(nth.to_be_bytes());
    hex(&hash.finalize(), 40)
}

/// The first `digits` hexadecimal digits of some bytes.
pub(super) fn hex(bytes: &[u8], digits: usize) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .take(digits)
        .collect()
}
