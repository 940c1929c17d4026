//! Listing and deleting keys, on services that do it in another way or not at all.

use super::{AUTOMATION, KEY, World};
use crate::claim;
use lifecycle::document::size::{ONE_BYTES, share};
use lifecycle::ports::{Store, StoreError};
use serde_json::json;
use testbed::faults::Fault;

const LIST: &str = "limit=1000";
const JSON: &str = "application/json";

fn page(keys: &[&str], total: usize) -> String {
    json!({"keys": keys, "total": total}).to_string()
}

/// A service without the call, or something else in its place: said, and never taken for "no keys".
#[tokio::test]
async fn a_service_that_does_not_list_its_keys_says_so() {
    for fault in [
        Fault::status(404).body(JSON, r#"{"detail":"Not Found"}"#),
        Fault::status(405).body(JSON, r#"{"detail":"Method Not Allowed"}"#),
        Fault::status(200).body("text/html", "<h1>please log in</h1>"),
        Fault::status(200).body(JSON, r#"{"keys":"none"}"#),
    ] {
        let world = World::new();
        world.fault(fault.on("GET", LIST).always());
        let store = world.store();
        store.update(&mut claim("1:label:1")).await.unwrap();
        let Err(StoreError::Unavailable { place, detail }) = store.stored_names().await else {
            panic!("it was listed");
        };
        assert_eq!(
            (place.as_str(), detail.as_str()),
            ("KV keys", "this service does not list its keys")
        );
    }
}

/// The document goes all the same; what may be left is told.
#[tokio::test]
async fn a_reset_where_keys_are_not_listed_tells_what_may_be_left() {
    let world = World::new();
    let store = world.store();
    store.update(&mut claim("1:label:1")).await.unwrap();
    store.create_guard("claim:1", &json!(1)).await.unwrap();
    store.save_cache(&json!(1)).await;
    world.fault(Fault::status(404).on("GET", LIST));
    assert!(store.reset().await.unwrap());
    assert_eq!(
        store.take_notes(),
        [
            "KV key state:acme__widget: this service does not list its keys, so guards may be left \
             behind"
        ]
    );
    assert_eq!(store.take_notes(), [""; 0], "it is told once");
    let guard = format!("guard:{KEY}:claim:1");
    assert_eq!(world.service.keys(AUTOMATION), [guard]);
    world.end();
}

/// Keys come in pages, in whatever order.
#[tokio::test]
async fn all_pages_of_keys_are_read() {
    let world = World::new();
    world.fault(
        Fault::status(200)
            .body(JSON, page(&["d", "b"], 3))
            .on("GET", "offset=0"),
    );
    world.fault(
        Fault::status(200)
            .body(JSON, page(&["c"], 3))
            .on("GET", "offset=2"),
    );
    assert_eq!(world.store().stored_names().await.unwrap(), ["b", "c", "d"]);
    // Some were deleted between two pages: an empty page is the last.
    world.fault(
        Fault::status(200)
            .body(JSON, page(&["a"], 3))
            .on("GET", "offset=0"),
    );
    world.fault(
        Fault::status(200)
            .body(JSON, page(&[], 1))
            .on("GET", "offset=1"),
    );
    assert_eq!(world.store().stored_names().await.unwrap(), ["a"]);
    world.end();
}

/// A list that breaks off half-way is an error: nothing may be concluded from a part.
#[tokio::test]
async fn a_list_that_breaks_off_is_an_error() {
    let world = World::new();
    let store = world.store();
    store.update(&mut claim("1:label:1")).await.unwrap();
    world.fault(
        Fault::status(200)
            .body(JSON, page(&["a"], 3))
            .on("GET", "offset=0")
            .always(),
    );
    world.fault(Fault::status(500).on("GET", "offset=1").always());
    for result in [
        store.stored_names().await.map(|_| ()),
        store.reset().await.map(|_| ()),
    ] {
        assert!(
            matches!(&result, Err(StoreError::Unavailable { detail, .. }) if detail.contains("500")),
            "{result:?}"
        );
    }
    world.service.server().faults().clear();
    // The reset is taken up where it broke off.
    store.create_guard("claim:1", &json!(1)).await.unwrap();
    store.reset().await.unwrap();
    assert_eq!(store.stored_names().await.unwrap(), [""; 0]);
}

/// A guard that is gone already is gone.
#[tokio::test]
async fn what_is_not_there_counts_as_deleted() {
    for answer in [
        r#"{"detail":"key_not_found"}"#,
        r#"{"detail":{"error":"key_not_found"}}"#,
        r#"{"error":"key_not_found: g"}"#,
    ] {
        let world = World::new();
        world.fault(Fault::status(404).body(JSON, answer).on("DELETE", "guard:"));
        world.store().delete_guard("g").await.unwrap();
        world.end();
    }
}

/// Whatever else a service answers, the guard may still be there.
#[tokio::test]
async fn a_guard_that_may_still_be_there_is_not_deleted() {
    let answers = [
        Fault::status(404).body("text/html", "<h1>404</h1>"),
        Fault::status(404).body(JSON, r#"{"detail":"Not Found"}"#),
        Fault::status(500),
        Fault::status(409).body(JSON, r#"{"detail":"kv_store_busy"}"#),
        Fault::status(400).body(JSON, r#"{"detail":"invalid_key: no"}"#),
    ];
    for answer in answers {
        let world = World::new();
        let store = world.store();
        store.create_guard("g", &json!(1)).await.unwrap();
        world.fault(answer.on("DELETE", "guard:").always());
        let error = store.delete_guard("g").await.unwrap_err();
        let StoreError::Unavailable { place, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(*place, format!("KV key guard:{KEY}:g"));
        assert_eq!(store.read_guard("g").await.unwrap(), Some(json!(1)));
    }
    let world = World::new();
    let store = world.store();
    store.create_guard("g", &json!(1)).await.unwrap();
    world.fault(Fault::status(401).on("DELETE", "guard:"));
    let error = store.delete_guard("g").await.unwrap_err();
    assert!(matches!(error, StoreError::Unauthorized { .. }), "{error}");
    // A busy service is asked again.
    world.fault(Fault::status(500).on("DELETE", "guard:").times(2));
    store.delete_guard("g").await.unwrap();
    assert_eq!(store.read_guard("g").await.unwrap(), None);
    world.end();
}

/// What is stored is shown as it is, readable or not, unless it is another target's.
#[tokio::test]
async fn the_stored_text_is_that_of_this_target() {
    let world = World::new();
    let store = world.store();
    assert_eq!(store.read_raw().await.unwrap(), None);
    let theirs = json!({"version": 3, "repo": "acme/other"});
    world.service.put(AUTOMATION, KEY, &theirs);
    assert_eq!(store.read_raw().await.unwrap(), None);
    assert!(!store.reset().await.unwrap(), "nor is it removed");
    assert_eq!(world.value(), Some(theirs));

    store.update(&mut claim("1:label:1")).await.unwrap();
    let text = String::from_utf8(store.read_raw().await.unwrap().unwrap()).unwrap();
    assert!(
        text.starts_with("{\n") && text.contains("1:label:1"),
        "{text}"
    );
    world.service.put(AUTOMATION, KEY, &json!([1, "damaged"]));
    let text = String::from_utf8(store.read_raw().await.unwrap().unwrap()).unwrap();
    assert_eq!(text, "[\n  1,\n  \"damaged\"\n]");
    world.end();
}

#[tokio::test]
async fn the_room_is_shared_evenly() {
    let mut world = World::new();
    for (targets, expected) in [(1, ONE_BYTES), (3, share(3)), (60, 1024)] {
        world.env.targets = targets;
        assert_eq!(world.store().budget(), expected);
    }
    world.end();
}
