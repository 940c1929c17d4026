//! Client of the automation service, for deploying: what it can do, its automations, archives, runs.
//!
//! `requests` builds what is asked, `answers` reads what comes back (both pure), this file joins
//! them. The rules are those of the published service (1.26): a key goes as a bearer token or, where
//! a proxy keeps that header for itself, as `X-Session-API-Key`; an upload may be refused at once
//! (413) or be taken and marked as failed; a template is created once.
//!
//! Not in here: what is deployed, and how. Runs report to the service by other means.

mod answers;
mod error;
mod host;
mod reading;
mod requests;
#[cfg(test)]
mod tests;

pub(crate) use answers::{Automation, Capabilities, Run, Upload};
pub(crate) use error::ServiceError;
pub(crate) use host::Host;
pub(crate) use requests::{Change, Draft, Trigger};

use answers::{Verdict, problems};
use http_client::{Client, Request, Response, Secret};
use reading::{gone, known, read};
use requests::{Credential, Requests};
use std::cell::Cell;

/// An archive that is uploaded has at most this many bytes.
pub(crate) const MAX_UPLOAD_BYTES: usize = 1_048_576;
/// An archive at an address elsewhere has at most this many bytes.
pub(crate) const MAX_REMOTE_BYTES: u64 = 100 * 1_048_576;
/// Automations or runs on one page.
const PAGE: usize = 100;
/// Names of what is in the KV store on one page.
const KEYS: usize = 1000;

/// One automation service, and the key of who deploys.
#[derive(Debug)]
pub(crate) struct AutomationService {
    client: Client,
    requests: Requests,
    key: Secret,
    credential: Cell<Credential>,
}

/// Whether a draft was created, or was there before.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Created {
    /// It is new.
    New(Automation),
    /// An automation of the same template exists; nothing was created.
    Existing(Automation),
}

/// What an automation keeps in the KV store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// These names.
    Are(Vec<String>),
    /// The service has no KV secret, so nothing can be kept.
    NoStore,
    /// The service does not say.
    Untold,
}

impl AutomationService {
    /// Finds the service at `host` and tells what it can do; `None` when it is too old to say.
    ///
    /// # Errors
    /// [`ServiceError`] when there is no such service, or it does not accept the key.
    pub(crate) async fn connect(
        client: Client,
        host: Host,
        key: Secret,
    ) -> Result<(Self, Option<Capabilities>), ServiceError> {
        let service = Self {
            client,
            requests: Requests::new(host),
            key,
            credential: Cell::new(Credential::Bearer),
        };
        service.find().await?;
        let answer = service.send(service.requests.capabilities()).await?;
        let capabilities = match answer.status {
            // An older service takes the word for the id of an automation.
            404 | 405 | 422 => None,
            _ => Some(read(&answer)?),
        };
        Ok((service, capabilities))
    }

    /// Where it is.
    pub(crate) fn host(&self) -> &Host {
        self.requests.host()
    }

    /// Whether anything that could be the service answers.
    async fn find(&self) -> Result<(), ServiceError> {
        let answer = self.client.send(self.requests.health()).await;
        let answer = answer.map_err(|error| ServiceError::unreachable(self.host(), &error))?;
        let healthy = answers::is_health(&answer.body);
        match answer.status {
            200 if healthy => Ok(()),
            // Something guards the way, and will let the key pass or not.
            401 | 403 => Ok(()),
            301 | 302 | 303 | 307 | 308 => Err(ServiceError::Moved {
                host: self.host().to_string(),
                to: answer.headers.get("location").unwrap_or("?").to_owned(),
            }),
            _ => Err(ServiceError::NotThere {
                host: self.host().to_string(),
                found: answers::in_words(&answer),
            }),
        }
    }

    /// All automations, newest first.
    pub(crate) async fn automations(&self) -> Result<Vec<Automation>, ServiceError> {
        let mut all = Vec::new();
        loop {
            let ask = self.requests.automations(PAGE, all.len());
            let page: answers::AutomationPage = read(&self.send(ask).await?)?;
            let (count, total) = (page.automations.len(), page.total);
            all.extend(page.automations);
            if count == 0 || all.len() >= total {
                return Ok(all);
            }
        }
    }

    /// One automation.
    pub(crate) async fn automation(&self, id: &str) -> Result<Automation, ServiceError> {
        let answer = self.send(self.requests.automation(id)?).await?;
        read(known(id, &answer)?)
    }

    /// What is wrong with a draft; empty when nothing is, `None` when the service cannot say.
    pub(crate) async fn validate(
        &self,
        draft: &Draft,
    ) -> Result<Option<Vec<String>>, ServiceError> {
        let answer = self.send(self.requests.validate(draft)?).await?;
        match answer.status {
            404 | 405 => Ok(None),
            _ => Ok(Some(read::<Verdict>(&answer)?.in_words())),
        }
    }

    /// Uploads an archive.
    ///
    /// # Errors
    /// [`ServiceError::TooLarge`], and [`ServiceError::UploadFailed`] when the service took it and
    /// could not keep it; nothing is left of it then.
    pub(crate) async fn upload(
        &self,
        name: &str,
        archive: Vec<u8>,
    ) -> Result<Upload, ServiceError> {
        let bytes = archive.len();
        let answer = self.send(self.requests.upload(name, archive)).await?;
        if answer.status == 413 {
            return Err(ServiceError::TooLarge { bytes });
        }
        let upload: Upload = read(&answer)?;
        if upload.tarball_path.is_some() {
            return Ok(upload);
        }
        // It exists, and is of no use.
        let _ = self.remove_upload(&upload.id).await;
        Err(ServiceError::UploadFailed {
            why: upload.error_message.unwrap_or(upload.status),
        })
    }

    /// Removes an upload. One that is gone already is removed.
    pub(crate) async fn remove_upload(&self, id: &str) -> Result<(), ServiceError> {
        let answer = self.send(self.requests.remove_upload(id)?).await?;
        gone(&answer)
    }

    /// The bytes of the archive that an automation runs; `None` when the service does not hold it.
    pub(crate) async fn archive(&self, id: &str) -> Result<Option<Vec<u8>>, ServiceError> {
        let answer = self.send(self.requests.archive(id)?).await?;
        Ok((answer.status == 200).then_some(answer.body))
    }

    /// Creates an automation.
    pub(crate) async fn create(&self, draft: &Draft) -> Result<Created, ServiceError> {
        let answer = self.send(self.requests.create(draft, true)?).await?;
        let answer = if answer.status == 422 && problems(&answer.body).names("template") {
            // An older service knows no templates here.
            self.send(self.requests.create(draft, false)?).await?
        } else {
            answer
        };
        let existed = answer.status == 200;
        let automation = read(&answer)?;
        Ok(if existed {
            Created::Existing(automation)
        } else {
            Created::New(automation)
        })
    }

    /// Changes an automation in place.
    pub(crate) async fn change(
        &self,
        id: &str,
        change: &Change,
    ) -> Result<Automation, ServiceError> {
        let answer = self.send(self.requests.change(id, change)?).await?;
        read(known(id, &answer)?)
    }

    /// Removes an automation. One that is gone already is removed.
    pub(crate) async fn remove(&self, id: &str) -> Result<(), ServiceError> {
        let answer = self.send(self.requests.remove(id)?).await?;
        gone(&answer)
    }

    /// Asks for a run now.
    pub(crate) async fn dispatch(&self, id: &str) -> Result<Run, ServiceError> {
        let answer = self.send(self.requests.dispatch(id)?).await?;
        read(known(id, &answer)?)
    }

    /// The newest runs of an automation, newest first.
    pub(crate) async fn runs(&self, id: &str, most: usize) -> Result<Vec<Run>, ServiceError> {
        let answer = self
            .send(self.requests.runs(id, most.clamp(1, PAGE))?)
            .await?;
        let page: answers::RunPage = read(known(id, &answer)?)?;
        Ok(page.runs)
    }

    /// Names of what an automation keeps in the KV store.
    pub(crate) async fn keys(&self, id: &str) -> Result<Keys, ServiceError> {
        let mut all = Vec::new();
        loop {
            let answer = self.send(self.requests.keys(id, KEYS, all.len())?).await?;
            match answer.status {
                200 => {}
                503 => return Ok(Keys::NoStore),
                _ => return Ok(Keys::Untold),
            }
            let page: answers::KeyPage = read(&answer)?;
            let (count, total) = (page.keys.len(), page.total);
            all.extend(page.keys);
            if count == 0 || all.len() >= total {
                return Ok(Keys::Are(all));
            }
        }
    }

    /// Whether this host is also the application that a cloud deployment belongs to, where each run
    /// gets a sandbox of its own. A self-hosted one has no accounts.
    pub(crate) async fn has_accounts(&self) -> bool {
        let Ok(answer) = self.send(self.requests.account()).await else {
            return false;
        };
        answer.status == 200 && answers::is_account(&answer.body)
    }

    /// Sends a call with the key, the one way or the other.
    async fn send(&self, request: Request) -> Result<Response, ServiceError> {
        let first = self.credential.get();
        let again = request.clone();
        let answer = self.client.send(first.add(request, &self.key)).await?;
        if answer.status != 401 {
            return Ok(answer);
        }
        // Refused before it had any effect, so it may be repeated whatever it is.
        let second = first.other();
        let answer = self.client.send(second.add(again, &self.key)).await?;
        if answer.status == 401 {
            return Err(ServiceError::KeyRefused {
                host: self.host().to_string(),
            });
        }
        self.credential.set(second);
        Ok(answer)
    }
}
