//! Reads feeds: fetch, repair, parse, canonical links, fingerprints and the shortlist.
//!
//! Bytes go one way through this crate: [`fetch_all`] gets them, decoding makes them text, the
//! readers of XML and JSON find the entries in whatever state the document is, and [`select`]
//! makes the shortlist. Nothing here reads a clock, an environment or a file.
//!
//! ```
//! let document = br#"<rss version="2.0"><channel><title>News</title><item>
//!     <title>Bridge &nbsp;open</title><link>/a?utm_source=rss</link></item></channel></rss>"#;
//! let feed = news_feeds::parse_feed(document, None, Some("https://example.org/feed"))?;
//! assert_eq!(feed.entries[0].title, "Bridge open");
//! assert_eq!(feed.entries[0].canonical, "https://example.org/a");
//! # Ok::<(), news_feeds::FeedError>(())
//! ```

mod canonical;
mod date;
mod decode;
mod document;
mod entity;
mod error;
mod feed;
mod fetch;
mod field;
mod inspect;
mod json;
mod markup;
mod names;
mod prose;
#[cfg(feature = "feed-rs")]
mod second_reading;
mod select;
mod xml;

pub use canonical::{canonical_link, fingerprint};
pub use date::{parse_date, rfc3339};
pub use document::Dialect;
pub use error::FeedError;
pub use feed::{Entry, Feed, MAX_DOCUMENT_BYTES, parse_feed};
pub use fetch::{FetchLimits, fetch_all, fetch_feed};
pub use inspect::FeedReport;
pub use select::{Criteria, Funnel, Selection, Story, select};
