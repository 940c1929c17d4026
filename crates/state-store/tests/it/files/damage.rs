//! Documents that cannot be read, and generations before.

use super::{GOOD, World};
use crate::claim;
use lifecycle::document::{DocumentError, REVIEW};
use lifecycle::ports::{Change, Store, StoreError};
use state_store::{FileStore, Slot, StateStore};

#[tokio::test]
async fn a_damaged_document_is_kept_and_the_generation_before_is_used() {
    for damage in ["", "{\"version\": 1, \"seen\": [\"3f2a\"", "\0\0\0\0", "[]"] {
        let world = World::new();
        world.write("", damage);
        world.write(".prev", GOOD);
        let store = world.store();
        let loaded = store.load().await.unwrap();
        assert!(loaded.has_record("news:2026-08-20"), "{damage:?}");
        assert_eq!(world.read(""), damage, "loading replaces nothing");
        store.update(&mut claim("news:2026-08-21")).await.unwrap();
        let kept: Vec<String> = world
            .names()
            .into_iter()
            .filter(|name| name.contains(".damaged-"))
            .collect();
        assert_eq!(kept.len(), 1, "{kept:?}");
        assert_eq!(
            std::fs::read_to_string(world.folder.path().join(&kept[0])).unwrap(),
            damage
        );
        let document = world.store().load().await.unwrap();
        assert!(document.has_record("news:2026-08-20") && document.has_record("news:2026-08-21"));
        // What is damaged does not become the generation before.
        assert_eq!(world.read(".prev"), GOOD);
    }
}

#[tokio::test]
async fn what_happened_is_told_once() {
    let world = World::new();
    world.write("", "{");
    world.write(".prev", GOOD);
    let store = StateStore::Files(world.store());
    store.load().await.unwrap();
    store.load().await.unwrap();
    let notes = store.take_notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(
        notes[0].contains("damaged-") && notes[0].contains("generation before"),
        "{notes:?}"
    );
    assert!(store.take_notes().is_empty());
}

#[tokio::test]
async fn no_damaged_document_takes_the_place_of_an_earlier_one() {
    let world = World::new();
    for damage in ["{\"a", "{\"b", "{\"a"] {
        world.write("", damage);
        let error = world.store().load().await.unwrap_err();
        assert!(
            matches!(error, StoreError::Document { kept: Some(_), .. }),
            "{error}"
        );
    }
    let kept: Vec<String> = world
        .names()
        .into_iter()
        .filter(|name| name.contains(".damaged-"))
        .collect();
    assert_eq!(kept.len(), 2, "{kept:?}");
    let mut texts: Vec<String> = kept
        .iter()
        .map(|name| std::fs::read_to_string(world.folder.path().join(name)).unwrap())
        .collect();
    texts.sort();
    assert_eq!(texts, ["{\"a", "{\"b"]);
}

#[tokio::test]
async fn two_damaged_generations_fail() {
    let world = World::new();
    world.write("", "{");
    world.write(".prev", "[");
    let error = world
        .store()
        .update(&mut |_| Change::Write)
        .await
        .unwrap_err();
    assert!(
        matches!(error, StoreError::Document { kept: Some(_), .. }),
        "{error}"
    );
    assert_eq!(
        (world.read(""), world.read(".prev")),
        ("{".into(), "[".into())
    );
}

#[tokio::test]
async fn a_missing_document_with_a_generation_before_is_not_a_fresh_start() {
    let world = World::new();
    world.write(".prev", GOOD);
    let store = world.store();
    assert!(store.load().await.unwrap().has_record("news:2026-08-20"));
    store.update(&mut |_| Change::Keep).await.unwrap();
    assert!(
        world.read("").contains("news:2026-08-20"),
        "it is put in place again"
    );
    let world = World::new();
    world.write(".prev", "{");
    let error = world.store().load().await.unwrap_err();
    assert!(matches!(error, StoreError::Document { .. }), "{error}");
}

#[tokio::test]
async fn a_newer_document_is_not_replaced_by_the_generation_before() {
    let world = World::new();
    let newer = r#"{"version": 2, "seen": {}}"#;
    world.write("", newer);
    world.write(".prev", GOOD);
    let error = world
        .store()
        .update(&mut |_| Change::Write)
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::Document {
                error: DocumentError::NewerVersion { found: 2, known: 1 },
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(
        (world.read(""), world.read(".prev")),
        (newer.into(), GOOD.into())
    );
}

#[tokio::test]
async fn a_document_of_no_reasonable_length_is_not_read_into_memory() {
    let world = World::new();
    let file = std::fs::File::create(world.path("")).unwrap();
    file.set_len(1 << 36).unwrap();
    let error = world.store().load().await.unwrap_err();
    assert!(error.to_string().contains("longer than"), "{error}");
}

#[tokio::test]
async fn a_damaged_older_document_is_not_passed_over() {
    let world = World::new();
    let path = world
        .folder
        .path()
        .join("github_pr_reviewer_label_event_a1.json");
    std::fs::write(&path, "{\"version\":2,\"repo\":\"acme/wid").unwrap();
    let slot = Slot::new(&REVIEW, Some("a1"), "acme/widget");
    let store = FileStore::new(world.folder.path().to_owned(), slot, &world.env);
    let error = store.load().await.unwrap_err();
    assert!(
        matches!(error, StoreError::Document { kept: Some(_), .. }),
        "{error}"
    );
    // A target that has a document of its own does not ask.
    std::fs::write(
        world
            .folder
            .path()
            .join("github_pr_reviewer_label_event_a1_acme__widget.json"),
        r#"{"version":3,"repo":"acme/widget"}"#,
    )
    .unwrap();
    store.load().await.unwrap();
}
