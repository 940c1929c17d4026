//! Links as feeds write them: canonical forms and fingerprints.
//!
//! The canonical form is that of the deployed scripts, which is no fixed point for every text: a
//! blank before a `#` stays in the first pass and goes in the next. Where there are no blanks, it
//! is one.

use news_feeds::{canonical_link, fingerprint};

/// Reduces a link.
///
/// # Panics
/// When a property does not hold.
pub fn target(data: &[u8]) {
    let link = String::from_utf8_lossy(data);
    let canonical = canonical_link(&link);
    assert!(is_fingerprint(&fingerprint(&link)));
    assert_eq!(fingerprint(&canonical), fingerprint(&canonical_link(&link)));
    assert_eq!(
        canonical.is_empty(),
        link.trim().is_empty() || canonical.is_empty()
    );
    assert!(
        !canonical.contains(['\t', '\r', '\n', '#']),
        "{canonical:?}"
    );
    // Every byte may become an escape of three, and a character's lower case may be longer.
    assert!(canonical.len() <= link.len() * 9 + 8, "{canonical:?}");
    let query = canonical.split_once('?').map_or("", |(_, query)| query);
    assert!(
        query
            .split('&')
            .all(|pair| !pair.to_ascii_lowercase().starts_with("utm_")),
        "{canonical:?}"
    );
    let blank = |c: char| c.is_whitespace() || c.is_control();
    if !canonical.contains(blank) {
        assert_eq!(canonical_link(&canonical), canonical, "{link:?}");
    }
}

/// Sixteen lower-case hexadecimal digits.
pub(crate) fn is_fingerprint(key: &str) -> bool {
    key.len() == 16 && key.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}
