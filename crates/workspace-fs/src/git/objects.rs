//! Takes over the loose objects of a workspace, each after its content has been hashed. (Packs go
//! through `git index-pack`, which does the same for them.)

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;

use flate2::bufread::ZlibDecoder;
use sha1_smol::Sha1;
use sha2::{Digest, Sha256};

use crate::beneath::{Dir, Kind};

/// Loose objects that are looked at.
const MAX_LOOSE: usize = 1_000_000;
/// Packs that are looked at.
const MAX_PACKS: usize = 10_000;

/// Which hash names the objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectFormat {
    Sha1,
    Sha256,
}

impl ObjectFormat {
    /// The format that a commit id belongs to.
    pub(super) fn of(sha: &str) -> Self {
        if sha.len() == 64 {
            Self::Sha256
        } else {
            Self::Sha1
        }
    }

    /// Its name for `git init`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
        }
    }

    fn digits(self) -> usize {
        match self {
            Self::Sha1 => 40,
            Self::Sha256 => 64,
        }
    }
}

/// Copies all loose objects that are what their name says, as far as `budget` bytes reach. Others
/// are passed over; if one of them is needed, that shows later.
pub(super) fn take_loose(
    theirs: &Dir,
    ours: &Dir,
    format: ObjectFormat,
    budget: u64,
) -> io::Result<()> {
    let mut left = budget;
    for prefix in theirs.names(MAX_LOOSE)? {
        let is_prefix = prefix.len() == 2 && is_hex(&prefix);
        if !is_prefix || theirs.kind(&prefix)? != Some(Kind::Dir) {
            continue;
        }
        let from = theirs.sub_repaired(&prefix)?;
        ours.make_sub(&prefix, 0o700)?;
        let to = ours.sub(&prefix)?;
        for name in from.names(MAX_LOOSE)? {
            if name.len() + 2 != format.digits() || !is_hex(&name) {
                continue;
            }
            let Some(file) = from.open_file(&name)? else {
                continue;
            };
            left = spend(left, &file, budget)?;
            let full = [prefix.as_bytes(), name.as_bytes()].concat();
            let copy = to.create_file(&name, 0o600)?;
            if !copy_verified(&file, copy, &full, format, budget)? {
                to.remove_file(&name)?;
            }
        }
    }
    Ok(())
}

/// Opens all packs, as far as `budget` bytes reach.
pub(super) fn packs(theirs: &Dir, budget: u64) -> io::Result<Vec<File>> {
    let name = OsStr::new("pack");
    if theirs.kind(name)? != Some(Kind::Dir) {
        return Ok(Vec::new());
    }
    let dir = theirs.sub_repaired(name)?;
    let mut names: Vec<OsString> = dir.names(MAX_PACKS)?;
    names.retain(|name| {
        name.as_bytes().starts_with(b"pack-") && name.as_bytes().ends_with(b".pack")
    });
    names.sort();
    let mut files = Vec::new();
    let mut left = budget;
    for name in names {
        if let Some(file) = dir.open_file(&name)? {
            left = spend(left, &file, budget)?;
            files.push(file);
        }
    }
    Ok(files)
}

/// What is left of the budget after a file.
fn spend(left: u64, file: &File, budget: u64) -> io::Result<u64> {
    let text = || io::Error::other(format!("the objects take more than {budget} bytes"));
    left.checked_sub(file.metadata()?.len()).ok_or_else(text)
}

/// Copies an object while unpacking and hashing it; `false` when it is not what its name says.
fn copy_verified(
    from: &File,
    mut to: File,
    name: &[u8],
    format: ObjectFormat,
    max: u64,
) -> io::Result<bool> {
    let length = from.metadata()?.len();
    let mut sha1 = Sha1::new();
    let mut sha256 = Sha256::new();
    let mut content = ZlibDecoder::new(BufReader::with_capacity(
        32 << 10,
        Tee { from, to: &mut to },
    ));
    let mut buffer = [0; 16 << 10];
    let mut size = 0;
    loop {
        let n = match content.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => n,
            Err(error) if is_damage(&error) => return Ok(false),
            Err(error) => return Err(error),
        };
        match format {
            ObjectFormat::Sha1 => sha1.update(&buffer[..n]),
            ObjectFormat::Sha256 => sha256.update(&buffer[..n]),
        }
        size += n as u64;
        if size > max {
            return Ok(false);
        }
    }
    let hash = match format {
        ObjectFormat::Sha1 => hex(&sha1.digest().bytes()),
        ObjectFormat::Sha256 => hex(&sha256.finalize()),
    };
    // Something after the end would make git refuse the whole object.
    Ok(hash.as_bytes() == name && content.total_in() == length)
}

/// Reads from one file and writes the same to another.
struct Tee<'a> {
    from: &'a File,
    to: &'a mut File,
}

impl Read for Tee<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(buffer)?;
        self.to.write_all(&buffer[..n])?;
        Ok(n)
    }
}

fn is_damage(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput
    )
}

fn is_hex(name: &OsStr) -> bool {
    name.as_bytes()
        .iter()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| {
            [
                DIGITS[usize::from(byte >> 4)],
                DIGITS[usize::from(byte & 15)],
            ]
        })
        .map(char::from)
        .collect()
}
