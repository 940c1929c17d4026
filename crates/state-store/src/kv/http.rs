//! The calls of the automation service's key-value store, over HTTP.

use super::answers::{self, Answer, Refusal};
use super::wire::{Condition, Put, Wire};
use crate::settings::Timing;
use crate::store::OpenError;
use http_client::{Client, HttpError, Request, Response, Secret, Url};
use lifecycle::ports::StoreError;
use serde_json::Value;
use std::time::Duration;

const SERVICE: &str = "KV store";
/// The service allows 64 KiB for a value.
const MAX_BYTES: u64 = 1024 * 1024;
/// Keys asked for at once; the service allows a thousand.
const PAGE: usize = 1000;

/// The key-value store of one automation, which its token names.
#[derive(Debug)]
pub struct HttpWire {
    client: Client,
    /// `{AUTOMATION_API_URL}/v1/kv`.
    base: Url,
    credential: Secret,
    timing: Timing,
}

impl HttpWire {
    /// `url` is `AUTOMATION_API_URL`, `token` is `AUTOMATION_KV_TOKEN`.
    ///
    /// # Errors
    /// [`OpenError::BadUrl`].
    pub fn new(
        client: Client,
        url: &str,
        token: &Secret,
        timing: Timing,
    ) -> Result<Self, OpenError> {
        let bad = |detail: String| OpenError::BadUrl {
            url: http_client::redact(url, &[token]),
            detail,
        };
        let mut base = Url::parse(url).map_err(|error| bad(error.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(bad(format!("the scheme is {}", base.scheme())));
        }
        base.set_query(None);
        base.set_fragment(None);
        if let Ok(mut path) = base.path_segments_mut() {
            path.pop_if_empty().extend(["v1", "kv"]);
        }
        let credential = Secret::new(format!("Bearer {}", token.expose()));
        Ok(Self {
            client,
            base,
            credential,
            timing,
        })
    }

    fn url(&self, key: Option<&str>, query: &str) -> Url {
        let mut url = self.base.clone();
        if let (Some(key), Ok(mut path)) = (key, url.path_segments_mut()) {
            path.push(key);
        }
        url.set_query(Some(query).filter(|query| !query.is_empty()));
        url
    }

    /// Statuses are judged here: a 503 has a meaning of its own, and a write is looked for before it
    /// is repeated.
    async fn send(&self, request: Request) -> Result<Response, HttpError> {
        let request = request
            .credential("authorization", self.credential.clone())
            .retry_statuses(false)
            .max_bytes(MAX_BYTES);
        self.client.send(request).await
    }

    /// A call that may be repeated, until it is answered or has been tried often enough.
    async fn ask<T>(
        &self,
        place: &str,
        request: Request,
        read: impl Fn(&Answer<'_>, &str) -> Result<T, Refusal>,
    ) -> Result<T, StoreError> {
        let mut attempt = 1;
        loop {
            let response = self
                .send(request.clone())
                .await
                .map_err(|error| out_of_reach(place, &error))?;
            match read(&answer(&response), place) {
                Ok(result) => return Ok(result),
                Err(Refusal::Final(error)) => return Err(error),
                Err(Refusal::Again(wait, detail)) => {
                    attempt += 1;
                    if attempt > self.timing.tries {
                        return Err(StoreError::Unavailable {
                            place: place.to_owned(),
                            detail,
                        });
                    }
                    self.pause(self.timing.wait_for_service(wait, attempt))
                        .await;
                }
            }
        }
    }
}

fn answer(response: &Response) -> Answer<'_> {
    Answer {
        status: response.status,
        retry_after: response.headers.get("retry-after"),
        body: &response.body,
    }
}

fn out_of_reach(place: &str, error: &HttpError) -> StoreError {
    StoreError::Unavailable {
        place: place.to_owned(),
        detail: error.to_string(),
    }
}

/// How an error names a key.
pub(super) fn place(key: &str) -> String {
    format!("KV key {key}")
}

impl Wire for HttpWire {
    async fn get(&self, key: &str) -> Result<Option<(Value, u64)>, StoreError> {
        let request = Request::get(SERVICE, self.url(Some(key), "meta=true"));
        self.ask(&place(key), request, answers::read).await
    }

    async fn put(&self, key: &str, value: &Value, condition: Condition) -> Result<Put, StoreError> {
        let place = place(key);
        let query = match condition {
            Condition::Absent => "nx=true".to_owned(),
            Condition::Version(version) => format!("if_version={version}"),
            Condition::None => String::new(),
        };
        let request = Request::put(SERVICE, self.url(Some(key), &query))
            .json(value)
            .map_err(|error| out_of_reach(&place, &error))?;
        match self.send(request).await {
            Ok(response) => answers::written(&answer(&response), &place),
            Err(error) if error.is_effect_unknown() => Ok(Put::Unknown(error.to_string())),
            Err(error) => Err(out_of_reach(&place, &error)),
        }
    }

    async fn delete(&self, key: &str) -> Result<bool, StoreError> {
        let request = Request::delete(SERVICE, self.url(Some(key), ""));
        self.ask(&place(key), request, answers::deleted).await
    }

    async fn keys(&self) -> Result<Option<Vec<String>>, StoreError> {
        let mut keys = Vec::new();
        loop {
            let query = format!("limit={PAGE}&offset={}", keys.len());
            let request = Request::get(SERVICE, self.url(None, &query));
            let Some((page, total)) = self.ask("KV keys", request, answers::listed).await? else {
                return Ok(None);
            };
            let is_last = page.is_empty() || keys.len() + page.len() >= total;
            keys.extend(page);
            if is_last {
                keys.sort();
                return Ok(Some(keys));
            }
        }
    }

    async fn pause(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
