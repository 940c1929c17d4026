//! The connections: one pool for what our configuration names, and one that reaches public
//! addresses only. Both are made when first used.

use std::error::Error as _;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::redirect;
use url::Url;

use crate::error::HttpError;
use crate::guard::{PrivateAddress, PublicOnly};
use crate::policy::Policy;
use crate::proxy::Proxies;
use crate::secret::redact;
use crate::tls;

/// How long a connection is kept for the next call. Servers close theirs after 5 s (uvicorn) and
/// more; a write must not meet one that is just being closed.
const IDLE: Duration = Duration::from_secs(4);

pub(crate) struct Transport {
    user_agent: String,
    connect_timeout: Duration,
    max_per_host: usize,
    pub(crate) proxies: Arc<Proxies>,
    env: crate::policy::NetworkEnv,
    tls: OnceLock<Result<rustls::ClientConfig, String>>,
    open: OnceLock<Result<reqwest::Client, String>>,
    guarded: OnceLock<Result<reqwest::Client, String>>,
}

impl Transport {
    pub(crate) fn new(policy: &Policy) -> Self {
        Self {
            user_agent: policy.user_agent.clone(),
            connect_timeout: policy.connect_timeout,
            max_per_host: policy.max_per_host,
            proxies: Arc::new(Proxies::new(&policy.env)),
            env: policy.env.clone(),
            tls: OnceLock::new(),
            open: OnceLock::new(),
            guarded: OnceLock::new(),
        }
    }

    /// The connections for a call; with `public_only` those that reach public addresses only.
    pub(crate) fn client(&self, public_only: bool) -> Result<&reqwest::Client, HttpError> {
        let slot = if public_only {
            &self.guarded
        } else {
            &self.open
        };
        slot.get_or_init(|| self.build(public_only))
            .as_ref()
            .map_err(|detail| HttpError::Setup(detail.clone()))
    }

    fn build(&self, public_only: bool) -> Result<reqwest::Client, String> {
        let tls = self
            .tls
            .get_or_init(|| tls::config(&self.env))
            .as_ref()
            .map_err(Clone::clone)?;
        let proxies = Arc::clone(&self.proxies);
        let mut builder = reqwest::Client::builder()
            .user_agent(&self.user_agent)
            .connect_timeout(self.connect_timeout)
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(self.max_per_host)
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .http1_only()
            .http1_ignore_invalid_headers_in_responses(true)
            // Keeps the crate below from reading the environment on its own.
            .no_proxy()
            .proxy(reqwest::Proxy::custom(move |url| {
                proxies.choose(url).ok().flatten().cloned()
            }))
            .tls_backend_preconfigured(tls.clone());
        if public_only {
            builder = builder.dns_resolver(PublicOnly {
                proxy_hosts: self.proxies.hosts(),
            });
        }
        builder.build().map_err(|error| flatten(&error))
    }
}

/// What became of a request that got no answer.
pub(crate) enum Failure {
    NoConnection(String),
    ConnectTimeout,
    Private,
    Tls(String),
    Broken(String),
}

/// Tells the failures apart by what caused them.
pub(crate) fn classify(error: reqwest::Error) -> Failure {
    let error = error.without_url();
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(current) = cause {
        if current.is::<PrivateAddress>() {
            return Failure::Private;
        }
        if let Some(tls) = current.downcast_ref::<rustls::Error>() {
            return Failure::Tls(tls.to_string());
        }
        cause = inside(current);
    }
    match (error.is_connect(), error.is_timeout()) {
        (true, true) => Failure::ConnectTimeout,
        (true, false) => Failure::NoConnection(flatten(&error)),
        _ => Failure::Broken(flatten(&error)),
    }
}

/// The cause of an error. An I/O error skips what it wraps when asked for its source, so that is
/// looked at first.
fn inside<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> Option<&'a (dyn std::error::Error + 'static)> {
    match error
        .downcast_ref::<std::io::Error>()
        .and_then(std::io::Error::get_ref)
    {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}

/// The innermost cause says most; the wrappers around it only that a request failed.
fn flatten(error: &reqwest::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut cause = error.source();
    while let Some(current) = cause {
        let text = current.to_string();
        if parts.last() != Some(&text) {
            parts.push(text);
        }
        cause = current.source();
    }
    let start = parts.len().saturating_sub(2);
    let text = if parts.is_empty() {
        error.to_string()
    } else {
        parts[start..].join(": ")
    };
    redact(&text, &[])
}

/// Checks that the proxy for an address, if it has one, can be used, and says whether it has one.
pub(crate) fn goes_through_proxy(proxies: &Proxies, url: &Url) -> Result<bool, HttpError> {
    proxies
        .choose(url)
        .map(|proxy| proxy.is_some())
        .map_err(HttpError::Setup)
}
