//! Rate limits of GitHub in the middle of a run: nothing is claimed, closed or released because of
//! one.

use super::bad_days::fixture;
use crate::stage::process::Ran;
use crate::stage::scenes::{PullRequests, Scene as _};
use crate::stage::{A_MINUTE, Backend, a_few_at_a_time};
use serde_json::{Value, json};
use std::path::Path;
use testbed::faults::Fault;

/// The three ways to say "slow down", as answers.
fn limits() -> Vec<Fault> {
    let said = fixture("limits-said-in-three-ways.json");
    let answer = |one: &Value| {
        let status = one["status"].as_u64().unwrap().try_into().unwrap();
        let mut fault = Fault::status(status).body("application/json", one["body"].to_string());
        for (name, value) in one["headers"].as_object().unwrap() {
            // The moment of the fixture may have passed by now; the limit has not.
            let text = value.as_str().unwrap();
            let text = if name == "x-ratelimit-reset" {
                "4102444800"
            } else {
                text
            };
            fault = fault.header(name, text);
        }
        fault
    };
    said.as_array().unwrap().iter().map(answer).collect()
}

/// Nothing failed, and nothing else was said about it than that there is a limit.
#[track_caller]
fn completed_under_a_limit(ran: Ran) {
    let ran = ran.ok();
    assert_eq!(ran.target()["status"], "ok", "{}", ran.all());
    assert!(!ran.log.to_lowercase().contains("no access"), "{}", ran.log);
}

fn scene() -> PullRequests {
    let mut scene = PullRequests::one_labelled(Backend::LikeSqlite);
    // No limit of the three fits into half a minute.
    scene.stage.config["time_budget_seconds"] = json!(30);
    scene
}

/// Each limit, from each of so many requests on.
fn limits_at(steps: usize) -> Vec<(Fault, u32)> {
    let steps = 0..u32::try_from(steps).unwrap();
    let from = |limit: Fault| steps.clone().map(move |step| (limit.clone(), step));
    limits().into_iter().flat_map(from).collect()
}

#[test]
fn a_limit_anywhere_in_a_starting_run_claims_nothing() {
    let steps = {
        let scene = scene();
        scene.stage.run().ok();
        scene.github.server().log().len()
    };
    a_few_at_a_time(&limits_at(steps), |(limit, step)| {
        let scene = scene();
        let faults = scene.github.server().faults();
        faults.add(limit.clone().skip(*step).always());
        completed_under_a_limit(scene.stage.run());
        let at_work = scene.stage.agent.created();
        assert_eq!(scene.stage.records().len(), at_work, "step {step}");
        if at_work == 0 {
            assert_eq!(scene.stage.guards(), Vec::<String>::new(), "step {step}");
            assert_eq!(
                scene.stage.left_on_disk(),
                Vec::<String>::new(),
                "step {step}"
            );
            let document = scene.stage.document();
            let retries = document["retries"].as_object();
            assert!(
                retries.is_none_or(serde_json::Map::is_empty),
                "a limit is no attempt"
            );
        }
        faults.clear();
        scene.stage.run().ok();
        assert_eq!(scene.stage.statuses(), ["active"]);
        assert_eq!(scene.stage.agent.created(), 1);
        scene.doubled().unwrap();
    });
}

#[test]
fn a_limit_anywhere_in_a_collecting_run_closes_nothing() {
    let ready = || {
        let scene = scene();
        scene.stage.run().ok();
        scene.stage.agents_finish();
        scene.stage.let_time_pass(A_MINUTE);
        scene.github.server().log().clear();
        scene
    };
    let steps = {
        let scene = ready();
        scene.stage.run().ok();
        scene.github.server().log().len()
    };
    a_few_at_a_time(&limits_at(steps), |(limit, step)| {
        let scene = ready();
        let faults = scene.github.server().faults();
        faults.add(limit.clone().skip(*step).always());
        completed_under_a_limit(scene.stage.run());
        if scene.results(1) == 0 {
            let record = scene.stage.record();
            assert_eq!(record["status"], "active", "step {step}");
            let dir = record["workspace_dir"].as_str().unwrap();
            assert!(Path::new(dir).join("src/lib.rs").exists());
        }
        faults.clear();
        scene.stage.let_time_pass(A_MINUTE);
        scene.stage.run().ok();
        scene.is_done().unwrap();
        scene.stage.assert_quiet();
    });
}
