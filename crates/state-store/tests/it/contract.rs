//! The contract suite over every backend.

use http_client::{Client, Policy, Secret};
use state_store::contract::{Backend, CHECKS, Folder, Keys, run};
use state_store::{HttpWire, Memory, Overlap, Timing};
use std::time::Duration;
use testbed::kv::{Behaviour, KvOptions, KvStore};

/// Runs all checks, so that one failure does not hide another.
async fn all<B: Backend>(backend: B) {
    let mut failures = Vec::new();
    for check in CHECKS {
        if let Err(failure) = run(check, &backend).await {
            failures.push(format!("{check}: {failure}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[tokio::test]
async fn memory_that_keeps_writers_apart() {
    let memory = Memory::new(Overlap::Exclusive);
    all(Keys::new(|| Ok(memory.clone()), Timing::default())).await;
}

#[tokio::test]
async fn memory_where_the_last_write_wins() {
    for seed in 0..20 {
        fastrand::seed(seed);
        let memory = Memory::new(Overlap::LastWins);
        all(Keys::new(|| Ok(memory.clone()), Timing::default())).await;
    }
}

#[tokio::test]
async fn files() {
    let folder = tempfile::tempdir().unwrap();
    all(Folder {
        path: folder.path().join("automation-state"),
    })
    .await;
}

async fn over_stand_in(behaviour: Behaviour, automation: &str) {
    let service = KvStore::start_with(KvOptions {
        behaviour,
        window_ms: 1..=3,
        ..KvOptions::default()
    })
    .unwrap();
    let token = Secret::new(service.token(automation));
    let client = Client::new(Policy {
        max_per_host: 16,
        ..Policy::default()
    })
    .unwrap();
    let timing = Timing::quick(Duration::from_millis(8));
    let wire = || {
        HttpWire::new(client.clone(), &service.api_url(), &token, timing)
            .map_err(|error| error.to_string())
    };
    all(Keys::new(wire, timing)).await;
    service.server().check().unwrap();
    let overlapped = service
        .history()
        .iter()
        .filter(|write| write.overlapped)
        .count();
    match behaviour {
        Behaviour::Strict => assert_eq!(overlapped, 0),
        // Else the check proves nothing.
        Behaviour::LikeSqlite => assert!(overlapped > 20, "{overlapped} writes overlapped"),
    }
}

#[tokio::test]
async fn kv_store_that_locks() {
    over_stand_in(Behaviour::Strict, "strict").await;
}

#[tokio::test]
async fn kv_store_that_lets_two_writers_win() {
    over_stand_in(Behaviour::LikeSqlite, "like-sqlite").await;
}

/// Against a service that runs elsewhere: `AUTOMATION_API_URL` and `AUTOMATION_KV_TOKEN` name it.
/// The automation's keys should be fresh.
#[tokio::test]
#[ignore = "needs a service"]
async fn a_real_service() {
    let given = |name| std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"));
    let (url, token) = (
        given("AUTOMATION_API_URL"),
        Secret::new(given("AUTOMATION_KV_TOKEN")),
    );
    let client = Client::new(Policy {
        max_per_host: 16,
        ..Policy::default()
    })
    .unwrap();
    let timing = Timing::default();
    let wire =
        || HttpWire::new(client.clone(), &url, &token, timing).map_err(|error| error.to_string());
    all(Keys::new(wire, timing)).await;
}
