//! A feed as the rest of the program sees it, and how its entries are recognised again.

use std::collections::{HashMap, HashSet};

use url::Url;

use crate::canonical::{canonical_link, fingerprint, trim_blanks};
use crate::decode::{Decoded, decode};
use crate::document::{Dialect, Document, Item};
use crate::error::FeedError;
use crate::{json, xml};

/// The largest document that is read, in bytes after decompression.
pub const MAX_DOCUMENT_BYTES: usize = 4 * 1024 * 1024;

/// A feed that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Feed {
    /// The feed's own name as one line of prose; empty if it has none.
    pub title: String,
    /// What it is written in.
    pub dialect: Dialect,
    /// What had to be put right, or was left out, in words for people.
    pub warnings: Vec<String>,
    /// The entries in the order of the document.
    pub entries: Vec<Entry>,
}

/// One entry of a feed. There is always something to tell it from others by.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// One line of prose; the link if the feed gives no title, empty if it gives neither.
    pub title: String,
    /// Absolute where it could be made so, otherwise as written; empty if there is none.
    pub link: String,
    /// The feed's identifier as given, without surrounding blanks.
    pub id: Option<String>,
    /// Seconds since the epoch; `None` if the feed gives no date, or none that is certain.
    pub published: Option<f64>,
    /// One line of prose of 30 to about 1000 characters; empty if there is none.
    pub summary: String,
    /// The canonical form of `link`, empty without one.
    pub canonical: String,
    /// The fingerprints, at least one: of the identifier (else the link, else the title), and of
    /// the canonical link where that is something else. Those of the deployed scripts.
    pub keys: Vec<String>,
}

/// Reads a feed from the bytes of a document.
///
/// `content_type` is the header it was served with, `final_url` the address it came from after
/// redirects: the base of relative links, unless the document names another. What is wrong with
/// the document is repaired as far as possible and noted in [`Feed::warnings`]; a document that
/// breaks off gives the entries before the break. Bounded for any input of up to
/// [`MAX_DOCUMENT_BYTES`]; no input panics.
///
/// # Errors
///
/// When the document is no feed, empty, larger than [`MAX_DOCUMENT_BYTES`], or cut off before
/// its first entry.
pub fn parse_feed(
    bytes: &[u8],
    content_type: Option<&str>,
    final_url: Option<&str>,
) -> Result<Feed, FeedError> {
    parse_within(bytes, content_type, final_url, MAX_DOCUMENT_BYTES)
}

/// [`parse_feed`] with another limit than the usual one.
pub(crate) fn parse_within(
    bytes: &[u8],
    content_type: Option<&str>,
    final_url: Option<&str>,
    limit: usize,
) -> Result<Feed, FeedError> {
    let base = final_url
        .and_then(|url| Url::parse(url).ok())
        .map(without_user);
    let decoded = decode(bytes, content_type, limit)?;
    let served_as = content_type.map_or("unknown", |kind| {
        kind.split(';').next().unwrap_or(kind).trim()
    });
    let document = read_document(decoded, base, served_as)?;
    #[cfg(feature = "feed-rs")]
    let document = crate::second_reading::read(document)?;
    Ok(Feed {
        title: document.title,
        dialect: document.dialect,
        warnings: document.warnings,
        entries: entries(document.items),
    })
}

/// The links of a feed must not carry the password that the feed is fetched with.
fn without_user(mut url: Url) -> Url {
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url
}

/// Repairs and reads a document by its own means, without feed-rs.
pub(crate) fn read_document(
    decoded: Decoded,
    base: Option<Url>,
    served_as: &str,
) -> Result<Document, FeedError> {
    if trim_blanks(&decoded.text).starts_with(['{', '[']) {
        json::read(decoded, base.as_ref(), served_as)
    } else {
        xml::read(decoded, base, served_as)
    }
}

fn entries(items: Vec<Item>) -> Vec<Entry> {
    let canonicals: Vec<String> = items
        .iter()
        .map(|item| canonical_link(&item.link))
        .collect();
    let shared = shared_ids(&items, &canonicals);
    let keys: Vec<Vec<String>> = items
        .iter()
        .zip(&canonicals)
        .map(|(item, canonical)| {
            let id = item.id.as_deref().filter(|id| !shared.contains(id));
            keys(id, item, canonical)
        })
        .collect();
    items
        .into_iter()
        .zip(canonicals)
        .zip(keys)
        .map(|((item, canonical), keys)| Entry {
            title: if item.title.is_empty() {
                item.link.clone()
            } else {
                item.title
            },
            link: item.link,
            id: item.id,
            published: item.published,
            summary: item.summary,
            canonical,
            keys,
        })
        .collect()
}

/// Identifiers that entries with different links carry: they identify none of them.
fn shared_ids<'a>(items: &'a [Item], canonicals: &'a [String]) -> HashSet<&'a str> {
    let mut links = HashMap::new();
    let mut shared = HashSet::new();
    for (item, canonical) in items
        .iter()
        .zip(canonicals)
        .filter(|(_, link)| !link.is_empty())
    {
        if let Some(id) = item.id.as_deref()
            && *links.entry(id).or_insert(canonical) != canonical
        {
            shared.insert(id);
        }
    }
    shared
}

fn keys(id: Option<&str>, item: &Item, canonical: &str) -> Vec<String> {
    let link = Some(item.link.as_str()).filter(|link| !link.is_empty());
    let identity = id.or(link).unwrap_or(&item.title);
    let mut keys = vec![fingerprint(identity)];
    if !canonical.is_empty() && canonical != identity {
        keys.push(fingerprint(canonical));
    }
    keys
}
