//! Facts about the KV store, with a token as runs have it.

use std::sync::Barrier;
use std::thread;

use serde_json::{Value, json};
use testbed::TestbedError;
use testbed::call::{Answer, Call};

use crate::e2e::error::E2eError;
use crate::e2e::facts::Facts;
use crate::e2e::services::RealServices;

/// The most bytes of JSON that one value may have.
const VALUE_LIMIT: usize = 65_536;
const RACERS: usize = 8;

/// The store of one automation, as a run sees it.
struct Store {
    base: String,
    token: String,
}

impl Store {
    fn call(&self, method: &str, target: &str) -> Call {
        Call::new(method, &format!("{}/v1/kv/{target}", self.base)).bearer(&self.token)
    }

    fn get(&self, target: &str) -> Result<Answer, TestbedError> {
        self.call("GET", target).send()
    }

    fn put(&self, target: &str, value: &Value) -> Result<Answer, TestbedError> {
        self.call("PUT", target).json(value).send()
    }

    fn version(&self, key: &str) -> Result<u64, TestbedError> {
        let meta = self.get(&format!("{key}?meta=true"))?.json();
        Ok(meta["version"].as_u64().unwrap_or_default())
    }

    /// The same write from several sides at one moment: their statuses.
    fn race(&self, target: &str) -> Result<Vec<u16>, TestbedError> {
        let start = Barrier::new(RACERS);
        thread::scope(|scope| {
            let racers: Vec<_> = (0..RACERS)
                .map(|number| {
                    let start = &start;
                    scope.spawn(move || {
                        start.wait();
                        self.put(target, &json!({ "racer": number }))
                    })
                })
                .collect();
            racers
                .into_iter()
                .filter_map(|racer| racer.join().ok())
                .map(|answer| answer.map(|answer| answer.status))
                .collect()
        })
    }
}

pub(super) fn check(
    services: &RealServices,
    automation_id: &str,
    facts: &mut Facts,
) -> Result<(), E2eError> {
    let store = Store {
        base: services.automation_api_url(),
        token: services.kv_token(automation_id, "11111111-1111-4111-8111-111111111111"),
    };
    reading_and_writing(&store, facts)?;
    conditions(&store, facts)?;
    limits(&store, facts)?;
    races(&store, facts)?;

    let expired = Store {
        base: services.automation_api_url(),
        token: services.expired_kv_token(automation_id, "11111111-1111-4111-8111-111111111111"),
    };
    facts.status(
        "an expired KV token is answered with 401",
        &expired.get("any")?,
        401,
    );
    let forged = Store {
        base: services.automation_api_url(),
        token: "not.a.token".to_owned(),
    };
    facts.status(
        "a bad KV token is answered with 401",
        &forged.get("any")?,
        401,
    );
    Ok(())
}

fn reading_and_writing(store: &Store, facts: &mut Facts) -> Result<(), E2eError> {
    let key = "state:group__team__service";
    let absent = store.get(key)?;
    facts.status("GET of a key that is not there is 404", &absent, 404);
    facts.equal(
        "… and says key_not_found",
        &absent.json()["detail"],
        &json!("key_not_found"),
    );

    let value =
        json!({"version": 1, "at": 1_785_000_000.123_456_7, "whole": 1.0, "n": 7, "ü": "✓"});
    let created = store.put(key, &value)?;
    facts.status("PUT of a new key is 201", &created, 201);
    facts.equal(
        "PUT answers no version",
        &created.json()["version"],
        &Value::Null,
    );
    facts.status(
        "PUT of a key that is there is 200",
        &store.put(key, &value)?,
        200,
    );
    let read = store.get(&format!("{key}?meta=true"))?.json();
    facts.equal(
        "a value comes back as it was written, floats included",
        &read["value"],
        &value,
    );
    facts.check(
        "GET with meta tells version, created_at and updated_at",
        read["version"].is_u64()
            && read["created_at"].is_string()
            && read["updated_at"].is_string(),
        &read.to_string(),
    );

    let before = store.version(key)?;
    store.put("another", &json!(1))?;
    let after = store.version(key)?;
    facts.check(
        "one version counter serves all keys of an automation",
        after == before + 1,
        &format!("{before}, then {after}"),
    );
    let gone = store.call("DELETE", "another").send()?;
    facts.equal(
        "DELETE says whether there was something",
        &gone.json()["deleted"],
        &json!(true),
    );
    let again = store.call("DELETE", "another").send()?;
    facts.equal(
        "DELETE may be repeated",
        &again.json()["deleted"],
        &json!(false),
    );
    Ok(())
}

fn conditions(store: &Store, facts: &mut Facts) -> Result<(), E2eError> {
    let key = "conditions";
    store.put(key, &json!(1))?;
    let taken = store.put(&format!("{key}?nx=true"), &json!(2))?;
    facts.status("PUT with nx of a key that is there is 409", &taken, 409);
    facts.equal(
        "… and says key_exists",
        &taken.json()["error"],
        &json!("key_exists"),
    );

    let version = store.version(key)?;
    let stale = store.put(&format!("{key}?if_version={}", version - 1), &json!(2))?;
    facts.status("PUT with a version that has passed is 409", &stale, 409);
    let detail = stale.json()["detail"].clone();
    facts.equal(
        "… and says version_mismatch",
        &detail["error"],
        &json!("version_mismatch"),
    );
    facts.equal(
        "… and which version it is now",
        &detail["actual_version"],
        &json!(version),
    );
    let fits = store.put(&format!("{key}?if_version={version}"), &json!(2))?;
    facts.status("PUT with the version of now is 200", &fits, 200);
    let stale = store
        .call("DELETE", &format!("{key}?if_version={version}"))
        .send()?;
    facts.status("DELETE with a version that has passed is 409", &stale, 409);
    Ok(())
}

fn limits(store: &Store, facts: &mut Facts) -> Result<(), E2eError> {
    // The quotes count.
    let fits = json!("x".repeat(VALUE_LIMIT - 2));
    facts.status(
        "a value of 65,536 bytes is stored",
        &store.put("large-1", &fits)?,
        201,
    );
    let second = store.put("large-2", &fits)?.status;
    facts.note(format!(
        "a second value of 65,536 bytes under another key: {second}"
    ));
    let large = store.put("large-1", &json!("x".repeat(VALUE_LIMIT - 1)))?;
    facts.status("a value of 65,537 bytes is 413", &large, 413);
    let detail = large.json()["detail"].clone();
    facts.equal(
        "… and says value_too_large",
        &detail["error"],
        &json!("value_too_large"),
    );
    for key in ["large-1", "large-2"] {
        store.call("DELETE", key).send()?;
    }
    let longest = "k".repeat(255);
    facts.status(
        "a key may have 255 characters",
        &store.put(&longest, &json!(1))?,
        201,
    );
    facts.status(
        "a key of 256 is 400",
        &store.put(&format!("{longest}k"), &json!(1))?,
        400,
    );
    facts.status(
        "a slash in a key is 404",
        &store.put("a%2Fb", &json!(1))?,
        404,
    );
    let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
    facts.status(
        "a value nested over 32 levels is 400",
        &store.put("deep", &deep)?,
        400,
    );
    Ok(())
}

fn races(store: &Store, facts: &mut Facts) -> Result<(), E2eError> {
    let mut statuses = Vec::new();
    for round in 0..5 {
        let key = format!("race-{round}");
        let mut round = store.race(&format!("{key}?nx=true"))?;
        facts.check(
            "of eight who create a key with nx at once exactly one wins",
            round.iter().filter(|status| **status == 201).count() == 1,
            &format!("{round:?}"),
        );
        facts.check(
            "… and the others see 409 or 500",
            round.iter().all(|status| matches!(status, 201 | 409 | 500)),
            &format!("{round:?}"),
        );
        facts.status("… when the key is there", &store.get(&key)?, 200);
        statuses.append(&mut round);
    }
    let refused = statuses.iter().filter(|status| **status == 500).count();
    facts.note(format!(
        "losers of nx that saw 500: {refused} of {}",
        statuses.len() - 5
    ));

    store.put("conditional", &json!(0))?;
    let mut winners = Vec::new();
    for _ in 0..5 {
        let version = store.version("conditional")?;
        let round = store.race(&format!("conditional?if_version={version}"))?;
        winners.push(round.iter().filter(|status| **status == 200).count());
    }
    facts.note(format!(
        "of eight who write with if_version at once win: {winners:?}"
    ));
    Ok(())
}
