//! Commits what an agent left uncommitted, and pushes one branch from our repository.

use super::argument::{GitIdentity, GitRemote, check_branch};
use super::classify::{PushOutcome, push_outcome};
use super::inspect::Work;
use super::ours::Place;
use super::process::Input;
use super::runner::Call;
use crate::error::WorkspaceError;

/// Work to be pushed.
#[derive(Clone, Debug)]
pub struct PushOrder<'a> {
    /// Where to: the address that the forge reported.
    pub remote: &'a GitRemote,
    /// The branch to push to.
    pub branch: &'a str,
    /// Message of the commit for what was left uncommitted.
    pub message: &'a str,
    /// Author and committer of that commit.
    pub identity: &'a GitIdentity,
    /// Time of that commit, in seconds since the epoch. A repeated attempt that passes the same time
    /// (such as that of the label event) makes the same commit, and so finds it pushed already.
    pub committed_at: i64,
}

/// What was pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// The commit that the branch points to now.
    pub sha: String,
    /// Commits on top of the base, ours included.
    pub commits: u64,
    /// Whether a commit of ours is among them.
    pub committed_leftovers: bool,
}

impl Work {
    /// Commits what was left, and pushes the branch, never forced. When the branch points to the
    /// same commit already, or to an earlier one of the same work, that is success; when it holds
    /// anything else, it is [`WorkspaceError::BranchTaken`] and the branch is not touched.
    ///
    /// May be repeated: a push whose answer was lost is found done.
    pub async fn push(&self, order: &PushOrder<'_>) -> Result<Pushed, WorkspaceError> {
        check_branch(order.branch)?;
        if self.is_empty() {
            return Err(WorkspaceError::NothingToPush {
                dir: self.ours.workspace().path().to_owned(),
            });
        }
        let sha = match &self.leftovers {
            Some(tree) => self.commit(tree, order).await?,
            None => self.tip.clone(),
        };
        let refspec = format!("{sha}:refs/heads/{}", order.branch);
        let push = [
            "push",
            "--porcelain",
            "--no-verify",
            "--no-signed",
            "--no-follow-tags",
            "--no-force",
            "--recurse-submodules=no",
            "--",
            order.remote.url(),
            &refspec,
        ];
        let call = self
            .ours
            .call("git push", &push, Input::Nothing, Place::Repository);
        let output = self
            .ours
            .runner()
            .run(Call {
                remote: Some(order.remote),
                ..call
            })
            .await?;
        match push_outcome(&output, order.branch) {
            PushOutcome::Done => Ok(Pushed {
                commits: self.ours.count(&self.base, &sha).await?,
                committed_leftovers: self.leftovers.is_some(),
                sha,
            }),
            PushOutcome::Failed(error) => Err(error),
        }
    }

    async fn commit(&self, tree: &str, order: &PushOrder<'_>) -> Result<String, WorkspaceError> {
        let date = format!("@{} +0000", order.committed_at.max(0));
        let identity = order.identity;
        let message = Input::Bytes(order.message.replace('\0', "").into_bytes());
        let commit = ["commit-tree", tree, "-p", &self.tip];
        let mut call = self
            .ours
            .call("git commit-tree", &commit, message, Place::Repository);
        call.env.extend([
            ("GIT_AUTHOR_NAME", identity.name().into()),
            ("GIT_AUTHOR_EMAIL", identity.email().into()),
            ("GIT_AUTHOR_DATE", date.clone().into()),
            ("GIT_COMMITTER_NAME", identity.name().into()),
            ("GIT_COMMITTER_EMAIL", identity.email().into()),
            ("GIT_COMMITTER_DATE", date.into()),
        ]);
        let output = self.ours.runner().run(call).await?;
        match output.code {
            Some(0) => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
            _ => Err(super::classify::failure(&output, None)),
        }
    }
}
