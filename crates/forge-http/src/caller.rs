//! One call to a forge: the token goes along, a failing status or no answer becomes the core's error.

use std::time::{Duration, Instant};

use http_client::{
    AtMost, BodyStream, Client, HttpError, RateLimit, Request, Response, Secret, redact,
};
use lifecycle::ports::ForgeError;
use lifecycle::text::{cut_chars, one_line};

use crate::answers::{Item, Listed};
use crate::ask::Ask;
use crate::refusal::Refusal;

/// Pages of one list that are read at most: 5,000 items. A longer list is an error, never a part.
pub const MAX_PAGES: usize = 50;
/// What a limit without a period is taken for, in seconds.
const UNSTATED_WAIT: f64 = 60.0;
/// Characters of an error text of the HTTP client.
const MAX_DETAIL: usize = 400;

/// How a forge is spoken to, where that differs.
#[derive(Debug)]
pub struct Dialect {
    /// The service's name in errors.
    pub service: &'static str,
    /// Bytes of an answer at most: those of a page with the longest items.
    pub max_bytes: u64,
    /// Adds the token to a request, and headers that belong to each one.
    pub sign: fn(Request, &Secret) -> Request,
    /// The error that a refusal means. Limits are none: the HTTP client has read them before.
    pub refused: fn(&Refusal<'_>) -> ForgeError,
}

/// Sends requests with the token.
pub struct Caller {
    dialect: &'static Dialect,
    client: Client,
    token: Secret,
    /// A moment in seconds since the epoch, and when it was.
    clock: Option<(f64, Instant)>,
}

impl Caller {
    /// Nothing is sent yet.
    pub fn new(dialect: &'static Dialect, client: Client, token: Secret) -> Self {
        Self {
            dialect,
            client,
            token,
            clock: None,
        }
    }

    /// Tells what time it is (seconds since the epoch), so that a limit stated as a number of seconds
    /// can be told as a moment.
    pub fn set_now(&mut self, now: f64) {
        self.clock = Some((now, Instant::now()));
    }

    /// Any 2xx, else the error that the answer means.
    pub async fn send(&self, ask: &Ask) -> Result<Response, ForgeError> {
        let request = self.request(ask)?.max_bytes(self.dialect.max_bytes);
        let sent = self.client.send(request).await;
        let response = sent.map_err(|error| self.unanswered(ask, &error))?;
        if (200..300).contains(&response.status) {
            return Ok(response);
        }
        Err(led_away(ask, &response).unwrap_or_else(|| self.refused(ask, &response)))
    }

    /// Like [`Caller::send`], with the body left to be read, within a time and a number of bytes.
    /// What is streamed may lie on a host of its own (archives do).
    pub async fn stream(
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
    pub async fn object(&self, ask: &Ask) -> Result<Item, ForgeError> {
        let response = self.send(ask).await?;
        response
            .json()
            .map_err(|error| self.unanswered(ask, &error))
    }

    /// An answer that is a page of a list, with the answer itself: it says where the next one is.
    pub async fn list(&self, ask: &Ask) -> Result<(Vec<Item>, Response), ForgeError> {
        let response = self.send(ask).await?;
        let AtMost(items): Listed = response
            .json()
            .map_err(|error| self.unanswered(ask, &error))?;
        Ok((items, response))
    }

    /// The error for a call without a proper answer.
    pub fn unanswered(&self, ask: &Ask, error: &HttpError) -> ForgeError {
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

    fn refused(&self, ask: &Ask, response: &Response) -> ForgeError {
        (self.dialect.refused)(&Refusal {
            call: ask.call(),
            status: response.status,
            header: &|name| response.headers.get(name).map(str::to_owned),
            body: &response.body,
            token: &self.token,
        })
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
        let request = Request::new(ask.method.clone(), self.dialect.service, ask.url.clone())
            .header("accept", ask.accept);
        let request = (self.dialect.sign)(request, &self.token);
        match &ask.body {
            Some(body) => request
                .json(body)
                .map_err(|error| self.unanswered(ask, &error)),
            None => Ok(request),
        }
    }
}

/// The error for a refusal of another origin than the one that was asked, which got no token: it
/// says nothing about what the token may.
fn led_away(ask: &Ask, response: &Response) -> Option<ForgeError> {
    let is_of_token = matches!(response.status, 401 | 403 | 404);
    if !is_of_token || response.url.origin() == ask.url.origin() {
        return None;
    }
    let place = response.url.origin().ascii_serialization();
    let why = format!(
        "it was led to {place}, where the token does not go (status {}); configure that address if it is right",
        response.status
    );
    Some(unusable(ask, &why))
}

/// The error for an answer that is not what was asked for.
pub fn unusable(ask: &Ask, why: &str) -> ForgeError {
    ForgeError::Unavailable {
        call: ask.call(),
        detail: why.to_owned(),
    }
}

/// The error for a list that has more than [`MAX_PAGES`].
pub fn too_long(ask: &Ask) -> ForgeError {
    unusable(ask, &format!("the list has more than {MAX_PAGES} pages"))
}

#[cfg(test)]
mod tests;
