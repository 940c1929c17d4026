//! A remote, a clone made by us, an agent that did something in it, and what can be seen afterwards.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use tempfile::TempDir;
use workspace_fs::{
    Area, CloneOrder, CloneReport, GitIdentity, GitRemote, GitRunner, GitSettings, PushOrder,
    Pushed, Work, Workspace, WorkspaceError, WorkspaceRoots, issue_parts,
};

pub(crate) const BRANCH: &str = "openhands/issue-42";

pub(crate) struct Scene {
    pub tmp: TempDir,
    pub runner: GitRunner,
    pub roots: WorkspaceRoots,
    pub workspace: Workspace,
    pub remote: GitRemote,
    pub base: String,
}

pub(crate) fn settings() -> GitSettings {
    let mut settings = GitSettings::new(std::env::var_os("PATH").unwrap());
    settings.local_remotes = true;
    settings.timeout = std::time::Duration::from_secs(30);
    settings
}

pub(crate) fn identity() -> GitIdentity {
    GitIdentity::new("Token Owner", "owner@example.org")
}

/// Makes the remote repository and tells its path. It is built once and copied from then on.
pub(crate) fn make_remote(dir: &Path) -> PathBuf {
    static BUILT: LazyLock<TempDir> = LazyLock::new(|| {
        let dir = TempDir::new().unwrap();
        script("remote.sh", &[dir.path().to_str().unwrap()], &[]);
        dir
    });
    let remote = dir.join("remote.git");
    copy(&BUILT.path().join("remote.git"), &remote);
    remote
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

pub(crate) fn script(name: &str, arguments: &[&str], env: &[(&str, &str)]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/git");
    let output = Command::new("sh")
        .arg(folder.join(name))
        .args(arguments)
        .envs(env.iter().copied())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {arguments:?}: {errors}");
}

/// Runs git on a repository of the test's own.
pub(crate) fn git(repository: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(repository)
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned()
}

impl Scene {
    /// A clone in which nothing has happened yet.
    pub(crate) async fn fresh() -> Self {
        let tmp = TempDir::new().unwrap();
        make_remote(tmp.path());
        let url = format!("file://{}/remote.git", tmp.path().display());
        Self::cloned(tmp, settings(), GitRemote::new(&url, None).unwrap())
            .await
            .unwrap()
            .0
    }

    pub(crate) async fn cloned(
        tmp: TempDir,
        settings: GitSettings,
        remote: GitRemote,
    ) -> Result<(Self, CloneReport), WorkspaceError> {
        let runner = GitRunner::find(settings).await.unwrap();
        let roots = WorkspaceRoots::new(tmp.path().join("base"), Area::IssueToMr).unwrap();
        let workspace = roots
            .create(&issue_parts("group/project", 42, 7))
            .await
            .unwrap();
        let report = runner
            .clone_shallow(
                &workspace,
                &CloneOrder {
                    remote: &remote,
                    base_branch: "main",
                    new_branch: BRANCH,
                    identity: &identity(),
                },
            )
            .await?;
        let base = report.base_sha.clone();
        Ok((
            Self {
                tmp,
                runner,
                roots,
                workspace,
                remote,
                base,
            },
            report,
        ))
    }

    /// The same after an agent was there.
    pub(crate) async fn after(case: &str) -> Self {
        let scene = Self::fresh().await;
        scene.agent(case, &[]);
        scene
    }

    pub(crate) fn agent(&self, case: &str, env: &[(&str, &str)]) {
        let (work, out) = (self.workspace.path().to_str().unwrap(), self.out());
        script("agent.sh", &[case, work, out.to_str().unwrap()], env);
    }

    pub(crate) fn out(&self) -> PathBuf {
        self.tmp.path().join("out")
    }

    pub(crate) async fn inspect(&self) -> Result<Work, WorkspaceError> {
        self.runner
            .inspect(
                &self.workspace,
                &self.base,
                Some(BRANCH),
                Some(&self.remote),
            )
            .await
    }

    pub(crate) async fn push(&self, work: &Work, branch: &str) -> Result<Pushed, WorkspaceError> {
        let identity = identity();
        work.push(&PushOrder {
            remote: &self.remote,
            branch,
            message: "Take over what was left\n\nCloses #42",
            identity: &identity,
            committed_at: 1_787_000_000,
        })
        .await
    }

    /// What the remote holds under a reference.
    pub(crate) fn remote_git(&self, arguments: &[&str]) -> String {
        git(&self.tmp.path().join("remote.git"), arguments)
    }

    /// A file of the pushed branch.
    pub(crate) fn pushed_file(&self, path: &str) -> String {
        self.remote_git(&["show", &format!("{BRANCH}:{path}")])
    }

    /// The mode and path of every file of the pushed branch that the base does not have so.
    pub(crate) fn pushed_changes(&self) -> Vec<String> {
        let diff = ["diff-tree", "-r", "-z", "--no-renames", &self.base, BRANCH];
        let output = self.remote_git(&diff);
        let mut fields = output.split('\0');
        let mut changes = Vec::new();
        while let (Some(meta), Some(path)) = (fields.next(), fields.next()) {
            let meta: Vec<&str> = meta.split(' ').collect();
            changes.push(format!("{} {} {path}", meta[4], meta[1]));
        }
        changes
    }

    /// Nothing ran, nothing went elsewhere, nothing is left beside the workspace.
    pub(crate) fn assert_unharmed(&self) {
        let canary = self.out().join("canary");
        let ran = std::fs::read_to_string(&canary).unwrap_or_default();
        assert!(!canary.exists(), "something ran: {ran}");
        let evil = git(&self.out().join("evil.git"), &["for-each-ref"]);
        assert_eq!(evil, "", "something was pushed elsewhere");
        let beside = self.workspace.path().parent().unwrap();
        assert_eq!(std::fs::read_dir(beside).unwrap().count(), 1);
    }

    /// Inspects and pushes as a run does, and checks that nothing else happened.
    pub(crate) async fn finish(&self) -> (Outcome, Pushed) {
        let work = self.inspect().await.unwrap();
        let outcome = Outcome {
            commits: work.commits(),
            uncommitted: work.uncommitted(),
            rebuilt: work.rebuilt(),
            left_out: work.left_out().to_string(),
        };
        let pushed = self.push(&work, BRANCH).await.unwrap();
        drop(work);
        self.assert_unharmed();
        assert_eq!(self.remote_git(&["rev-parse", BRANCH]), pushed.sha);
        // The remote has what belongs to it, and its history starts at the base.
        assert_eq!(
            self.remote_git(&["merge-base", &self.base, BRANCH]),
            self.base
        );
        self.remote_git(&["fsck", "--strict"]);
        // Nothing else was pushed.
        let refs = self.remote_git(&["for-each-ref", "--format=%(refname)"]);
        assert_eq!(refs, format!("refs/heads/main\nrefs/heads/{BRANCH}"));
        assert!(self.roots.remove(self.workspace.path()).await.unwrap());
        assert!(!self.workspace.path().parent().unwrap().exists());
        (outcome, pushed)
    }
}

/// What was found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub commits: u64,
    pub uncommitted: bool,
    pub rebuilt: Option<&'static str>,
    pub left_out: String,
}
