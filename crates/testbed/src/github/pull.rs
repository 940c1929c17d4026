//! What a test does with a pull request, and what it sees of it.

use std::fmt;

use super::model::{CommentData, InlineComment, Model, PullData, ReviewData, ReviewState, Source};
use super::{Shared, lock};
use crate::tree::{Entry, files};

/// A pull request of a [`Repository`](super::Repository).
#[derive(Clone)]
pub struct Pull {
    pub(super) model: Shared,
    pub(super) repo: u64,
    pub(super) number: u64,
}

/// A comment as it stands in the conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Posted {
    /// Its id.
    pub id: u64,
    /// Login of its author; `None` for an account that is gone.
    pub author: Option<String>,
    /// The text.
    pub body: String,
    /// When it was posted, seconds since the epoch.
    pub created_at: f64,
}

/// A review.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    /// Its id.
    pub id: u64,
    /// Login of its author; `None` for an account that is gone.
    pub author: Option<String>,
    /// Where it stands.
    pub state: ReviewState,
    /// The text.
    pub body: String,
    /// The commit it is about.
    pub commit: String,
    /// When it was submitted, seconds since the epoch; `None` while it is pending.
    pub submitted_at: Option<f64>,
    /// Its comments on lines.
    pub comments: Vec<InlineComment>,
}

impl Pull {
    fn read<T: Default>(&self, read: impl FnOnce(&PullData) -> T) -> T {
        let model = lock(&self.model);
        let pull = model
            .repos
            .get(&self.repo)
            .and_then(|repo| repo.pulls.get(&self.number));
        pull.map(read).unwrap_or_default()
    }

    /// Changes the pull request and notes that it was updated.
    fn change(&self, change: impl FnOnce(&mut PullData, f64)) {
        change_pull(&mut lock(&self.model), self.repo, self.number, change);
    }

    fn record<'a>(&self, kind: &str, by: impl Into<Option<&'a str>>) -> u64 {
        lock(&self.model).record(self.repo, self.number, kind, by.into(), None)
    }

    /// Its number.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The commit that it stands at.
    pub fn head_sha(&self) -> String {
        self.read(|pull| pull.head_sha.clone())
    }

    /// The labels that it carries, as they are spelt.
    pub fn labels(&self) -> Vec<String> {
        let model = lock(&self.model);
        let Some(repo) = model.repos.get(&self.repo) else {
            return Vec::new();
        };
        let keys = repo.pulls.get(&self.number).map(|pull| pull.labels.clone());
        let spelt = |key: String| repo.labels.get(&key).map_or(key, |(_, name)| name.clone());
        keys.unwrap_or_default().into_iter().map(spelt).collect()
    }

    /// Whether it is open.
    pub fn is_open(&self) -> bool {
        self.read(|pull| pull.open)
    }

    /// When it was last updated, seconds since the epoch.
    pub fn updated_at(&self) -> f64 {
        self.read(|pull| pull.updated_at)
    }

    /// Puts a label on it and returns the id of the event. A label keeps the spelling in which the
    /// repository first had it; the event has the one given. `None` is an account that is gone.
    pub fn label<'a>(&self, name: &str, by: impl Into<Option<&'a str>>) -> u64 {
        let mut model = lock(&self.model);
        let key = name.to_lowercase();
        let fresh = model.fresh_id();
        if let Some(repo) = model.repos.get_mut(&self.repo) {
            repo.labels
                .entry(key.clone())
                .or_insert_with(|| (fresh, name.to_owned()));
            if let Some(pull) = repo.pulls.get_mut(&self.number)
                && !pull.labels.contains(&key)
            {
                pull.labels.push(key);
            }
        }
        model.record(self.repo, self.number, "labeled", by.into(), Some(name))
    }

    /// Takes a label off and returns the id of the event.
    pub fn unlabel<'a>(&self, name: &str, by: impl Into<Option<&'a str>>) -> u64 {
        let mut model = lock(&self.model);
        let key = name.to_lowercase();
        change_pull(&mut model, self.repo, self.number, |pull, _| {
            pull.labels.retain(|label| *label != key);
        });
        model.record(self.repo, self.number, "unlabeled", by.into(), Some(name))
    }

    /// Fills the list of events with `count` that are of no interest.
    pub fn add_noise(&self, count: usize) {
        for _ in 0..count {
            self.record("subscribed", "dev");
        }
    }

    /// Pushes a commit on top and returns its id.
    pub fn push_commit<P: Into<String>, E: Into<Entry>>(
        &self,
        changed: impl IntoIterator<Item = (P, E)>,
    ) -> String {
        self.push(files(changed), false)
    }

    /// Replaces its commits by one on its base; the former head can no longer be downloaded.
    pub fn force_push<P: Into<String>, E: Into<Entry>>(
        &self,
        changed: impl IntoIterator<Item = (P, E)>,
    ) -> String {
        let sha = self.push(files(changed), true);
        self.record("head_ref_force_pushed", "dev");
        sha
    }

    fn push(&self, changed: Vec<(String, Entry)>, force: bool) -> String {
        let mut model = lock(&self.model);
        let now = model.now();
        let Some(repo) = model.repos.get_mut(&self.repo) else {
            return String::new();
        };
        let Some(pull) = repo.pulls.get(&self.number) else {
            return String::new();
        };
        let (former, branch) = (pull.head_sha.clone(), pull.head_ref.clone());
        let parent = if force {
            pull.base_sha.clone()
        } else {
            former.clone()
        };
        let same = pull.source == Source::Same;
        let sha = repo.commit(Some(&parent), changed);
        if force {
            repo.commits.remove(&former);
        }
        if same {
            repo.branches.insert(branch, sha.clone());
        }
        repo.pushed_at = now;
        change_pull(&mut model, self.repo, self.number, |pull, _| {
            if force {
                pull.heads.clear();
            }
            pull.heads.push(sha.clone());
            pull.head_sha.clone_from(&sha);
        });
        sha
    }

    /// Posts a comment and returns its id.
    pub fn comment<'a>(&self, body: &str, by: impl Into<Option<&'a str>>) -> u64 {
        lock(&self.model).add_comment(self.repo, self.number, by.into(), body)
    }

    /// The comments in its conversation, oldest first.
    pub fn comments(&self) -> Vec<Posted> {
        let posted = |comment: &CommentData| Posted {
            id: comment.id,
            author: comment.author.clone(),
            body: comment.body.clone(),
            created_at: comment.at,
        };
        self.read(|pull| pull.comments.iter().map(posted).collect())
    }

    /// Writes a review of a commit (`None`: the head) and returns its id.
    pub fn review<'a>(
        &self,
        by: &str,
        state: ReviewState,
        body: &str,
        commit: impl Into<Option<&'a str>>,
    ) -> u64 {
        let head = self.head_sha();
        let mut model = lock(&self.model);
        let (id, now) = (model.fresh_id(), model.now());
        let review = ReviewData {
            id,
            author: Some(by.to_owned()),
            state,
            body: body.to_owned(),
            commit: commit.into().map_or(head, str::to_owned),
            submitted_at: (state != ReviewState::Pending).then_some(now),
            comments: Vec::new(),
        };
        model.add_review(self.repo, self.number, review);
        id
    }

    /// Its reviews, oldest first, those that are pending included.
    pub fn reviews(&self) -> Vec<Review> {
        let shown = |review: &ReviewData| Review {
            id: review.id,
            author: review.author.clone(),
            state: review.state,
            body: review.body.clone(),
            commit: review.commit.clone(),
            submitted_at: review.submitted_at,
            comments: review.comments.clone(),
        };
        self.read(|pull| pull.reviews.iter().map(shown).collect())
    }

    /// Closes it.
    pub fn close<'a>(&self, by: impl Into<Option<&'a str>>) {
        self.change(|pull, now| {
            pull.open = false;
            pull.closed_at = Some(now);
        });
        self.record("closed", by);
    }

    /// Opens it again.
    pub fn reopen<'a>(&self, by: impl Into<Option<&'a str>>) {
        self.change(|pull, _| {
            pull.open = true;
            pull.closed_at = None;
        });
        self.record("reopened", by);
    }

    /// Merges it.
    pub fn merge<'a>(&self, by: impl Into<Option<&'a str>>) {
        self.change(|pull, now| {
            pull.open = false;
            pull.closed_at = Some(now);
            pull.merged_at = Some(now);
        });
        self.record("merged", by);
    }

    /// Turns it into a draft, or makes it ready for review.
    pub fn set_draft(&self, draft: bool) {
        self.change(|pull, _| pull.draft = draft);
    }

    /// Gives it another title and description.
    pub fn edit<'a>(&self, title: &str, body: impl Into<Option<&'a str>>) {
        let body = body.into().map(str::to_owned);
        self.change(|pull, _| {
            title.clone_into(&mut pull.title);
            pull.body = body;
        });
    }

    /// Deletes the fork that it comes from: `head.repo` is `null`, the commits stay.
    pub fn delete_fork(&self) {
        self.change(|pull, _| {
            if let Source::Fork { full_name, .. } = &pull.source {
                let owner = full_name.split('/').next().unwrap_or_default().to_owned();
                pull.source = Source::DeletedFork { owner };
            }
        });
    }

    /// Lets it disappear: 404 for every call about it.
    pub fn vanish(&self) {
        self.change(|pull, _| pull.vanished = true);
    }

    /// Sets what it counts: changed files, added and deleted lines.
    pub fn set_size(&self, files: u64, additions: u64, deletions: u64) {
        self.change(|pull, _| pull.size = Some((files, additions, deletions)));
    }

    /// Sets its diff (unified, as git writes it): what reviews may comment on.
    pub fn set_diff(&self, unified: &str) {
        self.change(|pull, _| pull.diff = Some(unified.to_owned()));
    }
}

impl fmt::Debug for Pull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pull({} of repository {})", self.number, self.repo)
    }
}

fn change_pull(model: &mut Model, repo: u64, number: u64, change: impl FnOnce(&mut PullData, f64)) {
    let now = model.now();
    if let Some(pull) = model
        .repos
        .get_mut(&repo)
        .and_then(|repo| repo.pulls.get_mut(&number))
    {
        pull.updated_at = now;
        change(pull, now);
    }
}
