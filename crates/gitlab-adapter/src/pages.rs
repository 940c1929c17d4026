//! Pages of a list: `x-next-page` and the `Link` header. Never by the length of a page, and never by
//! totals, which GitLab leaves out of long lists.
//!
//! The next page is asked for at the address that gave this one; of a link only the query is taken.
//! So an instance behind a proxy that writes its inner address into links is read all the same, and
//! the token never goes elsewhere.

use forge_http::answers::Item;
use forge_http::{Ask, Caller, MAX_PAGES, too_long, unusable};
use lifecycle::ports::ForgeError;
use url::Url;

use crate::requests::get;

/// A page of a list.
pub(crate) struct Page {
    pub(crate) items: Vec<Item>,
    /// Whether the address that was asked led elsewhere.
    pub(crate) redirected: bool,
}

/// Reads a list page by page until `look` has seen enough (`Some`), or to its end.
pub(crate) async fn read<T>(
    caller: &Caller,
    first: Ask,
    mut look: impl FnMut(&Page) -> Result<Option<T>, String>,
) -> Result<Option<T>, ForgeError> {
    let mut ask = first;
    for _ in 0..MAX_PAGES {
        let (items, response) = caller.list(&ask).await?;
        let page = Page {
            items,
            redirected: response.redirected,
        };
        if let Some(found) = look(&page).map_err(|why| unusable(&ask, &why))? {
            return Ok(Some(found));
        }
        let header = |name| response.headers.get(name);
        match next(&response.url, header("link"), header("x-next-page")) {
            Some(next) => ask = get(next),
            None => return Ok(None),
        }
    }
    Err(too_long(&ask))
}

/// The address of the page after the one that `answered` gave; `None` at the end.
pub(crate) fn next(answered: &Url, link: Option<&str>, next_page: Option<&str>) -> Option<Url> {
    let mut url = answered.clone();
    if let Some(query) = link
        .and_then(http_client::next_link)
        .and_then(|target| target.split_once('?'))
    {
        let query = query.1.split('#').next();
        url.set_query(query);
        return Some(url);
    }
    let number = next_page
        .map(str::trim)
        .filter(|number| !number.is_empty())?;
    let kept: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(name, _)| name != "page")
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    url.query_pairs_mut()
        .clear()
        .extend_pairs(kept)
        .append_pair("page", number);
    Some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next_of(link: Option<&str>, next_page: Option<&str>) -> Option<String> {
        let answered =
            "https://git.example.com/gitlab/api/v4/projects/7/issues?labels=a%2Cb&page=1";
        next(&Url::parse(answered).unwrap(), link, next_page).map(String::from)
    }

    #[test]
    fn the_query_of_a_link_is_asked_for_at_home() {
        let home = "https://git.example.com/gitlab/api/v4/projects/7/issues";
        let link = "<http://10.0.0.5:8080/api/v4/projects/7/issues?cursor=eyJ&per_page=2>; rel=\"next\", \
                    <http://10.0.0.5:8080/api/v4/projects/7/issues?page=1>; rel=\"first\"";
        let expected = format!("{home}?cursor=eyJ&per_page=2");
        assert_eq!(next_of(Some(link), None), Some(expected.clone()));
        assert_eq!(next_of(Some(link), Some("2")), Some(expected));
    }

    #[test]
    fn without_a_link_the_number_counts() {
        let expected =
            "https://git.example.com/gitlab/api/v4/projects/7/issues?labels=a%2Cb&page=2";
        assert_eq!(next_of(None, Some("2")).as_deref(), Some(expected));
        let first = "<https://git.example.com/x?page=1>; rel=\"first\"";
        assert_eq!(next_of(Some(first), Some("2")).as_deref(), Some(expected));
    }

    #[test]
    fn the_end_is_the_end() {
        let first = "<https://git.example.com/x?page=1>; rel=\"first\"";
        for (link, number) in [
            (None, None),
            (None, Some("")),
            (Some(first), Some(" ")),
            (Some("<"), None),
        ] {
            assert_eq!(next_of(link, number), None);
        }
    }
}
