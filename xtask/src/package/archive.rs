//! Packs an archive: the same files give the same bytes.

use crate::error::TaskError;
use crate::process::root;
use flate2::{Compression, GzBuilder};
use liblzma::stream::{Check, Filters, LzmaOptions, Stream};
use liblzma::write::XzEncoder;
use std::io::Write as _;

/// The executable as xz, the example configuration and the script that unpacks.
pub(super) fn archive(name: &str, executable: &[u8]) -> Result<Vec<u8>, TaskError> {
    let packed = smallest(executable)?;
    let read = |path: String| {
        let path = root().join("packaging").join(path);
        std::fs::read(&path).map_err(|error| TaskError::file(path, error))
    };
    let files = [
        (format!("bin/{name}.xz"), packed, 0o644),
        (
            "config.json".to_owned(),
            read(format!("config/{name}.json"))?,
            0o644,
        ),
        ("setup.sh".to_owned(), read("setup.sh".to_owned())?, 0o755),
    ];
    let failed = |error: std::io::Error| TaskError::file(format!("{name}.tar.gz"), error);
    let gzip = GzBuilder::new()
        .mtime(0)
        .write(Vec::new(), Compression::best());
    let mut tar = tar::Builder::new(gzip);
    for (path, bytes, mode) in &files {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(*mode);
        header.set_mtime(0);
        tar.append_data(&mut header, path, bytes.as_slice())
            .map_err(failed)?;
    }
    tar.into_inner().map_err(failed)?.finish().map_err(failed)
}

/// The best of a few ways to set the literal and position bits.
fn smallest(bytes: &[u8]) -> Result<Vec<u8>, TaskError> {
    let mut best: Option<Vec<u8>> = None;
    for (literal, low, position) in [(3, 0, 2), (0, 2, 2), (2, 2, 2), (3, 0, 0)] {
        let packed = xz(bytes, literal, low, position)
            .map_err(|error| TaskError::found(format!("packing failed: {error}")))?;
        if best.as_ref().is_none_or(|best| packed.len() < best.len()) {
            best = Some(packed);
        }
    }
    Ok(best.unwrap_or_default())
}

fn xz(bytes: &[u8], literal: u32, low: u32, position: u32) -> std::io::Result<Vec<u8>> {
    let mut options = LzmaOptions::new_preset(9 | (1 << 31)).map_err(std::io::Error::other)?;
    options
        .literal_context_bits(literal)
        .literal_position_bits(low)
        .position_bits(position)
        .nice_len(273);
    let mut filters = Filters::new();
    filters.x86().lzma2(&options);
    let stream =
        Stream::new_stream_encoder(&filters, Check::Crc32).map_err(std::io::Error::other)?;
    let mut encoder = XzEncoder::new_stream(Vec::new(), stream);
    encoder.write_all(bytes)?;
    encoder.finish()
}
