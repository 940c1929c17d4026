//! The attributes of a start tag, quoted, unquoted or broken.

use super::Syntax;

/// What stands next in a start tag.
pub(super) enum Piece<'a> {
    /// A name and a raw value.
    Attribute(&'a str, &'a str),
    End {
        /// Whether the tag closes itself.
        empty: bool,
    },
    /// Another `<` came before the tag ended.
    Broken,
    /// The input ended.
    Cut,
}

/// Reads the next piece of a start tag from `at`.
pub(super) fn piece<'a>(text: &'a str, at: &mut usize, syntax: Syntax) -> Piece<'a> {
    let bytes = text.as_bytes();
    let stray_slash = |at: usize| bytes[at] == b'/' && bytes.get(at + 1) != Some(&b'>');
    while *at < bytes.len() && (bytes[*at].is_ascii_whitespace() || stray_slash(*at)) {
        *at += 1;
    }
    let (length, end) = match bytes.get(*at) {
        None => return Piece::Cut,
        Some(b'<') => return Piece::Broken,
        Some(b'>') => (1, Piece::End { empty: false }),
        Some(b'/') => (2, Piece::End { empty: true }),
        Some(_) => return attribute(text, at, syntax),
    };
    *at += length;
    end
}

/// Reads an attribute. A stray `=` or quote counts as part of a name, so that every step moves on.
fn attribute<'a>(text: &'a str, at: &mut usize, syntax: Syntax) -> Piece<'a> {
    let bytes = text.as_bytes();
    let past_blanks = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        at
    };
    let start = *at;
    let is_name = |byte: &u8| !byte.is_ascii_whitespace() && !b"=/><".contains(byte);
    *at += 1;
    while bytes.get(*at).is_some_and(is_name) {
        *at += 1;
    }
    let name = &text[start..*at];
    let after = past_blanks(*at);
    if bytes.get(after) != Some(&b'=') {
        return Piece::Attribute(name, "");
    }
    let after = past_blanks(after + 1);
    let value = match bytes.get(after) {
        Some(quote @ (b'"' | b'\'')) => quoted(&text[after + 1..], char::from(*quote), syntax),
        _ => Ok(bare(&text[after..])),
    };
    match value {
        Ok((value, length)) => {
            *at = after + length;
            Piece::Attribute(name, value)
        }
        Err(end) => end,
    }
}

/// A value behind its opening quote, with the length that it takes including the quotes.
fn quoted(rest: &str, quote: char, syntax: Syntax) -> Result<(&str, usize), Piece<'_>> {
    let closed = rest.find(quote);
    let value = &rest[..closed.unwrap_or(rest.len())];
    if closed.is_some() && (syntax == Syntax::Html || !value.contains('<')) {
        return Ok((value, value.len() + 2));
    }
    // The quote was forgotten if the tag ends before another one begins.
    match value.find(['<', '>']) {
        Some(end) if value[end..].starts_with('>') => Ok((&value[..end], end + 1)),
        _ if closed.is_some() => Ok((value, value.len() + 2)),
        Some(_) => Err(Piece::Broken),
        None => Err(Piece::Cut),
    }
}

/// A value without quotes, with its length.
fn bare(rest: &str) -> (&str, usize) {
    let end = rest.find(|c: char| c.is_ascii_whitespace() || c == '>' || c == '<');
    let value = &rest[..end.unwrap_or(rest.len())];
    // In `<link href=/a/>` the last slash closes the tag.
    let slash = value.ends_with('/') && rest[value.len()..].starts_with('>');
    let value = &value[..value.len() - usize::from(slash)];
    (value, value.len())
}
