//! Directories that agents work in.

use crate::decide::Stopped;

/// What could not be done with a directory.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum WorkspaceError {
    /// The directory is not below a root of ours: it is never touched.
    #[error(
        "{dir} is outside the workspace roots and is left alone; remove the record's workspace_dir by hand if it is wrong"
    )]
    OutsideRoots {
        /// The directory in question.
        dir: String,
    },
    /// The file system refused.
    #[error("{dir}: {detail}")]
    Io {
        /// The directory in question.
        dir: String,
        /// What was tried and what the system said.
        detail: String,
    },
}

/// Making, reading and removing workspaces.
pub trait Workspaces {
    /// Makes an empty workspace below the automation's folder and returns its absolute path.
    /// `parts` are names such as `["acme__widget", "pr-42-0123456789ab"]`; they are made safe. What a
    /// killed run left at that place is removed first: the caller holds the claim.
    fn create(&self, parts: &[&str]) -> impl Future<Output = Result<String, WorkspaceError>>;

    /// The path that [`create`](Self::create) would give, without making anything.
    fn path_of(&self, parts: &[&str]) -> String;

    /// Removes a workspace. It asks for proof that its conversation has stopped. One that is gone
    /// already is fine.
    fn remove(
        &self,
        dir: &str,
        stopped: &Stopped,
    ) -> impl Future<Output = Result<(), WorkspaceError>>;

    /// Reads a regular file inside a workspace, named by a relative path; never through a link and
    /// never out of the workspace. At most `max` bytes of it; `None` when there is none.
    fn read_file(
        &self,
        dir: &str,
        path: &str,
        max: u64,
    ) -> impl Future<Output = Result<Option<String>, WorkspaceError>>;

    /// Whether the workspace is there. One outside the roots is not; an error when the disk does not
    /// say.
    fn exists(&self, dir: &str) -> impl Future<Output = Result<bool, WorkspaceError>>;
}
