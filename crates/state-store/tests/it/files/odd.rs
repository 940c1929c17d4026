//! What else may lie where documents are looked for: sockets, folders, files of others.

use super::{GOOD, World, names};
use crate::claim;
use lifecycle::document::size::{ONE_BYTES, share};
use lifecycle::document::{DocumentError, REVIEW};
use lifecycle::ports::{Change, Guard, Store, StoreError};
use serde_json::json;
use sha2::{Digest, Sha256};
use state_store::{EntryKind, FileStore, Slot, StateStore, StoreEnv, list, state_folder};
use std::os::unix::net::UnixListener;
use std::path::Path;

const STEM: &str = "github_pr_reviewer_label_event_a1";

fn review(world: &World) -> StateStore {
    let slot = Slot::new(&REVIEW, Some("a1"), "acme/widget");
    let folder = world.folder.path().to_owned();
    StateStore::Files(FileStore::new(folder, slot, &world.env))
}

fn read(world: &World, name: &str) -> String {
    std::fs::read_to_string(world.folder.path().join(name)).unwrap()
}

/// What would never come to an end when read is not read, whichever file it stands for.
#[tokio::test]
async fn a_file_that_is_no_regular_file_is_an_error_and_stays() {
    for suffix in ["", ".prev"] {
        let world = World::new();
        let _socket = UnixListener::bind(world.path(suffix)).unwrap();
        let store = world.store();
        for result in [store.load().await, store.update(&mut claim("news:1")).await] {
            let Err(StoreError::Io { place, detail, .. }) = result else {
                panic!("{suffix}: {result:?}");
            };
            assert_eq!(place, world.path(suffix).display().to_string());
            assert_eq!(detail, "it is no regular file");
        }
        assert_eq!(world.names().len(), 1, "nothing was put in its place");
        assert!(StateStore::Files(world.store()).reset().await.is_err());
    }
    // It is no document of anybody's either.
    let world = World::new();
    let _socket = UnixListener::bind(world.path("")).unwrap();
    assert_eq!(list(world.folder.path()).unwrap(), []);
}

/// A cache that cannot be kept costs nothing but questions.
#[tokio::test]
async fn a_cache_that_cannot_be_written_or_read_is_of_no_consequence() {
    let world = World::new();
    std::fs::write(world.folder.path().join("cache"), "not a folder").unwrap();
    let store = world.store();
    store.save_cache(&json!({"etag": 1})).await;
    assert_eq!(store.load_cache().await, None);
    store.update(&mut claim("news:1")).await.unwrap();
    assert_eq!(read(&world, "cache"), "not a folder");

    let world = World::new();
    let folder = world.folder.path().join("cache");
    std::fs::create_dir(&folder).unwrap();
    let store = world.store();
    store.save_cache(&json!({"etag": 1})).await;
    let path = folder.join(&names(&folder)[0]);
    std::fs::write(&path, "{\"eta").unwrap();
    assert_eq!(store.load_cache().await, None, "half of it is none of it");
    store.save_cache(&json!({"etag": 2})).await;
    assert_eq!(store.load_cache().await, Some(json!({"etag": 2})));
}

#[tokio::test]
async fn a_folder_that_is_none_cannot_be_listed() {
    let world = World::new();
    world.write("", GOOD);
    let error = list(&world.path("")).unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::Io {
                action: "reading the folder",
                ..
            }
        ),
        "{error}"
    );
}

/// Whoever lists a folder sees the files of other programs as what they are, if they might be
/// documents at all.
#[tokio::test]
async fn files_of_other_programs_are_listed_without_an_automation() {
    let world = World::new();
    let folder = world.folder.path();
    std::fs::write(folder.join("other.json"), r#"{"repo": "acme/widget"}"#).unwrap();
    std::fs::write(folder.join("broken.json"), "{").unwrap();
    std::fs::write(folder.join("notes.txt"), "{}").unwrap();
    std::fs::create_dir(folder.join("folder.json")).unwrap();
    let entries = list(folder).unwrap();
    let found: Vec<_> = entries
        .iter()
        .map(|entry| {
            let name = entry.path.file_name().unwrap().to_str().unwrap();
            (name, entry.kind, entry.automation, entry.target.as_deref())
        })
        .collect();
    assert_eq!(
        found,
        [
            ("broken.json", EntryKind::Unusable, None, None),
            ("other.json", EntryKind::Document, None, None),
        ]
    );
}

/// Three names may be a target's. Where others hold them all, it has no document and gets none.
#[tokio::test]
async fn a_target_whose_names_are_all_taken_fails_and_touches_nothing() {
    let world = World::new();
    let digits = Sha256::digest(b"acme/widget")
        .iter()
        .take(8)
        .fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    let taken = [
        format!("{STEM}_acme__widget.json"),
        format!("{STEM}_acme__widget-{}.json", &digits[..8]),
        format!("{STEM}_acme__widget-{digits}.json"),
    ];
    let theirs = r#"{"version":3,"repo":"acme__widget","reviews":{}}"#;
    for name in &taken {
        std::fs::write(world.folder.path().join(name), theirs).unwrap();
    }
    let store = review(&world);
    for result in [
        store.load().await,
        store.update(&mut claim("1:label:1")).await,
    ] {
        let Err(StoreError::Unavailable { place, detail }) = result else {
            panic!("{result:?}");
        };
        assert!(place.ends_with(&taken[0]), "{place}");
        assert!(detail.contains("documents of other targets"), "{detail}");
    }
    assert_eq!(store.read_raw().await.unwrap(), None, "none is its own");
    assert!(store.reset().await.is_err());
    for name in &taken {
        assert_eq!(read(&world, name), theirs);
    }
    // With one of them gone, that name is free.
    std::fs::remove_file(world.folder.path().join(&taken[1])).unwrap();
    store.update(&mut claim("1:label:1")).await.unwrap();
    assert!(read(&world, &taken[1]).contains("1:label:1"));
    let raw = store.read_raw().await.unwrap().unwrap();
    assert_eq!(raw, read(&world, &taken[1]).into_bytes());
}

/// A generation before that is another target's is not restored, and its name is not free.
#[tokio::test]
async fn a_generation_before_of_another_target_is_not_restored() {
    let world = World::new();
    let theirs = r#"{"version":3,"repo":"acme__widget","reviews":{"9:label:9":{}}}"#;
    let previous = format!("{STEM}_acme__widget.json.prev");
    std::fs::write(world.folder.path().join(&previous), theirs).unwrap();
    let store = review(&world);
    assert_eq!(store.load().await.unwrap().records().count(), 0);
    store.update(&mut claim("1:label:1")).await.unwrap();
    assert_eq!(read(&world, &previous), theirs);
    let found = world.names();
    assert_eq!(found.len(), 2);
    let ours = found.iter().find(|name| **name != previous).unwrap();
    assert!(ours.starts_with(&format!("{STEM}_acme__widget-")), "{ours}");
}

/// An older document that a newer program has taken over is refused untouched; one that names
/// nobody may be anybody's.
#[tokio::test]
async fn older_documents_are_adopted_only_by_whom_they_name() {
    let legacy = format!("{STEM}.json");
    let newer = r#"{"version":9,"repo":"acme/widget","reviews":{}}"#;
    let world = World::new();
    std::fs::write(world.folder.path().join(&legacy), newer).unwrap();
    let error = review(&world).update(&mut claim("1:label:1")).await;
    let Err(StoreError::Document { error, kept, .. }) = error else {
        panic!("{error:?}");
    };
    assert_eq!(error, DocumentError::NewerVersion { found: 9, known: 3 });
    assert_eq!(kept, None, "it is not damaged");
    assert_eq!(world.names(), [legacy.as_str()]);
    assert_eq!(read(&world, &legacy), newer);

    for theirs in [
        r#"{"version":2,"reviews":{"4:label:900":{}}}"#,
        r#"{"version":2,"reviews":5}"#,
        r#"{"version":9,"repo":"acme/other"}"#,
        r#"{"version":2,"repo":"acme/other","reviews":5}"#,
    ] {
        let world = World::new();
        std::fs::write(world.folder.path().join(&legacy), theirs).unwrap();
        let document = review(&world)
            .update(&mut claim("1:label:1"))
            .await
            .unwrap();
        assert!(!document.has_record("4:label:900"), "{theirs}");
        assert_eq!(read(&world, &legacy), theirs);
        assert_eq!(world.names().len(), 2, "{theirs}");
    }
}

/// The lock is all that exclusive entries could add.
#[tokio::test]
async fn files_need_no_guards() {
    let world = World::new();
    let store = StateStore::Files(world.store());
    let guard = store.create_guard("claim:1", &json!(1)).await.unwrap();
    assert_eq!(guard, Guard::NotNeeded);
    assert_eq!(store.read_guard("claim:1").await.unwrap(), None);
    store.delete_guard("claim:1").await.unwrap();
    assert_eq!(world.names(), [""; 0]);
}

/// Each document may take an even share of the room, and never more than one document's.
#[tokio::test]
async fn the_room_is_shared_evenly() {
    let mut world = World::new();
    for (targets, expected) in [(1, ONE_BYTES), (3, share(3)), (60, 1024)] {
        world.env.targets = targets;
        assert_eq!(StateStore::Files(world.store()).budget(), expected);
    }
}

/// Somebody removes a document while it is changed: the change is written whole, and the generation
/// before stays what it was.
#[tokio::test]
async fn a_document_that_is_removed_while_it_is_changed_is_written_anew() {
    let world = World::new();
    world.write("", GOOD);
    world.write(".prev", "{\"version\":1}");
    let mut change = claim("news:1");
    world
        .store()
        .update(&mut |document| {
            std::fs::remove_file(world.path("")).unwrap();
            change(document)
        })
        .await
        .unwrap();
    assert!(world.read("").contains("news:1") && world.read("").contains("news:2026-08-20"));
    assert_eq!(world.read(".prev"), "{\"version\":1}");
    assert_eq!(world.names().len(), 2);
}

/// What is damaged is replaced only once its bytes are kept: somebody has just taken them away.
#[tokio::test]
async fn a_damaged_document_whose_bytes_cannot_be_kept_is_not_replaced() {
    let world = World::new();
    world.write("", "{");
    world.write(".prev", GOOD);
    let moved = world.path(".mended-by-hand");
    let error = world
        .store()
        .update(&mut |_| {
            std::fs::rename(world.path(""), &moved).unwrap();
            Change::Write
        })
        .await
        .unwrap_err();
    let StoreError::Io { place, action, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(*action, "setting the damaged document aside");
    assert_eq!(*place, world.path("").display().to_string());
    assert!(!world.path("").exists());
    assert_eq!(world.read(".prev"), GOOD);
    assert_eq!(world.read(".mended-by-hand"), "{");
}

/// `.` in a path is no folder of its own.
#[test]
fn a_folder_given_by_a_relative_path_is_the_same() {
    for base in ["./ws/automation-runs/r1", "ws/./automation-runs/x/../r1"] {
        assert_eq!(
            state_folder(Some(Path::new(base)), None).as_deref(),
            Some(Path::new("ws/automation-state"))
        );
    }
    let env = StoreEnv {
        workspace_base: Some("".into()),
        ..StoreEnv::default()
    };
    assert_eq!(state_store::folder_of(&env), None);
}
