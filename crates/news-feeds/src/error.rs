//! Why a feed could not be read.

use std::time::Duration;

use http_client::HttpError;

/// Why a feed could not be fetched or read. The message says what was found in its place.
#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    /// A feed could not be had from the network: names the address as it was configured.
    #[error("{url}: {why}")]
    Fetch {
        /// The configured address.
        url: String,
        /// What happened.
        why: Box<FeedError>,
    },
    /// The configured address is no `http` or `https` URL.
    #[error("not an http or https address")]
    Address,
    /// The request failed, or took longer than a request may.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The whole fetch took longer than a feed may.
    #[error("not read within {after:?}")]
    Slow {
        /// The limit.
        after: Duration,
    },
    /// The server answered with another status than a success.
    #[error("HTTP {status}")]
    Status {
        /// The status.
        status: u16,
    },
    /// The answer was a success, but its body is no feed.
    #[error("HTTP {status}, {why}")]
    Answer {
        /// The status, a success.
        status: u16,
        /// What the body is.
        why: Box<FeedError>,
    },
    /// The document, decompressed if it was compressed, is over the limit.
    #[error("larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The document starts like gzip, but nothing could be unpacked.
    #[error("damaged gzip data ({detail})")]
    Compression {
        /// What the decompressor said.
        detail: String,
    },
    /// The document has nothing but white space.
    #[error("an empty document")]
    Empty,
    /// The document is a web page: a login, a challenge, an error page.
    #[error("an HTML page and not a feed (root element <{root}>, content type {content_type})")]
    HtmlPage {
        /// The first element.
        root: String,
        /// The content type it was served with, or that there was none.
        content_type: String,
    },
    /// The document is XML of another kind.
    #[error("XML that is not a feed (root element <{root}>, content type {content_type})")]
    OtherXml {
        /// The name of the root element.
        root: String,
        /// The content type it was served with, or that there was none.
        content_type: String,
    },
    /// The document is JSON without the version of a JSON Feed, or broken before the first item.
    #[error("JSON that is not a feed ({detail}, content type {content_type})")]
    OtherJson {
        /// What is missing or wrong.
        detail: String,
        /// The content type it was served with, or that there was none.
        content_type: String,
    },
    /// The document has no markup at all.
    #[error("neither XML nor JSON (content type {content_type}, starts with {start:?})")]
    NoMarkup {
        /// The content type it was served with, or that there was none.
        content_type: String,
        /// Its first characters.
        start: String,
    },
    /// The document ends inside a feed, before its first entry: nothing can be said about what is
    /// new in it.
    #[error("a feed that is cut off before its first entry")]
    CutOff,
    /// The document was put in order, and still the feed parser did not take it.
    #[error("not readable as a feed ({detail})")]
    Refused {
        /// What the parser said.
        detail: String,
    },
}
