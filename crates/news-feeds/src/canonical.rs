//! Canonical links and fingerprints, byte for byte those that the state documents already hold.
//!
//! The deployed scripts split, filter and rejoin a link with Python's `urllib.parse`. A story is
//! recognised only if we arrive at the same bytes, so this module follows those functions (as of
//! Python 3.13) and no URL standard: nothing is percent-decoded in the path, a port that is the
//! default one stays, a query is decoded and encoded again. The pairs in `fixtures/links/` were
//! recorded from the scripts.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// Schemes that get `//` even without a host (`uses_netloc` of `urllib.parse`).
const HOST_SCHEMES: &str = " ftp http gopher nntp telnet imap wais file mms https shttp snews \
    prospero rtsp rtsps rtspu rsync svn svn+ssh sftp nfs git git+ssh ws wss itms-services ";

/// Reduces a link to what identifies the story behind it.
///
/// Scheme and host are lowercased, the fragment, trailing slashes of the path and `utm_*`
/// parameters are dropped, and the rest of the query is encoded anew. An empty or blank link
/// stays empty. Never fails: where the scripts gave up (broken brackets in a host), the same
/// steps are taken without that check.
///
/// ```
/// use news_feeds::canonical_link;
/// assert_eq!(canonical_link("https://Example.COM/a/?utm_source=rss#top"), "https://example.com/a");
/// ```
pub fn canonical_link(link: &str) -> String {
    let link = trim_blanks(link);
    if link.is_empty() {
        return String::new();
    }
    let link = link.trim_start_matches(|c: char| c <= ' ');
    let link: String = link
        .chars()
        .filter(|c| !matches!(c, '\t' | '\r' | '\n'))
        .collect();

    let (scheme, rest) = split_scheme(&link);
    let scheme = scheme.to_ascii_lowercase();
    let (host, rest) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len())),
        None => ("", rest),
    };
    let rest = rest.split('#').next().unwrap_or_default();
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let path = match path.trim_end_matches('/') {
        "" => "/",
        path => path,
    };

    let mut out = String::with_capacity(link.len());
    if !scheme.is_empty() {
        out.push_str(&scheme);
        out.push(':');
    }
    let hostless_slashes = !scheme.is_empty()
        && path.starts_with('/')
        && HOST_SCHEMES.contains(&format!(" {scheme} "));
    if !host.is_empty() || hostless_slashes {
        out.push_str("//");
        out.push_str(&host.to_lowercase());
    } else if path.starts_with("//") {
        out.push_str("//");
    }
    out.push_str(path);
    append_query(&mut out, query);
    out
}

/// The first 16 hexadecimal digits of the SHA-256 of `value`, as `seen` lists them.
pub fn fingerprint(value: &str) -> String {
    let digest = Sha256::digest(value.as_bytes());
    digest[..8]
        .iter()
        .fold(String::with_capacity(16), |mut out, byte| {
            let _ = write!(out, "{byte:02x}");
            out
        })
}

/// Trims what Python's `str.strip` takes for white space: Unicode's, and four separators more.
pub(crate) fn trim_blanks(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
}

/// Splits `scheme:rest`; without a valid scheme the whole link is the rest.
pub(crate) fn split_scheme(link: &str) -> (&str, &str) {
    match link.split_once(':') {
        Some((scheme, rest))
            if scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b)) =>
        {
            (scheme, rest)
        }
        _ => ("", link),
    }
}

/// Appends the query without its campaign parameters, decoded and encoded as `urlencode` does.
fn append_query(out: &mut String, query: &str) {
    let mut lead = '?';
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let key = unquote(key);
        if key
            .get(..4)
            .is_some_and(|start| start.eq_ignore_ascii_case("utm_"))
        {
            continue;
        }
        out.push(lead);
        lead = '&';
        quote(out, &key);
        out.push('=');
        quote(out, &unquote(value));
    }
}

/// Decodes `+` and percent escapes; bytes that are no UTF-8 become U+FFFD.
///
/// Each stretch of ASCII is decoded on its own, so an escape cannot complete a character that
/// stands in the text as it is.
fn unquote(text: &str) -> String {
    let text = text.replace('+', " ");
    if !text.contains('%') {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for stretch in text.split_inclusive(|c: char| !c.is_ascii()) {
        let ascii = stretch.trim_end_matches(|c: char| !c.is_ascii());
        out.push_str(&String::from_utf8_lossy(&unquote_bytes(ascii.as_bytes())));
        out.push_str(&stretch[ascii.len()..]);
    }
    out
}

fn unquote_bytes(text: &[u8]) -> Vec<u8> {
    let digit = |at: usize| text.get(at).and_then(|&b| char::from(b).to_digit(16));
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        if let (b'%', Some(high), Some(low)) = (text[at], digit(at + 1), digit(at + 2)) {
            out.push(u8::try_from(high * 16 + low).unwrap_or_default());
            at += 3;
        } else {
            out.push(text[at]);
            at += 1;
        }
    }
    out
}

/// `quote_plus` with nothing but the unreserved characters kept.
fn quote(out: &mut String, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'~' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
}
