//! The words of a forge that says no, cleaned and shortened. What they mean is told by its adapter.

use http_client::{Secret, redact, start_of_text};
use lifecycle::text::{cut_chars, one_line};
use serde::de::DeserializeOwned;

/// Characters of a forge's own words in an error.
const MAX_DETAIL: usize = 300;
/// Bytes of a body that may be a forge's words; a longer one is not looked into.
const MAX_WORDS: usize = 256 * 1024;

/// An answer that is a refusal.
pub struct Refusal<'a> {
    /// Method and path.
    pub call: String,
    /// The status.
    pub status: u16,
    /// The value of a header by its name.
    pub header: &'a dyn Fn(&str) -> Option<String>,
    /// The body.
    pub body: &'a [u8],
    /// Taken out of every text.
    pub token: &'a Secret,
}

impl Refusal<'_> {
    /// The body as JSON of some shape, unless it is too long to be words.
    pub fn json<T: DeserializeOwned>(&self) -> Option<T> {
        let is_short = self.body.len() < MAX_WORDS;
        is_short
            .then(|| serde_json::from_slice(self.body).ok())
            .flatten()
    }

    /// The start of a body that is not in the forge's words.
    pub fn start(&self) -> String {
        let start = start_of_text(self.body);
        if start.trim_start().starts_with('<') {
            "a page of HTML".to_owned()
        } else {
            start.into_owned()
        }
    }

    /// Words for an error: one line, short, without the token; `None` when nothing is left.
    pub fn clean(&self, words: &str) -> Option<String> {
        let clean = one_line(&redact(words, &[self.token]));
        (!clean.is_empty()).then(|| cut_chars(&clean, MAX_DETAIL))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn words_are_short_lines_without_the_token() {
        let token = Secret::new("glpat-0123456789abcdef01");
        let read = |body: &[u8]| {
            let refusal = Refusal {
                call: "GET /x".to_owned(),
                status: 500,
                header: &|_| None,
                body,
                token: &token,
            };
            (
                refusal.json::<Value>().is_some(),
                refusal.clean(&refusal.start()),
            )
        };
        assert_eq!(read(b" \r\n"), (false, None));
        assert_eq!(read(b"\n <p>"), (false, Some("a page of HTML".to_owned())));
        let (is_json, words) = read(b"\"my\\n glpat-0123456789abcdef01\"");
        assert!(is_json);
        assert!(!words.unwrap().contains("0123456789"));
        // Wherever the body is cut: half a token would not be known any more.
        for length in (2000..2060).chain(16_340..16_400) {
            let (_, words) = read(format!("x{}{}", " ".repeat(length), token.expose()).as_bytes());
            assert!(!words.unwrap().contains("glpat"), "{length}");
        }
        let long = format!("\"{}\"", "x".repeat(MAX_WORDS));
        let (is_json, words) = read(long.as_bytes());
        assert!(!is_json);
        assert!(words.unwrap().chars().count() <= MAX_DETAIL + 1);
    }
}
