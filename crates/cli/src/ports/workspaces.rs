//! Workspaces on the disk.

use lifecycle::decide::Stopped;
use lifecycle::ports::{WorkspaceError, Workspaces};
use std::path::Path;
use workspace_fs::WorkspaceRoots;

/// The workspaces of one automation.
#[derive(Debug)]
pub struct WorkspacesPort {
    roots: WorkspaceRoots,
}

impl WorkspacesPort {
    /// Workspaces below these roots.
    pub fn new(roots: WorkspaceRoots) -> Self {
        Self { roots }
    }

    /// The roots themselves.
    pub fn roots(&self) -> &WorkspaceRoots {
        &self.roots
    }
}

fn failed(dir: &str, error: &workspace_fs::WorkspaceError) -> WorkspaceError {
    match error {
        workspace_fs::WorkspaceError::OutsideRoots { .. } => WorkspaceError::OutsideRoots {
            dir: dir.to_owned(),
        },
        other => WorkspaceError::Io {
            dir: dir.to_owned(),
            detail: other.to_string(),
        },
    }
}

impl Workspaces for WorkspacesPort {
    async fn create(&self, parts: &[&str]) -> Result<String, WorkspaceError> {
        let workspace = self
            .roots
            .create(parts)
            .await
            .map_err(|error| failed(&self.path_of(parts), &error))?;
        Ok(workspace.path().to_string_lossy().into_owned())
    }

    fn path_of(&self, parts: &[&str]) -> String {
        self.roots.path_of(parts).to_string_lossy().into_owned()
    }

    async fn remove(&self, dir: &str, _stopped: &Stopped) -> Result<(), WorkspaceError> {
        self.roots
            .remove(Path::new(dir))
            .await
            .map(|_| ())
            .map_err(|error| failed(dir, &error))
    }

    async fn read_file(
        &self,
        dir: &str,
        path: &str,
        max: u64,
    ) -> Result<Option<String>, WorkspaceError> {
        self.roots
            .read_file(Path::new(dir), Path::new(path), max)
            .await
            .map_err(|error| failed(dir, &error))
    }

    async fn exists(&self, dir: &str) -> Result<bool, WorkspaceError> {
        match self.roots.find(Path::new(dir)).await {
            Ok(found) => Ok(found.is_some()),
            // Whatever is there, it is no workspace of ours.
            Err(workspace_fs::WorkspaceError::OutsideRoots { .. }) => Ok(false),
            Err(error) => Err(failed(dir, &error)),
        }
    }
}

#[cfg(test)]
mod tests;
