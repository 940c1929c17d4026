//! News sites: feed documents at paths, written from a small model or given as bytes, with
//! validators, redirects and compression.
//!
//! Formats are those of RSS 2.0, Atom (RFC 4287) and JSON Feed 1.1; validators are those of
//! RFC 9110. What a feed should not be is a matter of raw bytes and of the server's faults.

mod site;
mod write;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use write::http_date;

use crate::error::TestbedError;
use crate::server::StandIn;
use site::{Page, Site};

/// How a feed is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// RSS 2.0, `application/rss+xml`.
    Rss,
    /// Atom 1.0, `application/atom+xml`.
    Atom,
    /// JSON Feed 1.1, `application/feed+json`.
    JsonFeed,
}

/// One story of a feed.
///
/// ```
/// use testbed::feeds::Story;
///
/// let story = Story::new("1", "Rust is out", "https://example.com/rust").published(1_787_211_000.0);
/// assert_eq!(story.id.as_deref(), Some("1"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Story {
    /// `guid` or `id`; `None` leaves it out where the format allows.
    pub id: Option<String>,
    /// The title as plain text.
    pub title: String,
    /// The link; `None` leaves it out.
    pub link: Option<String>,
    /// Seconds since the epoch; `None` leaves the date out.
    pub published: Option<f64>,
    /// The summary, HTML allowed; `None` leaves it out.
    pub summary: Option<String>,
}

impl Story {
    /// A story without date and summary.
    pub fn new(id: &str, title: &str, link: &str) -> Self {
        Self {
            id: Some(id.to_owned()),
            title: title.to_owned(),
            link: Some(link.to_owned()),
            published: None,
            summary: None,
        }
    }

    /// The `n`th of many made-up stories on one site: id, title, link and summary all differ.
    pub fn numbered(n: usize, published: f64) -> Self {
        let link = format!("https://news.example.com/story/{n}");
        let summary = format!("What happened in story {n}, told in one sentence of some length.");
        Self::new(&format!("story-{n}"), &format!("Story number {n}"), &link)
            .published(published)
            .summary(&summary)
    }

    /// Sets the date, in seconds since the epoch.
    #[must_use]
    pub fn published(mut self, epoch: f64) -> Self {
        self.published = Some(epoch);
        self
    }

    /// Sets the summary.
    #[must_use]
    pub fn summary(mut self, html: &str) -> Self {
        self.summary = Some(html.to_owned());
        self
    }

    /// Leaves the id out.
    #[must_use]
    pub fn without_id(mut self) -> Self {
        self.id = None;
        self
    }
}

/// A running web server with feeds.
#[derive(Debug)]
pub struct Feeds {
    server: StandIn,
    site: Arc<Mutex<Site>>,
}

impl Feeds {
    /// Starts a server without any page. A path that was never mentioned counts as unexpected.
    ///
    /// # Errors
    /// [`TestbedError::Listen`] when no port can be had.
    pub fn start() -> Result<Self, TestbedError> {
        let site = Arc::new(Mutex::new(Site::default()));
        let served = Arc::clone(&site);
        let server = StandIn::start("feeds", |_| site::router(served))?;
        Ok(Self { server, site })
    }

    /// Log, faults, base URL and the final check.
    pub fn server(&self) -> &StandIn {
        &self.server
    }

    /// The URL of a path that starts with a slash.
    pub fn url(&self, path: &str) -> String {
        self.server.url(path)
    }

    /// Puts a feed at a path and gives its URL.
    pub fn feed(&self, path: &str, title: &str, format: Format, stories: &[Story]) -> String {
        let url = self.url(path);
        let page = Page::feed(&url, title, format, stories.to_vec());
        self.lock().put(path, page);
        url
    }

    /// Adds stories at the top of a feed, whose validators change with it.
    pub fn publish(&self, path: &str, stories: &[Story]) {
        let url = self.url(path);
        self.lock().publish(path, &url, stories);
    }

    /// Puts these bytes at a path and gives its URL.
    pub fn raw(&self, path: &str, content_type: &str, bytes: impl Into<Vec<u8>>) -> String {
        self.lock()
            .put(path, Page::document(content_type, bytes.into()));
        self.url(path)
    }

    /// Sends whoever asks for a path elsewhere: to another path, or to a whole URL.
    pub fn redirect(&self, path: &str, status: u16, to: &str) -> String {
        self.lock().put(
            path,
            Page::Redirect {
                status,
                to: to.to_owned(),
            },
        );
        self.url(path)
    }

    /// Answers a path with a bare status for good; for a passing one use a fault.
    pub fn status(&self, path: &str, status: u16) -> String {
        self.lock().put(path, Page::Status(status));
        self.url(path)
    }

    /// Whether a document carries `ETag` and `Last-Modified` and answers conditions with 304. On
    /// by default.
    pub fn set_validators(&self, path: &str, on: bool) {
        self.lock()
            .with_document(path, |document| document.validators = on);
    }

    /// Sends a document compressed, with the header that says so or without it.
    pub fn set_gzip(&self, path: &str, announced: bool) {
        self.lock()
            .with_document(path, |document| document.gzip = Some(announced));
    }

    /// Adds a header to a document's answers, replacing one of that name.
    pub fn set_header(&self, path: &str, name: &str, value: &str) {
        self.lock().with_document(path, |document| {
            document.headers.push((name.to_owned(), value.to_owned()));
        });
    }

    /// How often a path was asked for.
    pub fn hits(&self, path: &str) -> usize {
        let all = self.server.log().matching("GET", path);
        all.iter().filter(|request| request.path == path).count()
    }

    fn lock(&self) -> MutexGuard<'_, Site> {
        self.site.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
