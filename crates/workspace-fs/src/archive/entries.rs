//! The entries of a tar stream, one after the other, with what extension headers say about them
//! taken in, and the limits held.

use std::io::{self, Read};

use super::Limits;
use super::header::{self, BLOCK, Header};
use crate::error::WorkspaceError;

/// Longest extension header that is read, in bytes. Paths are the only use that matters here.
const MAX_EXTENSION: u64 = 256 << 10;
/// Extension headers before one entry. Hosts write one or two.
const MAX_EXTENSIONS: u32 = 8;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    Dir,
    Symlink,
    HardLink,
    Device,
    Other,
}

/// One entry; its content is read from the [`Entries`] that gave it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub path: Vec<u8>,
    pub kind: EntryKind,
    pub mode: u32,
}

/// A tar stream.
pub(super) struct Entries<R> {
    input: R,
    limits: Limits,
    count: u64,
    bytes: u64,
    /// Content of the current entry that was not read yet.
    left: u64,
    padding: u64,
    commit: Option<String>,
}

/// What extension headers said about the next entry.
#[derive(Default)]
struct Extension {
    path: Option<Vec<u8>>,
    size: Option<u64>,
    count: u32,
}

impl<R: Read> Entries<R> {
    pub(super) fn new(input: R, limits: Limits) -> Self {
        Self {
            input,
            limits,
            count: 0,
            bytes: 0,
            left: 0,
            padding: 0,
            commit: None,
        }
    }

    /// The commit that the archive says it was made of (git writes it into the global header).
    pub(super) fn commit(self) -> Option<String> {
        self.commit
    }

    /// The next entry. After the last one the rest of the stream is read and checked.
    pub(super) fn next(&mut self) -> Result<Option<Entry>, WorkspaceError> {
        self.skip_rest()?;
        let mut extension = Extension::default();
        loop {
            let mut block = [0; BLOCK];
            self.input.read_exact(&mut block).map_err(source)?;
            let Some(mut header) = header::parse(&block).map_err(broken)? else {
                self.finish()?;
                return Ok(None);
            };
            if matches!(header.kind, b'x' | b'g' | b'L' | b'K') {
                extension.count += 1;
                if extension.count > MAX_EXTENSIONS {
                    return Err(refused("too many extension headers in a row"));
                }
                self.extend(&header, &mut extension)?;
                continue;
            }
            header.size = extension.size.unwrap_or(header.size);
            header.path = extension.path.take().unwrap_or(header.path);
            return self.entry(header).map(Some);
        }
    }

    /// Holds what entries amount to, implied directories included, against their limit.
    pub(super) fn count_paths(&self, paths: usize) -> Result<(), WorkspaceError> {
        let limit = self.limits.max_entries;
        if paths as u64 > limit {
            return Err(WorkspaceError::ArchiveTooManyEntries { limit });
        }
        Ok(())
    }

    fn entry(&mut self, header: Header) -> Result<Entry, WorkspaceError> {
        self.count += 1;
        if self.count > self.limits.max_entries {
            return Err(WorkspaceError::ArchiveTooManyEntries {
                limit: self.limits.max_entries,
            });
        }
        let kind = match header.kind {
            // Archives older than POSIX mark a directory by its name alone.
            0 | b'0' | b'7' if header.path.ends_with(b"/") => EntryKind::Dir,
            0 | b'0' | b'7' => EntryKind::File,
            b'1' => EntryKind::HardLink,
            b'2' => EntryKind::Symlink,
            b'3' | b'4' | b'6' => EntryKind::Device,
            b'5' => EntryKind::Dir,
            b'S' => return Err(refused("a sparse file, which no code host writes")),
            _ => EntryKind::Other,
        };
        // Readers disagree on whether content follows such an entry, so two of them would see
        // different archives.
        let bare = !matches!(kind, EntryKind::File | EntryKind::Other);
        if bare && header.size > 0 {
            return Err(refused("an entry that is no file but has content"));
        }
        self.begin(header.size)?;
        Ok(Entry {
            path: header.path,
            kind,
            mode: header.mode,
        })
    }

    /// Counts content against the limit before any of it is read.
    fn begin(&mut self, size: u64) -> Result<(), WorkspaceError> {
        let limit = self.limits.max_bytes;
        self.bytes = self.bytes.saturating_add(size);
        if self.bytes > limit {
            return Err(WorkspaceError::ArchiveTooLarge { limit });
        }
        self.left = size;
        self.padding = size.next_multiple_of(BLOCK as u64) - size;
        Ok(())
    }

    fn extend(&mut self, header: &Header, to: &mut Extension) -> Result<(), WorkspaceError> {
        if header.size > MAX_EXTENSION {
            return Err(refused("an extension header of excessive length"));
        }
        self.begin(header.size)?;
        let mut data = Vec::new();
        self.read_to_end(&mut data).map_err(source)?;
        if (data.len() as u64) < header.size {
            return Err(source(io::ErrorKind::UnexpectedEof.into()));
        }
        self.skip_rest()?;
        match header.kind {
            b'L' => {
                while data.last() == Some(&0) {
                    data.pop();
                }
                to.path = Some(data);
            }
            // The target of a link, which is not made.
            b'K' => {}
            kind => {
                for (key, value) in header::records(&data).map_err(broken)? {
                    self.record(kind == b'g', key, value, to)?;
                }
            }
        }
        Ok(())
    }

    fn record(
        &mut self,
        global: bool,
        key: &[u8],
        value: &[u8],
        to: &mut Extension,
    ) -> Result<(), WorkspaceError> {
        match key {
            b"comment" if global => {
                let hex = value.iter().all(u8::is_ascii_hexdigit) && value.len() >= 40;
                let text = String::from_utf8_lossy(value).to_ascii_lowercase();
                self.commit = hex.then_some(text).or(self.commit.take());
            }
            b"path" | b"size" if global => {
                return Err(refused("a global header that names paths or sizes"));
            }
            b"path" => to.path = Some(value.to_vec()),
            b"size" => {
                let size = std::str::from_utf8(value).ok().and_then(|s| s.parse().ok());
                to.size = Some(size.ok_or_else(|| broken("an unreadable size"))?);
            }
            key if key.starts_with(b"GNU.sparse.") => {
                return Err(refused("a sparse file, which no code host writes"));
            }
            _ => {}
        }
        Ok(())
    }

    /// Passes over what is left of the current entry.
    fn skip_rest(&mut self) -> Result<(), WorkspaceError> {
        let rest = self.left + self.padding;
        (self.left, self.padding) = (0, 0);
        let skipped = io::copy(&mut (&mut self.input).take(rest), &mut io::sink());
        if skipped.map_err(source)? < rest {
            return Err(source(io::ErrorKind::UnexpectedEof.into()));
        }
        Ok(())
    }

    /// Reads to the end of the compressed stream, so that its checksum has been seen. Only padding
    /// may follow the last entry.
    fn finish(&mut self) -> Result<(), WorkspaceError> {
        let mut buffer = [0; 4096];
        loop {
            let n = match self.input.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(source(error)),
            };
            if buffer[..n].iter().any(|byte| *byte != 0) {
                return Err(broken("something follows its end"));
            }
            self.begin(n as u64)?;
            self.left = 0;
            self.padding = 0;
        }
    }
}

/// Content of the current entry.
impl<R: Read> Read for Entries<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = (&mut self.input).take(self.left).read(buffer)?;
        self.left -= n as u64;
        Ok(n)
    }
}

pub(super) fn refused(reason: impl Into<String>) -> WorkspaceError {
    WorkspaceError::ArchiveRefused {
        reason: reason.into(),
    }
}

fn broken(reason: &str) -> WorkspaceError {
    WorkspaceError::ArchiveBroken {
        reason: reason.to_owned(),
    }
}

/// What reading the stream failed of: the archive itself, or where it comes from.
#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
pub(super) fn source(error: io::Error) -> WorkspaceError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => broken("it ends before its last entry is complete"),
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => broken(&format!(
            "its compression is damaged or something follows it ({error})"
        )),
        _ => WorkspaceError::ArchiveSource {
            reason: error.to_string(),
        },
    }
}
