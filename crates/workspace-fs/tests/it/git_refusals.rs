//! Which error a refusal of git or of its host becomes, and what it leaves behind.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use workspace_fs::{CloneOrder, GitRemote, GitRunner, GitSettings, WorkspaceError, issue_parts};

use crate::http::{Behaviour, Host};
use crate::scene::{BRANCH, Scene, identity, settings};

/// Whether an error is the one that is meant.
type Kind = fn(&WorkspaceError) -> bool;

#[tokio::test]
async fn a_failed_clone_leaves_nothing() {
    let scene = Scene::fresh().await;
    let missing = format!("file://{}/absent.git", scene.tmp.path().display());
    let present = scene.remote.clone();
    let not_found: Kind = |error| {
        matches!(
            error,
            WorkspaceError::GitNotFound {
                call: "git clone",
                ..
            }
        )
    };
    let no_branch: Kind =
        |error| matches!(error, WorkspaceError::GitBranchMissing { branch } if branch == "absent");
    let no_name: Kind = |error| matches!(error, WorkspaceError::GitArgument { .. });
    let cases = [
        (
            GitRemote::new(&missing, None).unwrap(),
            "main",
            not_found,
            "did not find the repository",
        ),
        (present.clone(), "absent", no_branch, "has no branch absent"),
        (present, "--upload-pack=x", no_name, "cannot be used"),
    ];
    for (remote, base_branch, kind, expected) in cases {
        let workspace = scene
            .roots
            .create(&issue_parts("group/project", 1, 1))
            .await
            .unwrap();
        let order = CloneOrder {
            remote: &remote,
            base_branch,
            new_branch: BRANCH,
            identity: &identity(),
        };
        let error = scene
            .runner
            .clone_shallow(&workspace, &order)
            .await
            .unwrap_err();
        assert!(kind(&error), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
        assert!(!workspace.path().exists());
    }
    // Outside of tests, a remote on this machine is none.
    let runner = GitRunner::find(GitSettings::new(std::env::var_os("PATH").unwrap()))
        .await
        .unwrap();
    let workspace = scene
        .roots
        .create(&issue_parts("group/project", 1, 1))
        .await
        .unwrap();
    let order = CloneOrder {
        remote: &scene.remote,
        base_branch: "main",
        new_branch: BRANCH,
        identity: &identity(),
    };
    let error = runner.clone_shallow(&workspace, &order).await.unwrap_err();
    assert!(
        matches!(
            error,
            WorkspaceError::GitArgument {
                what: "address",
                ..
            }
        ),
        "{error:?}"
    );
}

#[tokio::test]
async fn git_is_looked_for_on_the_given_path_only() {
    for path in ["", "/nowhere", ".:relative"] {
        let error = GitRunner::find(GitSettings::new(path)).await.unwrap_err();
        assert!(matches!(error, WorkspaceError::GitMissing { .. }));
    }
    let tmp = tempfile::TempDir::new().unwrap();
    let fake = tmp.path().join("git");
    fs::write(&fake, "#!/bin/sh\necho git version 2.9.5\n").unwrap();
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
    let error = GitRunner::find(GitSettings::new(tmp.path()))
        .await
        .unwrap_err();
    assert!(
        matches!(&error, WorkspaceError::GitTooOld { path, .. } if *path == fake),
        "{error:?}"
    );
    assert!(
        error
            .to_string()
            .contains("git version 2.9.5, but git 2.32"),
        "{error}"
    );
}

#[tokio::test]
async fn a_rule_of_the_host_is_told_in_its_words() {
    let rejected: Kind = |error| matches!(error, WorkspaceError::PushRejected { .. });
    let protected: Kind = |error| matches!(error, WorkspaceError::BranchProtected { .. });
    let full: Kind = |error| matches!(error, WorkspaceError::StorageFull { .. });
    for (words, kind, expected) in [
        (
            "GitLab: You cannot push commits for 'agent@example.org'.",
            rejected,
            "refused by a rule of the host",
        ),
        (
            "GitLab: You are not allowed to push code to protected branches on this project.",
            protected,
            "the branch is protected",
        ),
        (
            "GitLab: rejected because it would exceed storage limits.",
            full,
            "lack of space",
        ),
    ] {
        let scene = Scene::after("plain").await;
        let hook = scene.tmp.path().join("remote.git/hooks/pre-receive");
        fs::write(&hook, format!("#!/bin/sh\necho \"{words}\" >&2\nexit 1\n")).unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
        let work = scene.inspect().await.unwrap();
        let error = scene.push(&work, BRANCH).await.unwrap_err();
        assert!(kind(&error), "{error:?}");
        let error = error.to_string();
        assert!(
            error.contains(expected) && error.contains(words.trim_end_matches('.')),
            "{error}"
        );
        assert_eq!(scene.remote_git(&["branch", "--list", BRANCH]), "");
    }
}

/// A login page in place of the answer, as portals and proxies give it.
#[tokio::test]
async fn an_answer_that_is_not_gits_is_told_in_gits_words() {
    let kind = "Content-Type: text/html\r\n".to_owned();
    let host = Host::start(Behaviour::Fixed(
        "200 OK",
        kind,
        "<html>\n<body>Sign in</body>\n</html>\n",
    ))
    .await;
    let remote = GitRemote::new(&format!("{}/remote.git", host.origin), None).unwrap();
    let tmp = tempfile::TempDir::new().unwrap();
    let base = tmp.path().join("base");
    let error = Scene::cloned(tmp, settings(), remote).await.err().unwrap();
    assert!(
        matches!(&error, WorkspaceError::GitFailed { call: "git clone", code, text }
            if code == "128" && text.contains("is this a git repository?")),
        "{error:?}"
    );
    assert!(!base.join("issue-to-mr/group__project/issue-42-7").exists());
}
