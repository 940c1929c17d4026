//! How one feed was read, in the form that `feeds inspect --json` prints.

use serde::Serialize;

use crate::date::rfc3339;
use crate::feed::Feed;

/// The report on one feed.
#[derive(Debug, Serialize)]
pub struct FeedReport<'a> {
    title: &'a str,
    dialect: &'static str,
    warnings: &'a [String],
    entries: Vec<EntryReport<'a>>,
}

/// The report on one entry.
#[derive(Debug, Serialize)]
struct EntryReport<'a> {
    title: &'a str,
    link: &'a str,
    id: Option<&'a str>,
    published: Option<String>,
    summary: &'a str,
    canonical: &'a str,
    keys: &'a [String],
}

impl<'a> From<&'a Feed> for FeedReport<'a> {
    fn from(feed: &'a Feed) -> Self {
        FeedReport {
            title: &feed.title,
            dialect: feed.dialect.name(),
            warnings: &feed.warnings,
            entries: feed
                .entries
                .iter()
                .map(|entry| EntryReport {
                    title: &entry.title,
                    link: &entry.link,
                    id: entry.id.as_deref(),
                    published: entry.published.and_then(rfc3339),
                    summary: &entry.summary,
                    canonical: &entry.canonical,
                    keys: &entry.keys,
                })
                .collect(),
        }
    }
}
