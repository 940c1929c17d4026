//! The repaired document, read by feed-rs.
//!
//! The repair stage leaves a small, well-formed document of the same family; feed-rs has the last
//! word on whether it is a feed and on what its entries say. Three things go around it. Links are
//! passed by number, because its URL library changes their spelling and with it the fingerprints.
//! Dates stay those of [`crate::parse_date`]. And no identifiers are asked for: where it would
//! make one up, the feed gave none.

use std::fmt::Write as _;

use feed_rs::parser::Builder;

use crate::document::{Dialect, Document, Item};
use crate::error::FeedError;

/// Reads the document with feed-rs and returns it with what feed-rs found.
pub(crate) fn read(mut document: Document) -> Result<Document, FeedError> {
    let text = match document.dialect {
        Dialect::JsonFeed => json(&document),
        Dialect::Atom | Dialect::Atom03 => atom(&document),
        Dialect::Rss0 | Dialect::Rss1 | Dialect::Rss2 => rss(&document),
    };
    let feed = parsed(&text)?;
    document.title = feed.title.map(|title| title.content).unwrap_or_default();
    let first = std::mem::take(&mut document.items);
    document.items = feed
        .entries
        .into_iter()
        .filter_map(|entry| {
            let number = entry
                .links
                .first()?
                .href
                .trim_start_matches('#')
                .parse::<usize>()
                .ok()?;
            let item = first.get(number)?;
            Some(Item {
                title: entry.title.map(|title| title.content).unwrap_or_default(),
                link: item.link.clone(),
                id: Some(entry.id).filter(|id| !id.is_empty()),
                published: item.published,
                summary: entry
                    .summary
                    .map(|summary| summary.content)
                    .unwrap_or_default(),
            })
        })
        .collect();
    Ok(document)
}

/// What feed-rs makes of a text, or its refusal.
fn parsed(text: &str) -> Result<feed_rs::model::Feed, FeedError> {
    let parser = Builder::new()
        .sanitize_content(false)
        .timestamp_parser(|_| None)
        .id_generator(|_, _, _| String::new())
        .build();
    parser
        .parse(text.as_bytes())
        .map_err(|error| FeedError::Refused {
            detail: error.to_string(),
        })
}

fn rss(document: &Document) -> String {
    let mut out = String::from("<rss version=\"2.0\"><channel>");
    element(&mut out, "title", &document.title);
    for (number, item) in document.items.iter().enumerate() {
        out.push_str("<item>");
        let _ = write!(out, "<link>#{number}</link>");
        element(&mut out, "guid", item.id.as_deref().unwrap_or_default());
        element(&mut out, "title", &item.title);
        element(&mut out, "description", &item.summary);
        out.push_str("</item>");
    }
    out.push_str("</channel></rss>");
    out
}

fn atom(document: &Document) -> String {
    let mut out = String::from("<feed xmlns=\"http://www.w3.org/2005/Atom\">");
    element(&mut out, "title", &document.title);
    for (number, item) in document.items.iter().enumerate() {
        out.push_str("<entry>");
        let _ = write!(out, "<link href=\"#{number}\"/>");
        element(&mut out, "id", item.id.as_deref().unwrap_or_default());
        element(&mut out, "title", &item.title);
        element(&mut out, "summary", &item.summary);
        out.push_str("</entry>");
    }
    out.push_str("</feed>");
    out
}

fn json(document: &Document) -> String {
    let items: Vec<serde_json::Value> = document
        .items
        .iter()
        .enumerate()
        .map(|(number, item)| {
            serde_json::json!({
                "url": format!("#{number}"),
                "id": item.id,
                "title": item.title,
                "summary": item.summary,
            })
        })
        .collect();
    serde_json::json!({
        "version": "https://jsonfeed.org/version/1.1",
        "title": document.title,
        "items": items,
    })
    .to_string()
}

/// Appends an element with nothing but text, unless there is no text.
fn element(out: &mut String, name: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    let _ = write!(out, "<{name}>");
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            _ => out.push(character),
        }
    }
    let _ = write!(out, "</{name}>");
}

#[cfg(test)]
mod tests;
