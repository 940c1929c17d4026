//! What counts as work, and how it gets to the remote.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use workspace_fs::{GitRemote, GitRunner, GitSettings, Pushed, WorkspaceError};

use crate::scene::{BRANCH, Scene, git, settings};

#[tokio::test]
async fn a_clone_is_shallow_plain_and_ready() {
    let scene = Scene::fresh().await;
    let dir = scene.workspace.path();
    assert_eq!(git(dir, &["rev-parse", "HEAD"]), scene.base);
    assert_eq!(scene.remote_git(&["rev-parse", "main"]), scene.base);
    assert_eq!(
        git(dir, &["symbolic-ref", "HEAD"]),
        format!("refs/heads/{BRANCH}")
    );
    assert_eq!(git(dir, &["rev-list", "--count", "HEAD"]), "1");
    assert_eq!(git(dir, &["status", "--porcelain"]), "");
    assert_eq!(git(dir, &["config", "user.name"]), "Token Owner");
    assert_eq!(git(dir, &["config", "user.email"]), "owner@example.org");
    assert!(!dir.join(".git/hooks").exists());
    assert_eq!(
        fs::metadata(dir).unwrap().permissions().mode() & 0o777,
        0o700
    );
    let keys = git(dir, &["config", "--local", "--name-only", "--list"]);
    insta::assert_snapshot!(keys, @r"
    core.repositoryformatversion
    core.filemode
    core.bare
    core.logallrefupdates
    user.name
    user.email
    remote.origin.url
    remote.origin.tagopt
    remote.origin.fetch
    branch.main.remote
    branch.main.merge
    ");
}

#[tokio::test]
async fn submodules_and_large_files_are_noticed_and_not_fetched() {
    let tmp = tempfile::TempDir::new().unwrap();
    let remote = crate::scene::make_remote(tmp.path());
    let seed = tmp.path().join("seed");
    git(tmp.path(), &["clone", "-q", "remote.git", "seed"]);
    fs::write(
        seed.join(".gitmodules"),
        "[submodule \"x\"]\n\tpath = x\n\turl = https://other.example.net/x.git\n\
         [submodule \"q\"]\n\tpath = q\n\turl = ../q.git\n\
         [submodule \"e\"]\n\tpath = e\n\turl = file:///etc\n\
         [submodule \"c\"]\n\tpath = c\n\turl = ext::sh -c touch% ../canary\n",
    )
    .unwrap();
    fs::create_dir(seed.join("media")).unwrap();
    fs::write(
        seed.join("media/.gitattributes"),
        "*.bin filter=lfs diff=lfs merge=lfs -text\n",
    )
    .unwrap();
    let pointer = format!(
        "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 1465634\n",
        "a".repeat(64)
    );
    fs::write(seed.join("media/model.bin"), &pointer).unwrap();
    let sha = git(&seed, &["rev-parse", "HEAD"]);
    git(&seed, &["add", "-A"]);
    git(
        &seed,
        &[
            "update-index",
            "--add",
            "--cacheinfo",
            &format!("160000,{sha},x"),
        ],
    );
    git(
        &seed,
        &[
            "-c",
            "user.name=o",
            "-c",
            "user.email=o@o",
            "commit",
            "-qm",
            "modules",
        ],
    );
    git(&seed, &["push", "-q", "origin", "main"]);
    let remote = GitRemote::new(&format!("file://{}", remote.display()), None).unwrap();
    let (scene, report) = Scene::cloned(tmp, settings(), remote).await.unwrap();
    assert!(report.has_submodules && report.has_lfs);
    let dir = scene.workspace.path();
    assert_eq!(fs::read_dir(dir.join("x")).unwrap().count(), 0);
    assert_eq!(
        fs::read_to_string(dir.join("media/model.bin")).unwrap(),
        pointer
    );
    assert!(!dir.join(".git/modules").exists());
    // Neither an untouched submodule nor a pointer is a change.
    assert!(scene.inspect().await.unwrap().is_empty());
    scene.agent("submodule-of-the-base", &[]);
    scene.finish().await;
    assert!(
        scene
            .remote_git(&["ls-tree", BRANCH, "x"])
            .starts_with("160000")
    );
}

#[tokio::test]
async fn a_git_that_hangs_is_stopped_with_all_it_started() {
    let tmp = tempfile::TempDir::new().unwrap();
    let fake = tmp.path().join("git");
    let pid = tmp.path().join("pid");
    let body = format!("#!/bin/sh\nsleep 600 &\necho $! >{}\nwait\n", pid.display());
    fs::write(&fake, body).unwrap();
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
    let mut settings = GitSettings::new(format!("{}:/bin:/usr/bin", tmp.path().display()));
    settings.timeout = std::time::Duration::from_millis(500);
    let error = GitRunner::find(settings).await.unwrap_err();
    assert!(
        matches!(error, WorkspaceError::GitTimeout { .. }),
        "{error}"
    );
    let sleeper = fs::read_to_string(pid).unwrap();
    let status = format!("/proc/{}/stat", sleeper.trim());
    for _ in 0..500 {
        // Gone, or dead and waiting to be noticed by whoever inherits it.
        match fs::read_to_string(&status) {
            Ok(stat) if !stat.contains(") Z") => {}
            _ => return,
        }
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    panic!("the process is still there");
}

#[tokio::test]
async fn no_work_is_no_work() {
    for case in ["none", "ignored-only"] {
        let scene = Scene::after(case).await;
        let work = scene.inspect().await.unwrap();
        assert_eq!((work.commits(), work.uncommitted()), (0, false), "{case}");
        assert!(work.is_empty() && work.rebuilt().is_none());
        let error = scene.push(&work, BRANCH).await.unwrap_err();
        assert!(matches!(error, WorkspaceError::NothingToPush { .. }));
        assert_eq!(scene.remote_git(&["branch", "--list", BRANCH]), "");
        drop(work);
        scene.assert_unharmed();
    }
}

#[tokio::test]
async fn commits_and_leftovers_arrive() {
    let scene = Scene::after("plain").await;
    let (outcome, pushed) = scene.finish().await;
    assert_eq!((outcome.commits, outcome.uncommitted), (1, true));
    assert_eq!(outcome.rebuilt, None);
    assert_eq!((pushed.commits, pushed.committed_leftovers), (2, true));
    assert_eq!(scene.pushed_file("a.txt"), "one\ntwo");
    assert_eq!(scene.pushed_file("new.txt"), "uncommitted");
    let format = "--format=%an <%ae> %at, %cn <%ce> %ct: %B";
    let commit = scene.remote_git(&["log", "-1", format, BRANCH]);
    insta::assert_snapshot!(commit, @r"
    Token Owner <owner@example.org> 1787000000, Token Owner <owner@example.org> 1787000000: Take over what was left

    Closes #42
    ");
    assert_eq!(
        scene.remote_git(&["log", "-1", "--format=%an", &format!("{BRANCH}~1")]),
        "agent"
    );
}

#[tokio::test]
async fn commits_alone_are_pushed_as_they_are() {
    let scene = Scene::after("committed-only").await;
    let head = git(scene.workspace.path(), &["rev-parse", "HEAD"]);
    let (outcome, pushed) = scene.finish().await;
    assert_eq!((outcome.commits, outcome.uncommitted), (1, false));
    assert_eq!(
        pushed,
        Pushed {
            sha: head,
            commits: 1,
            committed_leftovers: false
        }
    );
}

#[tokio::test]
async fn leftovers_of_every_kind_are_committed() {
    let scene = Scene::after("uncommitted-only").await;
    let (outcome, pushed) = scene.finish().await;
    assert_eq!((outcome.commits, outcome.uncommitted), (0, true));
    assert_eq!(pushed.commits, 1);
    let changes = scene.pushed_changes().join("\n");
    insta::assert_snapshot!(changes, @r#"
    M 100644 a.txt
    A 100644 dir with blanks/na"me
    é
    M 120000 link
    D 000000 sub/b.txt
    M 100755 sub/windows.bat
    "#);
    assert_eq!(scene.pushed_file("link"), "sub");
}

#[tokio::test]
async fn line_endings_are_converted_as_the_repository_says() {
    let scene = Scene::after("line-endings").await;
    scene.finish().await;
    assert_eq!(scene.pushed_changes(), ["M 100644 sub/windows.bat"]);
    assert_eq!(scene.pushed_file("sub/windows.bat"), "first\nsecond\nthird");
}

#[tokio::test]
async fn packed_history_is_taken_over() {
    let scene = Scene::after("several-commits").await;
    let (outcome, pushed) = scene.finish().await;
    assert_eq!(
        (outcome.commits, outcome.uncommitted, pushed.commits),
        (3, false, 3)
    );
}

#[tokio::test]
async fn the_work_is_found_wherever_head_is() {
    for (case, commits, uncommitted) in [
        ("detached", 1, true),
        ("other-branch", 1, true),
        ("went-back", 1, false),
    ] {
        let scene = Scene::after(case).await;
        let (outcome, _) = scene.finish().await;
        assert_eq!(
            (outcome.commits, outcome.uncommitted),
            (commits, uncommitted),
            "{case}"
        );
        assert_eq!(scene.pushed_file("a.txt"), "one\ntwo", "{case}");
    }
}

#[tokio::test]
async fn a_sparse_work_tree_deletes_nothing() {
    let scene = Scene::after("sparse").await;
    scene.finish().await;
    assert_eq!(
        scene.pushed_changes(),
        ["M 100644 a.txt", "A 100644 new.txt"]
    );
}

#[tokio::test]
async fn locks_of_a_killed_git_are_no_obstacle() {
    for case in ["locks", "broken-index"] {
        let scene = Scene::after(case).await;
        let (outcome, _) = scene.finish().await;
        assert_eq!((outcome.commits, outcome.uncommitted), (1, true), "{case}");
        assert_eq!(scene.pushed_file("new.txt"), "uncommitted");
    }
}

#[tokio::test]
async fn a_branch_with_other_work_is_left_alone() {
    let scene = Scene::after("plain").await;
    let other = scene.tmp.path().join("other");
    git(scene.tmp.path(), &["clone", "-q", "remote.git", "other"]);
    git(&other, &["checkout", "-q", "-b", BRANCH]);
    fs::write(other.join("b.txt"), "theirs").unwrap();
    git(&other, &["add", "-A"]);
    git(
        &other,
        &[
            "-c",
            "user.name=o",
            "-c",
            "user.email=o@o",
            "commit",
            "-qm",
            "theirs",
        ],
    );
    git(&other, &["push", "-q", "origin", BRANCH]);
    let theirs = scene.remote_git(&["rev-parse", BRANCH]);
    let work = scene.inspect().await.unwrap();
    let error = scene.push(&work, BRANCH).await.unwrap_err();
    assert!(
        matches!(&error, WorkspaceError::BranchTaken { branch } if branch == BRANCH),
        "{error}"
    );
    assert_eq!(scene.remote_git(&["rev-parse", BRANCH]), theirs);
    // The same work goes to a fresh name.
    let pushed = scene.push(&work, "openhands/issue-42-2").await.unwrap();
    assert_eq!(
        scene.remote_git(&["rev-parse", "openhands/issue-42-2"]),
        pushed.sha
    );
    assert_eq!(scene.remote_git(&["rev-parse", BRANCH]), theirs);
}

#[tokio::test]
async fn a_repeated_push_finds_itself_done() {
    let scene = Scene::after("plain").await;
    let first = {
        let work = scene.inspect().await.unwrap();
        scene.push(&work, BRANCH).await.unwrap()
    };
    // A later attempt, in a fresh repository of its own.
    let work = scene.inspect().await.unwrap();
    assert_eq!(scene.push(&work, BRANCH).await.unwrap(), first);
}

#[tokio::test]
async fn what_the_agent_pushed_itself_is_continued() {
    let scene = Scene::after("plain").await;
    git(scene.workspace.path(), &["push", "-q", "origin", BRANCH]);
    let theirs = scene.remote_git(&["rev-parse", BRANCH]);
    let (_, pushed) = scene.finish().await;
    assert_eq!(
        scene.remote_git(&["rev-parse", &format!("{}~1", pushed.sha)]),
        theirs
    );
}

#[tokio::test]
async fn a_default_branch_that_moved_on_costs_no_upload() {
    let scene = Scene::after("plain").await;
    let other = scene.tmp.path().join("other");
    git(scene.tmp.path(), &["clone", "-q", "remote.git", "other"]);
    fs::write(other.join("b.txt"), "theirs").unwrap();
    git(&other, &["add", "-A"]);
    git(
        &other,
        &[
            "-c",
            "user.name=o",
            "-c",
            "user.email=o@o",
            "commit",
            "-qm",
            "moved on",
        ],
    );
    git(&other, &["push", "-q", "origin", "main"]);
    let (_, pushed) = scene.finish().await;
    assert_eq!(pushed.commits, 2);
}

#[tokio::test]
async fn the_base_is_checked_as_an_argument() {
    let scene = Scene::fresh().await;
    for base in [
        "",
        "main",
        "--all",
        "0123",
        "ABCDEF0123456789ABCDEF0123456789ABCDEF01",
    ] {
        let error = scene
            .runner
            .inspect(&scene.workspace, base, None, None)
            .await
            .unwrap_err();
        assert!(matches!(error, WorkspaceError::GitArgument { .. }));
    }
    // One that is not in the clone, and nowhere to fetch it from.
    let unknown = "0123456789abcdef0123456789abcdef01234567";
    let error = scene
        .runner
        .inspect(&scene.workspace, unknown, None, None)
        .await
        .unwrap_err();
    assert!(
        matches!(error, WorkspaceError::CloneUnreadable { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn what_an_agent_may_leave_behind_is_bounded() {
    let base = Scene::after("plain").await;
    let small = |change: fn(&mut workspace_fs::GitLimits)| {
        let mut settings = settings();
        change(&mut settings.limits);
        settings
    };
    for (settings, expected) in [
        (
            small(|limits| limits.max_object_bytes = 10),
            "more than 10 bytes",
        ),
        (
            small(|limits| limits.max_entries = 3),
            "more than 3 entries",
        ),
        (small(|limits| limits.max_tree_bytes = 10), "too much space"),
    ] {
        let runner = GitRunner::find(settings).await.unwrap();
        let inspected = runner
            .inspect(&base.workspace, &base.base, Some(BRANCH), None)
            .await;
        let error = inspected.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        base.assert_unharmed();
    }
}
