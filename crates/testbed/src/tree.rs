//! Files of a repository as the stand-ins of the forges hold them: what a test writes down when it
//! creates a repository or pushes a commit.

use std::collections::BTreeMap;

/// Path (relative, `/` between its parts) to what is there.
pub type Tree = BTreeMap<String, Entry>;

/// One thing in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A plain file (mode 100644).
    File(Vec<u8>),
    /// A file that may be executed (mode 100755).
    Executable(Vec<u8>),
    /// A symbolic link and where it points (mode 120000).
    Symlink(String),
    /// A submodule at the commit named (mode 160000); in an archive an empty directory.
    Submodule(String),
    /// In a change: the path goes away. Never part of a stored tree.
    Removed,
}

impl From<&str> for Entry {
    fn from(text: &str) -> Self {
        Self::File(text.as_bytes().to_vec())
    }
}

impl From<String> for Entry {
    fn from(text: String) -> Self {
        Self::File(text.into_bytes())
    }
}

impl From<Vec<u8>> for Entry {
    fn from(bytes: Vec<u8>) -> Self {
        Self::File(bytes)
    }
}

impl Entry {
    /// The mode that git records.
    pub fn mode(&self) -> u32 {
        match self {
            Self::File(_) | Self::Removed => 0o100_644,
            Self::Executable(_) => 0o100_755,
            Self::Symlink(_) => 0o120_000,
            Self::Submodule(_) => 0o160_000,
        }
    }

    /// The bytes of the blob that git stores; a submodule has none.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::File(bytes) | Self::Executable(bytes) => bytes,
            Self::Symlink(target) => target.as_bytes(),
            Self::Submodule(_) | Self::Removed => &[],
        }
    }
}

/// Collects what a test wrote into pairs that own their parts.
pub fn files<P: Into<String>, E: Into<Entry>>(
    pairs: impl IntoIterator<Item = (P, E)>,
) -> Vec<(String, Entry)> {
    pairs
        .into_iter()
        .map(|(path, entry)| (path.into(), entry.into()))
        .collect()
}

/// The tree after a change; [`Entry::Removed`] takes a path away.
pub fn apply(base: &Tree, change: Vec<(String, Entry)>) -> Tree {
    let mut tree = base.clone();
    for (path, entry) in change {
        if entry == Entry::Removed {
            tree.remove(&path);
        } else {
            tree.insert(path, entry);
        }
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_adds_replaces_and_removes() {
        let base = apply(&Tree::new(), files([("a", "1"), ("b", "2")]));
        let next = apply(
            &base,
            vec![
                ("a".into(), Entry::Removed),
                ("c/d".into(), Entry::from("3")),
            ],
        );
        assert_eq!(next.keys().collect::<Vec<_>>(), ["b", "c/d"]);
        assert_eq!(next["c/d"].bytes(), b"3");
        assert_eq!(base.len(), 2);
    }
}
