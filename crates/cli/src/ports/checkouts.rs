//! Commits, streamed from GitHub's archives into workspaces.

use github_adapter::GitHub;
use http_client::{BodyStream, Bytes, HttpError};
use lifecycle::ports::{CheckoutError, CheckoutReport, Checkouts};
use std::path::Path;
use workspace_fs::{
    ChunkSource, Extracted, Limits, Skipped, WorkspaceError, WorkspaceRoots, extract_stream,
};

/// Checkouts of one repository.
pub struct CheckoutsPort<'a> {
    /// The repository.
    pub forge: &'a GitHub,
    /// Where workspaces are.
    pub roots: &'a WorkspaceRoots,
    /// What an archive may unpack to.
    pub limits: Limits,
}

struct Download(BodyStream);

impl ChunkSource for Download {
    type Chunk = Bytes;
    type Error = HttpError;

    async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        self.0.chunk().await
    }
}

impl Checkouts for CheckoutsPort<'_> {
    async fn checkout(&self, head_sha: &str, dir: &str) -> Result<CheckoutReport, CheckoutError> {
        let workspace = match self.roots.find(Path::new(dir)).await {
            Ok(Some(workspace)) => workspace,
            Ok(None) => return Err(CheckoutError::Failed(format!("{dir} is gone"))),
            Err(error) => return Err(CheckoutError::Failed(error.to_string())),
        };
        // Compressed, an archive is never larger than what it unpacks to, but for its headers.
        let max_download = self.limits.max_bytes.saturating_add(64 << 20);
        let stream = self.forge.archive(head_sha, max_download).await?;
        match extract_stream(&mut Download(stream), &workspace, &self.limits).await {
            Ok(unpacked) => Ok(report(&unpacked)),
            Err(
                error @ (WorkspaceError::ArchiveRefused { .. }
                | WorkspaceError::ArchiveTooLarge { .. }
                | WorkspaceError::ArchiveTooManyEntries { .. }),
            ) => Err(CheckoutError::Refused(error.to_string())),
            Err(error) => Err(CheckoutError::Failed(error.to_string())),
        }
    }
}

fn report(unpacked: &Extracted) -> CheckoutReport {
    CheckoutReport {
        files: unpacked.files,
        skipped: in_words(&unpacked.skipped),
        has_submodules: unpacked.has_submodules,
        has_lfs: unpacked.has_lfs_pointers,
    }
}

fn in_words(skipped: &Skipped) -> String {
    let counts = [
        (skipped.symlinks, "symbolic links"),
        (skipped.hard_links, "hard links"),
        (skipped.devices, "device files"),
        (skipped.duplicates, "duplicate paths"),
        (skipped.case_collisions, "paths that differ only in case"),
        (skipped.conflicts, "paths below a file"),
        (skipped.unusable_names, "unusable names"),
        (skipped.git_metadata, "git metadata files"),
        (skipped.others, "other entries"),
    ];
    let words: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    words.join(", ")
}

#[cfg(test)]
mod tests;
