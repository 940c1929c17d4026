//! Keys: each answer of the service, lost answers, and a service that is not there.

use crate::claim;
use http_client::{Client, Policy, Secret};
use lifecycle::document::{Document, DocumentError, REVIEW};
use lifecycle::ports::{Change, Guard, Store, StoreError};
use serde_json::{Value, json};
use state_store::{Slot, StateStore, StoreEnv, Timing, open};
use std::time::Duration;
use testbed::ClosedPort;
use testbed::faults::Fault;
use testbed::kv::{Behaviour, KvStore, SizeLimit};

const AUTOMATION: &str = "a1";
const KEY: &str = "state:acme__widget";
const PATH: &str = "/api/automation/v1/kv/";

struct World {
    service: KvStore,
    env: StoreEnv,
    client: Client,
}

impl World {
    fn new() -> Self {
        let service = KvStore::start(Behaviour::Strict).unwrap();
        let env = StoreEnv {
            kv_url: Some(format!("{}/", service.api_url())),
            kv_token: Some(Secret::new(service.token(AUTOMATION))),
            // It would be there to fall back to, if anything did.
            home: Some(std::env::temp_dir()),
            run_id: "run-1".into(),
            timing: Timing::quick(Duration::from_millis(1)),
            ..StoreEnv::default()
        };
        let policy = Policy {
            call_timeout: Duration::from_millis(300),
            retry_pause: Duration::from_millis(1),
            ..Policy::default()
        };
        Self {
            service,
            env,
            client: Client::new(policy).unwrap(),
        }
    }

    fn store(&self) -> StateStore {
        let store = open(
            &self.env,
            &self.client,
            Slot::new(&REVIEW, Some("a1"), "acme/widget"),
        )
        .unwrap();
        assert!(matches!(store, StateStore::Kv(_)));
        store
    }

    fn fault(&self, fault: Fault) {
        self.service.server().faults().add(fault);
    }

    fn value(&self) -> Option<Value> {
        self.service.value(AUTOMATION, KEY)
    }

    fn writes(&self) -> usize {
        self.service.history().len()
    }

    /// The answer to every call.
    async fn fails(&self) -> StoreError {
        let store = self.store();
        let error = store.load().await.unwrap_err();
        let again = store.update(&mut |_| Change::Write).await.unwrap_err();
        assert_eq!(kind(&again), kind(&error), "{again}");
        let guard = store.create_guard("g", &json!(1)).await.unwrap_err();
        assert_eq!(kind(&guard), kind(&error), "{guard}");
        assert_eq!(store.load_cache().await, None);
        store.save_cache(&json!(1)).await;
        error
    }

    fn end(self) {
        assert_eq!(
            self.service.server().faults().unspent(),
            0,
            "a fault did not come to pass"
        );
        self.service.server().check().unwrap();
    }
}

fn kind(error: &StoreError) -> std::mem::Discriminant<StoreError> {
    std::mem::discriminant(error)
}

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
async fn a_busy_service_is_asked_again_when_it_says() {
    let world = World::new();
    world.service.set_busy(3);
    world.store().update(&mut claim("1:label:1")).await.unwrap();
    world.service.set_busy(2);
    let guard = world.store().create_guard("g", &json!(1)).await.unwrap();
    assert_eq!(guard, Guard::Created);
    world.service.set_busy(100);
    let error = world
        .store()
        .update(&mut claim("2:label:2"))
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
    assert!(error.to_string().contains("busy"), "{error}");
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
async fn a_token_that_is_not_accepted_is_an_error_at_once() {
    let world = World::new();
    let token = world.env.kv_token.as_ref().unwrap().expose().to_owned();
    world.service.expire_token(&token);
    let error = world.fails().await;
    assert!(matches!(error, StoreError::Unauthorized { .. }), "{error}");
    assert!(!error.to_string().contains(&token), "{error}");
    assert!(
        world.service.server().log().len() <= 5,
        "it is not tried again"
    );
    world.end();
}

#[tokio::test]
async fn a_service_without_a_secret_says_so() {
    let world = World::new();
    world.service.set_secret_configured(false);
    let error = world.fails().await;
    assert!(matches!(error, StoreError::NotConfigured { .. }), "{error}");
    world.end();
}

#[tokio::test]
async fn a_gateway_that_is_down_is_not_a_missing_secret() {
    let world = World::new();
    world.fault(
        Fault::status(503)
            .body("text/html", "<h1>bad gateway</h1>")
            .always(),
    );
    let error = world.fails().await;
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
    world.end();
}

/// Reading fails once, times out, and is refused: the run ends with a message, nothing else is
/// used in place of the store.
#[tokio::test]
async fn a_store_out_of_reach_is_never_an_empty_document() {
    let world = World::new();
    world.fault(Fault::status(500).on("GET", KEY).times(2));
    world.store().load().await.unwrap();
    world.fault(Fault::status(500).on("GET", KEY).always());
    let error = world.store().load().await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
    world.service.server().faults().clear();
    world.fault(Fault::hang().on("GET", KEY));
    let error = world.store().load().await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
    world.end();

    let mut world = World::new();
    let port = ClosedPort::take().unwrap();
    world.env.kv_url = Some(format!("{}/api/automation", port.base_url()));
    let error = world.fails().await;
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
    assert!(
        error.to_string().contains("the next run tries again"),
        "{error}"
    );
}

#[tokio::test]
async fn what_is_no_answer_of_the_store_is_never_an_empty_document() {
    for fault in [
        Fault::status(404).body("application/json", r#"{"detail":"Not Found"}"#),
        Fault::status(404).body("text/html", "<h1>404</h1>"),
        Fault::status(200).body("text/html", "<h1>please log in</h1>"),
        Fault::status(200).body("application/json", "null"),
        Fault::status(200).body("application/json", r#"{"key":"k","value":{}}"#),
        Fault::status(204).body("application/json", ""),
        Fault::status(400).body("application/json", r#"{"detail":"invalid_key: no"}"#),
        Fault::half_then_close(),
    ] {
        let world = World::new();
        world.service.put(
            AUTOMATION,
            KEY,
            &json!({"version": 3, "repo": "acme/widget"}),
        );
        world.fault(fault.on("GET", KEY).always());
        let store = world.store();
        for result in [
            store.load().await,
            store.update(&mut |_| Change::Write).await,
        ] {
            assert!(
                matches!(result, Err(StoreError::Unavailable { .. })),
                "{result:?}"
            );
        }
        assert_eq!(world.writes(), 1);
    }
}

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
