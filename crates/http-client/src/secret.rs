//! Secrets that cannot be printed by accident, and the cleaning of texts that others wrote.
//!
//! An error text of a server or of git may repeat what it was given: [`redact`] takes out known
//! secrets, the user information of addresses and the values of query parameters that look like
//! tokens, and leaves the rest readable.

use crate::user_info;
use std::fmt;

/// What stands in the place of a secret.
pub(crate) const MASK: &str = "***";

/// Bytes of the shortest value that is masked.
const SHORTEST: usize = 6;

/// Starts of tokens that forges give out; what follows one is masked even when it is not known.
const TOKEN_STARTS: [&str; 9] = [
    "github_pat_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "glpat-",
    "gldt-",
    "glcbt-",
];

/// Words in the name of a query parameter whose value is masked.
const TELLING_NAMES: [&str; 8] = [
    "token",
    "key",
    "secret",
    "password",
    "signature",
    "sig",
    "auth",
    "credential",
];

/// A token, key or password. `Debug` and `Display` print `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value; blanks around it (a line end in a file) do not belong to it.
    pub fn new(value: impl Into<String>) -> Self {
        let value: String = value.into();
        let trimmed = value.trim();
        if trimmed.len() == value.len() {
            Self(value)
        } else {
            Self(trimmed.to_owned())
        }
    }

    /// The value itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

/// Masks the given secrets, `user:password@` in addresses with and without a scheme, the values of
/// token-like query parameters, and tokens of a known make. The rest of the text stays as it is.
pub fn redact(text: &str, secrets: &[&Secret]) -> String {
    let text = user_info::mask_in_text(&mask(text, secrets));
    mask_query_values(&text)
}

/// [`redact`] for a text that is one address, as somebody wrote it: a password in it may hold what
/// ends an address within a text, such as blanks and quotes.
pub fn redact_address(value: &str) -> String {
    redact(&user_info::mask_in_address(value), &[])
}

/// Masks the given secrets and tokens of a known make, and nothing else: for text that people are to
/// read as it was written, addresses included.
pub fn mask(text: &str, secrets: &[&Secret]) -> String {
    let mut text = text.to_owned();
    // The longest first: one may be part of another, whose rest would stay.
    let mut secrets = secrets.to_vec();
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.0.len()));
    for secret in secrets {
        // What is shorter is no secret, and may be a word of our own: masking it would tear up reports.
        if secret.0.len() >= SHORTEST {
            text = text.replace(secret.expose(), MASK);
        }
    }
    mask_known_tokens(&text)
}

/// Where an address that runs through a text ends.
pub(crate) fn ends_address(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '<' | '>' | '`' | '\\')
}

fn mask_query_values(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['?', '&']) {
        let (before, after) = rest.split_at(at + 1);
        out.push_str(before);
        let name_end = after
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')))
            .unwrap_or(after.len());
        rest = after;
        if after[name_end..].starts_with('=') && is_telling(&after[..name_end]) {
            let value = &after[name_end + 1..];
            let end = value
                .find(|c| ends_address(c) || matches!(c, '&' | '#' | ')' | ']' | ',' | ';'))
                .unwrap_or(value.len());
            out.push_str(&after[..=name_end]);
            out.push_str(MASK);
            rest = &value[end..];
        }
    }
    out.push_str(rest);
    out
}

/// Whether a name of a header or a query parameter says that its value is a credential.
pub(crate) fn is_telling(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    TELLING_NAMES.iter().any(|word| name.contains(word))
}

fn mask_known_tokens(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // Every start begins with the same letter, so one pass over the text finds them all.
    while let Some(at) = rest.find('g') {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let Some(start) = TOKEN_STARTS
            .iter()
            .copied()
            .find(|start| after.starts_with(start))
        else {
            out.push('g');
            rest = &after[1..];
            continue;
        };
        let tail = &after[start.len()..];
        let end = tail
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')))
            .unwrap_or(tail.len());
        // A short tail is a word about tokens, not a token.
        if end >= 12 {
            out.push_str(MASK);
        } else {
            out.push_str(start);
            out.push_str(&tail[..end]);
        }
        rest = &tail[end..];
    }
    out.push_str(rest);
    out
}
