//! Builds archives header by header, so that they can hold what no tar writer would write.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

/// A tar stream under construction.
#[derive(Default)]
pub(crate) struct Tarball(Vec<u8>);

impl Tarball {
    /// An archive that begins as a code host's does, with its root directory `root/`.
    pub(crate) fn rooted() -> Self {
        Self::default().entry(b'5', "root/", 0o775, b"")
    }

    pub(crate) fn file(self, path: impl AsRef<[u8]>, content: &[u8]) -> Self {
        self.entry(b'0', path, 0o664, content)
    }

    pub(crate) fn dir(self, path: impl AsRef<[u8]>) -> Self {
        self.entry(b'5', path, 0o775, b"")
    }

    pub(crate) fn entry(self, kind: u8, path: impl AsRef<[u8]>, mode: u32, content: &[u8]) -> Self {
        self.sized(kind, path, mode, content, content.len() as u64)
    }

    /// An entry whose header tells another size than it has.
    pub(crate) fn sized(
        mut self,
        kind: u8,
        path: impl AsRef<[u8]>,
        mode: u32,
        content: &[u8],
        size: u64,
    ) -> Self {
        let path = path.as_ref();
        assert!(path.len() <= 100, "use pax or long_name");
        let mut block = [0u8; 512];
        block[..path.len()].copy_from_slice(path);
        block[100..107].copy_from_slice(format!("{mode:07o}").as_bytes());
        block[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
        block[136..147].copy_from_slice(b"15240000000");
        block[156] = kind;
        if kind == b'1' || kind == b'2' {
            block[157..168].copy_from_slice(b"/etc/passwd");
        }
        block[257..265].copy_from_slice(b"ustar\x0000");
        block[148..156].fill(b' ');
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        self.0.extend_from_slice(&block);
        self.0.extend_from_slice(content);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    /// A pax header for the next entry (`x`) or for all (`g`).
    pub(crate) fn pax(self, kind: u8, records: &[(&str, &[u8])]) -> Self {
        let mut data = Vec::new();
        for (key, value) in records {
            let rest = key.len() + value.len() + 3;
            let mut length = rest + 1;
            while length.to_string().len() + rest != length {
                length = length.to_string().len() + rest;
            }
            data.extend_from_slice(format!("{length} {key}=").as_bytes());
            data.extend_from_slice(value);
            data.push(b'\n');
        }
        self.entry(kind, "PaxHeaders/x", 0o644, &data)
    }

    /// GNU's way of a long name for the next entry.
    pub(crate) fn long_name(self, name: &[u8]) -> Self {
        self.entry(b'L', "././@LongLink", 0, &[name, b"\0"].concat())
    }

    /// The tar stream with its end.
    pub(crate) fn tar(mut self) -> Vec<u8> {
        self.0.extend_from_slice(&[0; 1024]);
        self.0
    }

    /// The tar stream so far, without an end.
    pub(crate) fn endless(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn gz(self) -> Vec<u8> {
        gzip(&self.tar())
    }
}

pub(crate) fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}
