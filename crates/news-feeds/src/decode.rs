//! From the bytes of a document to its text: compression, character encoding, forbidden characters.
//!
//! Which encoding is believed, in this order: a byte order mark, the look of UTF-16, and then
//! the bytes themselves. Text with characters beyond ASCII that is valid UTF-8 is UTF-8, whatever
//! the header or the declaration says, because single-byte text is so by accident only. Otherwise
//! the charset of the `Content-Type` header counts, then the XML declaration (the other way round
//! if the header has the Latin-1 that servers add by default), then windows-1252. Names follow
//! the Encoding Standard, in which ISO-8859-1 means windows-1252.

use std::io::Read;

use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use crate::entity::windows_1252;
use crate::error::FeedError;

/// How often a document may have been compressed, one time inside the other.
const MAX_LAYERS: usize = 3;

/// The text of a document, and what had to be put right.
#[derive(Default)]
pub(crate) struct Decoded {
    pub(crate) text: String,
    pub(crate) warnings: Vec<String>,
}

/// Decompresses and decodes `bytes`; `limit` is in bytes, before and after decompression.
pub(crate) fn decode(
    bytes: &[u8],
    content_type: Option<&str>,
    limit: usize,
) -> Result<Decoded, FeedError> {
    let mut warnings = Vec::new();
    let mut unpacked = None;
    for _ in 0..MAX_LAYERS {
        let packed = unpacked.as_deref().unwrap_or(bytes);
        if !packed.starts_with(&[0x1f, 0x8b]) {
            break;
        }
        unpacked = Some(gunzip(packed, limit, &mut warnings)?);
    }
    let bytes = unpacked.as_deref().unwrap_or(bytes);
    if bytes.len() > limit {
        return Err(FeedError::TooLarge { limit });
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(FeedError::Empty);
    }
    let text = to_text(bytes, content_type, &mut warnings);
    let text = clean(&text, &mut warnings);
    Ok(Decoded { text, warnings })
}

fn gunzip(packed: &[u8], limit: usize, warnings: &mut Vec<String>) -> Result<Vec<u8>, FeedError> {
    let mut out = Vec::new();
    let room = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let end = flate2::read::MultiGzDecoder::new(packed)
        .take(room)
        .read_to_end(&mut out);
    if out.len() > limit {
        return Err(FeedError::TooLarge { limit });
    }
    match end {
        Ok(_) => Ok(out),
        Err(_) if !out.is_empty() => {
            warnings.push("the compressed document is cut off or damaged".to_owned());
            Ok(out)
        }
        Err(error) => Err(FeedError::Compression {
            detail: error.to_string(),
        }),
    }
}

fn to_text(bytes: &[u8], content_type: Option<&str>, warnings: &mut Vec<String>) -> String {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return with_encoding(encoding, &bytes[length..], warnings);
    }
    match bytes {
        [b'<' | b'{', 0, ..] => return with_encoding(UTF_16LE, bytes, warnings),
        [0, b'<' | b'{', ..] => return with_encoding(UTF_16BE, bytes, warnings),
        _ => {}
    }
    let header = content_type.and_then(charset_parameter);
    let declaration = declared(bytes);
    // Bytes in which the declaration could be read are not UTF-16, whatever it says.
    let known = |label: &str| {
        Encoding::for_label(label.as_bytes())
            .filter(|encoding| ![UTF_16LE, UTF_16BE, REPLACEMENT].contains(encoding))
    };
    let mut named: Vec<&'static Encoding> = [header, declaration]
        .into_iter()
        .flatten()
        .filter_map(known)
        .collect();
    if named.first() == Some(&WINDOWS_1252) {
        named.reverse();
    }
    let utf8 = std::str::from_utf8(bytes).ok();
    let first = named.iter().find(|encoding| **encoding != UTF_8).copied();
    match (utf8, first) {
        (Some(text), None) => text.to_owned(),
        // Several bytes a character make a second reading possible: the name decides.
        (Some(text), Some(encoding)) if encoding.is_single_byte() || text.is_ascii() => {
            if text.is_ascii() && !encoding.is_ascii_compatible() {
                return with_encoding(encoding, bytes, warnings);
            }
            if !text.is_ascii() {
                warnings.push(format!("named {}, but it is UTF-8", encoding.name()));
            }
            text.to_owned()
        }
        (None, Some(encoding)) if encoding == WINDOWS_1252 && named.contains(&UTF_8) => {
            patched_utf8(bytes, warnings)
        }
        (_, Some(encoding)) => with_encoding(encoding, bytes, warnings),
        (None, None) => patched_utf8(bytes, warnings),
    }
}

fn with_encoding(encoding: &'static Encoding, bytes: &[u8], warnings: &mut Vec<String>) -> String {
    let (text, had_errors) = encoding.decode_without_bom_handling(bytes);
    if had_errors {
        warnings.push(format!(
            "some bytes are no {} and were replaced",
            encoding.name()
        ));
    }
    text.into_owned()
}

/// Reads UTF-8 in which single bytes of windows-1252 stand, or windows-1252 that nobody named.
fn patched_utf8(bytes: &[u8], warnings: &mut Vec<String>) -> String {
    warnings.push("not valid UTF-8: stray bytes were read as windows-1252".to_owned());
    let mut out = String::with_capacity(bytes.len() + bytes.len() / 8);
    let mut left = bytes.len();
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        left -= chunk.valid().len() + chunk.invalid().len();
        // A character that the end of the document cuts in two says nothing.
        let cut = left == 0 && chunk.invalid().len() > 1;
        if !cut {
            out.push_str(&WINDOWS_1252.decode_without_bom_handling(chunk.invalid()).0);
        }
    }
    out
}

/// The value of the `charset` parameter of a content type.
fn charset_parameter(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        name.trim().eq_ignore_ascii_case("charset").then_some(value)
    })
}

/// The encoding that an XML declaration near the start names.
fn declared(bytes: &[u8]) -> Option<&str> {
    let head = &bytes[..bytes.len().min(1024)];
    let at = head.windows(5).position(|window| window == b"<?xml")?;
    let head = &head[at..];
    let head = &head[..head.iter().position(|b| *b == b'>')?];
    let head = std::str::from_utf8(head).ok()?;
    let value = head
        .split_once("encoding")?
        .1
        .trim_start()
        .strip_prefix('=')?
        .trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    value[1..].split(quote).next()
}

/// Drops characters that XML forbids, and makes every line end one `\n`.
fn clean(text: &str, warnings: &mut Vec<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut dropped = 0_usize;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\t' | '\n' => out.push(character),
            '\r' => {
                out.push('\n');
                characters.next_if_eq(&'\n');
            }
            '\u{b}' | '\u{c}' => {
                dropped += 1;
                out.push(' ');
            }
            '\0'..' ' | '\u{7f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => dropped += 1,
            '\u{80}'..='\u{9f}' => out.push(windows_1252(character)),
            _ => out.push(character),
        }
    }
    if dropped > 0 {
        warnings.push(format!("{dropped} control characters were dropped"));
    }
    out
}
