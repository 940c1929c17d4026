//! The memory lists and deletes like a service, and tells at once what it holds.

use super::*;
use lifecycle::document::REVIEW;
use lifecycle::ports::{Change, Guard, Store};
use serde_json::json;

#[tokio::test]
async fn a_reset_leaves_only_what_is_another_targets() {
    for overlap in [Overlap::Exclusive, Overlap::LastWins] {
        let memory = Memory::new(overlap);
        let slot = Slot::new(&REVIEW, Some("a1"), "acme/widget");
        let store = memory.open(slot, &StoreEnv::default());
        store.update(&mut |_| Change::Write).await.unwrap();
        let guard = store.create_guard("claim:1", &json!(1)).await.unwrap();
        assert_eq!(guard, Guard::Created);
        store.save_cache(&json!({"etag": 1})).await;
        memory.put_value("state:acme__other", json!({"repo": "acme/other"}));
        assert_eq!(
            store.stored_names().await.unwrap(),
            [
                "cache:state:acme__widget",
                "guard:state:acme__widget:claim:1",
                "state:acme__other",
                "state:acme__widget",
            ]
        );
        assert!(store.reset().await.unwrap());
        assert_eq!(memory.all_keys(), ["state:acme__other"]);
        assert_eq!(store.take_notes(), [""; 0], "nothing may be left behind");
        assert!(!store.reset().await.unwrap());
    }
}

/// Whoever wrote on the condition of the version before learns of a value that was removed.
#[tokio::test]
async fn removing_a_value_moves_the_version() {
    let memory = Memory::new(Overlap::Exclusive);
    memory.put_value("a", json!(1));
    memory.put_value("b", json!(2));
    let (_, version) = memory.get("a").await.unwrap().unwrap();
    assert!(memory.remove_value("b"));
    assert!(!memory.remove_value("b"));
    let condition = Condition::Version(version);
    let put = memory.put("a", &json!(3), condition).await.unwrap();
    assert_eq!((put, memory.value("a")), (Put::Refused, Some(json!(1))));
}
