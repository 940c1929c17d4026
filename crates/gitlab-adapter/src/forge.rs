//! The issue port over GitLab's REST API: requests and answers joined.
//!
//! A project that was moved is read under its former path (GitLab leads there), but takes no writes
//! there. Once its number is known, it is asked for by number.

use std::cell::OnceCell;

use forge_http::answers::Item;
use forge_http::{Ask, CLOCK_SKEW, Caller, unusable};
use http_client::{Client, Secret};
use lifecycle::ports::{
    ForgeError, Identity, Issue, IssueForge, LabelEvent, Listing, MergeRequest, MergeRequestDraft,
    Project,
};
use url::Url;

use crate::answers::{self, Marked, Spelling};
use crate::config::{ProjectPath, web_root};
use crate::dialect::DIALECT;
use crate::pages;
use crate::requests::Requests;

/// One project on GitLab.
pub struct GitLab {
    api: Url,
    path: ProjectPath,
    caller: Caller,
    configured: Requests,
    /// The project as it is called now, known once it is known to have been moved.
    moved: OnceCell<Moved>,
    identity: tokio::sync::OnceCell<Identity>,
}

/// A project that has left its configured path.
struct Moved {
    path: String,
    requests: Requests,
}

impl std::fmt::Debug for GitLab {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GitLab")
            .field("project", &self.path)
            .finish_non_exhaustive()
    }
}

impl GitLab {
    /// A project on the instance whose API is at `api_base` (see [`crate::api_base`]). The token goes
    /// to the origin of `api_base` only. Nothing is asked yet.
    pub fn new(client: Client, api_base: Url, project: ProjectPath, token: Secret) -> Self {
        Self {
            configured: Requests::new(api_base.clone(), project.as_str()),
            api: api_base,
            path: project,
            caller: Caller::new(&DIALECT, client, token),
            moved: OnceCell::new(),
            identity: tokio::sync::OnceCell::new(),
        }
    }

    /// Tells what time it is (seconds since the epoch), so that a limit that GitLab states as a
    /// number of seconds can be told as a moment.
    #[must_use]
    pub fn as_of(mut self, now: f64) -> Self {
        self.caller.set_now(now);
        self
    }

    fn requests(&self) -> &Requests {
        self.moved
            .get()
            .map_or(&self.configured, |moved| &moved.requests)
    }

    /// Sends a write. GitLab refuses one under a former path as a whole, so it is sent again by the
    /// project's number.
    async fn write(&self, ask: impl Fn(&Requests) -> Ask) -> Result<Item, ForgeError> {
        let outcome = self.caller.object(&ask(self.requests())).await;
        let led_elsewhere = matches!(
            outcome,
            Err(ForgeError::Refused {
                status: 301..=308 | 405,
                ..
            })
        );
        if !led_elsewhere || self.moved.get().is_some() {
            return outcome;
        }
        self.project().await?;
        match self.moved.get() {
            Some(moved) => self.caller.object(&ask(&moved.requests)).await,
            None => outcome,
        }
    }

    /// The address of a note for people.
    fn note_address(&self, iid: u64, note: u64) -> String {
        let path = self
            .moved
            .get()
            .map_or(self.path.as_str(), |moved| &moved.path);
        format!("{}/{path}/-/issues/{iid}#note_{note}", web_root(&self.api))
    }
}

/// `None` for what is gone.
fn unless_gone<T>(outcome: Result<T, ForgeError>) -> Result<Option<T>, ForgeError> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(ForgeError::NotFound { .. }) => Ok(None),
        Err(other) => Err(other),
    }
}

impl IssueForge for GitLab {
    async fn project(&self) -> Result<Project, ForgeError> {
        let ask = self.configured.project();
        let body = self.caller.object(&ask).await?;
        let project =
            answers::project(&body, self.path.as_str()).map_err(|why| unusable(&ask, &why))?;
        if let Some(path) = project.moved_to.clone() {
            let requests = self.configured.by_number(project.id);
            // It was known already: nothing new.
            let _ = self.moved.set(Moved { path, requests });
        }
        Ok(project)
    }

    async fn identity(&self) -> Result<Identity, ForgeError> {
        let ask = async || {
            let ask = self.configured.user();
            let body = self.caller.object(&ask).await?;
            let host = self.api.host_str().unwrap_or("localhost");
            answers::identity(&body, host).map_err(|why| unusable(&ask, &why))
        };
        self.identity.get_or_try_init(ask).await.cloned()
    }

    async fn label_spelling(&self, label: &str) -> Result<Option<String>, ForgeError> {
        let mut other = None;
        let exact = pages::read(&self.caller, self.requests().labels(label), |page| {
            Ok(match answers::spelling(&page.items, label) {
                Spelling::Exact => Some(label.to_owned()),
                Spelling::Other(name) => {
                    other.get_or_insert(name);
                    None
                }
                Spelling::Unknown => None,
            })
        });
        let exact = exact.await?;
        Ok(exact.or(other))
    }

    async fn list_labelled(&self, label: &str) -> Result<Listing<Issue>, ForgeError> {
        let mut listing = Listing {
            items: Vec::new(),
            warnings: Vec::new(),
            moved_to: None,
        };
        let (mut place, mut redirected) = (0, false);
        let ask = self.requests().open_issues(label);
        pages::read(&self.caller, ask, |page| {
            redirected |= page.redirected;
            for item in &page.items {
                place += 1;
                match answers::listed_issue(item, place) {
                    // What changes while we read moves to another page and is listed twice.
                    Ok(issue)
                        if listing
                            .items
                            .iter()
                            .any(|known: &Issue| known.iid == issue.iid) => {}
                    // The server's filter minds case, knows words of its own, or was not used.
                    Ok(issue) if !issue.open || !answers::carries(&issue, label) => {}
                    Ok(issue) => listing.items.push(issue),
                    Err(warning) => listing.warnings.push(warning),
                }
            }
            Ok(None::<()>)
        })
        .await?;
        if redirected && self.moved.get().is_none() {
            self.project().await?;
        }
        listing.moved_to = self.moved.get().map(|moved| moved.path.clone());
        Ok(listing)
    }

    async fn newest_label_event(
        &self,
        iid: u64,
        label: &str,
    ) -> Result<Option<LabelEvent>, ForgeError> {
        let ask = self.requests().label_events(iid);
        let mut items = Vec::new();
        pages::read(&self.caller, ask.clone(), |page| {
            items.extend(page.items.iter().cloned());
            Ok(None::<()>)
        })
        .await?;
        answers::newest_label_event(&items, label).map_err(|why| unusable(&ask, &why))
    }

    async fn access_level(&self, user_id: u64) -> Result<Option<u64>, ForgeError> {
        let ask = self.requests().member(user_id);
        let Some(body) = unless_gone(self.caller.object(&ask).await)? else {
            return Ok(None);
        };
        answers::membership(&body).map_err(|why| unusable(&ask, &why))
    }

    async fn issue(&self, iid: u64) -> Result<Option<Issue>, ForgeError> {
        let ask = self.requests().issue(iid);
        let Some(body) = unless_gone(self.caller.object(&ask).await)? else {
            return Ok(None);
        };
        answers::issue(&body)
            .map(Some)
            .map_err(|why| unusable(&ask, &why))
    }

    async fn branch_exists(&self, branch: &str) -> Result<bool, ForgeError> {
        let Some(ask) = self.requests().branch(branch) else {
            return Ok(false);
        };
        Ok(unless_gone(self.caller.send(&ask).await)?.is_some())
    }

    async fn merge_requests(&self, branch: &str) -> Result<Vec<MergeRequest>, ForgeError> {
        let mut found = Vec::new();
        let ask = self.requests().merge_requests(branch);
        pages::read(&self.caller, ask, |page| {
            for item in &page.items {
                let merge_request = answers::merge_request(item)
                    .map_err(|why| format!("a merge request cannot be read: {why}"))?;
                // An instance that does not know the filter would answer with all there are.
                if merge_request.source_branch == branch {
                    found.push(merge_request);
                }
            }
            Ok(None::<()>)
        })
        .await?;
        Ok(found)
    }

    async fn contains(&self, head: &str, commit: &str) -> Result<bool, ForgeError> {
        let ask = self.requests().merge_base(head, commit);
        let body = match self.caller.object(&ask).await {
            Ok(body) => body,
            // Nothing in common, or one of the two is not there.
            Err(ForgeError::NotFound { .. }) => return Ok(false),
            Err(ForgeError::Refused {
                status: 400,
                detail,
                ..
            }) if detail.contains("find ref") => {
                return Ok(false);
            }
            Err(other) => return Err(other),
        };
        answers::is_merge_base(&body, commit).map_err(|why| unusable(&ask, &why))
    }

    async fn open_merge_request(
        &self,
        draft: &MergeRequestDraft,
    ) -> Result<MergeRequest, ForgeError> {
        let body = self
            .write(|requests| requests.new_merge_request(draft))
            .await?;
        let ask = self.requests().new_merge_request(draft);
        answers::merge_request(&body).map_err(|why| unusable(&ask, &why))
    }

    async fn find_note(
        &self,
        iid: u64,
        marker: &str,
        since: f64,
    ) -> Result<Option<String>, ForgeError> {
        let identity = self.identity().await?;
        let since = since - CLOCK_SKEW;
        let ask = self.requests().notes(iid);
        let found = pages::read(&self.caller, ask, |page| {
            Ok(
                match answers::marked_note(&page.items, &identity.username, marker, since) {
                    Marked::Found(note) => Some(Some(note)),
                    Marked::Over => Some(None),
                    Marked::NotHere => None,
                },
            )
        });
        Ok(found
            .await?
            .flatten()
            .map(|note| self.note_address(iid, note)))
    }

    async fn note(&self, iid: u64, body: &str) -> Result<(), ForgeError> {
        self.write(|requests| requests.new_note(iid, body))
            .await
            .map(drop)
    }
}
