//! Which redirects are followed, and where to: reads follow, writes are sent again only where the
//! status says so and only to the same origin, and a guarded call is not led into our own network.

use reqwest::Method;
use reqwest::header::LOCATION;
use url::Url;

use crate::attempt::Way;
use crate::error::HttpError;
use crate::guard;
use crate::request::Redirects;
use crate::transport;

/// Redirects that are followed for one call.
const MAX_HOPS: usize = 10;

impl Way<'_> {
    /// Where the answer leads, when it is a redirect that is to be followed.
    pub(crate) async fn next_hop(
        &mut self,
        answer: &reqwest::Response,
    ) -> Result<Option<Url>, HttpError> {
        let through_proxy =
            transport::goes_through_proxy(&self.inner.transport.proxies, &self.url)?;
        self.saw_public |= !guard::names_private_host(&self.url)
            && (through_proxy
                || answer
                    .remote_addr()
                    .is_none_or(|address| guard::is_public(address.ip())));
        let reads = matches!(self.request.method, Method::GET | Method::HEAD);
        let follows = match answer.status().as_u16() {
            301..=303 => reads,
            307 | 308 => true,
            _ => false,
        };
        if !follows || self.request.redirects == Redirects::No {
            return Ok(None);
        }
        let Some(location) = answer.headers().get(LOCATION) else {
            return Ok(None);
        };
        let mut next = std::str::from_utf8(location.as_bytes())
            .ok()
            .and_then(|location| self.url.join(location).ok())
            .ok_or_else(|| self.refused("its Location is no address"))?;
        if !matches!(next.scheme(), "http" | "https") {
            return Err(self.refused(&format!("it leads to the scheme {}", next.scheme())));
        }
        if self.hops == MAX_HOPS {
            return Err(self.refused("there are more than ten in a row"));
        }
        let same_origin = next.origin() == self.request.url.origin();
        if same_origin && !self.left_home {
            // A password in the configured address is a credential of its origin.
            let home = &self.request.url;
            let _ = next.set_username(home.username());
            let _ = next.set_password(home.password());
        } else {
            let _ = next.set_username("");
            let _ = next.set_password(None);
        }
        if !same_origin && !reads {
            return Err(self.refused(&format!(
                "it would send what was written to another host ({}); name that address in the configuration if it is right",
                next.host_str().unwrap_or("none"),
            )));
        }
        if self.request.redirects == Redirects::FollowGuarded {
            self.check_guard(&next).await?;
        }
        Ok(Some(next))
    }

    async fn check_guard(&self, next: &Url) -> Result<(), HttpError> {
        let metadata = guard::names_link_local(next) && !guard::names_link_local(&self.request.url);
        let mut private = metadata || (self.saw_public && guard::names_private_host(next));
        // A proxy resolves the name itself, out of reach of the resolver that filters; the name
        // of a proxy is let through by that resolver. Both are looked up here.
        let proxies = &self.inner.transport.proxies;
        if !private
            && self.saw_public
            && (transport::goes_through_proxy(proxies, next)?
                || proxies
                    .hosts()
                    .iter()
                    .any(|host| next.host_str() == Some(host)))
        {
            private = guard::resolves_to_private(next).await;
        }
        if private {
            Err(self.refused("it leads to a private address"))
        } else {
            Ok(())
        }
    }

    /// Takes the step.
    pub(crate) fn follow(&mut self, status: u16, next: Url) {
        self.left_home |= next.origin() != self.request.url.origin();
        self.all_permanent &= matches!(status, 301 | 308);
        self.hops += 1;
        self.url = next;
    }

    pub(crate) fn refused(&self, detail: &str) -> HttpError {
        HttpError::Redirect {
            service: self.request.service,
            call: self.request.call_with_host(),
            detail: detail.to_owned(),
        }
    }
}
