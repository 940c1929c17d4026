//! The address of an installation, as people give it.

use http_client::Url;
use std::fmt;

/// Where the service is found below a host.
const BASE: &str = "/api/automation";

/// The address of an installation: scheme, host, port, and a path where it is not at the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Host(Url);

impl Host {
    /// Reads an address. The path of the service itself may be at its end.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let wrong = |why: &str| {
            format!(
                "{text} is no address of an installation: {why}, such as https://openhands.example.com"
            )
        };
        if !text.contains("://") {
            return Err(wrong("it should begin with https:// (or http://)"));
        }
        let mut url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(wrong("it should begin with https:// (or http://)"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            let text = "an address holds no user or password; the key comes from \
                        OPENHANDS_AUTOMATION_API_KEY or OPENHANDS_API_KEY";
            return Err(text.to_owned());
        }
        url.set_query(None);
        url.set_fragment(None);
        let path = url.path().trim_end_matches('/');
        let path = path.strip_suffix("/v1").unwrap_or(path);
        let path = path.strip_suffix(BASE).unwrap_or(path).to_owned();
        url.set_path(&path);
        Ok(Self(url))
    }

    /// The address of a call; `path` begins with a slash and may hold a query.
    pub(super) fn service(&self, path: &str) -> Url {
        self.join(&format!("{BASE}{path}"))
    }

    /// The address of something beside the service.
    pub(super) fn join(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        let (path, query) = path
            .split_once('?')
            .map_or((path, None), |(p, q)| (p, Some(q)));
        url.set_path(&format!("{}{path}", self.0.path().trim_end_matches('/')));
        url.set_query(query);
        url
    }

    /// Whether what is sent there can be read on the way.
    pub(crate) fn is_open(&self) -> bool {
        let name = self.0.host_str().unwrap_or_default();
        let near = name == "localhost" || name == "[::1]" || name.starts_with("127.");
        self.0.scheme() == "http" && !near
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_as_people_copy_them() {
        let cases = [
            ("https://app.example.com", "https://app.example.com"),
            (" https://app.example.com/ ", "https://app.example.com"),
            (
                "http://127.0.0.1:8000/api/automation",
                "http://127.0.0.1:8000",
            ),
            (
                "http://localhost:8000/api/automation/v1/",
                "http://localhost:8000",
            ),
            (
                "https://example.com/openhands/?a=b#c",
                "https://example.com/openhands",
            ),
        ];
        for (given, expected) in cases {
            assert_eq!(Host::parse(given).unwrap().to_string(), expected, "{given}");
        }
        let host = Host::parse("https://example.com/openhands").unwrap();
        let call = host.service("/v1?limit=1");
        assert_eq!(
            call.as_str(),
            "https://example.com/openhands/api/automation/v1?limit=1"
        );
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for given in [
            "",
            "app.example.com",
            "localhost:8000",
            "file:///etc",
            "ftp://a",
            "https://",
        ] {
            assert!(Host::parse(given).is_err(), "{given}");
        }
        let error = Host::parse("https://me:secret@example.com").unwrap_err();
        assert!(!error.contains("secret"), "{error}");
    }

    #[test]
    fn only_loopback_is_safe_without_tls() {
        for (given, open) in [
            ("http://127.0.0.1:1", false),
            ("http://localhost", false),
            ("http://[::1]:8000", false),
            ("https://example.com", false),
            ("http://10.0.0.7", true),
        ] {
            assert_eq!(Host::parse(given).unwrap().is_open(), open, "{given}");
        }
    }
}
