//! Git, for the issue automation: clones in workspaces, and pushes from a repository of our own.

use http_client::Secret;
use lifecycle::ports::{
    CloneFacts, CloneRequest, Clones, Identity, PushError, PushRequest, Pushed, Work,
};
use std::path::Path;
use workspace_fs::{
    CloneOrder, GitCredential, GitIdentity, GitRemote, GitRunner, PushOrder, Workspace,
    WorkspaceError, WorkspaceRoots,
};

/// Clones of one project.
pub struct ClonesPort<'a> {
    /// Git.
    pub git: &'a GitRunner,
    /// Where workspaces are.
    pub roots: &'a WorkspaceRoots,
    /// The token.
    pub token: Secret,
    /// The host that gets the token: scheme, host and port of the forge. An address that the forge
    /// reports elsewhere is used without it.
    pub origin: url::Origin,
}

impl ClonesPort<'_> {
    fn remote(&self, url: &str) -> Result<GitRemote, PushError> {
        let ours = url::Url::parse(url).is_ok_and(|url| url.origin() == self.origin);
        let credential = ours.then(|| GitCredential::oauth2(self.token.expose()));
        GitRemote::new(url, credential).map_err(|error| push_error(&error))
    }

    async fn workspace(&self, dir: &str) -> Result<Workspace, PushError> {
        match self.roots.find(Path::new(dir)).await {
            Ok(Some(workspace)) => Ok(workspace),
            Ok(None) => Err(PushError::Clone(format!("{dir} is gone"))),
            Err(error) => Err(push_error(&error)),
        }
    }
}

impl Clones for ClonesPort<'_> {
    async fn clone_branch(&self, request: &CloneRequest) -> Result<CloneFacts, PushError> {
        let workspace = self.workspace(&request.dir).await?;
        let remote = self.remote(&request.url)?;
        let identity = identity(&request.identity);
        let order = CloneOrder {
            remote: &remote,
            base_branch: &request.base_branch,
            new_branch: &request.branch,
            identity: &identity,
        };
        let report = self
            .git
            .clone_shallow(&workspace, &order)
            .await
            .map_err(|error| push_error(&error))?;
        Ok(CloneFacts {
            base_sha: report.base_sha,
            has_submodules: report.has_submodules,
            has_lfs: report.has_lfs,
        })
    }

    async fn inspect(
        &self,
        dir: &str,
        base_sha: &str,
        branch: &str,
        url: &str,
    ) -> Result<Work, PushError> {
        let workspace = self.workspace(dir).await?;
        let remote = self.remote(url)?;
        let branch = Some(branch).filter(|branch| !branch.is_empty());
        let work = self
            .git
            .inspect(&workspace, base_sha, branch, Some(&remote))
            .await
            .map_err(|error| push_error(&error))?;
        Ok(Work {
            commits: work.commits(),
            uncommitted: work.uncommitted(),
        })
    }

    async fn push(&self, request: &PushRequest) -> Result<Pushed, PushError> {
        let workspace = self.workspace(&request.dir).await?;
        let remote = self.remote(&request.url)?;
        let identity = identity(&request.identity);
        let branch = Some(request.work_branch.as_str()).filter(|branch| !branch.is_empty());
        let work = self
            .git
            .inspect(&workspace, &request.base_sha, branch, Some(&remote))
            .await
            .map_err(|error| push_error(&error))?;
        let order = PushOrder {
            remote: &remote,
            branch: &request.branch,
            message: &request.message,
            identity: &identity,
            committed_at: whole_seconds(request.committed_at),
        };
        let pushed = work
            .push(&order)
            .await
            .map_err(|error| push_error(&error))?;
        Ok(Pushed {
            sha: pushed.sha,
            commits: pushed.commits,
        })
    }
}

fn identity(identity: &Identity) -> GitIdentity {
    GitIdentity::new(&identity.name, &identity.email)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "clamped to what git can store"
)]
fn whole_seconds(moment: f64) -> i64 {
    moment.clamp(0.0, 4_000_000_000.0) as i64
}

fn push_error(error: &WorkspaceError) -> PushError {
    let text = error.to_string();
    match error {
        WorkspaceError::BranchTaken { branch } => PushError::Taken(branch.clone()),
        WorkspaceError::GitTimeout { .. }
        | WorkspaceError::GitUnreachable { .. }
        | WorkspaceError::Interrupted { .. } => PushError::Unavailable(text),
        WorkspaceError::BranchProtected { .. }
        | WorkspaceError::StorageFull { .. }
        | WorkspaceError::PushRejected { .. }
        | WorkspaceError::GitAuth { .. }
        | WorkspaceError::GitForbidden { .. }
        | WorkspaceError::GitNotFound { .. }
        | WorkspaceError::GitRedirected { .. }
        | WorkspaceError::GitBranchMissing { .. }
        | WorkspaceError::GitFailed { .. } => PushError::Refused(text),
        _ => PushError::Clone(text),
    }
}

#[cfg(test)]
mod tests;
