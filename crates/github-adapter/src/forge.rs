//! The review port over GitHub's REST API: requests and answers joined.

use std::cell::Cell;

use forge_http::answers::Item;
use forge_http::{Ask, CLOCK_SKEW, Caller, MAX_PAGES, too_long, unusable};
use http_client::{Client, Secret};
use lifecycle::ports::{
    ForgeError, LabelEvent, Listing, Pull, PullDetails, ReviewForge, ReviewRef,
};
use url::Url;

use crate::answers::{self, Proof};
use crate::config::RepoName;
use crate::dialect::DIALECT;
use crate::pages::Page;
use crate::refusals::hidden;
use crate::requests::{Requests, get};
use crate::viewer::Viewer;

/// One repository on GitHub.
pub struct GitHub {
    pub(crate) requests: Requests,
    pub(crate) caller: Caller,
    pub(crate) viewer: Viewer,
    /// Whether the repository has answered in this run: only then does a 404 about a part of it
    /// mean that the part is gone.
    seen: Cell<bool>,
}

impl std::fmt::Debug for GitHub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GitHub")
            .field("repo", self.requests.repo())
            .finish_non_exhaustive()
    }
}

impl GitHub {
    /// A repository on the GitHub at `api_base` (see [`crate::api_base`]). The token goes to the
    /// origin of `api_base` only. Nothing is asked yet.
    pub fn new(client: Client, api_base: Url, repo: RepoName, token: Secret) -> Self {
        Self {
            requests: Requests::new(api_base, repo),
            caller: Caller::new(&DIALECT, client, token),
            viewer: Viewer::default(),
            seen: Cell::new(false),
        }
    }

    /// Tells what time it is (seconds since the epoch), so that a limit that GitHub states as a
    /// number of seconds can be told as a moment.
    #[must_use]
    pub fn as_of(mut self, now: f64) -> Self {
        self.caller.set_now(now);
        self
    }

    /// A page about the repository.
    async fn page(&self, ask: &Ask) -> Result<Page, ForgeError> {
        let page = Page::ask(&self.caller, ask, self.requests.api()).await?;
        self.seen.set(true);
        Ok(page)
    }

    /// The name that the repository has now.
    async fn current_name(&self) -> Result<Option<String>, ForgeError> {
        let ask = self.requests.repository();
        let body = self.caller.object(&ask).await.map_err(hidden)?;
        self.seen.set(true);
        answers::full_name(&body).map_err(|why| unusable(&ask, &why))
    }

    /// `None` for a part of the repository that is gone; an error when the repository itself cannot
    /// be seen.
    pub(crate) async fn unless_gone<T>(
        &self,
        outcome: Result<T, ForgeError>,
    ) -> Result<Option<T>, ForgeError> {
        match outcome {
            Ok(value) => Ok(Some(value)),
            Err(ForgeError::NotFound { .. }) => {
                if !self.seen.get() {
                    self.current_name().await?;
                }
                Ok(None)
            }
            Err(other) => Err(other),
        }
    }

    /// Looks through a list that GitHub gives oldest first, from its end: the first page (which says
    /// where the last one is), then the last one, then backwards until `find` finds.
    async fn newest<T>(
        &self,
        ask: Ask,
        find: impl Fn(&[Item]) -> Result<Option<T>, String>,
    ) -> Result<Option<T>, ForgeError> {
        let found_in = |page: &Page| find(&page.items).map_err(|why| unusable(&ask, &why));
        let first = self.page(&ask).await?;
        let mut count = 1;
        let mut read = async |url: Url| {
            count += 1;
            if count > MAX_PAGES {
                return Err(too_long(&ask));
            }
            self.page(&get(url)).await
        };
        // To the end: the last page if it is named, else page by page; also what has come since.
        let mut ahead = Vec::new();
        let skips = first.links.last.is_some();
        let mut next = if skips {
            first.links.last.clone()
        } else {
            first.links.next.clone()
        };
        while let Some(url) = next.take() {
            let page = read(url).await?;
            next.clone_from(&page.links.next);
            ahead.push(page);
        }
        for page in ahead.iter().rev() {
            if let Some(found) = found_in(page)? {
                return Ok(Some(found));
            }
        }
        // And back again to the first page, which is at hand.
        let mut prev = match ahead.first() {
            Some(page) if skips => page.links.prev_of_many(),
            _ => None,
        };
        while let Some(url) = prev {
            let page = read(url).await?;
            if let Some(found) = found_in(&page)? {
                return Ok(Some(found));
            }
            prev = page.links.prev_of_many();
        }
        found_in(&first)
    }
}

impl ReviewForge for GitHub {
    async fn list_open(&self) -> Result<Listing<Pull>, ForgeError> {
        let ask = self.requests.open_pulls();
        let mut listing = Listing {
            items: Vec::new(),
            warnings: Vec::new(),
            moved_to: None,
        };
        let mut page = self.page(&ask).await.map_err(hidden)?;
        if page.moved {
            listing.moved_to = match answers::base_repo_name(&page.items) {
                Some(name) => Some(name),
                None => self.current_name().await?,
            };
        }
        let mut pages = 1;
        let mut place = 0;
        loop {
            for item in &page.items {
                place += 1;
                match answers::listed_pull(item, place) {
                    // What changes while we read moves to another page and is listed twice.
                    Ok(pull)
                        if listing
                            .items
                            .iter()
                            .any(|known: &Pull| known.number == pull.number) => {}
                    Ok(pull) => listing.items.push(pull),
                    Err(warning) => listing.warnings.push(warning),
                }
            }
            let Some(next) = page.links.next else {
                return Ok(listing);
            };
            pages += 1;
            if pages > MAX_PAGES {
                return Err(too_long(&ask));
            }
            page = self.page(&get(next)).await?;
        }
    }

    async fn newest_label_event(
        &self,
        number: u64,
        label: &str,
    ) -> Result<Option<LabelEvent>, ForgeError> {
        let ask = self.requests.events(number);
        self.newest(ask, |items| answers::newest_label_event(items, label))
            .await
    }

    async fn pull(&self, number: u64) -> Result<Option<PullDetails>, ForgeError> {
        let ask = self.requests.pull(number);
        let Some(body) = self.unless_gone(self.caller.object(&ask).await).await? else {
            return Ok(None);
        };
        self.seen.set(true);
        answers::pull_details(&body)
            .map(Some)
            .map_err(|why| unusable(&ask, &why))
    }

    async fn published_review(
        &self,
        number: u64,
        head_sha: &str,
        since: f64,
    ) -> Result<Option<ReviewRef>, ForgeError> {
        let login = self.viewer.login(&self.caller, &self.requests).await?;
        let proof = Proof {
            login,
            head_sha,
            // A moment by GitHub's own clock, as the moment of a review is.
            since,
        };
        let ask = self.requests.reviews(number);
        self.newest(ask, |items| Ok(answers::published_review(items, &proof)))
            .await
    }

    async fn find_comment(
        &self,
        number: u64,
        marker: &str,
        since: f64,
    ) -> Result<Option<String>, ForgeError> {
        let login = self.viewer.login(&self.caller, &self.requests).await?;
        let ask = self.requests.comments(number, since - CLOCK_SKEW);
        self.newest(ask, |items| {
            Ok(answers::marked_comment(items, login, marker))
        })
        .await
    }

    async fn comment(&self, number: u64, body: &str) -> Result<String, ForgeError> {
        let ask = self.requests.new_comment(number, body);
        let answer = self.caller.object(&ask).await?;
        answers::posted_comment(&answer).map_err(|why| unusable(&ask, &why))
    }

    async fn file_at(
        &self,
        path: &str,
        reference: &str,
        max: u64,
    ) -> Result<Option<String>, ForgeError> {
        self.read_file(path, reference, max).await
    }
}
