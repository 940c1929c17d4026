//! Addresses as people write them into the configuration: that of an API, and of a place on the site
//! of a forge in web, clone or SSH form.
//!
//! An address of another host than the one that will be asked must be refused: otherwise a place of
//! the same name, and somebody else's, would be worked on.

use http_client::{Url, redact_address};
use lifecycle::text::{cut_chars, one_line};
use std::net::Ipv6Addr;

/// Reads a configured address. A missing scheme is `https`; query and fragment are dropped. The error
/// says what is wrong with it.
pub fn read(value: &str) -> Result<Url, &'static str> {
    if value.is_empty() {
        return Err("it is empty");
    }
    let with_scheme = if value.contains("://") {
        value.to_owned()
    } else {
        format!("https://{value}")
    };
    let mut url = Url::parse(&with_scheme).map_err(|_| "it cannot be read as an address")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("its scheme is neither https nor http");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it holds a user name or password, which belong into the secrets");
    }
    url.set_query(None);
    url.set_fragment(None);
    Ok(url)
}

/// A configured value for an error text: one line, short, without credentials.
pub fn shown(value: &str) -> String {
    short(&redact_address(value), 100)
}

/// One line of a text whose credentials were taken out before: half of one would not be known.
fn short(clean: &str, max: usize) -> String {
    cut_chars(&one_line(clean), max)
}

/// What is left of an address of any form without its query and fragment.
pub fn without_query(spec: &str) -> &str {
    spec.split(['?', '#']).next().unwrap_or_default()
}

/// Schemes of addresses of a web site, as browsers and as git write them.
const WEB: [&str; 4] = ["https", "http", "git+https", "git+http"];
/// Schemes that git knows beside them.
const OF_GIT: [&str; 4] = ["ssh", "git", "git+ssh", "ssh+git"];
/// The ports of web sites that have none in their address.
const WEB_PORTS: [u16; 2] = [443, 80];

/// The site of a forge, as far as it takes part in telling addresses apart.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// Its host, in lower case.
    pub host: &'a str,
    /// The port of the API that is asked.
    pub port: Option<u16>,
    /// What may stand before the host, such as `www.`.
    pub prefixes: &'a [&'a str],
}

/// The parts of an address of any form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// A plain path has none.
    pub host: Option<&'a str>,
    /// What follows the host, as it is written.
    pub path: &'a str,
    /// Whether it is an address of the web site, whose path is percent-encoded and may start with
    /// that of the instance.
    pub is_web: bool,
}

impl<'a> Place<'a> {
    /// Like [`Place::read`], and understands an address of the site as a browser that hides the scheme
    /// shows it: `host:port/path`. A number that may be a port or the beginning of the path of an SSH
    /// address is an error, unless it is a port of the site: somebody else's place could be meant.
    pub fn of_site(spec: &'a str, site: &Site<'_>) -> Result<Self, String> {
        let (authority, path) = spec.split_once('/').unwrap_or((spec, ""));
        let (host, port) = split_host(authority);
        let port = port.strip_prefix(':').unwrap_or(port);
        let is_bare = is_of_site(host, site.host, site.prefixes)
            && !authority.contains('@')
            && port.bytes().all(|b| b.is_ascii_digit());
        if !is_bare {
            return Self::read(spec);
        }
        let mut ports = WEB_PORTS.into_iter().chain(site.port);
        if !port.is_empty() && !ports.any(|own| own.to_string() == port) {
            let port = short(port, 20);
            return Err(format!(
                "{port} may be a port or the beginning of a path: write https://{host}:{port}/… or \
                 git@{host}:{port}/…"
            ));
        }
        Ok(Self {
            host: Some(host),
            path,
            is_web: true,
        })
    }

    /// Reads what [`without_query`] gives: `scheme://user:password@host:port/path`, `user@host:path`
    /// or a plain path. The error says what is wrong with it, in a line without credentials.
    pub fn read(spec: &'a str) -> Result<Self, String> {
        if let Some((scheme, rest)) = spec.split_once("://") {
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            let is_one_of = |known: &[&str]| {
                let mut known = known.iter();
                known.any(|known| scheme.eq_ignore_ascii_case(known))
            };
            let is_web = is_one_of(&WEB);
            // What is reached in no way that is known is no place on any host.
            if !is_web && !is_one_of(&OF_GIT) {
                return Err(unknown_scheme(scheme));
            }
            return Ok(Self {
                host: Some(host_of(authority)),
                path,
                is_web,
            });
        }
        // The short form of SSH addresses: user@host:path, the user may be missing.
        let (authority, _) = spec.split_once('/').unwrap_or((spec, ""));
        let (user, name) = authority.split_once('@').unwrap_or(("", authority));
        let (host, rest) = split_host(name);
        if user.contains(':') || rest.contains('@') {
            return Err("it holds a password and no scheme such as https://".to_owned());
        }
        let (host, path) = match rest.strip_prefix(':') {
            Some(rest) => (Some(host), &spec[authority.len() - rest.len()..]),
            None => (None, spec),
        };
        Ok(Self {
            host,
            path,
            is_web: false,
        })
    }
}

fn unknown_scheme(scheme: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    if (1..=20).contains(&scheme.len()) && scheme.chars().all(fits) {
        format!("its scheme {scheme} is not known")
    } else {
        "its scheme is not known".to_owned()
    }
}

/// The host of `user:password@host:port`.
fn host_of(authority: &str) -> &str {
    let name = authority
        .rsplit_once('@')
        .map_or(authority, |(_, name)| name);
    split_host(name).0
}

/// A host, which may be an IPv6 address in brackets, and what follows it: nothing, or a colon and
/// more.
fn split_host(name: &str) -> (&str, &str) {
    let bracket = match name.find(']') {
        Some(at) if name.starts_with('[') => at + 1,
        _ => 0,
    };
    let end = name[bracket..].find(':').map(|at| bracket + at);
    name.split_at(end.unwrap_or(name.len()))
}

/// Whether a host is that of the site, in any case, perhaps with one of `prefixes` (such as `ssh.`)
/// before it.
pub fn is_of_site(host: &str, site: &str, prefixes: &[&str]) -> bool {
    if let (Some(host), Some(site)) = (ipv6(host), ipv6(site)) {
        return host == site;
    }
    let host = host.to_ascii_lowercase();
    let bare = prefixes.iter().find_map(|start| host.strip_prefix(start));
    host == site || bare == Some(site)
}

/// An IPv6 address in brackets, which has more than one spelling.
fn ipv6(host: &str) -> Option<Ipv6Addr> {
    host.strip_prefix('[')?.strip_suffix(']')?.parse().ok()
}

/// What is wrong with an address of another host than that of the `forge` that is asked.
pub fn elsewhere(host: &str, site: &str, forge: &str) -> String {
    let host = short(&redact_address(host), 80);
    format!("{host} is not {site}, the {forge} that is asked")
}

#[cfg(test)]
mod tests;
