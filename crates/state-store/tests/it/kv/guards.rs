//! Guards, and the keys that names become.

use super::{AUTOMATION, KEY, World};
use crate::claim;
use lifecycle::document::REVIEW;
use lifecycle::ports::{Guard, Store, StoreError};
use serde_json::json;
use state_store::{Slot, open};
use testbed::faults::Fault;

#[tokio::test]
async fn a_guard_whose_answer_is_lost_is_ours() {
    let content = json!({"run": "run-1", "nonce": 17, "at": 1_717_200_000.25});
    for fault in [Fault::answer_lost(), Fault::status(500).after_effect()] {
        let world = World::new();
        world.fault(fault.on("PUT", "guard:"));
        let store = world.store();
        assert_eq!(
            store.create_guard("g", &content).await.unwrap(),
            Guard::Created
        );
        assert_eq!(world.writes(), 1);
        // The same again is somebody who comes second.
        let again = store.create_guard("g", &content).await.unwrap();
        assert_eq!(again, Guard::Exists(content.clone()));
        world.end();
    }
}

#[tokio::test]
async fn a_bare_500_means_that_somebody_else_created_it() {
    let world = World::new();
    let theirs = json!({"run": "run-2"});
    let key = format!("guard:{KEY}:g");
    world.service.put(AUTOMATION, &key, &theirs);
    world.fault(Fault::status(500).on("PUT", "guard:"));
    let found = world
        .store()
        .create_guard("g", &json!({"run": "run-1"}))
        .await
        .unwrap();
    assert_eq!(found, Guard::Exists(theirs));
    world.end();

    // Or that the service has trouble: with no key there, it is tried again.
    let world = World::new();
    world.fault(Fault::status(500).on("PUT", "guard:").times(2));
    let found = world
        .store()
        .create_guard("g", &json!({"run": "run-1"}))
        .await
        .unwrap();
    assert_eq!(found, Guard::Created);
    world.fault(Fault::status(500).on("PUT", "guard:").times(4));
    let error = world
        .store()
        .create_guard("h", &json!(1))
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
    world.end();
}

#[tokio::test]
async fn any_name_makes_a_key_that_the_service_takes() {
    let world = World::new();
    let store = world.store();
    for name in [
        "a/b",
        "..",
        "%2e%2e",
        "ключ?x#y",
        "\0\n",
        &"z".repeat(600),
        "",
        " ",
    ] {
        let content = json!({"name": name});
        assert_eq!(
            store.create_guard(name, &content).await.unwrap(),
            Guard::Created,
            "{name:?}"
        );
        assert_eq!(store.read_guard(name).await.unwrap(), Some(content));
        store.delete_guard(name).await.unwrap();
        assert_eq!(store.read_guard(name).await.unwrap(), None);
    }
    for target in [
        "../..",
        "o/r?x=1#y",
        "группа/проект",
        "a/b%2Fc",
        "o/r\0",
        &"n/".repeat(300),
    ] {
        let slot = Slot::new(&REVIEW, Some("a1"), target);
        let store = open(&world.env, &world.client, slot).unwrap();
        store.update(&mut claim("1:label:1")).await.unwrap();
        assert!(
            store.load().await.unwrap().has_record("1:label:1"),
            "{target:?}"
        );
    }
    assert_eq!(world.service.keys(AUTOMATION).len(), 6);
    world.end();
}

#[tokio::test]
async fn a_reset_takes_guards_and_cache_along() {
    let world = World::new();
    let store = world.store();
    store.update(&mut claim("1:label:1")).await.unwrap();
    store
        .create_guard("claim:1:label:1", &json!(1))
        .await
        .unwrap();
    store.save_cache(&json!(1)).await;
    world.service.put(
        AUTOMATION,
        "state:acme__other",
        &json!({"repo": "acme/other"}),
    );
    world
        .service
        .put(AUTOMATION, "guard:state:acme__widget2:x", &json!(1));
    assert!(store.reset().await.unwrap());
    assert_eq!(
        store.stored_names().await.unwrap(),
        ["guard:state:acme__widget2:x", "state:acme__other"]
    );
    assert!(!store.reset().await.unwrap());
    let legacy = json!({"version": 2, "repo": "acme/widget",
        "reviews": {"4:label:900": {"status": "closed"}}});
    world.service.put(AUTOMATION, "state", &legacy);
    assert!(store.load().await.unwrap().has_record("4:label:900"));
    store.reset().await.unwrap();
    assert!(!store.load().await.unwrap().has_record("4:label:900"));
    assert_eq!(world.service.value(AUTOMATION, "state"), Some(legacy));
    world.end();
}
