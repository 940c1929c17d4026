//! What git's failures are in the core's own words.

use super::*;
use testbed::ClosedPort;
use testbed::gitlab::{GitLab, Project};
use workspace_fs::{Area, GitSettings};

const TOKEN: &str = "glpat-0123456789abcdef";
const BRANCH: &str = "openhands/issue-42";

/// A project on GitLab, and a workspace for one of its issues.
struct World {
    gitlab: GitLab,
    project: Project,
    _folder: tempfile::TempDir,
    roots: WorkspaceRoots,
    dir: String,
    git: GitRunner,
}

impl World {
    async fn new() -> Self {
        let gitlab = GitLab::start().unwrap();
        gitlab.token(TOKEN, "automation");
        let project = gitlab.project("group/service").unwrap();
        project.set_member("automation", 30);
        let folder = tempfile::tempdir().unwrap();
        let roots = WorkspaceRoots::new(folder.path(), Area::IssueToMr).unwrap();
        let workspace = roots.create(&["group__service", "issue-42"]).await.unwrap();
        let dir = workspace.path().display().to_string();
        let path = std::env::var_os("PATH").unwrap();
        Self {
            gitlab,
            project,
            _folder: folder,
            roots,
            dir,
            git: GitRunner::find(GitSettings::new(path)).await.unwrap(),
        }
    }

    fn port(&self) -> ClonesPort<'_> {
        ClonesPort {
            git: &self.git,
            roots: &self.roots,
            token: Secret::new(TOKEN.to_owned()),
            origin: url::Url::parse(&self.gitlab.url()).unwrap().origin(),
        }
    }

    async fn clone_from(&self, url: &str) -> Result<CloneFacts, PushError> {
        let request = CloneRequest {
            url: url.to_owned(),
            base_branch: "main".to_owned(),
            branch: BRANCH.to_owned(),
            dir: self.dir.clone(),
            identity: identity(),
        };
        self.port().clone_branch(&request).await
    }

    async fn inspect(&self, dir: &str, base_sha: &str) -> Result<Work, PushError> {
        let url = self.project.clone_url();
        self.port().inspect(dir, base_sha, BRANCH, &url).await
    }

    /// Clones, leaves a file, and pushes.
    async fn push(&self) -> Result<Pushed, PushError> {
        let url = self.project.clone_url();
        let base_sha = self.clone_from(&url).await.unwrap().base_sha;
        std::fs::write(Path::new(&self.dir).join("new.txt"), "new\n").unwrap();
        let request = PushRequest {
            url,
            dir: self.dir.clone(),
            base_sha,
            branch: BRANCH.to_owned(),
            message: "Add new".to_owned(),
            identity: identity(),
            work_branch: BRANCH.to_owned(),
            committed_at: 1_787_044_320.0,
        };
        self.port().push(&request).await
    }
}

fn identity() -> Identity {
    Identity {
        username: "automation".to_owned(),
        name: "Automation".to_owned(),
        email: "automation@example.org".to_owned(),
    }
}

#[tokio::test]
async fn work_arrives_on_its_branch() {
    let world = World::new().await;
    let pushed = world.push().await.unwrap();
    assert_eq!(pushed.commits, 1);
    assert_eq!(world.project.tip(BRANCH), Some(pushed.sha));
    world.gitlab.check().unwrap();
}

#[tokio::test]
async fn a_clone_that_is_gone_or_not_ours_cannot_be_used() {
    let world = World::new().await;
    let base = world.project.tip("main").unwrap();
    // A record that names no commit to start from.
    let error = world.inspect(&world.dir, "main").await.unwrap_err();
    assert!(
        matches!(&error, PushError::Clone(text) if text.contains("commit id \"main\"")),
        "{error:?}"
    );
    std::fs::remove_dir(&world.dir).unwrap();
    let gone = PushError::Clone(format!("{} is gone", world.dir));
    assert_eq!(world.inspect(&world.dir, &base).await, Err(gone.clone()));
    let url = world.project.clone_url();
    assert_eq!(world.clone_from(&url).await, Err(gone));
    let error = world.inspect("/etc", &base).await.unwrap_err();
    assert!(
        matches!(&error, PushError::Clone(text) if text.contains("outside the workspace roots")),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_host_that_is_not_reached_may_be_later() {
    let world = World::new().await;
    let closed = ClosedPort::take().unwrap();
    let url = format!("{}/group/service.git", closed.base_url());
    let error = world.clone_from(&url).await.unwrap_err();
    assert!(matches!(error, PushError::Unavailable(_)), "{error:?}");
}

#[tokio::test]
async fn what_a_person_can_change_is_a_refusal() {
    let world = World::new().await;
    let missing = world.project.clone_url().replace("service", "absent");
    let error = world.clone_from(&missing).await.unwrap_err();
    assert!(matches!(error, PushError::Refused(_)), "{error:?}");

    let world = World::new().await;
    world.project.protect(BRANCH).unwrap();
    let error = world.push().await.unwrap_err();
    assert!(
        matches!(&error, PushError::Refused(text) if text.contains("protected")),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_branch_with_other_work_is_taken() {
    let world = World::new().await;
    let theirs = world
        .project
        .commit_to(BRANCH, "Theirs", [("other.txt", "other\n")])
        .unwrap();
    let error = world.push().await.unwrap_err();
    assert_eq!(error, PushError::Taken(BRANCH.to_owned()));
    assert_eq!(world.project.tip(BRANCH), Some(theirs));
}
