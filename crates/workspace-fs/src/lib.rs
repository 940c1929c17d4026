//! Directories that agents work in: where they may be, filling them from an archive or a clone,
//! taking the work out again, and removing them.
//!
//! What an agent touched is hostile. So below a root nothing follows a link, git never runs with a
//! configuration that an agent could write, and what is pushed is taken from the clone as data.
//!
//! ```
//! use workspace_fs::{Area, WorkspaceRoots, review_parts};
//!
//! # fn main() -> Result<(), workspace_fs::WorkspaceError> {
//! let roots = WorkspaceRoots::new("/workspace", Area::Repositories)?;
//! let parts = review_parts("acme/widget", 42, "0123456789abcdef0123456789abcdef01234567");
//! let path = roots.path_of(&parts);
//! assert_eq!(path.to_str(), Some("/workspace/repositories/acme__widget/pr-42-0123456789ab"));
//! # Ok(())
//! # }
//! ```

mod archive;
mod beneath;
mod error;
mod git;
mod names;
mod offload;
mod place;
mod roots;
mod tree;
mod workspace;

pub use archive::{ChunkSource, Extracted, Limits, Skipped, extract, extract_stream};
pub use error::WorkspaceError;
pub use git::{
    CloneOrder, CloneReport, GitCredential, GitIdentity, GitLimits, GitRemote, GitRunner,
    GitSettings, LeftOut, PushOrder, Pushed, Work, clean_git_output,
};
pub use names::{issue_parts, review_parts, safe_name, target_folder};
pub use roots::{Area, WorkspaceRoots};
pub use workspace::Workspace;
