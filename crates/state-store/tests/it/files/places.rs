//! Where documents lie, and places that refuse.

use super::{GOOD, World, names};
use crate::claim;
use lifecycle::document::REVIEW;
use lifecycle::ports::{Change, Store, StoreError};
use serde_json::json;
use state_store::{
    EntryKind, FileStore, OpenError, Slot, StateStore, StoreEnv, folder_of, list, open,
};

#[tokio::test]
async fn a_place_that_is_no_folder_or_no_file_is_an_error() {
    let world = World::new();
    let file = world.folder.path().join("automation-state");
    std::fs::write(&file, "").unwrap();
    let store = FileStore::new(file, World::slot(), &world.env);
    for result in [
        store.load().await,
        store.update(&mut |_| Change::Write).await,
    ] {
        assert!(matches!(result, Err(StoreError::Io { .. })), "{result:?}");
    }
    let world = World::new();
    std::fs::create_dir(world.path("")).unwrap();
    let error = world.store().load().await.unwrap_err();
    assert!(error.to_string().contains("no regular file"), "{error}");
}

#[tokio::test]
async fn a_read_only_folder_refuses_and_loses_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    world.write("", GOOD);
    let mode = |mode| {
        std::fs::set_permissions(world.folder.path(), std::fs::Permissions::from_mode(mode))
            .unwrap();
    };
    mode(0o555);
    let may_write_anywhere = std::fs::write(world.path(".probe"), "").is_ok();
    let store = world.store();
    assert!(store.load().await.unwrap().has_record("news:2026-08-20"));
    if !may_write_anywhere {
        let error = store.update(&mut claim("news:2")).await.unwrap_err();
        assert!(
            matches!(
                error,
                StoreError::Io {
                    action: "opening the lock file",
                    ..
                }
            ),
            "{error}"
        );
        store.save_cache(&json!(1)).await;
    }
    mode(0o755);
    assert_eq!(world.read(""), GOOD);
}

#[tokio::test]
async fn who_only_looks_writes_nothing() {
    let world = World::new();
    world.write("", "{");
    let env = StoreEnv {
        read_only: true,
        ..world.env.clone()
    };
    let store = FileStore::new(world.folder.path().to_owned(), World::slot(), &env);
    let error = store.load().await.unwrap_err();
    assert!(
        matches!(error, StoreError::Document { kept: None, .. }),
        "{error}"
    );
    assert!(store.update(&mut |_| Change::Write).await.is_err());
    store.save_cache(&json!(1)).await;
    assert_eq!(names(world.folder.path()), ["news_digest_a1.json"]);
}

#[tokio::test]
async fn the_environment_decides_where_the_document_lies() {
    let home = tempfile::tempdir().unwrap();
    let client = http_client::Client::new(http_client::Policy::default()).unwrap();
    let slot = || Slot::new(&REVIEW, Some("a1"), "acme/widget");
    let root = home.path().join("ws");
    let run = root.join("automation-runs").join("run-1");
    std::fs::create_dir_all(&run).unwrap();
    let link = home.path().join("link");
    std::os::unix::fs::symlink(&run, &link).unwrap();
    for base in [&run, &link] {
        let env = StoreEnv {
            workspace_base: Some(base.clone()),
            ..StoreEnv::default()
        };
        let store = open(&env, &client, slot()).unwrap();
        store.update(&mut claim("1:label:1")).await.unwrap();
        let expected = root
            .canonicalize()
            .unwrap()
            .join("automation-state/github_pr_reviewer_label_event_a1_acme__widget.json");
        assert_eq!(store.place(), expected.display().to_string());
        assert!(expected.exists());
    }
    let env = StoreEnv {
        home: Some(home.path().to_owned()),
        ..StoreEnv::default()
    };
    assert_eq!(
        folder_of(&env).unwrap(),
        home.path().join(".openhands/workspaces/automation-state")
    );
    // A token without an address, or the other way round, is no KV store.
    let half = StoreEnv {
        kv_url: Some("http://127.0.0.1:9".into()),
        ..env.clone()
    };
    assert!(matches!(
        open(&half, &client, slot()),
        Ok(StateStore::Files(_))
    ));
    let nowhere = open(&StoreEnv::default(), &client, slot()).unwrap_err();
    assert_eq!(nowhere, OpenError::NoFolder);
    assert!(nowhere.to_string().contains("WORKSPACE_BASE"), "{nowhere}");
    // With both, the address must be one; files do not take its place.
    for (url, expected) in [
        ("ftp://h/x", "the scheme is ftp"),
        ("h/x", "relative URL without a base"),
    ] {
        let bad = StoreEnv {
            kv_url: Some(url.into()),
            kv_token: Some(http_client::Secret::new("t0ken")),
            ..env.clone()
        };
        assert_eq!(
            open(&bad, &client, slot()).unwrap_err(),
            OpenError::BadUrl {
                url: url.into(),
                detail: expected.into(),
            }
        );
    }
}

#[tokio::test]
async fn a_folder_can_be_listed_and_a_document_read_and_removed() {
    let world = World::new();
    let folder = world.folder.path();
    assert_eq!(list(&folder.join("not there")).unwrap(), []);
    let slot = Slot::new(&REVIEW, Some("a1"), "acme/widget");
    let review = StateStore::Files(FileStore::new(folder.to_owned(), slot, &world.env));
    review.update(&mut claim("1:label:1")).await.unwrap();
    review.save_cache(&json!({"etag": 1})).await;
    world.write("", "{");
    assert!(world.store().load().await.is_err());
    let entries = list(folder).unwrap();
    let found: Vec<_> = entries
        .iter()
        .map(|entry| {
            (
                entry.kind,
                entry.automation.unwrap(),
                entry.target.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (
                EntryKind::Document,
                "github-pr-reviewer",
                Some("acme/widget")
            ),
            (EntryKind::Unusable, "news-digest", None),
            (EntryKind::SetAside, "news-digest", None),
        ]
    );
    assert_eq!(review.stored_names().await.unwrap().len(), 3);
    let news = StateStore::Files(world.store());
    assert_eq!(
        news.read_raw().await.unwrap().as_deref(),
        Some(b"{".as_slice())
    );
    assert!(news.reset().await.unwrap());
    assert_eq!(news.read_raw().await.unwrap(), None);
    assert!(!news.load().await.unwrap().has_record("news:1"));
    assert!(review.reset().await.unwrap());
    assert!(!review.reset().await.unwrap());
    assert_eq!(review.load_cache().await, None);
}

#[tokio::test]
async fn a_reset_does_not_bring_an_older_document_back() {
    let world = World::new();
    let legacy =
        r#"{"version":2,"repo":"acme/widget","reviews":{"4:label:900":{"status":"closed"}}}"#;
    let path = world
        .folder
        .path()
        .join("github_pr_reviewer_label_event_a1.json");
    std::fs::write(&path, legacy).unwrap();
    let slot = Slot::new(&REVIEW, Some("a1"), "acme/widget");
    let store = StateStore::Files(FileStore::new(
        world.folder.path().to_owned(),
        slot,
        &world.env,
    ));
    assert!(store.load().await.unwrap().has_record("4:label:900"));
    store.reset().await.unwrap();
    assert!(!store.load().await.unwrap().has_record("4:label:900"));
    assert_eq!(std::fs::read_to_string(path).unwrap(), legacy);
}
