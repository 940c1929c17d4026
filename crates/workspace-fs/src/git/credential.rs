//! The credential for a git host, and texts of git without it.

use std::fmt;

use url::Url;

/// User and password for one host. It is given to git through the environment only, bound to the
/// origin of the address it goes with.
#[derive(Clone, PartialEq, Eq)]
pub struct GitCredential {
    user: String,
    password: String,
}

impl GitCredential {
    /// A token as GitLab takes it: user `oauth2`.
    pub fn oauth2(token: impl Into<String>) -> Self {
        Self::new("oauth2", token)
    }

    /// Any user and password.
    pub fn new(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self {
            user: user.into(),
            password: password.into(),
        }
    }

    /// Value of the `Authorization` header.
    pub(super) fn header(&self) -> String {
        format!("Basic {}", self.encoded())
    }

    fn encoded(&self) -> String {
        base64(format!("{}:{}", self.user, self.password).as_bytes())
    }

    /// The forms in which it could show up in a text.
    fn traces(&self) -> Vec<String> {
        let percent: String =
            url::form_urlencoded::byte_serialize(self.password.as_bytes()).collect();
        let mut traces = vec![self.encoded(), percent, self.password.clone()];
        traces.retain(|trace| !trace.is_empty());
        traces
    }
}

impl fmt::Debug for GitCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GitCredential(***)")
    }
}

/// A text of git made fit for logs, notes and documents: without the credential in any of its
/// forms, without user and password in addresses, without tokens in queries, and without control
/// characters (of a progress line, only its last state stays).
pub fn clean_git_output(text: &str, credential: Option<&GitCredential>) -> String {
    let without_credential = |text: &str| {
        let traces = credential.iter().flat_map(|credential| credential.traces());
        traces.fold(text.to_owned(), |text, trace| text.replace(&trace, "***"))
    };
    let clean = without_credential(text);
    let plain = clean.lines().map(|line| {
        let line = line.trim_end_matches('\r');
        let last_state = line.rsplit('\r').next().unwrap_or(line);
        without_escapes(last_state)
    });
    // Once more: one that control characters stood in has come together again.
    let clean = without_credential(&plain.collect::<Vec<_>>().join("\n"));
    let lines = clean
        .lines()
        .map(|line| without_query_tokens(&without_userinfo(line.trim_end())));
    lines
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

/// An address without user and password, for texts and for the clone's configuration.
pub(super) fn plain_address(url: &Url) -> Url {
    let mut plain = url.clone();
    // Both fail only for addresses that cannot have them.
    let _cannot_have = (plain.set_username(""), plain.set_password(None));
    plain
}

/// Removes `user:password@` wherever `://` begins an address.
fn without_userinfo(line: &str) -> String {
    let mut clean = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        clean.push_str(before);
        let end = after
            .find(|c: char| c.is_whitespace() || "/?#'\"<>".contains(c))
            .unwrap_or(after.len());
        let host = after[..end].rfind('@').map_or(0, |at| at + 1);
        rest = &after[host..];
    }
    clean.push_str(rest);
    clean
}

/// Blanks the value of query parameters that end in `token`.
fn without_query_tokens(line: &str) -> String {
    let mut clean = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("token=") {
        let (before, after) = rest.split_at(at + "token=".len());
        clean.push_str(before);
        let end = after.find(|c: char| c.is_whitespace() || "&#'\"<>".contains(c));
        if end != Some(0) && !after.is_empty() {
            clean.push_str("***");
        }
        rest = &after[end.unwrap_or(after.len())..];
    }
    clean.push_str(rest);
    clean
}

/// Drops terminal escape sequences and other control characters.
fn without_escapes(line: &str) -> String {
    let mut plain = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            // The sequence ends with a letter.
            for c in chars.by_ref() {
                if c.is_ascii_alphabetic() {
                    break;
                }
            }
        } else if c == '\t' {
            plain.push(' ');
        } else if !c.is_control() {
            plain.push(c);
        }
    }
    plain
}

/// Base 64 with padding, RFC 4648.
fn base64(data: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in data.chunks(3) {
        let bits = chunk
            .iter()
            .fold(0, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= chunk.len() { digit.into() } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_with_padding() {
        for (plain, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("oauth2:glpat-x~?", "b2F1dGgyOmdscGF0LXh+Pw=="),
        ] {
            assert_eq!(base64(plain.as_bytes()), expected);
        }
    }

    #[test]
    fn nothing_of_the_credential_stays() {
        let credential = GitCredential::oauth2("glpat-a/b+c");
        let text = "fatal: https://oauth2:glpat-a%2Fb%2Bc@host/x.git\n\
             Authorization: Basic b2F1dGgyOmdscGF0LWEvYitj\n\
             remote: got glpat-a/b+c?\n\
             begun: \u{1b}glpat-a/b+c\n\
             split: glpat\u{1b}[0m-a/\u{7}b+c\n\
             see 'https://me:other@host:8443/p?private_token=abc&x=1' and ssh://git@host/y\n\
             \u{1b}[31mred\u{1b}[0m\u{7}\n\
             Counting: 10%\rCounting: 100%\r\n\n";
        assert_eq!(
            clean_git_output(text, Some(&credential)),
            "fatal: https://host/x.git\n\
             Authorization: Basic ***\n\
             remote: got ***?\n\
             begun:\n\
             split: ***\n\
             see 'https://host:8443/p?private_token=***&x=1' and ssh://host/y\n\
             red\n\
             Counting: 100%"
        );
        assert_eq!(format!("{credential:?}"), "GitCredential(***)");
    }
}
