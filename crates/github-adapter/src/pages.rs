//! Pages of a list: the `Link` header (RFC 8288) with GitHub's relations.
//!
//! A page is found by its link only, never by counting items, and the address is used as it is:
//! GitHub writes the pages of `/repos/{owner}/{repo}/…` below `/repositories/{id}/…`. A link to
//! another origin is an error, since neither may the token go there nor may the list end there.

use forge_http::answers::Item;
use forge_http::{Ask, Caller, unusable};
use lifecycle::ports::ForgeError;
use url::Url;

/// A page of a list.
pub(crate) struct Page {
    pub(crate) items: Vec<Item>,
    pub(crate) links: Links,
    /// Whether the address that was asked has moved for good.
    pub(crate) moved: bool,
}

impl Page {
    /// Asks for a page; `home` is the API that may be asked for others.
    pub(crate) async fn ask(caller: &Caller, ask: &Ask, home: &Url) -> Result<Self, ForgeError> {
        let (items, response) = caller.list(ask).await?;
        let links = Links::read(response.headers.get("link"), &response.url, home)
            .map_err(|why| unusable(ask, &why))?;
        Ok(Self {
            items,
            links,
            moved: response.moved_permanently,
        })
    }
}

/// Where the other pages of a list are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Links {
    pub(crate) next: Option<Url>,
    pub(crate) prev: Option<Url>,
    pub(crate) first: Option<Url>,
    pub(crate) last: Option<Url>,
}

impl Links {
    /// Reads a header. `base` is the address that answered; `home` the API that may be asked.
    pub(crate) fn read(header: Option<&str>, base: &Url, home: &Url) -> Result<Self, String> {
        let mut links = Self::default();
        for (relation, target) in header.into_iter().flat_map(http_client::links) {
            let place = match relation.to_ascii_lowercase().as_str() {
                "next" => &mut links.next,
                "prev" => &mut links.prev,
                "first" => &mut links.first,
                "last" => &mut links.last,
                _ => continue,
            };
            let url = base
                .join(target)
                .map_err(|_| "the address of another page cannot be read".to_owned())?;
            if url.origin() != home.origin() {
                let host = url.host_str().unwrap_or("no host");
                return Err(format!("its next page lies on another host ({host})"));
            }
            place.get_or_insert(url);
        }
        Ok(links)
    }

    /// The page before this one, unless that is the first.
    pub(crate) fn prev_of_many(&self) -> Option<Url> {
        self.prev
            .clone()
            .filter(|prev| self.first.as_ref() != Some(prev))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(header: &str) -> Result<Links, String> {
        let home = Url::parse("https://api.github.com").unwrap();
        let base = Url::parse("https://api.github.com/repositories/7/pulls?page=2").unwrap();
        Links::read(Some(header), &base, &home)
    }

    #[test]
    fn relations_are_told_apart() {
        let links = read(
            "<https://api.github.com/repositories/7/pulls?page=1>; rel=\"prev\", \
             <https://api.github.com/repositories/7/pulls?page=3&a=b,c;d>; title=\"x, y\"; rel=next,\
             </repositories/7/pulls?page=9>; rel=\"last archive\", <https://x.example/>; rel=\"author\"",
        )
        .unwrap();
        let path = |url: Option<Url>| url.and_then(|url| url.query().map(str::to_owned));
        assert_eq!(path(links.prev).as_deref(), Some("page=1"));
        assert_eq!(path(links.next).as_deref(), Some("page=3&a=b,c;d"));
        assert_eq!(path(links.last).as_deref(), Some("page=9"));
        assert_eq!(links.first, None);
    }

    #[test]
    fn nothing_is_made_of_noise() {
        let home = Url::parse("https://api.github.com").unwrap();
        assert_eq!(Links::read(None, &home, &home), Ok(Links::default()));
        for header in [
            "",
            ",",
            "<",
            "<x",
            "<>",
            "<x>; rel",
            "x; rel=next",
            "<x>; rel=\"",
            ";;<;>",
        ] {
            assert_eq!(read(header), Ok(Links::default()), "{header}");
        }
    }

    #[test]
    fn another_origin_is_an_error() {
        for target in [
            "https://evil.example/p",
            "http://api.github.com/p",
            "//evil.example/p",
        ] {
            assert!(
                read(&format!("<{target}>; rel=\"next\"")).is_err(),
                "{target}"
            );
        }
        assert!(read("<http://[>; rel=\"next\"").is_err());
    }
}
