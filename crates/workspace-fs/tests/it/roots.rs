//! Making and removing workspaces, with an agent that plants links, depth and permissions.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use workspace_fs::{Area, Workspace, WorkspaceError, WorkspaceRoots, review_parts};

/// A base as in local mode, `{tmp}/automation-runs/run-2`.
fn local() -> (TempDir, PathBuf, WorkspaceRoots) {
    let tmp = TempDir::new().unwrap();
    let base = tmp.path().join("automation-runs/run-2");
    let roots = WorkspaceRoots::new(&base, Area::Repositories).unwrap();
    (tmp, base, roots)
}

async fn made(roots: &WorkspaceRoots) -> Workspace {
    let workspace = roots.create(&["acme__widget", "pr-1-abc"]).await.unwrap();
    fs::create_dir_all(workspace.path().join("src/deep")).unwrap();
    fs::write(workspace.path().join("src/deep/file"), "x").unwrap();
    workspace
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

#[tokio::test]
async fn creates_where_the_schema_documents_say() {
    let (_tmp, base, roots) = local();
    let parts = review_parts("acme/widget", 42, "0123456789abcdef0123");
    let workspace = roots.create(&parts).await.unwrap();
    let expected = base.join("repositories/acme__widget/pr-42-0123456789ab");
    assert_eq!(workspace.path(), expected);
    assert_eq!(roots.path_of(&parts), expected);
    assert_eq!(mode(&expected), 0o700);
    assert_eq!(fs::read_dir(&expected).unwrap().count(), 0);
}

#[tokio::test]
async fn hostile_names_stay_inside() {
    let (_tmp, base, _) = local();
    let news = WorkspaceRoots::new(&base, Area::NewsDigest).unwrap();
    let long = "ü".repeat(4000);
    for name in ["../../../x", "/etc", "", "..", "a\0b", "a/b", &long] {
        let workspace = news.create(&[name]).await.unwrap();
        let path = workspace.path();
        assert_eq!(path.parent().unwrap(), base.join("news-digest"), "{name:?}");
        assert!(path.is_dir());
        assert!(news.remove(path).await.unwrap());
    }
    assert!(matches!(
        news.create(&["a", "b"]).await,
        Err(WorkspaceError::NameParts {
            expected: 1,
            found: 2,
            ..
        })
    ));
}

#[tokio::test]
async fn what_a_killed_run_left_is_made_anew() {
    let (_tmp, base, roots) = local();
    let workspace = made(&roots).await;
    let beside = base.join("repositories/acme__widget/pr-1-abc.finish");
    fs::create_dir(&beside).unwrap();
    fs::write(beside.join("x"), "").unwrap();
    let again = roots.create(&["acme__widget", "pr-1-abc"]).await.unwrap();
    assert_eq!(again.path(), workspace.path());
    assert_eq!(fs::read_dir(again.path()).unwrap().count(), 0);
    assert!(!beside.exists());
}

#[tokio::test]
async fn removes_and_tidies_the_target_folder() {
    let (_tmp, base, roots) = local();
    let one = made(&roots).await;
    let two = roots.create(&["acme__widget", "pr-2-abc"]).await.unwrap();
    let folder = base.join("repositories/acme__widget");
    assert!(roots.remove(one.path()).await.unwrap());
    assert!(!one.path().exists() && two.path().exists());
    assert!(!roots.remove(one.path()).await.unwrap(), "gone is success");
    fs::create_dir(folder.join("pr-2-abc.finish")).unwrap();
    assert!(roots.remove(two.path()).await.unwrap());
    assert!(!folder.exists(), "empty, so tidied away");
    assert!(
        base.join("repositories").exists(),
        "a root is never removed"
    );
    assert!(!roots.remove(two.path()).await.unwrap());
}

#[tokio::test]
async fn earlier_runs_are_ours_too() {
    let (tmp, _base, roots) = local();
    let earlier = tmp
        .path()
        .join("automation-runs/run-1/repositories/acme__widget/pr-9-abc");
    fs::create_dir_all(earlier.join("src")).unwrap();
    assert!(roots.find(&earlier).await.unwrap().is_some());
    assert!(roots.remove(&earlier).await.unwrap());
    assert!(!earlier.exists());
    assert!(
        tmp.path()
            .join("automation-runs/run-1/repositories")
            .exists()
    );
}

#[tokio::test]
async fn outside_the_roots_nothing_is_touched() {
    let (tmp, base, roots) = local();
    made(&roots).await;
    let other = tmp.path().join("precious");
    fs::create_dir_all(other.join("repositories/a/b")).unwrap();
    fs::create_dir_all(base.join("issue-to-mr/g__p/issue-1-2")).unwrap();
    let refused = [
        other.clone(),
        other.join("repositories/a/b"),
        tmp.path().to_owned(),
        PathBuf::from("/"),
        PathBuf::from("repositories/acme__widget/pr-1-abc"),
        base.clone(),
        base.join("repositories"),
        base.join("repositories/acme__widget"),
        base.join("repositories/acme__widget/pr-1-abc/src"),
        base.join("issue-to-mr/g__p/issue-1-2"),
        base.join("repositories/acme__widget/.."),
        base.join("repositories/x/../../../../precious"),
        base.parent().unwrap().to_owned(),
        base.parent().unwrap().join("repositories/acme__widget"),
    ];
    for dir in refused {
        let error = roots.remove(&dir).await.unwrap_err();
        assert!(
            matches!(error, WorkspaceError::OutsideRoots { .. }),
            "{dir:?}: {error}"
        );
        assert!(error.to_string().contains("outside the workspace roots"));
        assert!(roots.find(&dir).await.is_err());
    }
    assert!(other.join("repositories/a/b").exists());
    assert!(
        base.join("repositories/acme__widget/pr-1-abc/src/deep/file")
            .exists()
    );
    assert!(base.join("issue-to-mr/g__p/issue-1-2").exists());
}

#[tokio::test]
async fn a_base_must_be_absolute() {
    for base in ["", "workspace", "./x", "/a/../b"] {
        assert!(matches!(
            WorkspaceRoots::new(base, Area::NewsDigest),
            Err(WorkspaceError::InvalidBase { .. })
        ));
    }
}

#[tokio::test]
async fn what_the_system_refuses_is_told_with_what_was_tried_on_what() {
    let tmp = TempDir::new().unwrap();
    let file = tmp.path().join("file");
    fs::write(&file, "").unwrap();
    let base = file.join("base");
    let roots = WorkspaceRoots::new(&base, Area::NewsDigest).unwrap();
    let error = roots.create(&["2026-08-20"]).await.unwrap_err();
    assert!(
        matches!(&error, WorkspaceError::Io { action: "create", path, source }
            if *path == base && source.kind() == std::io::ErrorKind::NotADirectory),
        "{error:?}"
    );
    let expected = format!("cannot create {}: ", base.display());
    assert!(error.to_string().starts_with(&expected), "{error}");
}

#[tokio::test]
async fn links_inside_are_removed_and_not_followed() {
    let (tmp, _base, roots) = local();
    let workspace = made(&roots).await;
    let outside = tmp.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("keep"), "kept").unwrap();
    symlink(&outside, workspace.path().join("to-dir")).unwrap();
    symlink(outside.join("keep"), workspace.path().join("src/to-file")).unwrap();
    symlink("/nowhere", workspace.path().join("src/dangling")).unwrap();
    assert!(roots.remove(workspace.path()).await.unwrap());
    assert!(!workspace.path().exists());
    assert_eq!(fs::read_to_string(outside.join("keep")).unwrap(), "kept");
}

#[tokio::test]
async fn a_component_replaced_by_a_link_is_refused() {
    let (tmp, base, roots) = local();
    let outside = tmp.path().join("outside");
    for (link, below) in [
        (base.join("repositories/acme__widget/pr-1-abc"), ""),
        (base.join("repositories/acme__widget"), "pr-1-abc"),
        (base.join("repositories"), "acme__widget/pr-1-abc"),
        (
            tmp.path().join("automation-runs/run-1"),
            "repositories/acme__widget/pr-1-abc",
        ),
    ] {
        let dir = if below.is_empty() {
            link.clone()
        } else {
            link.join(below)
        };
        let _ = fs::remove_dir_all(&outside);
        fs::create_dir_all(outside.join(below).join("src")).unwrap();
        if link.exists() {
            fs::remove_dir_all(&link).unwrap();
        }
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&outside, &link).unwrap();
        let error = roots.remove(&dir).await.unwrap_err();
        assert!(
            matches!(&error, WorkspaceError::Replaced { path, found: "symbolic link" } if *path == link),
            "{error}"
        );
        assert!(roots.find(&dir).await.is_err());
        if dir.starts_with(&base) {
            assert!(roots.create(&["acme__widget", "pr-1-abc"]).await.is_err());
        }
        assert!(outside.join(below).join("src").exists());
        fs::remove_file(&link).unwrap();
    }
}

#[tokio::test]
async fn a_base_reached_over_a_link_works_in_both_spellings() {
    let tmp = TempDir::new().unwrap();
    let real = tmp.path().canonicalize().unwrap().join("real");
    fs::create_dir(&real).unwrap();
    let linked = tmp.path().join("linked");
    symlink(&real, &linked).unwrap();
    let roots = WorkspaceRoots::new(&linked, Area::NewsDigest).unwrap();
    for spelling in [&linked, &real] {
        roots.create(&["2026-08-20"]).await.unwrap();
        assert!(
            roots
                .remove(&spelling.join("news-digest/2026-08-20"))
                .await
                .unwrap()
        );
        assert!(!real.join("news-digest/2026-08-20").exists());
    }
}

#[tokio::test]
async fn permissions_that_the_agent_took_away_are_repaired() {
    let (_tmp, base, roots) = local();
    let workspace = made(&roots).await;
    let no = fs::Permissions::from_mode(0o000);
    for dir in ["src/deep", "src", ""] {
        fs::set_permissions(workspace.path().join(dir), no.clone()).unwrap();
    }
    fs::set_permissions(base.join("repositories/acme__widget"), no).unwrap();
    assert!(roots.remove(workspace.path()).await.unwrap());
    assert!(!base.join("repositories/acme__widget").exists());
}

#[tokio::test]
async fn depth_and_number_are_no_obstacle() {
    let (_tmp, _base, roots) = local();
    let workspace = made(&roots).await;
    // Far deeper than a path may be long: each level is moved into a new one.
    let (current, next) = (workspace.path().join("d"), workspace.path().join("n"));
    fs::create_dir(&current).unwrap();
    for _ in 0..200 {
        fs::create_dir(&next).unwrap();
        fs::rename(&current, next.join("d".repeat(200))).unwrap();
        fs::rename(&next, &current).unwrap();
    }
    for i in 0..5000 {
        fs::write(workspace.path().join(format!("f{i}")), "").unwrap();
    }
    assert!(roots.remove(workspace.path()).await.unwrap());
    assert!(!workspace.path().exists());
}

#[tokio::test]
async fn a_workspace_replaced_by_a_file_is_removed() {
    let (_tmp, _base, roots) = local();
    let workspace = made(&roots).await;
    fs::remove_dir_all(workspace.path()).unwrap();
    fs::write(workspace.path(), "x").unwrap();
    assert!(roots.find(workspace.path()).await.is_err());
    assert!(roots.remove(workspace.path()).await.unwrap());
    assert!(!workspace.path().exists());
}

#[tokio::test]
async fn overlapping_creation_and_removal_do_not_lose_a_workspace() {
    let (_tmp, _base, roots) = local();
    let one = |n: u32| {
        let roots = &roots;
        async move {
            for round in 0..40 {
                let name = format!("pr-{n}-{round}");
                let workspace = roots.create(&["acme__widget", &name]).await.unwrap();
                assert!(workspace.path().is_dir());
                assert!(roots.remove(workspace.path()).await.unwrap());
            }
        }
    };
    tokio::join!(one(1), one(2), one(3), one(4));
}

#[tokio::test]
async fn files_are_read_inside_only() {
    let (tmp, _base, roots) = local();
    let workspace = made(&roots).await;
    let dir = workspace.path();
    fs::write(tmp.path().join("secret"), "secret").unwrap();
    symlink(tmp.path().join("secret"), dir.join("link")).unwrap();
    symlink(tmp.path(), dir.join("up")).unwrap();
    fs::write(dir.join("guide.md"), "0123456789").unwrap();
    let read = |relative: &'static str, max| {
        let (roots, dir) = (&roots, dir.to_owned());
        async move {
            roots
                .read_file(&dir, Path::new(relative), max)
                .await
                .unwrap()
        }
    };
    assert_eq!(read("guide.md", 100).await.as_deref(), Some("0123456789"));
    assert_eq!(read("./guide.md", 4).await.as_deref(), Some("0123"));
    assert_eq!(read("src/deep/file", 4).await.as_deref(), Some("x"));
    for none in [
        "link",
        "up/secret",
        "../../../secret",
        "/etc/passwd",
        "absent",
        "src",
        "a/b",
        "",
    ] {
        assert_eq!(read(none, 100).await, None, "{none}");
    }
}

#[tokio::test]
async fn a_process_left_behind_does_not_prevent_removal() {
    let (_tmp, _base, roots) = local();
    let workspace = made(&roots).await;
    let dir = workspace.path().to_owned();
    let writer = std::thread::spawn(move || {
        for i in 0..200 {
            let _gone = fs::write(dir.join(format!("late-{i}")), "");
        }
    });
    // It may lose a few rounds, but not all.
    let removed = roots.remove(workspace.path()).await;
    writer.join().unwrap();
    if removed.is_err() {
        roots.remove(workspace.path()).await.unwrap();
    }
    assert!(!workspace.path().exists());
}
