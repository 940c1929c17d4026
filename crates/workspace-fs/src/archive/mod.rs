//! Unpacks the archive of a repository into a workspace: gzip and tar as a stream, in memory that
//! does not grow with the content.
//!
//! Source of the rules: the architecture's rules 8 and 11. The archive comes from a code host, but
//! what is in it was written by whoever opened the pull request. Three kinds of trouble are told
//! apart:
//!
//! - **Refused whole**, because no code host writes it and skipping would be guessing: absolute
//!   paths, `..`, NUL bytes, several roots, sparse files, content where none belongs; and anything
//!   over a limit.
//! - **Skipped and counted**, because it may stand in an honest repository, or harms nothing when it
//!   is left out: symbolic links, hard links, devices, FIFOs, names longer than a file system takes,
//!   and a path that was there before (also when only the case differs: the first one wins, so the
//!   result does not depend on the file system). Refusing for these would let one odd file name
//!   prevent every review of a repository. `.git` is skipped too: no tree can hold one, and git
//!   would obey it.
//! - **Broken**: cut short, damaged, or followed by something else.
//!
//! Whatever ends the unpacking early removes the workspace.

mod entries;
mod header;
mod paths;
mod report;
mod sink;
mod stream;

use std::io::{BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use crate::error::WorkspaceError;
use crate::workspace::Workspace;
use entries::Entries;
use sink::Sink;

pub use report::{Extracted, Skipped};
pub use stream::{ChunkSource, extract_stream};

/// Bytes read from the compressed and from the unpacked stream at a time.
const BUFFER: usize = 64 << 10;

/// How much an archive may unpack to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Content of all entries together, in bytes (`max_archive_bytes`).
    pub max_bytes: u64,
    /// Number of entries, directories that only paths imply included (`max_archive_entries`). Memory
    /// grows with it, by about 32 bytes each.
    pub max_entries: u64,
}

impl Default for Limits {
    /// 2 GiB in 200,000 entries.
    fn default() -> Self {
        Self {
            max_bytes: 2 << 30,
            max_entries: 200_000,
        }
    }
}

/// Unpacks a `.tar.gz` into an empty workspace, without the archive's one root directory.
///
/// On any error the workspace is removed, and a later [`create`](crate::WorkspaceRoots::create)
/// begins anew. If the process dies in between, the half-made directory stays for
/// [`create`](crate::WorkspaceRoots::create) or [`remove`](crate::WorkspaceRoots::remove).
pub fn extract(
    archive: impl Read,
    workspace: &Workspace,
    limits: &Limits,
) -> Result<Extracted, WorkspaceError> {
    let result = unpack(archive, workspace, limits);
    if result.is_err() {
        // What failed first is what matters; a directory that stays is found by the next attempt.
        let _stays = workspace.discard();
    }
    result
}

fn unpack(
    archive: impl Read,
    workspace: &Workspace,
    limits: &Limits,
) -> Result<Extracted, WorkspaceError> {
    let unpacked = MultiGzDecoder::new(BufReader::with_capacity(BUFFER, archive));
    let mut entries = Entries::new(BufReader::with_capacity(BUFFER, unpacked), *limits);
    let mut sink = Sink::new(workspace);
    while let Some(entry) = entries.next()? {
        sink.take(&entry, &mut entries)?;
    }
    sink.finish(entries.commit())
}
