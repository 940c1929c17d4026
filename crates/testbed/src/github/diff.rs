//! What a pull request changes: made from its trees, or read from a unified diff that a test gives.
//! Tells which lines a review may comment on: those inside a hunk, on the side they are on.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use super::commits::hex;
use super::model::{PullData, Repo, Side};
use crate::tree::{Entry, Tree};

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// One changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileDiff {
    pub(super) path: String,
    /// `added`, `removed` or `modified`.
    pub(super) status: &'static str,
    pub(super) additions: u64,
    pub(super) deletions: u64,
    /// The hunks; empty for a file that is not text.
    pub(super) patch: String,
    /// Id of the file's content after the change.
    pub(super) blob: String,
    /// The lines inside the hunks.
    pub(super) lines: BTreeSet<(Side, u64)>,
    /// The highest position that the older way to name a line can have.
    pub(super) positions: u64,
}

/// What a pull request changes.
pub(super) fn changes(repo: &Repo, pull: &PullData) -> Vec<FileDiff> {
    match &pull.diff {
        Some(text) => parse(text),
        None => between(&repo.tree(&pull.base_sha), &repo.tree(&pull.head_sha)),
    }
}

/// The whole diff as text.
pub(super) fn unified(files: &[FileDiff]) -> String {
    let one = |file: &FileDiff| {
        let path = &file.path;
        let (old, new) = match file.status {
            "added" => ("/dev/null".to_owned(), format!("b/{path}")),
            "removed" => (format!("a/{path}"), "/dev/null".to_owned()),
            _ => (format!("a/{path}"), format!("b/{path}")),
        };
        format!(
            "diff --git a/{path} b/{path}\n--- {old}\n+++ {new}\n{}\n",
            file.patch
        )
    };
    files.iter().map(one).collect()
}

/// The difference of two trees.
fn between(base: &Tree, head: &Tree) -> Vec<FileDiff> {
    let paths: BTreeSet<&String> = base.keys().chain(head.keys()).collect();
    let mut files = Vec::new();
    for path in paths {
        let (old, new) = (base.get(path), head.get(path));
        if old == new {
            continue;
        }
        let status = match (old, new) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "modified",
        };
        let text = |entry: Option<&Entry>| {
            std::str::from_utf8(entry.map(Entry::bytes).unwrap_or_default())
                .map(str::to_owned)
                .ok()
        };
        let patch = match (text(old), text(new)) {
            (Some(old), Some(new)) => hunk(&old, &new),
            _ => String::new(),
        };
        let mut file = read_hunks(path, status, &patch);
        file.blob = hex(
            &Sha256::digest(new.map(Entry::bytes).unwrap_or_default()),
            40,
        );
        files.push(file);
    }
    files
}

/// One hunk from the first line that differs to the last, with context; empty if none differs.
fn hunk(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - same;
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(|(a, b)| a == b)
        .count()
        .min(most);
    if same == old.len() && same == new.len() {
        return String::new();
    }
    let start = same.saturating_sub(CONTEXT);
    let after = tail.min(CONTEXT);
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let range = |length: usize| {
        let first = if length == 0 { start } else { start + 1 };
        format!("{first},{length}")
    };
    let (old_range, new_range) = (
        range(old_end + after - start),
        range(new_end + after - start),
    );
    let mut lines = vec![format!("@@ -{old_range} +{new_range} @@")];
    lines.extend(old[start..same].iter().map(|line| format!(" {line}")));
    lines.extend(old[same..old_end].iter().map(|line| format!("-{line}")));
    lines.extend(new[same..new_end].iter().map(|line| format!("+{line}")));
    lines.extend(
        old[old_end..old_end + after]
            .iter()
            .map(|line| format!(" {line}")),
    );
    lines.join("\n")
}

/// Reads a unified diff; parts without a header are passed over.
fn parse(text: &str) -> Vec<FileDiff> {
    let mut files = Vec::new();
    for part in format!("\n{text}").split("\ndiff --git ").skip(1) {
        let (header, patch) = part.find("\n@@").map_or((part, ""), |at| part.split_at(at));
        let side = |mark: &str| {
            header
                .lines()
                .find_map(|line| line.strip_prefix(mark))
                .map(str::trim)
        };
        let (old, new) = (side("--- "), side("+++ "));
        let status = match (old, new) {
            (Some("/dev/null"), _) => "added",
            (_, Some("/dev/null")) => "removed",
            _ => "modified",
        };
        let named = if status == "removed" { old } else { new };
        let first = header
            .lines()
            .next()
            .and_then(|line| line.rsplit(' ').next());
        let path = named.or(first).unwrap_or_default();
        let path = path
            .strip_prefix("a/")
            .or(path.strip_prefix("b/"))
            .unwrap_or(path);
        let mut file = read_hunks(path, status, patch.trim_matches('\n'));
        file.blob = hex(&Sha256::digest(patch), 40);
        files.push(file);
    }
    files
}

/// Counts the lines of some hunks and where they lie.
fn read_hunks(path: &str, status: &'static str, patch: &str) -> FileDiff {
    let mut file = FileDiff {
        path: path.to_owned(),
        status,
        additions: 0,
        deletions: 0,
        patch: patch.to_owned(),
        blob: String::new(),
        lines: BTreeSet::new(),
        positions: patch.lines().count().saturating_sub(1) as u64,
    };
    let (mut old, mut new) = (0, 0);
    for line in patch.lines() {
        match line.as_bytes().first() {
            Some(b'@') => (old, new) = starts(line),
            Some(b'-') => {
                file.lines.insert((Side::Left, old));
                file.deletions += 1;
                old += 1;
            }
            Some(b'+') => {
                file.lines.insert((Side::Right, new));
                file.additions += 1;
                new += 1;
            }
            Some(b'\\') => {}
            _ => {
                file.lines.insert((Side::Left, old));
                file.lines.insert((Side::Right, new));
                old += 1;
                new += 1;
            }
        }
    }
    file
}

/// The first line on either side of `@@ -1,3 +1,4 @@`.
fn starts(header: &str) -> (u64, u64) {
    let mut numbers = header.split(' ').filter_map(|part| {
        let digits = part.strip_prefix(['-', '+'])?;
        digits.split(',').next()?.parse().ok()
    });
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{apply, files};

    fn tree<const N: usize>(pairs: [(&str, &str); N]) -> Tree {
        apply(&Tree::new(), files(pairs))
    }

    #[test]
    fn trees_are_compared_file_by_file() {
        let base = tree([
            ("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n"),
            ("gone", "x\n"),
            ("same", "s"),
        ]);
        let head = tree([
            ("a.txt", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            ("new", "n\n"),
            ("same", "s"),
        ]);
        let found = between(&base, &head);
        let short: Vec<_> = found
            .iter()
            .map(|file| {
                (
                    file.path.as_str(),
                    file.status,
                    file.additions,
                    file.deletions,
                )
            })
            .collect();
        assert_eq!(
            short,
            [
                ("a.txt", "modified", 1, 1),
                ("gone", "removed", 0, 1),
                ("new", "added", 1, 0)
            ]
        );
        assert_eq!(
            found[0].patch,
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8"
        );
        assert!(found[0].lines.contains(&(Side::Right, 5)));
        assert!(found[0].lines.contains(&(Side::Right, 8)));
        assert!(
            !found[0].lines.contains(&(Side::Right, 9)),
            "outside the hunk"
        );
        assert_eq!(found[0].positions, 8);
        assert_eq!(found[2].patch, "@@ -0,0 +1,1 @@\n+n");
    }

    #[test]
    fn a_diff_written_out_reads_back_the_same() {
        let base = tree([("a.txt", "1\n2\n3\n"), ("b/gone.txt", "x\ny\n")]);
        let head = tree([("a.txt", "1\n2\nthree\n"), ("c.txt", "z\n")]);
        let made = between(&base, &head);
        let mut read = parse(&unified(&made));
        for (read, made) in read.iter_mut().zip(&made) {
            read.blob.clone_from(&made.blob);
        }
        assert_eq!(read, made);
    }

    #[test]
    fn files_that_are_not_text_have_no_patch() {
        let head = apply(
            &Tree::new(),
            vec![("x.bin".to_owned(), Entry::File(vec![0xff, 0]))],
        );
        let found = between(&Tree::new(), &head);
        assert_eq!((found[0].patch.as_str(), found[0].lines.len()), ("", 0));
    }
}
