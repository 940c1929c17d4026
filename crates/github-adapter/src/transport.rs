//! One call to GitHub: the token goes along, a failing status or no answer becomes the core's error.

use std::time::{Duration, Instant};

use http_client::{
    AtMost, BodyStream, Client, HttpError, RateLimit, Request, Response, Secret, redact,
};
use lifecycle::ports::ForgeError;
use lifecycle::text::{cut_chars, one_line};
use serde_json::value::RawValue;

use crate::pages::Links;
use crate::refusals::Refusal;
use crate::requests::{API_VERSION, Ask, Requests};

/// The service's name in errors.
const SERVICE: &str = "GitHub";
/// Bytes of a page of a list: a hundred descriptions of the greatest length fit.
const MAX_PAGE_BYTES: u64 = 64 * 1024 * 1024;
/// What a secondary limit without a period asks for at least, in seconds.
const UNSTATED_WAIT: f64 = 60.0;
/// Characters of an error text of the HTTP client.
const MAX_DETAIL: usize = 400;

/// The items of a page, ten times as many as GitHub puts on one.
pub(crate) type Listed = AtMost<Box<RawValue>, 1000>;

/// A page of a list.
pub(crate) struct Page {
    pub(crate) items: Vec<Box<RawValue>>,
    pub(crate) links: Links,
    /// Whether the address that was asked has moved for good.
    pub(crate) moved: bool,
}

/// Sends requests with the token.
pub(crate) struct Transport {
    client: Client,
    token: Secret,
    /// A moment in seconds since the epoch, and when it was.
    clock: Option<(f64, Instant)>,
}

impl Transport {
    pub(crate) fn new(client: Client, token: Secret) -> Self {
        Self {
            client,
            token,
            clock: None,
        }
    }

    pub(crate) fn set_now(&mut self, now: f64) {
        self.clock = Some((now, Instant::now()));
    }

    /// Any 2xx, else the error that the answer means.
    pub(crate) async fn send(&self, ask: &Ask) -> Result<Response, ForgeError> {
        let request = self.request(ask)?.max_bytes(MAX_PAGE_BYTES);
        let sent = self.client.send(request).await;
        let response = sent.map_err(|error| self.unanswered(ask, &error))?;
        if (200..300).contains(&response.status) {
            Ok(response)
        } else {
            Err(self.refused_here(ask, &response))
        }
    }

    /// Like [`Transport::send`], with the body left to be read, within a time and a number of bytes.
    pub(crate) async fn stream(
        &self,
        ask: &Ask,
        timeout: Duration,
        max_bytes: u64,
    ) -> Result<BodyStream, ForgeError> {
        let request = self.request(ask)?.timeout(timeout).max_bytes(max_bytes);
        let sent = self.client.stream(request).await;
        let stream = sent.map_err(|error| self.unanswered(ask, &error))?;
        if (200..300).contains(&stream.status()) {
            return Ok(stream);
        }
        let response = stream
            .into_response()
            .await
            .map_err(|error| self.unanswered(ask, &error))?;
        Err(self.refused(ask, &response))
    }

    /// An answer that is one JSON value.
    pub(crate) async fn object(&self, ask: &Ask) -> Result<Box<RawValue>, ForgeError> {
        let response = self.send(ask).await?;
        response
            .json()
            .map_err(|error| self.unanswered(ask, &error))
    }

    /// A page of a list; `requests` says where GitHub is.
    pub(crate) async fn page(&self, ask: &Ask, requests: &Requests) -> Result<Page, ForgeError> {
        let response = self.send(ask).await?;
        let AtMost(items): Listed = response
            .json()
            .map_err(|error| self.unanswered(ask, &error))?;
        let header = response.headers.get("link");
        let links = Links::read(header, &response.url, requests.api())
            .map_err(|why| unusable(ask, &why))?;
        Ok(Page {
            items,
            links,
            moved: response.moved_permanently,
        })
    }

    /// The error for a call without a proper answer.
    pub(crate) fn unanswered(&self, ask: &Ask, error: &HttpError) -> ForgeError {
        match error {
            HttpError::Limited { wait, .. } => ForgeError::Limited {
                call: ask.call(),
                resets_at: self.moment_of(*wait),
            },
            other => {
                let text = redact(&other.to_string(), &[&self.token]);
                unusable(ask, &cut_chars(&one_line(&text), MAX_DETAIL))
            }
        }
    }

    /// The error for a refusal, which must come from the origin that was asked to mean anything.
    fn refused_here(&self, ask: &Ask, response: &Response) -> ForgeError {
        if led_away(ask, response) {
            let place = response.url.origin().ascii_serialization();
            let why = format!(
                "it was led to {place}, where the token does not go (status {}); configure that address if it is right",
                response.status
            );
            return unusable(ask, &why);
        }
        self.refused(ask, response)
    }

    fn refused(&self, ask: &Ask, response: &Response) -> ForgeError {
        if let Some(limit) = response.limit() {
            return ForgeError::Limited {
                call: ask.call(),
                resets_at: self.moment_of(limit),
            };
        }
        let refusal = Refusal {
            call: ask.call(),
            status: response.status,
            header: &|name| response.headers.get(name).map(str::to_owned),
            body: &response.body,
            token: &self.token,
        };
        refusal.read()
    }

    fn moment_of(&self, wait: RateLimit) -> Option<f64> {
        let (then, at) = match (wait, self.clock) {
            (RateLimit::Until(moment), _) => return Some(moment),
            (_, clock) => clock?,
        };
        let wait = match wait {
            RateLimit::After(wait) => wait.as_secs_f64(),
            _ => UNSTATED_WAIT,
        };
        Some(then + at.elapsed().as_secs_f64() + wait)
    }

    fn request(&self, ask: &Ask) -> Result<Request, ForgeError> {
        let bearer = Secret::new(format!("Bearer {}", self.token.expose()));
        let request = Request::new(ask.method.clone(), SERVICE, ask.url.clone())
            .header("accept", ask.accept)
            .header("x-github-api-version", API_VERSION)
            .credential("authorization", bearer);
        match &ask.body {
            Some(body) => request
                .json(body)
                .map_err(|error| self.unanswered(ask, &error)),
            None => Ok(request),
        }
    }
}

/// The error for an answer that is not what was asked for.
pub(crate) fn unusable(ask: &Ask, why: &str) -> ForgeError {
    ForgeError::Unavailable {
        call: ask.call(),
        detail: why.to_owned(),
    }
}

/// Whether a refusal comes from another origin than the one that was asked, which got no token.
fn led_away(ask: &Ask, response: &Response) -> bool {
    matches!(response.status, 401 | 403 | 404) && response.url.origin() != ask.url.origin()
}
