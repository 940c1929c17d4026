//! Addresses as people write them into the configuration: that of an API, and of a place on the site
//! of a forge in web, clone or SSH form.
//!
//! An address of another host than the one that will be asked must be refused: otherwise a place of
//! the same name, and somebody else's, would be worked on.

use http_client::{Url, redact};
use lifecycle::text::{cut_chars, one_line};

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
    cut_chars(&one_line(&redact(value, &[])), 100)
}

/// What is left of an address of any form without its query and fragment.
pub fn without_query(spec: &str) -> &str {
    spec.split(['?', '#']).next().unwrap_or_default()
}

/// Schemes of addresses of a web site.
const WEB: [&str; 2] = ["https", "http"];
/// Schemes that git knows beside them.
const OF_GIT: [&str; 6] = ["ssh", "git", "git+ssh", "ssh+git", "git+https", "git+http"];

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
    /// shows it: `host:port/path`, of the site itself or with one of `prefixes` before it.
    pub fn of_site(spec: &'a str, site: &str, prefixes: &[&str]) -> Self {
        let (authority, path) = spec.split_once('/').unwrap_or((spec, ""));
        let port = authority.split_once(':').map_or("", |(_, port)| port);
        let is_bare = is_of_site(host_of(authority), site, prefixes)
            && !authority.contains('@')
            && port.bytes().all(|b| b.is_ascii_digit());
        if is_bare {
            return Self {
                host: Some(host_of(authority)),
                path,
                is_web: true,
            };
        }
        Self::read(spec)
    }

    /// Reads what [`without_query`] gives: `scheme://user:password@host:port/path`, `user@host:path`
    /// or a plain path.
    pub fn read(spec: &'a str) -> Self {
        if let Some((scheme, rest)) = spec.split_once("://") {
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            let is_one_of = |known: &[&str]| {
                let mut known = known.iter();
                known.any(|known| scheme.eq_ignore_ascii_case(known))
            };
            let is_web = is_one_of(&WEB);
            let is_known = is_web || is_one_of(&OF_GIT);
            return Self {
                // What is reached in no way that is known is no place on any host.
                host: Some(if is_known { host_of(authority) } else { spec }),
                path,
                is_web,
            };
        }
        // The short form of SSH addresses: user@host:path, the user may be missing.
        let (host, path) = match spec.split_once(':') {
            Some((authority, path)) if !authority.contains('/') => (Some(host_of(authority)), path),
            _ => (None, spec),
        };
        Self {
            host,
            path,
            is_web: false,
        }
    }
}

/// The host of `user:password@host:port`.
pub fn host_of(authority: &str) -> &str {
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    host.split_once(':').map_or(host, |(host, _port)| host)
}

/// Whether a host is that of the site, in any case, perhaps with one of `prefixes` (such as `ssh.`)
/// before it.
pub fn is_of_site(host: &str, site: &str, prefixes: &[&str]) -> bool {
    let host = host.to_ascii_lowercase();
    let bare = prefixes.iter().find_map(|start| host.strip_prefix(start));
    host == site || bare == Some(site)
}

/// What is wrong with an address of another host than that of the `forge` that is asked.
pub fn elsewhere(host: &str, site: &str, forge: &str) -> String {
    let host = cut_chars(&one_line(host), 80);
    format!("{host} is not {site}, the {forge} that is asked")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_address_is_told_why() {
        for (value, expected) in [
            ("", "it is empty"),
            ("ftp://example.com", "its scheme is neither https nor http"),
            ("https://", "it cannot be read as an address"),
            ("javascript:alert(1)", "it cannot be read as an address"),
            ("https://exa mple.com", "it cannot be read as an address"),
            (
                "https://user:pass@example.com/api/v3",
                "it holds a user name or password, which belong into the secrets",
            ),
            (
                "https://user@example.com",
                "it holds a user name or password, which belong into the secrets",
            ),
        ] {
            assert_eq!(read(value), Err(expected), "{value}");
        }
        for (value, expected) in [
            ("example.com:8443/a", "https://example.com:8443/a"),
            ("http://127.0.0.1:4000/a/?x=1#y", "http://127.0.0.1:4000/a/"),
        ] {
            assert_eq!(read(value).map(String::from).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn host_and_path_are_read_from_every_form() {
        let web = |host, path| (Some(host), path, true);
        let other = |host, path| (Some(host), path, false);
        for (spec, expected) in [
            ("a/b", (None, "a/b", false)),
            ("a/b:c", (None, "a/b:c", false)),
            ("a/b?c#d", (None, "a/b", false)),
            ("https://x.example/a/b?c=d", web("x.example", "a/b")),
            ("HTTP://x.example:80", web("x.example", "")),
            ("https://me:pw@x.example/a", web("x.example", "a")),
            ("https://x.example@y.example/a", web("y.example", "a")),
            ("ssh://git@x.example:22/a", other("x.example", "a")),
            ("git+ssh://git@x.example/a", other("x.example", "a")),
            ("file:///a", other("file:///a", "a")),
            ("ftp://x.example/a", other("ftp://x.example/a", "a")),
            (
                "https:/tps://x.example/a",
                other("https:/tps://x.example/a", "a"),
            ),
            ("git@x.example:a/b.git", other("x.example", "a/b.git")),
            ("x.example:a/b", other("x.example", "a/b")),
            ("C:\\a", other("C", "\\a")),
        ] {
            let place = Place::read(without_query(spec));
            assert_eq!((place.host, place.path, place.is_web), expected, "{spec}");
        }
    }

    #[test]
    fn a_site_may_be_named_without_its_scheme() {
        for (spec, host) in [
            ("x.example/a/b", Some("x.example")),
            ("X.example:8443/a/b", Some("X.example")),
            ("www.x.example/a/b", Some("www.x.example")),
            ("y.example/a/b", None),
            ("x.example/a", Some("x.example")),
        ] {
            let place = Place::of_site(spec, "x.example", &["www."]);
            assert_eq!((place.host, place.is_web), (host, host.is_some()), "{spec}");
            assert!(spec.ends_with(place.path), "{spec}");
        }
        // The short form of SSH addresses, and a whole address, are what they are elsewhere.
        for spec in [
            "x.example:a/b",
            "git@x.example:a/b",
            "https://x.example/a/b",
        ] {
            let place = Place::of_site(spec, "x.example", &[]);
            assert_eq!(place, Place::read(spec), "{spec}");
        }
    }

    #[test]
    fn a_site_has_its_own_hosts_only() {
        let prefixes = ["www.", "ssh."];
        for host in ["x.example", "X.Example", "www.x.example", "SSH.x.example"] {
            assert!(is_of_site(host, "x.example", &prefixes), "{host}");
        }
        for host in ["", "y.x.example", "x.example.evil", "www.ssh.x.example"] {
            assert!(!is_of_site(host, "x.example", &prefixes), "{host}");
        }
        assert!(!is_of_site("ssh.x.example", "x.example", &[]));
        let long = elsewhere(&"a\n".repeat(1000), "x.example", "GitHub");
        assert!(long.chars().count() < 150 && !long.contains('\n'), "{long}");
    }

    #[test]
    fn a_value_is_shown_short_and_without_credentials() {
        let text = shown("https://user:hunter2hunter2@x.example/a\nb");
        assert!(!text.contains("hunter2") && !text.contains('\n'), "{text}");
        assert!(shown(&"x".repeat(1000)).chars().count() <= 101);
    }
}
