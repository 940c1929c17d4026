//! Makes the clone that an agent will work in.

use std::path::Path;

use super::argument::{GitIdentity, GitRemote, check_branch};
use super::classify::failure;
use super::process::Input;
use super::runner::{Call, GitRunner, Output, args};
use crate::error::WorkspaceError;
use crate::workspace::Workspace;

/// A clone to be made.
#[derive(Clone, Debug)]
pub struct CloneOrder<'a> {
    /// Where from.
    pub remote: &'a GitRemote,
    /// The branch to clone.
    pub base_branch: &'a str,
    /// The branch to create for the work.
    pub new_branch: &'a str,
    /// Who the agent commits as.
    pub identity: &'a GitIdentity,
}

/// What a fresh clone holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloneReport {
    /// The commit it starts from, 40 or 64 hexadecimal digits.
    pub base_sha: String,
    /// Whether the tree names submodules. They are not fetched.
    pub has_submodules: bool,
    /// Whether the tree keeps files with Git LFS. Their content is not fetched.
    pub has_lfs: bool,
}

impl GitRunner {
    /// Makes a shallow clone of one branch in an empty workspace, with the commit identity in its
    /// configuration and the new branch checked out. Submodules and large files are not fetched,
    /// templates and hooks are not installed, and no credential is stored.
    ///
    /// On any error the workspace is removed. If the process dies in between, the half-made clone
    /// stays for [`create`](crate::WorkspaceRoots::create) or
    /// [`remove`](crate::WorkspaceRoots::remove).
    pub async fn clone_shallow(
        &self,
        workspace: &Workspace,
        order: &CloneOrder<'_>,
    ) -> Result<CloneReport, WorkspaceError> {
        let result = self.clone_into(workspace.path(), order).await;
        if result.is_err() {
            // What failed first is what matters.
            let _stays = workspace.discard();
        }
        result
    }

    async fn clone_into(
        &self,
        dir: &Path,
        order: &CloneOrder<'_>,
    ) -> Result<CloneReport, WorkspaceError> {
        check_branch(order.base_branch)?;
        check_branch(order.new_branch)?;
        let mut clone = args([
            "clone",
            "--quiet",
            "--depth=1",
            "--single-branch",
            "--no-tags",
        ]);
        clone.extend(args([
            "--no-recurse-submodules",
            "--template=",
            "--origin=origin",
        ]));
        clone.push(format!("--branch={}", order.base_branch).into());
        clone.push(format!("--config=user.name={}", order.identity.name()).into());
        clone.push(format!("--config=user.email={}", order.identity.email()).into());
        clone.extend(args(["--", order.remote.url()]));
        clone.push(dir.into());
        let output = self
            .run(Call {
                name: "git clone",
                args: clone,
                dir,
                env: Vec::new(),
                input: Input::Nothing,
                remote: Some(order.remote),
            })
            .await?;
        if output.code != Some(0) {
            return Err(failure(&output, Some(order.base_branch)));
        }
        let head = self
            .in_fresh(
                dir,
                "git rev-parse",
                &["rev-parse", "--verify", "HEAD^{commit}"],
            )
            .await?;
        if head.code != Some(0) {
            return Err(failure(&head, None));
        }
        let base_sha = String::from_utf8_lossy(&head.stdout).trim().to_owned();
        let checkout = ["checkout", "--quiet", "-b", order.new_branch];
        let checkout = self.in_fresh(dir, "git checkout", &checkout).await?;
        if checkout.code != Some(0) {
            return Err(failure(&checkout, None));
        }
        let modules = ["cat-file", "-e", "HEAD:.gitmodules"];
        let modules = self.in_fresh(dir, "git cat-file", &modules).await?;
        let lfs = [
            "grep",
            "-q",
            "-I",
            "-e",
            "filter=lfs",
            "HEAD",
            "--",
            ":(glob)**/.gitattributes",
        ];
        let lfs = self.in_fresh(dir, "git grep", &lfs).await?;
        Ok(CloneReport {
            base_sha,
            has_submodules: modules.code == Some(0),
            has_lfs: lfs.code == Some(0),
        })
    }

    /// Runs a command in a clone that was made a moment ago and that no agent has seen.
    async fn in_fresh(
        &self,
        dir: &Path,
        name: &'static str,
        arguments: &[&str],
    ) -> Result<Output, WorkspaceError> {
        self.run(Call {
            name,
            args: args(arguments),
            dir,
            env: vec![
                ("GIT_DIR", dir.join(".git").into()),
                ("GIT_WORK_TREE", dir.into()),
            ],
            input: Input::Nothing,
            remote: None,
        })
        .await
    }
}
