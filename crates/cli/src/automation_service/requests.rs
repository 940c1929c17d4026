//! What is asked of the automation service, as values.

use super::MAX_UPLOAD_BYTES;
use super::error::ServiceError;
use super::host::Host;
use http_client::{HttpError, Redirects, Request, Secret};
use serde::Serialize;
use std::time::Duration;

/// The name of the service in errors.
const SERVICE: &str = "automation service";
/// For an upload over a slow line.
const UPLOAD_TIMEOUT: Duration = Duration::from_mins(3);
/// Stands for the archive in a draft that is checked before anything is uploaded.
const ARCHIVE_TO_COME: &str = "oh-internal://uploads/00000000-0000-0000-0000-000000000000";

/// How the key is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Credential {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// `X-Session-API-Key: KEY`.
    SessionKey,
}

impl Credential {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Bearer => Self::SessionKey,
            Self::SessionKey => Self::Bearer,
        }
    }

    pub(super) fn add(self, request: Request, key: &Secret) -> Request {
        match self {
            Self::Bearer => request.credential(
                "authorization",
                Secret::new(format!("Bearer {}", key.expose())),
            ),
            Self::SessionKey => request.credential("x-session-api-key", key.clone()),
        }
    }
}

/// When an automation runs by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Trigger {
    #[serde(rename = "type")]
    kind: &'static str,
    /// Five fields of cron.
    pub(crate) schedule: String,
    /// A name such as `Europe/Berlin`.
    pub(crate) timezone: String,
}

impl Trigger {
    /// A schedule in a time zone.
    pub(crate) fn cron(schedule: &str, timezone: &str) -> Self {
        Self {
            kind: "cron",
            schedule: schedule.to_owned(),
            timezone: timezone.to_owned(),
        }
    }
}

/// What an automation was made from. The service keeps at most one automation of a template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Template {
    /// At most 100 characters.
    pub(crate) id: String,
    /// At most 50 characters.
    pub(crate) version: String,
}

/// An automation that is to be created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Draft {
    pub(crate) name: String,
    pub(crate) trigger: Trigger,
    /// What an upload gave, or an `https` address; `None` before it is known.
    #[serde(serialize_with = "archive_or_to_come")]
    pub(crate) tarball_path: Option<String>,
    /// A relative command.
    pub(crate) entrypoint: String,
    /// Seconds that a run may take.
    pub(crate) timeout: u64,
    /// Whether a sandbox outlives its run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) keep_alive: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) template: Option<Template>,
}

impl Draft {
    /// Sets what it is made from.
    #[must_use]
    pub(crate) fn of_template(mut self, id: String, version: &str) -> Self {
        self.template = Some(Template {
            id,
            version: version.to_owned(),
        });
        self
    }
}

/// What is changed on an automation; the rest stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Change {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trigger: Option<Trigger>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tarball_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entrypoint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) keep_alive: Option<bool>,
}

#[expect(clippy::ref_option, reason = "serde passes the field")]
fn archive_or_to_come<S: serde::Serializer>(
    path: &Option<String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(path.as_deref().unwrap_or(ARCHIVE_TO_COME))
}

/// Builds the calls to one service.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    host: Host,
}

impl Requests {
    pub(super) fn new(host: Host) -> Self {
        Self { host }
    }

    pub(super) fn host(&self) -> &Host {
        &self.host
    }

    pub(super) fn health(&self) -> Request {
        self.get("/health")
    }

    pub(super) fn capabilities(&self) -> Request {
        self.get("/v1/capabilities")
    }

    pub(super) fn account(&self) -> Request {
        plain(Request::get(SERVICE, self.host.join("/api/v1/users/me")))
    }

    pub(super) fn automations(&self, limit: usize, offset: usize) -> Request {
        self.get(&format!("/v1?limit={limit}&offset={offset}"))
    }

    pub(super) fn automation(&self, id: &str) -> Result<Request, ServiceError> {
        Ok(self.get(&format!("/v1/{}", part(id)?)))
    }

    pub(super) fn archive(&self, id: &str) -> Result<Request, ServiceError> {
        let limit = u64::try_from(MAX_UPLOAD_BYTES).unwrap_or(u64::MAX);
        let request = self.get(&format!("/v1/{}/tarball", part(id)?));
        Ok(request.max_bytes(limit.saturating_mul(2)))
    }

    pub(super) fn runs(&self, id: &str, limit: usize) -> Result<Request, ServiceError> {
        Ok(self.get(&format!("/v1/{}/runs?limit={limit}", part(id)?)))
    }

    pub(super) fn keys(
        &self,
        id: &str,
        limit: usize,
        offset: usize,
    ) -> Result<Request, ServiceError> {
        let request = self.get(&format!(
            "/v1/kv?automation_id={}&limit={limit}&offset={offset}",
            part(id)?
        ));
        // Without a KV secret it says 503, which is an answer here.
        Ok(request.retry_statuses(false))
    }

    pub(super) fn validate(&self, draft: &Draft) -> Result<Request, HttpError> {
        let body = serde_json::json!({"endpoint": "/v1", "draft": draft});
        // It only looks.
        self.post("/v1/validate").idempotent(true).json(&body)
    }

    pub(super) fn upload(&self, name: &str, archive: Vec<u8>) -> Request {
        let mut url = self.host.service("/v1/uploads");
        url.query_pairs_mut().append_pair("name", name);
        plain(Request::post(SERVICE, url))
            .timeout(UPLOAD_TIMEOUT)
            .body(archive, "application/gzip")
    }

    pub(super) fn remove_upload(&self, id: &str) -> Result<Request, ServiceError> {
        Ok(self.delete(&format!("/v1/uploads/{}", part(id)?)))
    }

    pub(super) fn create(&self, draft: &Draft, with_template: bool) -> Result<Request, HttpError> {
        if with_template {
            return self.post("/v1").json(draft);
        }
        let draft = Draft {
            template: None,
            ..draft.clone()
        };
        self.post("/v1").json(&draft)
    }

    pub(super) fn change(&self, id: &str, change: &Change) -> Result<Request, ServiceError> {
        let url = self.host.service(&format!("/v1/{}", part(id)?));
        // The same change twice is one change.
        let request = plain(Request::patch(SERVICE, url)).idempotent(true);
        Ok(request.json(change)?)
    }

    pub(super) fn remove(&self, id: &str) -> Result<Request, ServiceError> {
        Ok(self.delete(&format!("/v1/{}", part(id)?)))
    }

    pub(super) fn dispatch(&self, id: &str) -> Result<Request, ServiceError> {
        Ok(self.post(&format!("/v1/{}/dispatch", part(id)?)))
    }

    fn get(&self, path: &str) -> Request {
        plain(Request::get(SERVICE, self.host.service(path)))
    }

    fn post(&self, path: &str) -> Request {
        plain(Request::post(SERVICE, self.host.service(path)))
    }

    fn delete(&self, path: &str) -> Request {
        plain(Request::delete(SERVICE, self.host.service(path)))
    }
}

/// A key is never carried along a redirect: that the host is another is for a person to say.
fn plain(request: Request) -> Request {
    request.redirects(Redirects::No)
}

/// An id as a part of a path: letters, digits and dashes, so that it stays one part.
fn part(id: &str) -> Result<&str, ServiceError> {
    let fits = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if fits {
        Ok(id)
    } else {
        Err(ServiceError::NoSuchAutomation { id: id.to_owned() })
    }
}
