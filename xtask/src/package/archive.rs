//! Packs an archive: the same files give the same bytes.

use crate::error::TaskError;
use crate::process::root;
use flate2::{Compression, GzBuilder};
use lzma_rust2::{CheckType, FilterType, XzOptions, XzWriter};
use std::io::{self, Write as _};

/// The time of every file, seconds since the epoch: the first of 2020. Some programs warn about the
/// epoch itself.
const MOMENT: u64 = 1_577_836_800;
/// Which bits of a byte and of its place what comes next is guessed from: literal context, literal
/// position, position. Which of these is best for code differs a little from program to program.
const GUESSES: [(u32, u32, u32); 3] = [(3, 0, 0), (4, 0, 0), (3, 0, 2)];
/// Bytes that may be referred back to; more than an executable has.
const DICTIONARY: u32 = 8 << 20;

/// An executable as xz, as small as it gets.
///
/// # Errors
/// It cannot be packed.
pub(super) fn packed(executable: &[u8], x86: bool) -> Result<Vec<u8>, TaskError> {
    let mut best: Option<Vec<u8>> = None;
    for guess in GUESSES {
        let packed = xz(executable, guess, x86)
            .map_err(|error| TaskError::found(format!("packing failed: {error}")))?;
        if best.as_ref().is_none_or(|best| packed.len() < best.len()) {
            best = Some(packed);
        }
    }
    Ok(best.unwrap_or_default())
}

fn xz(bytes: &[u8], guess: (u32, u32, u32), x86: bool) -> io::Result<Vec<u8>> {
    let mut options = XzOptions::with_preset(9);
    let lzma = &mut options.lzma_options;
    (lzma.lc, lzma.lp, lzma.pb) = guess;
    lzma.dict_size = DICTIONARY;
    // The longest matches, searched for as long as it takes.
    lzma.nice_len = 273;
    lzma.depth_limit = 1000;
    // Every decoder knows this sum.
    options.set_check_sum_type(CheckType::Crc32);
    if x86 {
        options.prepend_pre_filter(FilterType::BcjX86, 0);
    }
    let mut writer = XzWriter::new(Vec::new(), options)?;
    writer.write_all(bytes)?;
    writer.finish()
}

/// The archive of an automation: the packed executable, the example configuration and the script
/// that unpacks. The executable is not at the top: the folder is also where workspaces are made,
/// and those of the digest are in a folder of its name.
///
/// # Errors
/// A file of `packaging/` cannot be read.
pub(super) fn archive(name: &str, packed: &[u8]) -> Result<Vec<u8>, TaskError> {
    let read = |path: String| {
        let path = root().join("packaging").join(path);
        std::fs::read(&path).map_err(|error| TaskError::file(path, error))
    };
    let config = read(format!("config/{name}.json"))?;
    let setup = read("setup.sh".to_owned())?;
    let packed_path = format!("bin/{name}.xz");
    tar_gz(&[
        (&packed_path, packed, 0o644),
        ("config.json", &config, 0o644),
        ("setup.sh", &setup, 0o755),
    ])
    .map_err(|error| TaskError::file(format!("{name}.tar.gz"), error))
}

/// A `.tar.gz` that tells of nothing but names, modes and contents.
pub(super) fn tar_gz(files: &[(&str, &[u8], u32)]) -> io::Result<Vec<u8>> {
    const UNKNOWN_SYSTEM: u8 = 255;
    let gzip = GzBuilder::new()
        .mtime(0)
        .operating_system(UNKNOWN_SYSTEM)
        .write(Vec::new(), Compression::best());
    let mut tar = tar::Builder::new(gzip);
    for (path, bytes, mode) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(*mode);
        header.set_mtime(MOMENT);
        header.set_uid(0);
        header.set_gid(0);
        tar.append_data(&mut header, path, *bytes)?;
    }
    tar.into_inner()?.finish()
}
