//! Where a redirect that a stranger wrote may not lead: addresses that only this machine or its
//! network can reach (loopback, private, link-local, cloud metadata).
//!
//! Numbers are judged here; names are judged by the resolver, at the moment they are resolved for
//! the connection, so that a name cannot mean one thing when asked and another when used.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use crate::proxy::is_loopback;

/// Why a name was not resolved.
#[derive(Debug, thiserror::Error)]
#[error("the host resolves to an address of this machine or its network")]
pub(crate) struct PrivateAddress;

/// Whether an address can be reached from anywhere.
pub(crate) fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    !(a == 0
        || a >= 224
        || ip.is_loopback()
        || ip.is_private()
        || ip.is_link_local()
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (b == 18 || b == 19)))
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let s = ip.segments();
    let embedded = |high: u16, low: u16| {
        is_public_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
    };
    // IPv4 written as IPv6: mapped, compatible (with :: and ::1), NAT64, 6to4.
    if s[..5] == [0; 5] && (s[5] == 0 || s[5] == 0xffff) {
        return embedded(s[6], s[7]);
    }
    if s[..6] == [0x64, 0xff9b, 0, 0, 0, 0] {
        return embedded(s[6], s[7]);
    }
    if s[0] == 0x2002 {
        return embedded(s[1], s[2]);
    }
    !(s[..3] == [0x64, 0xff9b, 1]
        || s[0] & 0xfe00 == 0xfc00
        || s[0] & 0xffc0 == 0xfe80
        || s[0] & 0xffc0 == 0xfec0
        || s[0] & 0xff00 == 0xff00)
}

/// Whether an address names a private host by itself, without a resolver.
pub(crate) fn names_private_host(url: &Url) -> bool {
    url.host().is_none_or(|host| {
        is_loopback(&host)
            || match host {
                Host::Ipv4(ip) => !is_public_v4(ip),
                Host::Ipv6(ip) => !is_public_v6(ip),
                Host::Domain(_) => false,
            }
    })
}

/// Whether an address is link-local by number: where clouds keep their metadata.
pub(crate) fn names_link_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_link_local(),
        Some(Host::Ipv6(ip)) => {
            ip.is_unicast_link_local() || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_link_local())
        }
        _ => false,
    }
}

/// Whether a name is known here to be private; unknown names are not. For hosts that a proxy
/// will resolve.
pub(crate) async fn resolves_to_private(url: &Url) -> bool {
    let Some(Host::Domain(name)) = url.host() else {
        return false;
    };
    match tokio::net::lookup_host((name, 0)).await {
        Ok(mut found) => found.any(|address| !is_public(address.ip())),
        Err(_) => false,
    }
}

/// A resolver that gives public addresses only, except for the hosts of the proxies.
pub(crate) struct PublicOnly {
    pub(crate) proxy_hosts: Vec<String>,
}

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        let is_proxy = self
            .proxy_hosts
            .iter()
            .any(|host| host.eq_ignore_ascii_case(name.as_str()));
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0))
                .await?
                .filter(|address| is_proxy || is_public(address.ip()))
                .collect();
            if found.is_empty() {
                return Err(PrivateAddress.into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests;
