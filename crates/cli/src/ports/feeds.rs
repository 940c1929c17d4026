//! Feeds from the network.

use http_client::{Client, redact};
use lifecycle::ports::{FeedFailure, Feeds, Funnel, News, Story};
use news_feeds::{Criteria, FeedError, FetchLimits, fetch_all, select};
use std::collections::HashSet;

/// The configured feeds.
pub struct FeedsPort {
    /// For the calls.
    pub client: Client,
    /// Addresses.
    pub feeds: Vec<String>,
    /// Hours for which a story is news.
    pub lookback_hours: u32,
    /// Stories on the shortlist at most.
    pub max_items: usize,
}

/// The address goes into the document and the prompt, so a password in it stays here.
fn failure(url: &str, error: &FeedError) -> FeedFailure {
    FeedFailure {
        url: redact(url, &[]),
        error: match error {
            // It names the address itself.
            FeedError::Fetch { why, .. } => why.to_string(),
            other => other.to_string(),
        },
    }
}

impl Feeds for FeedsPort {
    async fn read(&self, seen: &[String], now: f64) -> News {
        let fetched = fetch_all(&self.client, &self.feeds, FetchLimits::default()).await;
        let mut news = News {
            configured: self.feeds.len(),
            ..News::default()
        };
        let mut read = Vec::new();
        for (url, outcome) in fetched {
            match outcome {
                Ok(feed) => {
                    let shown = redact(&url, &[]);
                    let warnings = feed.warnings.iter();
                    news.warnings
                        .extend(warnings.map(|warning| format!("{shown}: {warning}")));
                    read.push((url, feed));
                }
                Err(error) => news.failures.push(failure(&url, &error)),
            }
        }
        let seen: HashSet<&str> = seen.iter().map(String::as_str).collect();
        let criteria = Criteria {
            now,
            lookback_hours: self.lookback_hours,
            max_items: self.max_items,
        };
        let pairs = read.iter().map(|(url, feed)| (url.as_str(), feed));
        let selection = select(pairs, &|key| seen.contains(key), criteria);
        news.funnel = Funnel {
            fetched: selection.funnel.fetched,
            unseen: selection.funnel.unseen,
            fresh: selection.funnel.fresh,
        };
        news.stories = selection
            .stories
            .into_iter()
            .map(|story| Story {
                title: story.entry.title,
                link: story.entry.link,
                published: story.entry.published,
                summary: story.entry.summary,
                source: story.source,
                keys: story.entry.keys,
            })
            .collect();
        news
    }
}
