//! Making one safe component of a name that comes from a configuration.

use sha2::{Digest, Sha256};

/// The most bytes that a file name may have (Linux, macOS) and, in characters, a key of the service.
pub(crate) const MAX_BYTES: usize = 255;

/// Sixteen hex digits of the SHA-256 of a name. Names differ without regard to ASCII case.
pub(crate) fn hash(name: &str) -> String {
    digest(name.to_ascii_lowercase().as_bytes())
}

/// Sixteen hex digits of the SHA-256 of bytes.
pub(crate) fn digest(bytes: &[u8]) -> String {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(16);
    for byte in Sha256::digest(bytes).iter().take(8) {
        text.push(char::from(HEX[usize::from(byte >> 4)]));
        text.push(char::from(HEX[usize::from(byte & 15)]));
    }
    text
}

/// A name as part of a component: slashes become `slash`, characters that file systems or the
/// service refuse become `_`. When any of those was there, a hash of the name follows.
pub(crate) fn part(name: &str, slash: &str) -> String {
    let refused = |c: char| c.is_control() || c == '\\';
    let mut text = name.replace('/', slash);
    if text.contains(refused) {
        text = text.replace(refused, "_");
        text.push('-');
        text.push_str(&hash(name)[..8]);
    }
    text
}

/// Free text as part of a key: what is not a letter, digit or one of `-_.:` in ASCII becomes `_`,
/// with a hash of the whole text when that happened.
pub(crate) fn plain(text: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    if text.chars().all(kept) {
        return text.to_owned();
    }
    let shown: String = text
        .chars()
        .map(|c| if kept(c) { c } else { '_' })
        .collect();
    format!("{shown}-{}", digest(text.as_bytes()))
}

/// `stem` and `suffix` in at most 255 bytes: a stem that is too long is cut and gets a hash.
pub(crate) fn fit(stem: &str, suffix: &str) -> String {
    if stem.len() + suffix.len() <= MAX_BYTES {
        return format!("{stem}{suffix}");
    }
    let digits = digest(stem.as_bytes());
    let mut end = MAX_BYTES
        .saturating_sub(suffix.len() + digits.len() + 1)
        .min(stem.len());
    while !stem.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}-{digits}{suffix}", &stem[..end])
}
