//! A clone in which an agent left traps: each is planted as it would be, and then the work is
//! finished as a run finishes it. Nothing may run, and nothing may go anywhere else.

use std::fs;

use crate::scene::{BRANCH, Outcome, Scene, git};

/// What [`Scene::finish`] sees of the honest work.
fn honest() -> Outcome {
    Outcome {
        commits: 1,
        uncommitted: true,
        rebuilt: None,
        left_out: "nothing".to_owned(),
    }
}

/// The agent's commit and the new file arrived, and nothing else.
fn assert_honest_content(scene: &Scene) {
    assert_eq!(scene.pushed_file("a.txt"), "one\ntwo");
    assert_eq!(scene.pushed_file("new.txt"), "uncommitted");
    assert_eq!(
        scene.pushed_changes(),
        ["M 100644 a.txt", "A 100644 new.txt"]
    );
}

macro_rules! harmless {
    ($($name:ident = $case:literal;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let scene = Scene::after($case).await;
            let (outcome, _) = scene.finish().await;
            assert_eq!(outcome, honest());
            assert_honest_content(&scene);
        }
    )*};
}

harmless! {
    hooks = "hooks";
    hooks_path = "hooks-path";
    fsmonitor = "fsmonitor";
    ssh_command = "ssh-command";
    credential_helper = "credential-helper";
    editor_and_pager = "editor-pager";
    gpg_programs = "gpg";
    include = "include";
    commands_for_the_server_side = "server-side-commands";
    instead_of = "instead-of";
    push_instead_of = "push-instead-of";
    push_url = "push-url";
    core_worktree = "core-worktree";
    common_dir = "common-dir";
    replace_refs_and_grafts = "replace";
    hostile_caches_and_fifos_among_objects = "hostile-caches";
}

#[tokio::test]
async fn filters_do_not_run_and_content_arrives_as_it_is() {
    let scene = Scene::after("filters").await;
    let (outcome, _) = scene.finish().await;
    assert_eq!(outcome, honest());
    assert_eq!(scene.pushed_file("new.txt"), "uncommitted");
    assert_eq!(scene.pushed_file(".gitattributes"), "* filter=evil");
}

#[tokio::test]
async fn diff_and_merge_drivers_and_textconv() {
    let scene = Scene::after("drivers").await;
    let (outcome, _) = scene.finish().await;
    assert_eq!(outcome, honest());
    assert_eq!(
        scene.pushed_file(".gitattributes"),
        "* diff=evil merge=evil"
    );
}

#[tokio::test]
async fn a_conversion_that_fails_costs_nobody_else_anything() {
    let scene = Scene::after("impossible-conversion").await;
    let (outcome, _) = scene.finish().await;
    assert!(outcome.uncommitted);
    assert_eq!(scene.pushed_file("odd.txt"), "not in that encoding");
    assert_eq!(scene.pushed_file("sub/windows.bat"), "first\nsecond");
    assert_eq!(scene.pushed_file("new.txt"), "uncommitted");
}

/// What `.git` is now leads elsewhere, so it is not looked into; the files become one commit.
#[tokio::test]
async fn a_git_directory_of_somebody_else() {
    for case in ["git-file", "git-link", "git-gone", "objects-link"] {
        let scene = Scene::after(case).await;
        let (outcome, pushed) = scene.finish().await;
        assert_eq!((outcome.commits, outcome.uncommitted), (0, true), "{case}");
        assert!(outcome.rebuilt.is_some(), "{case}");
        assert_eq!(pushed.commits, 1);
        assert_honest_content(&scene);
    }
}

#[tokio::test]
async fn a_head_that_leads_out_of_the_repository() {
    // The branch that the agent was given still holds the commit.
    for case in ["head-outside", "head-link"] {
        let scene = Scene::after(case).await;
        let (outcome, _) = scene.finish().await;
        assert_eq!(outcome, honest(), "{case}");
        assert_honest_content(&scene);
    }
}

#[tokio::test]
async fn a_rewritten_history_becomes_one_commit_on_the_base() {
    for (case, new_file) in [("rewritten", true), ("orphan", false), ("git-anew", true)] {
        let scene = Scene::after(case).await;
        let (outcome, pushed) = scene.finish().await;
        assert_eq!((outcome.commits, outcome.uncommitted), (0, true), "{case}");
        assert!(outcome.rebuilt.is_some(), "{case}");
        assert_eq!(pushed.commits, 1, "{case}");
        let mut expected = vec!["M 100644 a.txt"];
        expected.extend(new_file.then_some("A 100644 new.txt"));
        assert_eq!(scene.pushed_changes(), expected, "{case}");
    }
}

#[tokio::test]
async fn objects_of_another_repository_do_not_come_along() {
    let scene = Scene::after("alternates").await;
    let (outcome, _) = scene.finish().await;
    assert!(outcome.rebuilt.is_some());
    assert_eq!(scene.pushed_changes(), ["M 100644 a.txt"]);
    let all = scene.remote_git(&["cat-file", "--batch-all-objects", "--batch"]);
    assert!(!all.contains("top secret"));
}

#[tokio::test]
async fn objects_that_lie_or_are_missing() {
    for case in ["lying-object", "missing-object"] {
        let scene = Scene::after(case).await;
        let (outcome, _) = scene.finish().await;
        assert!(outcome.rebuilt.is_some(), "{case}");
        assert_honest_content(&scene);
    }
}

#[tokio::test]
async fn nested_repositories_are_left_out() {
    let scene = Scene::after("nested-repository").await;
    let (outcome, _) = scene.finish().await;
    assert_eq!(outcome.left_out, "nested repositories: 2");
    assert_honest_content(&scene);
}

#[tokio::test]
async fn submodules_are_entries_and_nothing_more() {
    let scene = Scene::after("submodules").await;
    let (outcome, _) = scene.finish().await;
    assert_eq!((outcome.commits, outcome.uncommitted), (1, true));
    let changes = scene.pushed_changes();
    assert_eq!(
        changes,
        [
            "A 100644 .gitmodules",
            "A 160000 module",
            "A 100644 new.txt"
        ]
    );
}

#[tokio::test]
async fn links_are_kept_as_links() {
    let scene = Scene::after("links-outside").await;
    let (outcome, _) = scene.finish().await;
    assert!(outcome.uncommitted);
    let changes = scene.pushed_changes().join("\n");
    insta::assert_snapshot!(changes, @r"
    T 120000 a.txt
    A 100644 new.txt
    A 120000 stolen.txt
    A 120000 sub
    D 000000 sub/b.txt
    D 000000 sub/windows.bat
    ");
    let all = scene.remote_git(&["cat-file", "--batch-all-objects", "--batch"]);
    assert!(!all.lines().any(|line| line == "secret"));
    assert!(
        scene.out().join("outside/secret.txt").exists(),
        "not removed through the link"
    );
}

#[tokio::test]
async fn nothing_waits_for_a_fifo() {
    let scene = Scene::after("special-files").await;
    let (outcome, _) = scene.finish().await;
    assert_eq!(outcome.left_out, "special files: 5");
    assert_eq!(scene.pushed_file("waits/file"), "x");
}

#[tokio::test]
async fn a_huge_file_is_left_out() {
    let scene = Scene::after("huge-file").await;
    let (outcome, _) = scene.finish().await;
    assert_eq!(outcome.left_out, "files that are too large: 1");
    assert_honest_content(&scene);
}

#[tokio::test]
async fn names_that_git_refuses_are_left_out() {
    let scene = Scene::after("unsafe-names").await;
    let (outcome, _) = scene.finish().await;
    assert_eq!(outcome.left_out, "names that git refuses: 4");
    assert_honest_content(&scene);
}

#[tokio::test]
async fn closed_directories_are_opened() {
    let scene = Scene::after("closed-directories").await;
    scene.finish().await;
    assert_eq!(scene.pushed_file("closed/below/file"), "x");
    assert_eq!(scene.pushed_file("sub/b.txt"), "text");
}

#[tokio::test]
async fn a_workspace_replaced_by_a_link_is_not_looked_into() {
    let scene = Scene::after("plain").await;
    let moved = scene.tmp.path().join("moved");
    fs::rename(scene.workspace.path(), &moved).unwrap();
    std::os::unix::fs::symlink(&moved, scene.workspace.path()).unwrap();
    assert!(scene.roots.find(scene.workspace.path()).await.is_err());
}

/// The traps do fire when git is used in the clone as it is: the cases above prove something.
macro_rules! fires {
    ($($name:ident = $case:literal, $command:expr;)*) => {
        mod the_trap_is_real {
            use super::*;
            $(
                #[tokio::test]
                async fn $name() {
                    let scene = Scene::after($case).await;
                    git(scene.workspace.path(), &$command);
                    let ran = scene.out().join("canary").exists();
                    let evil = git(&scene.out().join("evil.git"), &["for-each-ref"]);
                    assert!(ran || !evil.is_empty());
                }
            )*
        }
    };
}

fires! {
    hooks = "hooks", ["commit", "--allow-empty", "-qm", "x"];
    hooks_path = "hooks-path", ["commit", "--allow-empty", "-qm", "x"];
    fsmonitor = "fsmonitor", ["status"];
    filters = "filters", ["add", "-A"];
    include = "include", ["status"];
    editor = "editor-pager", ["commit", "--allow-empty"];
    gpg = "gpg", ["commit", "--allow-empty", "-qm", "x"];
    drivers = "drivers", ["diff", "HEAD~1"];
    ssh_command = "ssh-command", ["ls-remote", "origin"];
    server_side_commands = "server-side-commands", ["ls-remote", "origin"];
    git_file = "git-file", ["status"];
    git_link = "git-link", ["status"];
    nested_repository = "nested-repository", ["-C", "nested", "status"];
    submodules = "submodules", ["add", "-A"];
    instead_of = "instead-of", ["push", "-q", "origin", BRANCH];
    push_instead_of = "push-instead-of", ["push", "-q", "origin", BRANCH];
    push_url = "push-url", ["push", "-q", "origin"];
}
