//! The numbers of the HTTP policy, and what the environment says about the network, as values.

use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How every call is made. The defaults are the rules of the project; a caller sets its user
/// agent, its environment and its time budget.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Sent as `User-Agent`; GitHub refuses calls without one.
    pub user_agent: String,
    /// Limit for one connection to stand, its TLS handshake included.
    pub connect_timeout: Duration,
    /// Limit for one attempt, its redirects and its body included, unless the request says other.
    pub call_timeout: Duration,
    /// Calls that may be under way at once.
    pub max_in_flight: usize,
    /// Calls that may be under way at once to one origin.
    pub max_per_host: usize,
    /// Attempts for one call, the first included.
    pub max_attempts: u32,
    /// Pause before the first repetition; doubled for each further one, with jitter.
    pub retry_pause: Duration,
    /// When the time budget of the run is used up. Nothing is waited for beyond it.
    pub deadline: Option<Instant>,
    /// Proxies and certificate authorities.
    pub env: NetworkEnv,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            user_agent: concat!("openhands-automations/", env!("CARGO_PKG_VERSION")).to_owned(),
            connect_timeout: Duration::from_secs(10),
            call_timeout: Duration::from_secs(30),
            max_in_flight: 16,
            max_per_host: 4,
            max_attempts: 3,
            retry_pause: Duration::from_millis(250),
            deadline: None,
            env: NetworkEnv::default(),
        }
    }
}

/// What the environment says about the network. This crate does not read the environment itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NetworkEnv {
    /// Proxy for `http` addresses (`http_proxy`, `HTTP_PROXY`).
    pub http_proxy: Option<String>,
    /// Proxy for `https` addresses (`https_proxy`, `HTTPS_PROXY`).
    pub https_proxy: Option<String>,
    /// Proxy for both where they have none of their own (`all_proxy`, `ALL_PROXY`).
    pub all_proxy: Option<String>,
    /// Hosts that are reached without a proxy (`no_proxy`, `NO_PROXY`), separated by commas.
    pub no_proxy: Option<String>,
    /// File with further trusted certificate authorities, PEM (`SSL_CERT_FILE`).
    pub cert_file: Option<PathBuf>,
    /// Folders with further trusted certificate authorities, PEM (`SSL_CERT_DIR`, separated by
    /// colons).
    pub cert_dirs: Vec<PathBuf>,
}

impl NetworkEnv {
    /// Reads the usual variables through `lookup`, the lower-case name first where there are two.
    /// An empty value counts as absent.
    ///
    /// `HTTP_PROXY` is left alone when `REQUEST_METHOD` is set: in a CGI process a stranger
    /// chooses its value.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let get = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        let either = |lower: &str, upper: &str| get(lower).or_else(|| get(upper));
        let in_cgi = lookup("REQUEST_METHOD").is_some();
        Self {
            http_proxy: get("http_proxy").or_else(|| if in_cgi { None } else { get("HTTP_PROXY") }),
            https_proxy: either("https_proxy", "HTTPS_PROXY"),
            all_proxy: either("all_proxy", "ALL_PROXY"),
            no_proxy: either("no_proxy", "NO_PROXY"),
            cert_file: get("SSL_CERT_FILE").map(PathBuf::from),
            cert_dirs: get("SSL_CERT_DIR")
                .map(|dirs| {
                    dirs.split(':')
                        .filter(|dir| !dir.is_empty())
                        .map(PathBuf::from)
                        .collect()
                })
                .unwrap_or_default(),
        }
    }
}
