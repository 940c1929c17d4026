//! A service that is busy, refuses, answers something else or not at all.

use super::{AUTOMATION, KEY, World};
use crate::claim;
use lifecycle::ports::{Change, Guard, Store, StoreError};
use serde_json::json;
use testbed::ClosedPort;
use testbed::faults::Fault;

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
