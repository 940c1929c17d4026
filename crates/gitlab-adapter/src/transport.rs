//! One call to GitLab: the token goes along, a failing status or no answer becomes the core's error.

use std::time::Instant;

use http_client::{AtMost, Client, HttpError, RateLimit, Request, Response, Secret, Url, redact};
use lifecycle::ports::ForgeError;
use lifecycle::text::{cut_chars, one_line};
use serde_json::value::RawValue;

use crate::pages;
use crate::refusals::Refusal;
use crate::requests::Ask;

/// The service's name in errors.
const SERVICE: &str = "GitLab";
/// Bytes of a page of a list. Descriptions may have a million characters each.
const MAX_PAGE_BYTES: u64 = 128 * 1024 * 1024;
/// Pages of one list that are read at most: 5,000 items. A longer list is an error, never a part.
const MAX_PAGES: usize = 50;
/// What a limit without a period is taken for, in seconds.
const UNSTATED_WAIT: f64 = 60.0;
/// Characters of an error text of the HTTP client.
const MAX_DETAIL: usize = 400;

/// The items of a page, ten times as many as GitLab puts on one.
pub(crate) type Listed = AtMost<Box<RawValue>, 1000>;

/// A page of a list.
pub(crate) struct Page {
    pub(crate) items: Vec<Box<RawValue>>,
    pub(crate) next: Option<Url>,
    /// Whether the address that was asked led elsewhere.
    pub(crate) redirected: bool,
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
        let request = Request::new(ask.method.clone(), SERVICE, ask.url.clone())
            .header("accept", "application/json")
            .credential("private-token", self.token.clone())
            .max_bytes(MAX_PAGE_BYTES);
        let request = match &ask.body {
            Some(body) => request
                .json(body)
                .map_err(|error| self.unanswered(ask, &error))?,
            None => request,
        };
        let sent = self.client.send(request).await;
        let response = sent.map_err(|error| self.unanswered(ask, &error))?;
        if (200..300).contains(&response.status) {
            return Ok(response);
        }
        Err(self.refused(ask, &response))
    }

    fn refused(&self, ask: &Ask, response: &Response) -> ForgeError {
        if let Some(limit) = response.limit() {
            return ForgeError::Limited {
                call: ask.call(),
                resets_at: self.moment_of(limit),
            };
        }
        if led_away(ask, response) {
            let place = response.url.origin().ascii_serialization();
            let why = format!(
                "it was led to {place}, where the token does not go (status {}); configure that address if it is right",
                response.status
            );
            return unusable(ask, &why);
        }
        let refusal = Refusal {
            call: ask.call(),
            status: response.status,
            body: &response.body,
            token: &self.token,
        };
        refusal.read()
    }

    /// An answer that is one JSON value.
    pub(crate) async fn object(&self, ask: &Ask) -> Result<Box<RawValue>, ForgeError> {
        let response = self.send(ask).await?;
        response
            .json()
            .map_err(|error| self.unanswered(ask, &error))
    }

    /// A page of a list.
    pub(crate) async fn page(&self, ask: &Ask) -> Result<Page, ForgeError> {
        let response = self.send(ask).await?;
        let AtMost(items): Listed = response
            .json()
            .map_err(|error| self.unanswered(ask, &error))?;
        let header = |name| response.headers.get(name);
        let next = pages::next(&response.url, header("link"), header("x-next-page"));
        Ok(Page {
            items,
            next,
            redirected: response.redirected,
        })
    }

    /// Reads a list page by page until `look` has seen enough (`Some`), or to its end.
    pub(crate) async fn pages<T>(
        &self,
        first: Ask,
        mut look: impl FnMut(&Page) -> Result<Option<T>, String>,
    ) -> Result<Option<T>, ForgeError> {
        let mut ask = first;
        for _ in 0..MAX_PAGES {
            let page = self.page(&ask).await?;
            if let Some(found) = look(&page).map_err(|why| unusable(&ask, &why))? {
                return Ok(Some(found));
            }
            let Some(next) = page.next else {
                return Ok(None);
            };
            ask = Ask::get(next);
        }
        Err(unusable(
            &ask,
            &format!("the list has more than {MAX_PAGES} pages"),
        ))
    }

    fn unanswered(&self, ask: &Ask, error: &HttpError) -> ForgeError {
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
