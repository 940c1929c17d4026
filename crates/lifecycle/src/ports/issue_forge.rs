//! GitLab and git, as the issue automation needs them. One value serves one project.

use super::{ForgeError, LabelEvent, Listing};

/// The project, as far as it decides what can be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The forge's numeric id.
    pub id: u64,
    /// Full path as it is now.
    pub path: String,
    /// Default branch; `None` for an empty repository or one that is switched off.
    pub default_branch: Option<String>,
    /// Address for git over HTTP, as the forge reports it.
    pub http_url: String,
    /// Address for people.
    pub web_url: String,
    /// Archived projects take no work.
    pub archived: bool,
    /// Whether issues are switched on.
    pub issues_enabled: bool,
    /// Whether the repository is switched on.
    pub repository_enabled: bool,
    /// The token's access level, if stated (30 is Developer, the least that can push).
    pub access_level: Option<u64>,
    /// The name under which it is reached now, if it was moved from the configured one.
    pub moved_to: Option<String>,
}

/// An issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Number in its project.
    pub iid: u64,
    /// Title.
    pub title: String,
    /// Open, as opposed to closed.
    pub open: bool,
    /// Label names.
    pub labels: Vec<String>,
    /// When anything about it changed last (RFC 3339).
    pub updated_at: String,
    /// Address for people.
    pub web_url: String,
}

/// A merge request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeRequest {
    /// Number in its project.
    pub iid: u64,
    /// Address for people.
    pub web_url: String,
    /// `opened`, `closed`, `merged` or `locked`.
    pub state: String,
    /// When it was opened (RFC 3339).
    pub created_at: String,
    /// Name of the branch it comes from.
    pub source_branch: String,
    /// Whether that branch is in this same project (not in a fork).
    pub same_project: bool,
    /// Commit at the head of that branch, if stated.
    pub sha: Option<String>,
    /// Who opened it, if the account still exists.
    pub author: Option<String>,
    /// Its description, or empty. Those that we open carry our mark in it.
    pub description: String,
}

/// A merge request to be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeRequestDraft {
    /// Branch with the work.
    pub source_branch: String,
    /// Branch to merge into.
    pub target_branch: String,
    /// Title, draft prefix included.
    pub title: String,
    /// Description.
    pub description: String,
}

/// Who the token belongs to; also the identity of commits that we make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Login.
    pub username: String,
    /// Name for commits.
    pub name: String,
    /// Mail for commits.
    pub email: String,
}

/// One project on GitLab.
pub trait IssueForge {
    /// The project itself.
    fn project(&self) -> impl Future<Output = Result<Project, ForgeError>>;

    /// The token's owner.
    fn identity(&self) -> impl Future<Output = Result<Identity, ForgeError>>;

    /// The spelling that the project itself gives a label; `None` when it has none of that name
    /// (compared without case).
    fn label_spelling(
        &self,
        label: &str,
    ) -> impl Future<Output = Result<Option<String>, ForgeError>>;

    /// All open issues that carry a label, in the spelling given.
    fn list_labelled(
        &self,
        label: &str,
    ) -> impl Future<Output = Result<Listing<Issue>, ForgeError>>;

    /// The newest event that put a label (compared without case) on an issue.
    fn newest_label_event(
        &self,
        iid: u64,
        label: &str,
    ) -> impl Future<Output = Result<Option<LabelEvent>, ForgeError>>;

    /// The access level of an account in the project, memberships of parent groups included; `None`
    /// for no membership.
    fn access_level(&self, user_id: u64) -> impl Future<Output = Result<Option<u64>, ForgeError>>;

    /// One issue; `None` when it is gone.
    fn issue(&self, iid: u64) -> impl Future<Output = Result<Option<Issue>, ForgeError>>;

    /// Whether a branch of that name exists.
    fn branch_exists(&self, branch: &str) -> impl Future<Output = Result<bool, ForgeError>>;

    /// All merge requests ever opened from a branch, newest first.
    fn merge_requests(
        &self,
        branch: &str,
    ) -> impl Future<Output = Result<Vec<MergeRequest>, ForgeError>>;

    /// Whether `commit` is an ancestor of (or the same as) `head`.
    fn contains(&self, head: &str, commit: &str) -> impl Future<Output = Result<bool, ForgeError>>;

    /// Opens a merge request. An answer of 409 or 422 that says one is open already is
    /// [`ForgeError::Refused`]; the caller looks for it.
    fn open_merge_request(
        &self,
        draft: &MergeRequestDraft,
    ) -> impl Future<Output = Result<MergeRequest, ForgeError>>;

    /// The address of a note that holds `marker`, if there is one; reads newest first and looks no
    /// further back than `since` (seconds since the epoch).
    fn find_note(
        &self,
        iid: u64,
        marker: &str,
        since: f64,
    ) -> impl Future<Output = Result<Option<String>, ForgeError>>;

    /// Posts a note once (never repeated by itself).
    fn note(&self, iid: u64, body: &str) -> impl Future<Output = Result<(), ForgeError>>;
}

/// A clone to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloneRequest {
    /// Address, as the forge reports it.
    pub url: String,
    /// Branch to clone.
    pub base_branch: String,
    /// Branch to create for the work.
    pub branch: String,
    /// Existing, empty directory.
    pub dir: String,
    /// Who commits.
    pub identity: Identity,
}

/// A fresh clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloneFacts {
    /// The commit it starts from.
    pub base_sha: String,
    /// Whether the tree names submodules (not fetched).
    pub has_submodules: bool,
    /// Whether the tree uses large files (not fetched).
    pub has_lfs: bool,
}

/// What an agent left in a clone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Commits on top of the base.
    pub commits: u64,
    /// Whether there are changes that were not committed (ignored files do not count).
    pub uncommitted: bool,
}

impl Work {
    /// Whether there is nothing to push.
    pub fn is_empty(self) -> bool {
        self.commits == 0 && !self.uncommitted
    }
}

/// Work to be pushed.
#[derive(Clone, Debug, PartialEq)]
pub struct PushRequest {
    /// Address, as the forge reports it.
    pub url: String,
    /// The clone.
    pub dir: String,
    /// The commit that the work starts from.
    pub base_sha: String,
    /// Branch to push to.
    pub branch: String,
    /// Message for what the agent left uncommitted.
    pub message: String,
    /// Who commits.
    pub identity: Identity,
    /// The branch that the clone was made for; the agent may have left it.
    pub work_branch: String,
    /// Time of that commit, seconds since the epoch: the same for every attempt, so that a
    /// repeated one makes the same commit and finds it pushed.
    pub committed_at: f64,
}

/// What was pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// The commit that the branch points to now.
    pub sha: String,
    /// Commits on top of the base.
    pub commits: u64,
}

/// Why work could not be read or pushed.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum PushError {
    /// The branch exists with other work: it is never touched or forced over.
    #[error("the branch {0} exists with other work")]
    Taken(String),
    /// The forge refused the push; the text says what a person can change, without secrets.
    #[error("git push failed: {0}")]
    Refused(String),
    /// The clone cannot be read as data, or the disk refused.
    #[error("the clone cannot be used: {0}")]
    Clone(String),
    /// Network or time limit.
    #[error("git did not get through: {0}")]
    Unavailable(String),
}

/// Git, with nothing of a clone's own configuration obeyed.
pub trait Clones {
    /// Makes a shallow clone of one branch, without any credential in it.
    fn clone_branch(
        &self,
        request: &CloneRequest,
    ) -> impl Future<Output = Result<CloneFacts, PushError>>;

    /// Reads what an agent left in the clone at `dir`: what `HEAD` names, else what `branch` names. From
    /// `url` comes what the clone itself has lost.
    fn inspect(
        &self,
        dir: &str,
        base_sha: &str,
        branch: &str,
        url: &str,
    ) -> impl Future<Output = Result<Work, PushError>>;

    /// Commits what was left, pushes one branch, never forced. The same work pushed before is
    /// success.
    fn push(&self, request: &PushRequest) -> impl Future<Output = Result<Pushed, PushError>>;
}
