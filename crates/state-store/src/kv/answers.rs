//! Reading the answers of the service. Pure; one case per row of the contract.

use super::wire::Put;
use lifecycle::ports::StoreError;
use serde_json::Value;
use std::time::Duration;

/// An answer, as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer<'a> {
    /// The status.
    pub(super) status: u16,
    /// The header `Retry-After`.
    pub(super) retry_after: Option<&'a str>,
    /// The body.
    pub(super) body: &'a [u8],
}

/// What an answer means for a call that it does not satisfy.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Refusal {
    /// It is worth asking again, after this long if the service says.
    Again(Option<Duration>, String),
    /// It is not.
    Final(StoreError),
}

impl Answer<'_> {
    fn json(&self) -> Option<Value> {
        let body = self.body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(self.body);
        serde_json::from_slice(body).ok()
    }

    /// The code of an error, in each of the forms that the service gives it.
    fn code(&self) -> Option<String> {
        let json = self.json()?;
        let detail = json.get("detail");
        [
            detail,
            detail.and_then(|detail| detail.get("error")),
            json.get("error"),
        ]
        .into_iter()
        .flatten()
        .find_map(Value::as_str)
        .map(ToOwned::to_owned)
    }

    fn has_code(&self, code: &str) -> bool {
        self.code().is_some_and(|found| found.starts_with(code))
    }

    fn wait(&self) -> Option<Duration> {
        let seconds: f64 = self.retry_after?.trim().parse().ok()?;
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// Status and what the service said, on one line.
    fn in_words(&self) -> String {
        let said = match self.code() {
            Some(code) => code,
            None => http_client::start_of_text(self.body).into_owned(),
        };
        let said = lifecycle::text::one_line(&http_client::redact(&said, &[]));
        if said.is_empty() {
            return format!("status {}", self.status);
        }
        format!(
            "status {}: {}",
            self.status,
            lifecycle::text::cut_chars(&said, 160)
        )
    }

    fn refusal(&self, place: &str) -> Refusal {
        let detail = self.in_words();
        let place = place.to_owned();
        match self.status {
            401 | 403 => Refusal::Final(StoreError::Unauthorized { place, detail }),
            // A gateway answers 503 too, but not in the service's own form.
            503 if self.code().is_some() => Refusal::Final(StoreError::NotConfigured { place }),
            409 | 429 | 500..=599 => Refusal::Again(self.wait(), detail),
            _ => Refusal::Final(StoreError::Unavailable { place, detail }),
        }
    }
}

/// Value and version, or `None` when there is no such key.
pub(super) fn read(answer: &Answer<'_>, place: &str) -> Result<Option<(Value, u64)>, Refusal> {
    let unusable = |detail: String| {
        Refusal::Final(StoreError::Unavailable {
            place: place.to_owned(),
            detail,
        })
    };
    match answer.status {
        200 => {
            let Some(Value::Object(mut fields)) = answer.json() else {
                return Err(unusable(format!(
                    "an answer that is no JSON object: {}",
                    answer.in_words()
                )));
            };
            match (
                fields.remove("value"),
                fields.get("version").and_then(Value::as_u64),
            ) {
                (Some(value), Some(version)) => Ok(Some((value, version))),
                _ => Err(unusable("an answer without value and version".into())),
            }
        }
        // Any other 404 means that this is not the KV store, and must not pass for "nothing yet".
        404 if answer.has_code("key_not_found") => Ok(None),
        404 => Err(unusable(format!(
            "{}; does AUTOMATION_API_URL end in /api/automation?",
            answer.in_words()
        ))),
        _ => Err(answer.refusal(place)),
    }
}

/// What came of a write.
pub(super) fn written(answer: &Answer<'_>, place: &str) -> Result<Put, StoreError> {
    match answer.status {
        200..=299 => Ok(Put::Accepted),
        409 if answer.has_code("kv_store_busy") => Ok(Put::Busy(answer.wait())),
        409 => Ok(Put::Refused),
        413 => {
            let size = answer
                .json()
                .and_then(|json| json.get("detail")?.get("size")?.as_u64());
            Ok(Put::TooLarge(size.and_then(|size| size.try_into().ok())))
        }
        _ => match answer.refusal(place) {
            Refusal::Final(error) => Err(error),
            Refusal::Again(wait, _) if answer.status == 429 => Ok(Put::Busy(wait)),
            Refusal::Again(_, detail) => Ok(Put::Unknown(detail)),
        },
    }
}

/// Whether a key was there and is gone now.
pub(super) fn deleted(answer: &Answer<'_>, place: &str) -> Result<bool, Refusal> {
    match answer.status {
        200..=299 => Ok(answer
            .json()
            .and_then(|json| json.get("deleted")?.as_bool())
            .unwrap_or(true)),
        404 if answer.has_code("key_not_found") => Ok(false),
        _ => Err(answer.refusal(place)),
    }
}

/// A page of keys and how many there are in all; `None` when the service cannot list them.
pub(super) fn listed(
    answer: &Answer<'_>,
    place: &str,
) -> Result<Option<(Vec<String>, usize)>, Refusal> {
    match answer.status {
        200 => {
            let page = answer.json().and_then(|json| {
                let keys = json.get("keys")?.as_array()?;
                let keys: Vec<String> = keys
                    .iter()
                    .filter_map(Value::as_str)
                    .map(ToOwned::to_owned)
                    .collect();
                let total = json.get("total").and_then(Value::as_u64);
                let total = total.and_then(|total| total.try_into().ok());
                Some((keys, total.unwrap_or(0)))
            });
            Ok(page)
        }
        404 | 405 => Ok(None),
        _ => Err(answer.refusal(place)),
    }
}
