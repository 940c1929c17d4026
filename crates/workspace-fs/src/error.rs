//! Everything that can go wrong in this crate: what failed, on what, and what a person can do.

use std::io;
use std::path::{Path, PathBuf};

/// The one error of this crate. Texts never hold a credential.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// `WORKSPACE_BASE` cannot be used: it is relative, or goes up with `..`.
    #[error(
        "WORKSPACE_BASE is {path}, which is not an absolute path without `..`; set it to a directory such as /workspace"
    )]
    InvalidBase {
        /// The value in question.
        path: PathBuf,
    },
    /// The directory is below none of our roots (or is a root, or lies deeper than a workspace): it
    /// is never touched.
    #[error(
        "{dir} is outside the workspace roots ({expected}) and is left alone; if the record's workspace_dir is wrong, take it out by hand"
    )]
    OutsideRoots {
        /// The directory in question.
        dir: PathBuf,
        /// What a workspace of this automation looks like.
        expected: String,
    },
    /// The number of name parts does not fit the automation's folder.
    #[error("a workspace below {area} needs {expected} name part(s), got {found}")]
    NameParts {
        /// The automation's folder.
        area: &'static str,
        /// How many it takes.
        expected: usize,
        /// How many there were.
        found: usize,
    },
    /// A component below the root was replaced by a symbolic link or something else that is not a
    /// directory. Nothing behind it is touched.
    #[error(
        "{path} is not a directory of ours but a {found}; nothing behind it was touched, remove it by hand"
    )]
    Replaced {
        /// Where it stands.
        path: PathBuf,
        /// `symbolic link`, `file` or `special file`.
        found: &'static str,
    },
    /// The system refused.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The archive is cut short, damaged, or followed by something that does not belong to it. A
    /// later download may be whole.
    #[error("the archive is broken: {reason}; nothing of it was kept")]
    ArchiveBroken {
        /// What is wrong with it.
        reason: String,
    },
    /// The archive holds what no code host writes. Trying again does not help.
    #[error("the archive is refused: {reason}; nothing of it was kept")]
    ArchiveRefused {
        /// Which entry, and why.
        reason: String,
    },
    /// The archive unpacks to more bytes than allowed.
    #[error(
        "the archive is refused: it unpacks to more than {limit} bytes (max_archive_bytes); nothing of it was kept"
    )]
    ArchiveTooLarge {
        /// The limit, in bytes.
        limit: u64,
    },
    /// The archive has more entries than allowed.
    #[error(
        "the archive is refused: it has more than {limit} entries (max_archive_entries); nothing of it was kept"
    )]
    ArchiveTooManyEntries {
        /// The limit.
        limit: u64,
    },
    /// The source of the archive's bytes failed.
    #[error("the download of the archive failed: {reason}; nothing of it was kept")]
    ArchiveSource {
        /// The source's own words.
        reason: String,
    },
    /// There is no git on the search path.
    #[error("git was not found on PATH; install git {minimum} or newer")]
    GitMissing {
        /// The oldest version that will do.
        minimum: &'static str,
    },
    /// The git found is too old to take its settings and the credential through the environment.
    #[error("{path} is {found}, but git {minimum} or newer is needed")]
    GitTooOld {
        /// Where it is.
        path: PathBuf,
        /// What it calls itself.
        found: String,
        /// The oldest version that will do.
        minimum: &'static str,
    },
    /// An address, branch name or commit id that git must not be given.
    #[error("{what} {value:?} cannot be used: {reason}")]
    GitArgument {
        /// `address`, `branch name` or `commit id`.
        what: &'static str,
        /// The value, without credentials.
        value: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// git did not end in time and was killed.
    #[error(
        "{call} was stopped after {seconds} s without an end; check the connection to the host"
    )]
    GitTimeout {
        /// The git command in words.
        call: &'static str,
        /// The limit, in seconds.
        seconds: u64,
    },
    /// The host could not be reached, or broke off.
    #[error(
        "{call} did not get through to the host: {text}; check address, proxy and CA certificates, or try again later"
    )]
    GitUnreachable {
        /// The git command in words.
        call: &'static str,
        /// Cleaned words of git.
        text: String,
    },
    /// The host does not accept the credential, or wants one.
    #[error(
        "{call} was not accepted by the host: {text}; check that the token is valid and may use git over HTTP (scopes read_repository and write_repository)"
    )]
    GitAuth {
        /// The git command in words.
        call: &'static str,
        /// Cleaned words of git.
        text: String,
    },
    /// The credential is good, but its owner may not do this (403).
    #[error(
        "{call} is not allowed: {text}; the token's owner needs at least the Developer role and the scope write_repository"
    )]
    GitForbidden {
        /// The git command in words.
        call: &'static str,
        /// Cleaned words of git.
        text: String,
    },
    /// No such repository, or it is hidden from the token.
    #[error(
        "{call} did not find the repository: {text}; check the project's path and the token's membership"
    )]
    GitNotFound {
        /// The git command in words.
        call: &'static str,
        /// Cleaned words of git.
        text: String,
    },
    /// The remote has no such branch.
    #[error("the remote repository has no branch {branch}; check the project's default branch")]
    GitBranchMissing {
        /// The branch asked for.
        branch: String,
    },
    /// The host answered with a redirect. It is not followed, so that the credential goes nowhere
    /// else.
    #[error(
        "{call} was redirected and did not follow, so that the token stays with its host: {text}; configure the address that the host itself uses"
    )]
    GitRedirected {
        /// The git command in words.
        call: &'static str,
        /// Cleaned words of git.
        text: String,
    },
    /// The branch exists on the remote with work that is not ours. It was not touched.
    #[error(
        "the branch {branch} exists on the remote with other work and was left alone; another name is needed"
    )]
    BranchTaken {
        /// The branch in question.
        branch: String,
    },
    /// The branch is protected.
    #[error(
        "the push to {branch} was refused because the branch is protected: {rule}; allow the token's owner to push there, or choose another branch_prefix"
    )]
    BranchProtected {
        /// The branch in question.
        branch: String,
        /// The host's own words, cleaned.
        rule: String,
    },
    /// The repository has no room left.
    #[error(
        "the push to {branch} was refused for lack of space: {rule}; raise the project's storage limit or free some"
    )]
    StorageFull {
        /// The branch in question.
        branch: String,
        /// The host's own words, cleaned.
        rule: String,
    },
    /// A push rule or hook of the host refused the push.
    #[error(
        "the push to {branch} was refused by a rule of the host: {rule}; change the rule, or what it asks of commits"
    )]
    PushRejected {
        /// The branch in question.
        branch: String,
        /// The host's own words, cleaned.
        rule: String,
    },
    /// git failed in another way.
    #[error("{call} failed ({code}): {text}")]
    GitFailed {
        /// The git command in words.
        call: &'static str,
        /// Exit code, or the signal that ended it.
        code: String,
        /// Cleaned words of git.
        text: String,
    },
    /// What the agent left cannot be read as data.
    #[error("the clone in {dir} cannot be read: {reason}")]
    CloneUnreadable {
        /// The workspace.
        dir: PathBuf,
        /// Why.
        reason: String,
    },
    /// There are neither commits nor changes to push.
    #[error("the clone in {dir} holds no commits and no changes to push")]
    NothingToPush {
        /// The workspace.
        dir: PathBuf,
    },
    /// A worker thread ended without an answer.
    #[error("{action} was cut off; try again at the next poll")]
    Interrupted {
        /// What was being done.
        action: &'static str,
    },
}

impl WorkspaceError {
    /// An error of the system, with what was tried on what.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }
}
