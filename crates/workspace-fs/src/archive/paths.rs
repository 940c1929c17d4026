//! Paths of archive entries: which are acceptable, and which are taken.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// Longest single name, in bytes (`NAME_MAX` everywhere that matters).
const MAX_NAME: usize = 255;
/// Longest path below the root, in bytes. `PATH_MAX` is 4096 and includes the workspace's own path.
const MAX_PATH: usize = 3072;

/// A path that can be used, or why not.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Checked<'a> {
    /// The names below the archive's root; none for the root itself.
    Below {
        /// The root directory.
        root: &'a [u8],
        /// The names.
        names: Vec<&'a [u8]>,
    },
    /// It names nothing (`./`).
    Nothing,
    /// A name or the whole is longer than file systems take.
    TooLong,
    /// It is or lies in a `.git`.
    GitMetadata,
}

/// Looks at a path; an error refuses the archive.
pub(super) fn check(path: &[u8]) -> Result<Checked<'_>, &'static str> {
    if path.first() == Some(&b'/') {
        return Err("an absolute path");
    }
    if path.contains(&0) {
        return Err("a path with a NUL byte");
    }
    let mut names = path
        .split(|byte| *byte == b'/')
        .filter(|name| !name.is_empty() && *name != b".");
    let Some(root) = names.next() else {
        return Ok(Checked::Nothing);
    };
    let names: Vec<&[u8]> = names.collect();
    if root == b".." || names.contains(&&b".."[..]) {
        return Err("a path that goes up with ..");
    }
    if names.iter().any(|name| name.eq_ignore_ascii_case(b".git")) {
        return Ok(Checked::GitMetadata);
    }
    let length: usize = names.iter().map(|name| name.len() + 1).sum();
    if length > MAX_PATH || names.iter().any(|name| name.len() > MAX_NAME) {
        return Ok(Checked::TooLong);
    }
    Ok(Checked::Below { root, names })
}

/// How a path stands to those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// It is new, or a directory again.
    Free,
    /// The very same path was there.
    Duplicate,
    /// A path that differs in case only was there.
    CaseCollision,
    /// It goes through, or stands in the place of, something of another kind.
    Conflict,
}

/// All paths so far, as two hashes each, so that memory depends on their number alone.
#[derive(Default)]
pub(super) struct Taken {
    state: RandomState,
    /// From the path in lower case to the path itself and whether it is a directory (lowest bit).
    paths: HashMap<u64, u64>,
}

impl Taken {
    /// How many paths there are, directories that others lie in included.
    pub(super) fn len(&self) -> usize {
        self.paths.len()
    }

    /// Takes a path and the directories that it lies in, unless something is in the way.
    pub(super) fn claim(&mut self, names: &[&[u8]], is_dir: bool) -> Claim {
        let mut exact = self.state.build_hasher();
        let mut folded = self.state.build_hasher();
        let mut fresh = Vec::new();
        for (i, name) in names.iter().enumerate() {
            add(&mut exact, name);
            add(&mut folded, &lower(name));
            let last = i + 1 == names.len();
            let dir = !last || is_dir;
            let own = exact.finish() & !1 | u64::from(dir);
            match self.paths.get(&folded.finish()) {
                None => fresh.push((folded.finish(), own)),
                Some(other) if (other ^ own) & !1 != 0 => return Claim::CaseCollision,
                Some(other) if *other != own => return Claim::Conflict,
                Some(_) if !dir => return Claim::Duplicate,
                Some(_) => {}
            }
        }
        self.paths.extend(fresh);
        Claim::Free
    }
}

fn add(hasher: &mut impl Hasher, name: &[u8]) {
    hasher.write(name);
    hasher.write_u8(b'/');
}

fn lower(name: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(name) {
        Ok(text) => text.to_lowercase().into_bytes(),
        Err(_) => name.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str) -> Vec<&[u8]> {
        path.split('/').map(str::as_bytes).collect()
    }

    #[test]
    fn paths_are_checked() {
        let below = |root: &'static str, path: &'static str| Checked::Below {
            root: root.as_bytes(),
            names: names(path),
        };
        assert_eq!(check(b"r/a/b").unwrap(), below("r", "a/b"));
        assert_eq!(check(b"./r//a/./b/").unwrap(), below("r", "a/b"));
        assert_eq!(check(b"r/..a/b..").unwrap(), below("r", "..a/b.."));
        assert_eq!(check(b"./").unwrap(), Checked::Nothing);
        assert_eq!(check(b"r/a/.GIT/config").unwrap(), Checked::GitMetadata);
        assert_eq!(
            check(&[b"r/".to_vec(), vec![b'x'; 256]].concat()).unwrap(),
            Checked::TooLong
        );
        assert_eq!(
            check(&[b"r".to_vec(), b"/xxxxxxxxx".repeat(400)].concat()).unwrap(),
            Checked::TooLong
        );
        for refused in [&b"/etc/x"[..], b"../x", b"r/../x", b"r/a/..", b"r/a\0b"] {
            assert!(check(refused).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn claims() {
        let mut taken = Taken::default();
        for (path, is_dir, expected) in [
            ("a/b", false, Claim::Free),
            ("a/b", false, Claim::Duplicate),
            ("a", true, Claim::Free),
            ("a/B", false, Claim::CaseCollision),
            ("A/c", false, Claim::CaseCollision),
            ("a/b/c", false, Claim::Conflict),
            ("a/b", true, Claim::Conflict),
            ("a", false, Claim::Conflict),
            ("ÄÖ", false, Claim::Free),
            ("äö", false, Claim::CaseCollision),
            ("ab", false, Claim::Free),
        ] {
            assert_eq!(taken.claim(&names(path), is_dir), expected, "{path}");
        }
    }
}
