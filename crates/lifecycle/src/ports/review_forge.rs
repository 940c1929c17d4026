//! GitHub, as the reviewer needs it. One value serves one repository.

use super::{ForgeError, LabelEvent, Listing};

/// A pull request as the listing shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pull {
    /// Number in its repository.
    pub number: u64,
    /// The commit at the head of its branch.
    pub head_sha: String,
    /// Label names.
    pub labels: Vec<String>,
    /// Whether it is a draft.
    pub draft: bool,
    /// When anything about it changed last (RFC 3339).
    pub updated_at: String,
    /// Address for people.
    pub html_url: String,
}

/// A pull request in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullDetails {
    /// What the listing shows too.
    pub pull: Pull,
    /// Open, as opposed to closed or merged.
    pub open: bool,
    /// Title.
    pub title: String,
    /// Description, or empty.
    pub body: String,
    /// Login of the author; `None` for a deleted account.
    pub author: Option<String>,
    /// Name of the base branch.
    pub base_ref: String,
    /// Commit at the base when it was fetched.
    pub base_sha: String,
    /// Name of the head branch.
    pub head_ref: String,
    /// Whether the head is in another repository (or in one that is gone).
    pub from_fork: bool,
    /// Files changed, if stated.
    pub changed_files: Option<u64>,
    /// Lines added, if stated.
    pub additions: Option<u64>,
    /// Lines removed, if stated.
    pub deletions: Option<u64>,
    /// Commits, if stated.
    pub commits: Option<u64>,
}

/// A published review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewRef {
    /// The forge's id.
    pub id: u64,
    /// Address for people.
    pub html_url: String,
}

/// One repository on GitHub.
pub trait ReviewForge {
    /// All open pull requests.
    fn list_open(&self) -> impl Future<Output = Result<Listing<Pull>, ForgeError>>;

    /// The newest event that put `label` (compared without case) on a pull request.
    fn newest_label_event(
        &self,
        number: u64,
        label: &str,
    ) -> impl Future<Output = Result<Option<LabelEvent>, ForgeError>>;

    /// One pull request in full; `None` when it is gone.
    fn pull(&self, number: u64) -> impl Future<Output = Result<Option<PullDetails>, ForgeError>>;

    /// A review by the token's own user, published (not pending), of exactly this commit, submitted
    /// at or after `since` (seconds since the epoch, by the forge's own clock).
    fn published_review(
        &self,
        number: u64,
        head_sha: &str,
        since: f64,
    ) -> impl Future<Output = Result<Option<ReviewRef>, ForgeError>>;

    /// The address of a comment that holds `marker`, if there is one. Reads newest comments first
    /// and looks no further back than `since` (seconds since the epoch).
    fn find_comment(
        &self,
        number: u64,
        marker: &str,
        since: f64,
    ) -> impl Future<Output = Result<Option<String>, ForgeError>>;

    /// Posts a comment once (never repeated by itself) and returns its address.
    fn comment(&self, number: u64, body: &str) -> impl Future<Output = Result<String, ForgeError>>;

    /// A text file of the repository at a commit, at most `max` bytes; `None` when it is not there.
    fn file_at(
        &self,
        path: &str,
        reference: &str,
        max: u64,
    ) -> impl Future<Output = Result<Option<String>, ForgeError>>;
}

/// What unpacking a commit gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckoutReport {
    /// Files written.
    pub files: u64,
    /// One line saying what was left out (links, devices, collisions), or empty.
    pub skipped: String,
    /// Whether the tree names submodules (their folders are empty).
    pub has_submodules: bool,
    /// Whether the tree holds large-file pointers.
    pub has_lfs: bool,
}

/// Why a commit could not be unpacked. The directory holds nothing of it then.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum CheckoutError {
    /// The commit is not there any more (404): the branch was pushed over.
    #[error("the commit is gone: {0}")]
    Gone(String),
    /// The archive was refused: hostile, too large or too many entries. Says the figure.
    #[error("the archive was refused: {0}")]
    Refused(String),
    /// The archive ended early or is damaged, or the disk refused.
    #[error("the archive could not be unpacked: {0}")]
    Failed(String),
    /// The forge could not give it.
    #[error(transparent)]
    Forge(#[from] ForgeError),
}

/// Fetches commits into workspaces.
pub trait Checkouts {
    /// Streams the tree of a commit into an existing, empty directory.
    fn checkout(
        &self,
        head_sha: &str,
        dir: &str,
    ) -> impl Future<Output = Result<CheckoutReport, CheckoutError>>;
}
