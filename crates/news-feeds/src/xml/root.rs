//! The root element: which dialect it begins, or what the document is in place of a feed.

use super::{attribute, local};
use crate::document::Dialect;
use crate::error::FeedError;
use crate::markup::{Scanner, Tag, Token};

/// Elements that a script's notice may print before the feed, or that a page without `<html>`
/// starts with.
const NOTICES: &str = " a b br center code div em font h1 h2 h3 hr i link meta p pre script span \
    strong style table tbody td th title tr ";

/// Finds the root element: the first one, unless notices of a script stand before it.
pub(super) fn root<'a>(
    scanner: &mut Scanner<'a>,
    text: &'a str,
    content_type: &str,
) -> Result<(Dialect, Tag<'a>), FeedError> {
    let content_type = || content_type.to_owned();
    let mut first = None;
    for token in scanner.by_ref() {
        let tag = match token {
            Token::Start(tag) => tag,
            Token::Declaration(text) => {
                let mut words = text.split_ascii_whitespace().map(str::to_ascii_lowercase);
                if words.next().as_deref() == Some("doctype")
                    && words.next().as_deref() == Some("html")
                {
                    return Err(FeedError::HtmlPage {
                        root: "html".to_owned(),
                        content_type: content_type(),
                    });
                }
                continue;
            }
            _ => continue,
        };
        let name = local(tag.name).to_ascii_lowercase();
        let version = attribute(&tag, "version").unwrap_or_default();
        let dialect = match name.as_str() {
            "rss" if version.trim().starts_with("0.") => Dialect::Rss0,
            "rss" | "channel" => Dialect::Rss2,
            "rdf" => Dialect::Rss1,
            "feed" if version.trim() == "0.3" => Dialect::Atom03,
            "feed" => Dialect::Atom,
            "html" | "head" | "body" => {
                return Err(FeedError::HtmlPage {
                    root: name,
                    content_type: content_type(),
                });
            }
            notice if NOTICES.contains(&format!(" {notice} ")) => {
                first.get_or_insert(name);
                continue;
            }
            _ => {
                let root = tag.name.chars().take(60).collect();
                return Err(FeedError::OtherXml {
                    root,
                    content_type: content_type(),
                });
            }
        };
        return Ok((dialect, tag));
    }
    let content_type = content_type();
    Err(if let Some(root) = first {
        FeedError::HtmlPage { root, content_type }
    } else {
        FeedError::NoMarkup {
            content_type,
            start: text.trim().chars().take(40).collect(),
        }
    })
}
