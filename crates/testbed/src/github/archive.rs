//! Archives as the download host makes them: a gzip-compressed tar with a pax global header that
//! names the commit, one root directory `owner-name-shortsha`, modes 0664 and 0775, submodules as
//! empty directories. Written while it is sent, so its size costs no memory.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

use crate::tree::{Entry, Tree};

/// What the download host sends for a commit.
#[derive(Clone, Debug)]
pub enum Archive {
    /// These bytes as they are: hostile, cut off, no archive at all.
    Bytes(Vec<u8>),
    /// These files under the usual root.
    Tree(Tree),
    /// So many files of so many bytes each, `data/000000.bin` and on, under the usual root.
    Large {
        /// How many files.
        files: u32,
        /// Bytes in each.
        bytes_each: u64,
        /// Whether the bytes are noise, which does not shrink; otherwise they are zeros.
        noise: bool,
    },
    /// 404, as for a commit that is gone.
    Missing,
}

/// What every archive needs to know of its place.
pub(super) struct Place {
    /// Name of the root directory.
    pub(super) root: String,
    /// The whole commit id, for the global header.
    pub(super) sha: String,
    /// Time of the commit, seconds since the epoch.
    pub(super) at: u64,
}

/// Writes an archive. `Missing` writes nothing.
pub(super) fn write(archive: &Archive, place: &Place, mut sink: impl Write) -> io::Result<()> {
    let tree = match archive {
        Archive::Missing => return Ok(()),
        Archive::Bytes(bytes) => return sink.write_all(bytes),
        Archive::Tree(tree) => tree,
        Archive::Large { .. } => &Tree::new(),
    };
    let mut writer = Writer {
        tar: Builder::new(GzEncoder::new(sink, Compression::fast())),
        place,
    };
    writer.global_header()?;
    writer.directory("")?;
    writer.tree(tree)?;
    if let Archive::Large {
        files,
        bytes_each,
        noise,
    } = archive
    {
        writer.directory("data/")?;
        for number in 0..*files {
            let path = format!("data/{number:06}.bin");
            let content = Filler {
                left: *bytes_each,
                state: noise.then_some(u64::from(number) + 1),
            };
            writer.entry(&path, EntryType::Regular, 0o664, *bytes_each, content)?;
        }
    }
    writer.tar.into_inner()?.finish()?.flush()
}

struct Writer<'a, W: Write> {
    tar: Builder<W>,
    place: &'a Place,
}

impl<W: Write> Writer<'_, W> {
    /// The record that tells every reader which commit this is.
    fn global_header(&mut self) -> io::Result<()> {
        let record = format!("52 comment={}\n", self.place.sha);
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::XGlobalHeader);
        header.set_path("pax_global_header")?;
        header.set_mode(0o666);
        header.set_size(record.len() as u64);
        header.set_cksum();
        self.tar.append(&header, record.as_bytes())
    }

    fn tree(&mut self, tree: &Tree) -> io::Result<()> {
        let mut made = std::collections::BTreeSet::new();
        for (path, entry) in tree {
            for (at, _) in path.match_indices('/') {
                if made.insert(path[..at].to_owned()) {
                    self.directory(&format!("{}/", &path[..at]))?;
                }
            }
            let bytes = entry.bytes();
            match entry {
                Entry::File(_) | Entry::Executable(_) => {
                    let mode = if entry.mode() == 0o100_755 {
                        0o775
                    } else {
                        0o664
                    };
                    self.entry(path, EntryType::Regular, mode, bytes.len() as u64, bytes)?;
                }
                Entry::Symlink(target) => self.link(path, target)?,
                Entry::Submodule(_) => self.directory(&format!("{path}/"))?,
                Entry::Removed => {}
            }
        }
        Ok(())
    }

    fn directory(&mut self, path: &str) -> io::Result<()> {
        self.entry(path, EntryType::Directory, 0o775, 0, io::empty())
    }

    fn entry(
        &mut self,
        path: &str,
        kind: EntryType,
        mode: u32,
        size: u64,
        content: impl Read,
    ) -> io::Result<()> {
        let mut header = self.named(path, kind, mode, &[])?;
        header.set_size(size);
        header.set_cksum();
        self.tar.append(&header, content)
    }

    fn link(&mut self, path: &str, target: &str) -> io::Result<()> {
        let long = target.len() > 100;
        let records = [("linkpath", target)];
        let mut header = self.named(
            path,
            EntryType::Symlink,
            0o777,
            if long { &records } else { &[] },
        )?;
        header.set_link_name_literal(if long { "see-linkpath" } else { target })?;
        header.set_size(0);
        header.set_cksum();
        self.tar.append(&header, io::empty())
    }

    /// A header below the root; a name too long for it goes into a pax record before it.
    fn named(
        &mut self,
        path: &str,
        kind: EntryType,
        mode: u32,
        records: &[(&str, &str)],
    ) -> io::Result<Header> {
        let full = format!("{}/{path}", self.place.root);
        let mut header = Header::new_ustar();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_mtime(self.place.at);
        header.set_username("root")?;
        header.set_groupname("root")?;
        let mut records = records.to_vec();
        if full.len() > 100 || !full.is_ascii() {
            records.push(("path", &full));
            header.set_path(format!(
                "{}.data",
                &self.place.sha[..self.place.sha.len().min(40)]
            ))?;
        } else {
            header.set_path(&full)?;
        }
        if !records.is_empty() {
            let records = records
                .iter()
                .map(|(name, value)| (*name, value.as_bytes()));
            self.tar.append_pax_extensions(records)?;
        }
        Ok(header)
    }
}

/// Bytes without end to them: zeros, or noise from a small generator.
struct Filler {
    left: u64,
    state: Option<u64>,
}

impl Read for Filler {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = usize::try_from(self.left)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        match &mut self.state {
            None => buffer[..length].fill(0),
            Some(state) => {
                for chunk in buffer[..length].chunks_mut(8) {
                    *state ^= *state << 13;
                    *state ^= *state >> 7;
                    *state ^= *state << 17;
                    chunk.copy_from_slice(&state.to_le_bytes()[..chunk.len()]);
                }
            }
        }
        self.left -= length as u64;
        Ok(length)
    }
}
