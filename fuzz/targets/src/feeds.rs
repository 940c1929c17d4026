//! Feed documents of any kind, with any content type and address.
//!
//! Rules: [`news_feeds::parse_feed`] says what an entry is; titles and summaries become lines of a
//! prompt, so they must be lines.

use crate::is_line;
use news_feeds::{Feed, canonical_link, parse_feed};

/// What a document is served as; its length chooses, so that a document alone is an input.
const KINDS: [Option<&str>; 7] = [
    None,
    Some("application/rss+xml"),
    Some("text/xml; charset=iso-8859-1"),
    Some("application/atom+xml; charset=\"utf-8\""),
    Some("text/html; charset=shift_jis"),
    Some("application/feed+json"),
    Some("text/plain; charset=utf-16"),
];
/// Where it comes from.
const ADDRESSES: [Option<&str>; 3] = [
    None,
    Some("https://example.org/news/feed.xml?key=1"),
    Some("http://user:word@[::1]:8080/a/b/"),
];

/// Reads a document and looks at what came of it.
///
/// # Panics
/// When a property does not hold.
pub fn target(data: &[u8]) {
    let kind = KINDS[data.len() % KINDS.len()];
    let address = ADDRESSES[data.len() / KINDS.len() % ADDRESSES.len()];
    match parse_feed(data, kind, address) {
        Ok(feed) => check(&feed),
        Err(error) => {
            let error = error.to_string();
            assert!(error.len() < 2000, "an error of {} bytes", error.len());
        }
    }
}

/// What holds for every feed that was read.
pub(crate) fn check(feed: &Feed) {
    assert!(is_line(&feed.title), "title of the feed: {:?}", feed.title);
    assert!(
        feed.entries.len() <= 20_000,
        "{} entries",
        feed.entries.len()
    );
    for warning in &feed.warnings {
        assert!(warning.len() < 1000, "a warning of {} bytes", warning.len());
    }
    for entry in &feed.entries {
        // An entry without a title shows its link, which may be long.
        assert!(is_line(&entry.title), "title: {:?}", entry.title);
        assert!(
            entry.title == entry.link || entry.title.chars().count() <= 1001,
            "a title of {} bytes",
            entry.title.len()
        );
        assert!(is_line(&entry.summary), "summary: {:?}", entry.summary);
        let length = entry.summary.chars().count();
        assert!(
            length == 0 || (30..=1001).contains(&length),
            "a summary of {length} characters"
        );
        assert!(
            !entry.link.contains(char::is_control),
            "link: {:?}",
            entry.link
        );
        assert_eq!(entry.canonical, canonical_link(&entry.link));
        assert!(
            (1..=2).contains(&entry.keys.len()),
            "{} keys",
            entry.keys.len()
        );
        for key in &entry.keys {
            assert!(crate::links::is_fingerprint(key), "key: {key:?}");
        }
        assert!(
            entry.published.is_none_or(crate::dates::is_moment),
            "{:?}",
            entry.published
        );
        let id = entry.id.as_deref();
        assert!(
            id.is_none_or(|id| !id.is_empty() && id.trim() == id),
            "id: {id:?}"
        );
    }
}
