//! Where the stories of the news digest come from.

use serde::{Deserialize, Serialize};

/// One story of the shortlist.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Story {
    /// One line of prose.
    pub title: String,
    /// Absolute link, or empty.
    pub link: String,
    /// Seconds since the epoch, if the feed gave a date that can be read.
    pub published: Option<f64>,
    /// One line of prose, or empty.
    pub summary: String,
    /// Title of the feed.
    pub source: String,
    /// Fingerprints, the identity first (see the schema document of the news digest).
    pub keys: Vec<String>,
}

/// What each selection stage left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Funnel {
    /// Stories in all feeds that were read.
    pub fetched: usize,
    /// Those not reported before.
    pub unseen: usize,
    /// Those of them within the lookback, or undated.
    pub fresh: usize,
}

/// A feed that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FeedFailure {
    /// The configured address.
    pub url: String,
    /// Why, in one line.
    pub error: String,
}

/// The outcome of reading all feeds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct News {
    /// The shortlist, newest first, already cut to `max_items`.
    pub stories: Vec<Story>,
    /// What each stage left.
    pub funnel: Funnel,
    /// Feeds that failed.
    pub failures: Vec<FeedFailure>,
    /// Feeds that were read only in part or needed repair, one line each.
    pub warnings: Vec<String>,
    /// How many feeds are configured.
    pub configured: usize,
}

/// Reads all configured feeds and selects.
pub trait Feeds {
    /// Fetches every feed, leaves out what `seen` names, and selects as of `now`.
    fn read(&self, seen: &[String], now: f64) -> impl Future<Output = News>;
}
