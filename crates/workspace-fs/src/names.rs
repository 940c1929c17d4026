//! Names of directories, made from what forges and people call things.
//!
//! The usual names stay as the schema documents show them (`owner__repo`, `pr-42-0123456789ab`). A
//! name that would be dangerous, ambiguous or too long is changed, and then carries a short hash of
//! the original, so that two targets never share a directory.

use std::ffi::{OsStr, OsString};

use sha2::{Digest, Sha256};

/// Longest name that is left as it is, in bytes. File systems take 255; the rest is room for
/// suffixes of ours.
const MAX_NAME: usize = 200;
/// Length that a longer name is cut to before the hash.
const CUT: usize = 120;
/// What stands between the parts of a target's path.
const SEPARATOR: &str = "__";
/// End of the name of the repository that finishing works in, beside the workspace.
const FINISH_SUFFIX: &str = ".finish";

/// One name for a directory: ASCII letters, digits, `.`, `_`, `-` and `+`, never empty, never
/// starting with a dot or a hyphen, at most 200 bytes. A name that already fits is returned
/// unchanged.
///
/// ```
/// use workspace_fs::safe_name;
/// assert_eq!(safe_name("pr-42-0123456789ab"), "pr-42-0123456789ab");
/// assert!(safe_name("../../etc").starts_with("_.._.._etc-"));
/// ```
pub fn safe_name(name: &str) -> String {
    let mut safe: String = name
        .chars()
        .map(|c| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' | '-' | '+' => c,
            _ => '_',
        })
        .collect();
    if safe.is_empty() || safe.starts_with(['.', '-']) {
        safe.insert(0, '_');
    }
    if safe == name && safe.len() <= MAX_NAME && !safe.ends_with(FINISH_SUFFIX) {
        return safe;
    }
    safe.truncate(CUT);
    with_hash(&safe, name)
}

/// The folder of a repository or project: its path with `__` for `/`. When that could also be
/// another path's folder (`a/b__c` and `a__b/c`), a hash of the path is appended.
///
/// ```
/// use workspace_fs::target_folder;
/// assert_eq!(target_folder("group/team/service"), "group__team__service");
/// assert_ne!(target_folder("a/b__c"), target_folder("a__b/c"));
/// ```
pub fn target_folder(path: &str) -> String {
    let folder = path.replace('/', SEPARATOR);
    if folder.split(SEPARATOR).eq(path.split('/')) {
        return safe_name(&folder);
    }
    let safe = safe_name(&folder);
    if safe == folder {
        let end = safe.len().min(CUT);
        with_hash(&safe[..end], path)
    } else {
        // `safe_name` hashed the folder, in which the ambiguity is lost.
        with_hash(&safe, path)
    }
}

/// Name parts of a review's workspace: `{owner}__{repo}`, `pr-{number}-{first 12 of the sha}`.
pub fn review_parts(repo: &str, number: u64, head_sha: &str) -> [String; 2] {
    let short: String = head_sha.chars().take(12).collect();
    [
        target_folder(repo),
        safe_name(&format!("pr-{number}-{short}")),
    ]
}

/// Name parts of an issue's workspace: `{group}__{project}`, `issue-{iid}-{label event}`.
pub fn issue_parts(project: &str, iid: u64, event: u64) -> [String; 2] {
    [target_folder(project), format!("issue-{iid}-{event}")]
}

/// Name of the repository that finishing works in, beside the workspace of that name.
pub(crate) fn finish_name(name: &OsStr) -> OsString {
    let mut finish = name.to_owned();
    finish.push(FINISH_SUFFIX);
    finish
}

fn with_hash(start: &str, of: &str) -> String {
    let digest = Sha256::digest(of.as_bytes());
    let [a, b, c, d, ..] = digest.0;
    format!("{start}-{:08x}", u32::from_be_bytes([a, b, c, d]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_names_stay() {
        assert_eq!(
            review_parts("OpenHands/extensions", 42, "0123456789abcdef0123"),
            ["OpenHands__extensions", "pr-42-0123456789ab"]
        );
        assert_eq!(
            issue_parts("gitlab-org/sub.group/my_lib", 7, 123_456_789),
            ["gitlab-org__sub.group__my_lib", "issue-7-123456789"]
        );
        assert_eq!(safe_name("2026-08-20"), "2026-08-20");
        assert_eq!(target_folder("acme/.github"), "acme__.github");
    }

    #[test]
    fn hostile_names_become_harmless() {
        let long = "x".repeat(5000);
        let hostile = [
            "",
            ".",
            "..",
            "../..",
            "/etc/passwd",
            "a/../../b",
            "-rf",
            ".git",
            "a\0b",
            "a\nb",
            "ünïcødé/日本",
            "C:\\x",
            "x.finish",
            "~root",
            "$(id)",
            &long,
        ];
        for name in hostile {
            for safe in [safe_name(name), target_folder(name)] {
                assert!(
                    !safe.is_empty() && safe.len() <= MAX_NAME,
                    "{name:?} {safe:?}"
                );
                assert!(!safe.starts_with(['.', '-']), "{name:?} {safe:?}");
                assert!(!safe.ends_with(FINISH_SUFFIX), "{name:?} {safe:?}");
                assert!(
                    safe.bytes()
                        .all(|b| b.is_ascii_alphanumeric() || b"._-+".contains(&b)),
                    "{name:?} {safe:?}"
                );
            }
        }
    }

    #[test]
    fn different_targets_have_different_folders() {
        let targets = [
            "a/b__c", "a__b/c", "a/b/c", "a_/b", "a/_b", "a___b", "ä/b", "ö/b", "a b/c", "a_b/c",
            "é/x__y", "é__x/y",
        ];
        for (i, one) in targets.iter().enumerate() {
            for other in &targets[i + 1..] {
                assert_ne!(target_folder(one), target_folder(other), "{one} {other}");
            }
        }
        let (long, longer) = ("x".repeat(300), "x".repeat(301));
        assert_ne!(safe_name(&long), safe_name(&longer));
    }
}
