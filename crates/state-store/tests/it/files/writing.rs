//! One write, step by step, and who may make it.

use super::{GOOD, World};
use crate::claim;
use lifecycle::ports::{Change, Store, StoreError};
use std::time::Duration;

#[tokio::test]
async fn a_write_keeps_the_generation_before_and_nothing_else() {
    let world = World::new();
    let store = world.store();
    store.update(&mut claim("news:1")).await.unwrap();
    assert_eq!(world.names(), ["news_digest_a1.json"]);
    let first = world.read("");
    store.update(&mut claim("news:2")).await.unwrap();
    assert_eq!(
        world.names(),
        ["news_digest_a1.json", "news_digest_a1.json.prev"]
    );
    assert_eq!(world.read(".prev"), first);
    let second = world.read("");
    assert!(second.contains("news:1") && second.contains("news:2"));
    assert!(
        second.starts_with("{\n  \""),
        "indented as the scripts write it: {second}"
    );
    store.update(&mut |_| Change::Keep).await.unwrap();
    assert_eq!((world.read(""), world.read(".prev")), (second, first));
}

#[tokio::test]
async fn leftovers_of_killed_writers_go_and_those_of_others_stay() {
    let world = World::new();
    let store = world.store();
    store.update(&mut claim("news:1")).await.unwrap();
    // The name of a temporary file is not public: it is learnt from a writer that is stopped by a
    // folder in its way.
    let probe = world.store();
    std::fs::create_dir_all(world.path(".prev")).unwrap();
    std::fs::write(world.path(".prev").join("in the way"), "").unwrap();
    let error = probe.update(&mut claim("news:2")).await.unwrap_err();
    assert!(matches!(error, StoreError::Io { .. }), "{error}");
    assert!(error.to_string().contains("generation before"), "{error}");
    std::fs::remove_dir_all(world.path(".prev")).unwrap();
    assert_eq!(
        world.names(),
        ["news_digest_a1.json"],
        "a failed write leaves nothing"
    );
    let prefix = {
        use sha2::{Digest, Sha256};
        let digest = Sha256::digest(b"news_digest_a1.json");
        digest
            .iter()
            .take(8)
            .fold(".".to_owned(), |text, byte| format!("{text}{byte:02x}"))
    };
    let ours = format!("{prefix}-0123456789abcdef.tmp");
    for name in [
        ours.as_str(),
        ".0000000000000000-0123456789abcdef.tmp",
        "news_digest_a1.json.tmp",
    ] {
        std::fs::write(world.folder.path().join(name), "{\"half").unwrap();
    }
    world.store().update(&mut claim("news:3")).await.unwrap();
    assert_eq!(
        world.names(),
        [
            ".0000000000000000-0123456789abcdef.tmp",
            "news_digest_a1.json",
            "news_digest_a1.json.prev",
            "news_digest_a1.json.tmp",
        ]
    );
}

#[tokio::test]
async fn each_point_at_which_a_writer_may_be_killed_leaves_a_whole_document() {
    let old = GOOD;
    let new = GOOD.replace("2026-08-20", "2026-08-21");
    let writing = |world: &World| world.write("", old);
    let linked = |world: &World| {
        world.write("", old);
        world.write(".prev", old);
    };
    let renamed = |world: &World| {
        world.write("", &new);
        world.write(".prev", old);
    };
    for (stopped, record) in [
        (&writing as &dyn Fn(&World), "news:2026-08-20"),
        (&linked, "news:2026-08-20"),
        (&renamed, "news:2026-08-21"),
    ] {
        let world = World::new();
        stopped(&world);
        assert!(world.store().load().await.unwrap().has_record(record));
        world.store().update(&mut claim("news:x")).await.unwrap();
        assert!(world.store().load().await.unwrap().has_record("news:x"));
    }
}

#[tokio::test]
async fn a_lock_that_is_held_is_named_and_does_not_block_others() {
    let world = World::new();
    world.store().update(&mut claim("news:1")).await.unwrap();
    let lock = std::fs::File::open(world.path(".lock")).unwrap();
    lock.lock().unwrap();
    let store = world.store();
    let mut ticks = 0;
    let mut change = claim("news:2");
    let error = tokio::select! {
        result = store.update(&mut change) => result.unwrap_err(),
        () = async {
            loop {
                tokio::time::sleep(Duration::from_millis(1)).await;
                ticks += 1;
            }
        } => unreachable!(),
    };
    assert!(ticks > 1, "the thread was blocked");
    assert!(
        matches!(&error, StoreError::Unavailable { place, .. } if place.ends_with(".json.lock"))
    );
    assert!(
        error.to_string().contains("another run has held this lock"),
        "{error}"
    );
    // Reading needs no lock.
    assert!(store.load().await.unwrap().has_record("news:1"));
    lock.unlock().unwrap();
    store.update(&mut claim("news:2")).await.unwrap();
}

#[tokio::test]
async fn a_lock_file_that_was_removed_locks_nothing() {
    let world = World::new();
    world.store().update(&mut claim("news:1")).await.unwrap();
    let lock = std::fs::File::open(world.path(".lock")).unwrap();
    lock.lock().unwrap();
    std::fs::remove_file(world.path(".lock")).unwrap();
    world.store().update(&mut claim("news:2")).await.unwrap();
    assert!(world.path(".lock").exists());
}
