//! The store over its socket: each answer of the service, and the races of both behaviours.

use std::collections::BTreeSet;

use serde_json::json;

use super::*;
use crate::call::{Answer, Call};

const AUTOMATION: &str = "5f6a0a3e-6f0e-4c55-9d1e-0a4a1a7c1d11";

struct Client {
    base: String,
    token: String,
}

impl Client {
    fn new(store: &KvStore) -> Self {
        Self {
            base: format!("{}/v1/kv", store.api_url()),
            token: store.token(AUTOMATION),
        }
    }

    fn get(&self, rest: &str) -> Answer {
        Call::get(&format!("{}/{rest}", self.base))
            .bearer(&self.token)
            .send()
            .unwrap()
    }

    fn put(&self, rest: &str, value: &Value) -> Answer {
        Call::put(&format!("{}/{rest}", self.base), value)
            .bearer(&self.token)
            .send()
            .unwrap()
    }

    fn delete(&self, rest: &str) -> Answer {
        Call::delete(&format!("{}/{rest}", self.base))
            .bearer(&self.token)
            .send()
            .unwrap()
    }
}

#[test]
fn reads_what_was_written_with_one_version_over_all_keys() {
    let store = KvStore::start(Behaviour::Strict).unwrap();
    let client = Client::new(&store);
    let missing = client.get("state:a__b?meta=true");
    assert_eq!(
        (missing.status, missing.json()),
        (404, json!({"detail": "key_not_found"}))
    );
    let created = client.put("state:a__b", &json!({"n": 1}));
    assert_eq!(
        (created.status, &created.json()["created"]),
        (201, &json!(true))
    );
    assert!(created.json().get("version").is_none());
    assert_eq!(client.put("state:c", &json!([2])).status, 201);
    assert_eq!(client.put("state:c", &json!([3])).status, 200);
    let read = client.get("state:a__b?meta=true").json();
    assert_eq!(
        (&read["value"], &read["version"]),
        (&json!({"n": 1}), &json!(3))
    );
    assert!(read["created_at"].as_str().unwrap().ends_with("+00:00"));
    let plain = client.get("state:c").json();
    assert_eq!(plain, json!({"key": "state:c", "value": [3]}));
    let page = Call::get(&format!("{}?limit=1&offset=1", client.base)).bearer(&client.token);
    let page = page.send().unwrap().json();
    assert_eq!(
        (&page["keys"], &page["total"]),
        (&json!(["state:c"]), &json!(2))
    );
    assert_eq!(store.history().len(), 3);
    store.server().check().unwrap();
}

#[test]
fn conditions_are_checked_against_the_shared_version() {
    let store = KvStore::start(Behaviour::Strict).unwrap();
    let client = Client::new(&store);
    assert_eq!(client.put("k?if_version=0", &json!(1)).status, 201);
    assert_eq!(client.put("k?if_version=1", &json!(2)).status, 200);
    let stale = client.put("k?if_version=1", &json!(3));
    assert_eq!(stale.status, 409);
    assert_eq!(stale.json()["detail"]["error"], "version_mismatch");
    assert_eq!(stale.json()["detail"]["actual_version"], 2);
    let taken = client.put("k?nx=true", &json!(4));
    assert_eq!(taken.status, 409);
    assert_eq!(
        taken.json(),
        json!({"key": "k", "created": false, "error": "key_exists"})
    );
    assert_eq!(client.delete("k?if_version=1").status, 409);
    assert_eq!(client.delete("k?if_version=2").json()["deleted"], true);
    let again = client.delete("k").json();
    assert_eq!(again["deleted"], false);
    assert_eq!(store.version(AUTOMATION), 3);
}

#[test]
fn keeps_automations_apart_by_token() {
    let store = KvStore::start(Behaviour::Strict).unwrap();
    let client = Client::new(&store);
    let other = Client {
        token: store.token("other"),
        base: client.base.clone(),
    };
    client.put("k", &json!(1));
    assert_eq!(other.get("k").status, 404);
    assert_eq!(other.put("k?nx=true", &json!(2)).status, 201);
    assert_eq!(
        (store.keys(AUTOMATION), store.value("other", "k")),
        (vec!["k".into()], Some(json!(2)))
    );
    let person = Call::get(&format!("{}/k?automation_id=other", client.base)).bearer(USER_KEY);
    assert_eq!(person.send().unwrap().json()["value"], 2);
}

#[test]
fn refuses_bad_tokens_keys_and_bodies() {
    let store = KvStore::start(Behaviour::Strict).unwrap();
    let client = Client::new(&store);
    let nobody = Client {
        token: "nonsense".into(),
        base: client.base.clone(),
    };
    assert_eq!(nobody.get("k").status, 401);
    store.expire_token(&client.token);
    let expired = client.put("k", &json!(1));
    assert_eq!(
        (expired.status, &expired.json()["detail"]),
        (401, &json!("Invalid or expired KV token"))
    );
    let client = Client::new(&store);
    assert_eq!(client.get("$version").status, 400);
    assert_eq!(client.get(&"k".repeat(256)).status, 400);
    let not_json = Call::new("PUT", &format!("{}/k", client.base)).bearer(&client.token);
    assert_eq!(
        not_json
            .body("application/json", "{")
            .send()
            .unwrap()
            .status,
        422
    );
    let mut deep = json!(1);
    for _ in 0..33 {
        deep = json!([deep]);
    }
    assert_eq!(client.put("k", &deep).status, 400);
    store.set_secret_configured(false);
    assert_eq!(client.get("k").status, 503);
    assert!(store.history().is_empty());
}

#[test]
fn busy_is_a_conflict_that_says_when_to_come_back() {
    let store = KvStore::start(Behaviour::Strict).unwrap();
    let client = Client::new(&store);
    store.set_busy(1);
    let busy = client.put("k", &json!(1));
    assert_eq!((busy.status, busy.header("retry-after")), (409, Some("1")));
    assert!(
        busy.json()["detail"]
            .as_str()
            .unwrap()
            .starts_with("kv_store_busy: ")
    );
    assert_eq!(client.put("k", &json!(1)).status, 201);
}

#[test]
fn limits_each_value_or_the_sum() {
    let store = KvStore::start(Behaviour::Strict).unwrap();
    let client = Client::new(&store);
    // A string of n letters takes n + 2 bytes.
    assert_eq!(client.put("a", &json!("x".repeat(65_534))).status, 201);
    let large = client.put("b", &json!("x".repeat(65_535)));
    assert_eq!(
        (large.status, &large.json()["detail"]["size"]),
        (413, &json!(65_537))
    );
    assert_eq!(client.put("b", &json!("x".repeat(65_534))).status, 201);
    store.set_size_limit(SizeLimit::Sum, 65_536);
    assert_eq!(client.put("a", &json!("x")).status, 413);
    client.delete("b");
    assert_eq!(client.put("a", &json!("x")).status, 200);
    assert_eq!(store.total_bytes(AUTOMATION), 3);
}

#[test]
fn keeps_the_text_of_a_value_as_it_came() {
    let store = KvStore::start(Behaviour::Strict).unwrap();
    let client = Client::new(&store);
    let raw = r#"{"z":1.0,"a":{"é":1717200000.123456}}"#;
    let call = Call::new("PUT", &format!("{}/k", client.base)).bearer(&client.token);
    call.body("application/json", raw).send().unwrap();
    assert_eq!(store.raw(AUTOMATION, "k").as_deref(), Some(raw));
    assert!(client.get("k?meta=true").text().contains(raw));
}

/// Eight writers at once: the statuses in ascending order.
fn race(store: &KvStore, rest: &str) -> Vec<u16> {
    let client = Client::new(store);
    let mut statuses: Vec<u16> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|n| {
                let client = &client;
                scope.spawn(move || client.put(rest, &json!(n)).status)
            })
            .collect();
        writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .collect()
    });
    statuses.sort_unstable();
    statuses
}

#[test]
fn strict_lets_one_conditional_writer_win() {
    let store = KvStore::start(Behaviour::Strict).unwrap();
    store.put(AUTOMATION, "k", &json!("start"));
    assert_eq!(
        race(&store, "k?if_version=1"),
        [200, 409, 409, 409, 409, 409, 409, 409]
    );
    assert_eq!(
        race(&store, "new?nx=true"),
        [201, 409, 409, 409, 409, 409, 409, 409]
    );
    assert!(store.history().iter().all(|write| !write.overlapped));
}

#[test]
fn like_sqlite_lets_overlapping_writers_all_win_and_the_last_stands() {
    let window_ms = 60..=90;
    let behaviour = Behaviour::LikeSqlite;
    let store = KvStore::start_with(KvOptions {
        behaviour,
        window_ms,
        ..KvOptions::default()
    });
    let store = store.unwrap();
    store.put(AUTOMATION, "k", &json!("start"));
    assert_eq!(race(&store, "k?if_version=1"), [200; 8]);
    let history = store.history();
    assert_eq!((history.len(), store.version(AUTOMATION)), (9, 2));
    assert_eq!(store.value(AUTOMATION, "k"), history.last().unwrap().value);
    assert_eq!(history.iter().filter(|write| write.overlapped).count(), 7);
}

#[test]
fn like_sqlite_keeps_creation_exclusive() {
    let store = KvStore::start(Behaviour::LikeSqlite).unwrap();
    for round in 0..5 {
        let statuses = race(&store, &format!("claim:{round}?nx=true"));
        assert_eq!(
            statuses.iter().filter(|status| **status == 201).count(),
            1,
            "{statuses:?}"
        );
        let others: BTreeSet<u16> = statuses[1..].iter().copied().collect();
        assert!(
            others.is_subset(&BTreeSet::from([409, 500])),
            "{statuses:?}"
        );
    }
    assert_eq!(store.keys(AUTOMATION).len(), 5);
}
