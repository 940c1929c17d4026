//! Which proxy an address goes through, from the values of the usual environment variables.
//!
//! Loopback never goes through a proxy, whatever the variables say: the agent server of a run is
//! on this machine, and its session key has no business elsewhere.

use std::net::IpAddr;

use url::{Host, Url};

use crate::policy::NetworkEnv;
use crate::secret::redact;

/// The proxies of a process.
#[derive(Debug, Default)]
pub(crate) struct Proxies {
    http: Option<Result<Url, String>>,
    https: Option<Result<Url, String>>,
    direct: Vec<Direct>,
}

/// One entry of `NO_PROXY`.
#[derive(Debug, PartialEq)]
enum Direct {
    Everything,
    Net(IpAddr, u8),
    /// A host and all below it, with a port or for all ports.
    Domain(String, Option<u16>),
}

impl Proxies {
    pub(crate) fn new(env: &NetworkEnv) -> Self {
        let pick = |own: &Option<String>| {
            own.as_ref()
                .or(env.all_proxy.as_ref())
                .map(|value| parse_proxy(value))
        };
        Self {
            http: pick(&env.http_proxy),
            https: pick(&env.https_proxy),
            direct: env
                .no_proxy
                .as_deref()
                .map(parse_direct)
                .unwrap_or_default(),
        }
    }

    /// The proxy for an address, `None` for a direct connection. The error says what is wrong with
    /// the proxy that would be used.
    pub(crate) fn choose(&self, url: &Url) -> Result<Option<&Url>, String> {
        let proxy = match url.scheme() {
            "https" => self.https.as_ref(),
            _ => self.http.as_ref(),
        };
        match proxy {
            Some(proxy) if !self.is_direct(url) => proxy.as_ref().map(Some).map_err(Clone::clone),
            _ => Ok(None),
        }
    }

    /// The hosts of the proxies themselves.
    pub(crate) fn hosts(&self) -> Vec<String> {
        [&self.http, &self.https]
            .into_iter()
            .filter_map(|proxy| proxy.as_ref()?.as_ref().ok()?.host_str().map(str::to_owned))
            .collect()
    }

    fn is_direct(&self, url: &Url) -> bool {
        let Some(host) = url.host() else { return true };
        if is_loopback(&host) {
            return true;
        }
        let port = url.port_or_known_default();
        self.direct.iter().any(|entry| match (entry, &host) {
            (Direct::Everything, _) => true,
            (Direct::Net(net, bits), Host::Ipv4(ip)) => within(IpAddr::V4(*ip), *net, *bits),
            (Direct::Net(net, bits), Host::Ipv6(ip)) => within(IpAddr::V6(*ip), *net, *bits),
            (Direct::Domain(domain, for_port), Host::Domain(name)) => {
                for_port.is_none_or(|wanted| port == Some(wanted)) && is_below(name, domain)
            }
            _ => false,
        })
    }
}

/// Whether a host is this machine by its very name.
pub(crate) fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => is_below(name, "localhost"),
        Host::Ipv4(ip) => ip.is_loopback() || ip.is_unspecified(),
        Host::Ipv6(ip) => {
            ip.is_loopback()
                || ip.is_unspecified()
                || ip
                    .to_ipv4_mapped()
                    .is_some_and(|ip| ip.is_loopback() || ip.is_unspecified())
        }
    }
}

fn is_below(name: &str, domain: &str) -> bool {
    let name = name.trim_end_matches('.');
    let Some(start) = name.len().checked_sub(domain.len()) else {
        return false;
    };
    name.is_char_boundary(start)
        && name[start..].eq_ignore_ascii_case(domain)
        && (start == 0 || name[..start].ends_with('.'))
}

fn parse_proxy(value: &str) -> Result<Url, String> {
    let value = value.trim();
    let text = if value.contains("://") {
        value.to_owned()
    } else {
        format!("http://{value}")
    };
    let shown = || redact(&text, &[]);
    match Url::parse(&text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
        Ok(url) => Err(format!(
            "the proxy {} has the scheme {}, and only http and https proxies are known",
            shown(),
            url.scheme(),
        )),
        Err(_) => Err(format!("the proxy {} is no address", shown())),
    }
}

fn parse_direct(list: &str) -> Vec<Direct> {
    list.split([',', ' '])
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
        .map(parse_entry)
        .collect()
}

fn parse_entry(entry: &str) -> Direct {
    if entry == "*" {
        return Direct::Everything;
    }
    let (address, bits) = match entry.split_once('/') {
        Some((address, bits)) => (address, bits.parse::<u8>().ok()),
        None => (entry, None),
    };
    if let Ok(ip) = address.trim_matches(['[', ']']).parse::<IpAddr>() {
        return Direct::Net(ip, bits.unwrap_or(128));
    }
    let (name, port) = match entry.rsplit_once(':') {
        Some((name, port)) => match port.parse::<u16>() {
            Ok(port) => (name, Some(port)),
            Err(_) => (entry, None),
        },
        None => (entry, None),
    };
    if let Ok(ip) = name.trim_matches(['[', ']']).parse::<IpAddr>() {
        return Direct::Net(ip, 128);
    }
    Direct::Domain(
        name.trim_start_matches("*.")
            .trim_matches('.')
            .to_ascii_lowercase(),
        port,
    )
}

fn within(ip: IpAddr, net: IpAddr, bits: u8) -> bool {
    match (ip, net) {
        (IpAddr::V4(ip), IpAddr::V4(net)) => {
            let shift = 32 - u32::from(bits.min(32));
            ip.to_bits().checked_shr(shift).unwrap_or(0)
                == net.to_bits().checked_shr(shift).unwrap_or(0)
        }
        (IpAddr::V6(ip), IpAddr::V6(net)) => {
            let shift = 128 - u32::from(bits.min(128));
            ip.to_bits().checked_shr(shift).unwrap_or(0)
                == net.to_bits().checked_shr(shift).unwrap_or(0)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
