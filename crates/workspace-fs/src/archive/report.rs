//! What an unpacked archive held, and what was left out of it.

use std::fmt;

/// Names of skipped entries that are kept.
const SAMPLES: usize = 10;
/// Longest of them, in characters.
const SAMPLE_LENGTH: usize = 120;

/// Outcome of unpacking an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extracted {
    /// Regular files written.
    pub files: u64,
    /// Directories made, those that only paths imply included.
    pub dirs: u64,
    /// Content written, in bytes.
    pub bytes: u64,
    /// What was left out.
    pub skipped: Skipped,
    /// Whether the tree names submodules (a `.gitmodules` with content at its top). Their
    /// directories are empty in an archive.
    pub has_submodules: bool,
    /// Whether a file is a Git LFS pointer instead of its content.
    pub has_lfs_pointers: bool,
    /// The commit that the archive itself says it was made of, if it does (40 or 64 hex digits).
    pub commit: Option<String>,
}

/// Entries that were left out, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Symbolic links, wherever they point.
    pub symlinks: u64,
    /// Hard links.
    pub hard_links: u64,
    /// Devices and FIFOs.
    pub devices: u64,
    /// Entries at a path that was there before.
    pub duplicates: u64,
    /// Entries whose path differs from an earlier one in case only (or in a way that the file
    /// system does not tell apart).
    pub case_collisions: u64,
    /// Entries that go through, or stand in the place of, something of another kind.
    pub conflicts: u64,
    /// Entries whose name or path is longer than file systems take, or that the file system refuses.
    pub unusable_names: u64,
    /// `.git` and what is in it.
    pub git_metadata: u64,
    /// Entries of a type that means nothing here.
    pub others: u64,
    /// The first few names, escaped and shortened: text of strangers, for logs and prompts.
    pub samples: Vec<String>,
}

impl Skipped {
    /// How many entries were left out.
    pub fn total(&self) -> u64 {
        self.counts().iter().map(|(count, _)| count).sum()
    }

    pub(super) fn remember(&mut self, path: &[u8]) {
        if self.samples.len() < SAMPLES {
            let name = String::from_utf8_lossy(path);
            let escaped = name.escape_debug().take(SAMPLE_LENGTH);
            self.samples.push(escaped.collect());
        }
    }

    fn counts(&self) -> [(u64, &'static str); 9] {
        [
            (self.symlinks, "symbolic links"),
            (self.hard_links, "hard links"),
            (self.devices, "devices"),
            (self.duplicates, "duplicate paths"),
            (self.case_collisions, "paths that differ in case only"),
            (self.conflicts, "paths through other entries"),
            (self.unusable_names, "names that are too long"),
            (self.git_metadata, ".git entries"),
            (self.others, "entries of unknown type"),
        ]
    }
}

/// In words for the log: `symbolic links: 2, devices: 1`, or `nothing`.
impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (count, what) in self.counts() {
            if count > 0 {
                write!(f, "{separator}{what}: {count}")?;
                separator = ", ";
            }
        }
        if separator.is_empty() {
            f.write_str("nothing")?;
        }
        Ok(())
    }
}
