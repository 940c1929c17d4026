//! Configuration of `news-digest`.

use super::{Config, ConfigError, Reader, Shared};
use serde_json::Value;

/// What the news digest reads and tells.
#[derive(Clone, Debug, PartialEq)]
pub struct NewsConfig {
    /// Addresses of feeds.
    pub feeds: Vec<String>,
    /// Topics, in the order in which they are told.
    pub topics: Vec<String>,
    /// Hours for which a story is news.
    pub lookback_hours: u64,
    /// Stories on the shortlist at most.
    pub max_items: usize,
    /// What every automation has.
    pub shared: Shared,
}

impl Config for NewsConfig {
    fn read(reader: &mut Reader) -> Result<Self, ConfigError> {
        let feeds = reader.full_list("feeds")?;
        let wrong = feeds.iter().find(|feed| {
            !url::Url::parse(feed).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
        });
        if let Some(feed) = wrong {
            let found = Value::String(feed.clone());
            return Err(reader.wrong("feeds", "a list of http:// or https:// addresses", &found));
        }
        let topics = reader.some_list("topics")?;
        Ok(Self {
            feeds,
            topics: topics.unwrap_or_default(),
            lookback_hours: reader.whole("lookback_hours", 1..=720, 48)?,
            max_items: usize::try_from(reader.whole("max_items", 1..=200, 50)?).unwrap_or(50),
            shared: reader.shared(&[], 1, 300)?,
        })
    }
}
