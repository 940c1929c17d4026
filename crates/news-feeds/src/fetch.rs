//! Gets feeds from the network, within limits of time and size, one bad feed never stopping others.
//!
//! No conditional requests are made: a server's "not modified" would hide the stories of a run
//! whose digest failed, as only a written digest makes stories known.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use http_client::{BodyStream, Client, HttpError, Redirects, Request, Url, redact};

use crate::error::FeedError;
use crate::feed::{Feed, MAX_DOCUMENT_BYTES, parse_within};

/// How many feeds are read at the same time.
const AT_ONCE: usize = 16;

/// What is asked for, the formats that say most first.
const ACCEPT: &str = "application/atom+xml, application/rss+xml, application/feed+json, \
    application/rdf+xml, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.8";

/// What one feed may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchLimits {
    /// For the whole fetch, from asking to the last byte, with redirects and repetitions.
    pub timeout: Duration,
    /// For the document, in bytes after decompression.
    pub max_bytes: usize,
}

impl Default for FetchLimits {
    /// 20 s and 4 MiB.
    fn default() -> Self {
        FetchLimits {
            timeout: Duration::from_secs(20),
            max_bytes: MAX_DOCUMENT_BYTES,
        }
    }
}

/// Fetches and reads one feed. May be repeated; nothing is left behind anywhere.
///
/// Redirects are followed, but not from a public host into a private network. A body that breaks
/// off is asked for once more; if it breaks off again, the entries before the break are the feed,
/// with a warning.
///
/// # Errors
///
/// [`FeedError::Fetch`] with the configured address, whatever address failed in the end: no
/// answer in time, a status other than success, too large, or no feed.
pub async fn fetch_feed(
    client: &Client,
    url: &str,
    limits: FetchLimits,
) -> Result<Feed, FeedError> {
    let fetched = match tokio::time::timeout(limits.timeout, fetch(client, url, limits)).await {
        Ok(Err(FeedError::Http(HttpError::Timeout { after, .. }))) => {
            Err(FeedError::Slow { after })
        }
        Ok(fetched) => fetched,
        Err(_) => Err(FeedError::Slow {
            after: limits.timeout,
        }),
    };
    fetched.map_err(|why| FeedError::Fetch {
        url: redact(url, &[]),
        why: Box::new(why),
    })
}

/// Fetches and reads all feeds, at most 16 at once, and returns them in the order of `urls`, each
/// with its configured address. An address that is listed twice is read once.
pub async fn fetch_all(
    client: &Client,
    urls: &[String],
    limits: FetchLimits,
) -> Vec<(String, Result<Feed, FeedError>)> {
    let first = |(index, url): &(usize, &String)| !urls[..*index].contains(url);
    let mut read: Vec<_> = stream::iter(urls.iter().enumerate().filter(first))
        .map(|(index, url)| async move { (index, url, fetch_feed(client, url, limits).await) })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    read.sort_by_key(|(index, ..)| *index);
    read.into_iter()
        .map(|(_, url, feed)| (url.clone(), feed))
        .collect()
}

async fn fetch(client: &Client, url: &str, limits: FetchLimits) -> Result<Feed, FeedError> {
    let url = Url::parse(url.trim()).map_err(|_| FeedError::Address)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(FeedError::Address);
    }
    let mut repeated = false;
    loop {
        let request = Request::get("feed", url.clone())
            .header("accept", ACCEPT)
            .timeout(limits.timeout)
            .max_bytes(u64::try_from(limits.max_bytes).unwrap_or(u64::MAX))
            .redirects(Redirects::FollowGuarded);
        let mut answer = client.stream(request).await?;
        let status = answer.status();
        if !(200..300).contains(&status) {
            return Err(FeedError::Status { status });
        }
        let (body, broken) = read_body(&mut answer).await?;
        if broken.is_some() && !repeated {
            repeated = true;
            continue;
        }
        let content_type = answer.headers.get("content-type");
        let feed = parse_within(
            &body,
            content_type,
            Some(answer.url().as_str()),
            limits.max_bytes,
        );
        return match (feed, broken) {
            (Ok(mut feed), broken) => {
                feed.warnings.extend(broken.map(|error| error.to_string()));
                Ok(feed)
            }
            (Err(_), Some(error)) => Err(error.into()),
            (Err(why), None) => Err(FeedError::Answer {
                status,
                why: Box::new(why),
            }),
        };
    }
}

/// The body, or what came of it before the connection or the compression broke.
async fn read_body(answer: &mut BodyStream) -> Result<(Vec<u8>, Option<HttpError>), HttpError> {
    let mut body = Vec::new();
    loop {
        match answer.chunk().await {
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return Ok((body, None)),
            Err(error @ (HttpError::Broken { .. } | HttpError::Body { .. })) => {
                return Ok((body, Some(error)));
            }
            Err(error) => return Err(error),
        }
    }
}
