//! User names and passwords in addresses: where they stand in a text, with and without a scheme
//! before them.
//!
//! With a scheme everything before the `@` of the host goes. Without one `me@host` is a mail address
//! or that of a clone and stays; `me:password@host` goes.

use crate::secret::{MASK, ends_address};
use std::net::Ipv4Addr;

/// Addresses of people that begin with a scheme and a colon, which is no name with a password.
const OF_PEOPLE: [&str; 3] = ["mailto", "acct", "xmpp"];

/// Masks user names and passwords in all addresses of a text.
pub(crate) fn mask_in_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in text.split_inclusive(ends_address) {
        let word = piece.trim_end_matches(ends_address);
        mask_in_word(word, &mut out);
        out.push_str(&piece[word.len()..]);
    }
    out
}

/// Masks user name and password of a text that is one address: what else would end an address may
/// be part of the password.
pub(crate) fn mask_in_address(value: &str) -> String {
    let blanks = value.len() - value.trim_start().len();
    let (before, rest) = match value[blanks..].split_once("://") {
        Some((scheme, _)) if is_scheme(scheme) => value.split_at(blanks + scheme.len() + 3),
        _ => value.split_at(blanks),
    };
    let has_scheme = before.len() > blanks;
    let last = rest.rfind('@').unwrap_or(0);
    match end_in_authority(rest, last) {
        Some(sign) if has_scheme || rest[..sign].contains(':') => {
            format!("{before}{MASK}{}", &rest[sign..])
        }
        _ => value.to_owned(),
    }
}

fn is_scheme(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    !text.is_empty() && text.chars().all(fits)
}

/// A word may hold several addresses.
fn mask_in_word(word: &str, out: &mut String) {
    let last = word.rfind('@');
    let mut at = 0;
    while let Some(ahead) = last.and_then(|last| last.checked_sub(at)) {
        let rest = &word[at..];
        let is_authority = word[..at].ends_with("://");
        let found = if is_authority {
            end_in_authority(rest, ahead).map(|sign| (0, sign))
        } else {
            bare(&rest[..rest.find('/').unwrap_or(rest.len())])
        };
        let end = if let Some((start, sign)) = found {
            out.push_str(&rest[..start]);
            out.push_str(MASK);
            out.push('@');
            sign + 1
        } else {
            let end = if is_authority {
                end_of_authority(rest)
            } else {
                rest.find('/').unwrap_or(rest.len())
            };
            // With the sign that ended it.
            let end = rest.len().min(end + 1);
            out.push_str(&rest[..end]);
            end
        };
        at += end;
    }
    out.push_str(&word[at..]);
}

fn end_of_authority(rest: &str) -> usize {
    rest.find(['/', '?', '#']).unwrap_or(rest.len())
}

/// Where user name and password end in what follows `://`; `last` is the place of its last `@`.
fn end_in_authority(rest: &str, last: usize) -> Option<usize> {
    let authority = &rest[..end_of_authority(rest)];
    if let Some(sign) = authority.rfind('@') {
        return Some(sign);
    }
    let name = match authority.strip_prefix('[') {
        Some(address) => address.split_once(']').map_or("", |(_, after)| after),
        None => authority,
    };
    // What follows the colon and is no port is the beginning of a password with a slash in it.
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    let has_password = name.split_once(':').is_some_and(|(_, port)| !is_port(port));
    (has_password && last > authority.len()).then_some(last)
}

/// Where `user:password` begins and ends in a part between slashes that no `://` stands before.
fn bare(part: &str) -> Option<(usize, usize)> {
    let signs = part.match_indices('@').map(|(sign, _)| sign);
    let mut signs = signs.rev().filter(|sign| is_host(&part[sign + 1..]));
    let sign = signs.next()?;
    let mut from = 0;
    while let Some(colon) = part[from..sign].find(':').map(|at| from + at) {
        let user = part[from..colon].rfind(ends_user).map_or(from, |before| {
            let width = part[before..].chars().next().map_or(0, char::len_utf8);
            before + width
        });
        let name = &part[user..colon];
        if OF_PEOPLE
            .iter()
            .any(|scheme| name.eq_ignore_ascii_case(scheme))
        {
            from = colon + 1;
            continue;
        }
        // Without a password it takes a whole host to be one: `npm:@scope/package` is none.
        let is_empty = colon + 1 == sign && !part[sign..].contains('.');
        return (!is_empty).then_some((user, sign));
    }
    None
}

/// What may stand before an address without a blank between them.
fn ends_user(c: char) -> bool {
    matches!(c, '=' | ',' | ';' | '(' | '[' | '{' | '|' | '&' | '?' | '#')
}

/// Whether a text begins with a host: a version or a date has no letter.
fn is_host(text: &str) -> bool {
    if text.starts_with('[') {
        return true;
    }
    let belongs = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | '_');
    let host = &text[..text.find(|c| !belongs(c)).unwrap_or(text.len())];
    host.contains(char::is_alphabetic) || host.parse::<Ipv4Addr>().is_ok()
}
