//! Documents as keys: transactions, sizes, damage.

use super::{AUTOMATION, KEY, PATH, World};
use crate::claim;
use lifecycle::document::{Document, DocumentError, REVIEW};
use lifecycle::ports::{Change, Store, StoreError};
use serde_json::json;
use state_store::{Slot, StoreEnv, Timing, open};
use std::time::Duration;
use testbed::faults::Fault;
use testbed::kv::SizeLimit;

#[tokio::test]
async fn a_document_lies_under_the_documented_key() {
    let world = World::new();
    let store = world.store();
    let before = store.load().await.unwrap();
    assert_eq!(before, Document::empty(&REVIEW, "acme/widget"));
    store.update(&mut claim("1:label:1")).await.unwrap();
    assert_eq!(world.service.keys(AUTOMATION), [KEY]);
    store
        .create_guard("claim:1:label:1", &json!({"run": "run-1"}))
        .await
        .unwrap();
    store.save_cache(&json!({"etag": "x"})).await;
    assert_eq!(
        world.service.keys(AUTOMATION),
        [
            "cache:state:acme__widget",
            "guard:state:acme__widget:claim:1:label:1",
            KEY
        ]
    );
    assert_eq!(store.place(), "KV key state:acme__widget");
    world.end();
}

#[tokio::test]
async fn a_stale_version_leads_to_the_fresh_document() {
    let world = World::new();
    let store = world.store();
    store.update(&mut claim("1:label:1")).await.unwrap();
    let mut calls = 0;
    let after = store
        .update(&mut |document| {
            calls += 1;
            if calls == 1 {
                // Another run is faster.
                let mut theirs = document.clone();
                claim("9:label:9")(&mut theirs);
                world.service.put(AUTOMATION, KEY, &theirs.to_value());
            }
            claim("2:label:2")(document)
        })
        .await
        .unwrap();
    assert_eq!(calls, 2);
    assert_eq!(after.records().count(), 3);
    // Another key moves the version as well: only the attempt is repeated.
    let mut calls = 0;
    store
        .update(&mut |document| {
            calls += 1;
            if calls == 1 {
                world
                    .service
                    .put(AUTOMATION, "state:acme__other", &json!({}));
            }
            claim("3:label:3")(document)
        })
        .await
        .unwrap();
    assert_eq!(calls, 2);
    world.end();
}

#[tokio::test]
async fn conflicts_without_end_are_given_up() {
    let world = World::new();
    let store = world.store();
    let timing = Timing {
        attempts: 5,
        ..world.env.timing
    };
    let env = StoreEnv {
        timing,
        ..world.env.clone()
    };
    let bounded = open(&env, &world.client, Slot::new(&REVIEW, None, "acme/widget")).unwrap();
    store.update(&mut claim("1:label:1")).await.unwrap();
    let error = bounded
        .update(&mut |document| {
            world.service.put(AUTOMATION, "other", &json!(1));
            claim("2:label:2")(document)
        })
        .await
        .unwrap_err();
    assert!(
        matches!(error, StoreError::Contended { attempts: 5, .. }),
        "{error}"
    );
    assert!(!world.store().load().await.unwrap().has_record("2:label:2"));
    world.end();
}

#[tokio::test]
async fn a_write_whose_answer_is_lost_is_recognised() {
    for fault in [
        Fault::answer_lost(),
        Fault::half_then_close(),
        Fault::status(500).after_effect(),
        Fault::status(502).after_effect(),
        Fault::hang().after_effect(),
    ] {
        let world = World::new();
        let is_hang = format!("{fault:?}").contains("Hang");
        world.fault(fault.on("PUT", KEY));
        let store = world.store();
        let result = store.update(&mut claim("1:label:1")).await;
        if is_hang {
            // A service that has just been silent is not asked again in this run.
            assert!(
                matches!(result, Err(StoreError::Unavailable { .. })),
                "{result:?}"
            );
        } else {
            assert!(result.unwrap().has_record("1:label:1"));
        }
        assert_eq!(world.writes(), 1, "it was written once");
        world.end();
    }
}

#[tokio::test]
async fn a_write_that_never_arrived_is_made_again() {
    for fault in [
        Fault::reset(),
        Fault::status(500),
        Fault::status(502),
        Fault::status(504),
    ] {
        let world = World::new();
        world.fault(fault.on("PUT", KEY).times(2));
        world.store().update(&mut claim("1:label:1")).await.unwrap();
        assert_eq!(world.writes(), 1);
        world.end();
    }
}

#[tokio::test]
async fn a_write_that_another_overtook_is_applied_again() {
    let world = World::new();
    let store = world.store();
    // The answer is late, and by then another run, told that it had won too, has written over it.
    let theirs = json!({"version": 3, "repo": "acme/widget", "written_by": "run-2/1",
        "reviews": {"9:label:9": {"status": "starting"}}});
    world.fault(
        Fault::delay(Duration::from_millis(20))
            .on("GET", KEY)
            .skip(1),
    );
    let overtaken = async {
        while world.writes() == 0 {
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
        world.service.put(AUTOMATION, KEY, &theirs);
    };
    let (after, ()) = tokio::join!(
        async { store.update(&mut claim("1:label:1")).await.unwrap() },
        overtaken
    );
    assert!(after.has_record("1:label:1") && after.has_record("9:label:9"));
    assert_eq!(world.value().unwrap(), after.to_value());
    world.end();
}

#[tokio::test]
async fn a_value_that_does_not_fit_is_refused_and_nothing_is_lost() {
    let world = World::new();
    let store = world.store();
    let before = store.update(&mut claim("1:label:1")).await.unwrap();
    let error = store
        .update(&mut |document| {
            document.set("filling", "x".repeat(70_000));
            Change::Write
        })
        .await
        .unwrap_err();
    let StoreError::TooLarge { size, .. } = error else {
        panic!("{error}")
    };
    assert!(size > 70_000);
    assert_eq!(world.value().unwrap(), before.to_value());
    let error = store
        .create_guard("g", &json!("x".repeat(70_000)))
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::TooLarge { .. }), "{error}");
    world.end();
}

#[tokio::test]
async fn where_all_keys_share_the_room_the_cache_makes_way() {
    let world = World::new();
    world.service.set_size_limit(SizeLimit::Sum, 2_500);
    let store = world.store();
    store.save_cache(&json!("x".repeat(1_900))).await;
    let filled = |document: &mut Document| {
        document.set("filling", "x".repeat(1_000));
        Change::Write
    };
    store.update(&mut filled.clone()).await.unwrap();
    assert_eq!(world.service.keys(AUTOMATION), [KEY]);
    let error = store
        .update(&mut |document| {
            document.set("filling", "x".repeat(3_000));
            Change::Write
        })
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::TooLarge { .. }), "{error}");
    // What is remembered for speed is small, or not remembered.
    world.service.set_size_limit(SizeLimit::Sum, 65_536);
    store.save_cache(&json!("x".repeat(2_100))).await;
    assert_eq!(store.load_cache().await, None);
    world.end();
}

#[tokio::test]
async fn a_damaged_value_is_kept_even_where_a_copy_has_no_room() {
    let world = World::new();
    let damaged = json!({"version": 3, "repo": "acme/widget", "reviews": "x".repeat(1_500)});
    world.service.set_size_limit(SizeLimit::Sum, 2_000);
    world.service.put(AUTOMATION, KEY, &damaged);
    let error = world.store().load().await.unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::Document {
                error: DocumentError::Unreadable(_),
                kept: None,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(world.value().unwrap(), damaged);
    world.service.set_size_limit(SizeLimit::PerValue, 65_536);
    let error = world.store().load().await.unwrap_err();
    let StoreError::Document {
        kept: Some(kept), ..
    } = error
    else {
        panic!("{error}")
    };
    let key = kept.strip_prefix("KV key ").unwrap();
    assert_eq!(world.service.value(AUTOMATION, key).unwrap(), damaged);
    world.end();
}

#[tokio::test]
async fn a_steady_load_is_one_request() {
    let world = World::new();
    let store = world.store();
    store.update(&mut claim("1:label:1")).await.unwrap();
    world.service.server().log().clear();
    store.load().await.unwrap();
    store.update(&mut claim("1:label:1")).await.unwrap();
    assert_eq!(
        world.service.server().log().lines().len(),
        2,
        "{:?}",
        world.service.server().log().lines()
    );
    world.service.server().log().clear();
    store.update(&mut claim("2:label:2")).await.unwrap();
    let lines = world.service.server().log().lines();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines.iter().all(|line| line.contains(PATH)), "{lines:?}");
    world.end();
}

#[tokio::test]
async fn who_only_looks_writes_nothing() {
    let mut world = World::new();
    world.env.read_only = true;
    world.service.put(
        AUTOMATION,
        KEY,
        &json!({"version": 3, "repo": "acme/widget", "prs": 1}),
    );
    let store = world.store();
    assert!(store.load().await.is_err());
    assert!(store.update(&mut |_| Change::Write).await.is_err());
    assert!(store.create_guard("g", &json!(1)).await.is_err());
    assert!(store.delete_guard("g").await.is_err());
    store.save_cache(&json!(1)).await;
    assert_eq!(world.writes(), 1);
    world.end();
}
