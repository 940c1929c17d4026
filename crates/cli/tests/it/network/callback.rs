//! The service that hears of the end, and does not want to.

use crate::stage::Backend;
use crate::stage::scenes::NewsDay;
use serde_json::Value;
use std::path::Path;
use testbed::callback::RunStatus;
use testbed::faults::Fault;

#[test]
fn what_the_service_says_of_the_end_never_fails_a_run() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runtime/callback-answers.json");
    let input: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    for answer in input["answers"].as_array().unwrap() {
        let day = NewsDay::with_three_feeds(Backend::Strict);
        let status: u16 = answer["status"].as_u64().unwrap().try_into().unwrap();
        let callbacks = day.stage.callbacks.server();
        if status != 200 {
            let fault = Fault::status(status).on("POST", "/complete").always();
            callbacks.faults().add(fault);
        }
        let ran = day.stage.run();
        assert_eq!(ran.status.code(), Some(0), "{status}: {}", ran.all());
        let asked = callbacks.log().matching("POST", "/complete");
        assert_eq!(
            asked.len() as u64,
            answer["asked"].as_u64().unwrap(),
            "{status}"
        );
        let is_lost = answer["delivery"] == "lost";
        assert_eq!(
            ran.log.contains("callback did not get through"),
            is_lost,
            "{}",
            ran.log
        );
        // What is sent is what the service knows, and no more.
        let body = asked[0].json().unwrap();
        let known = ["status", "run_id", "error", "conversation_id"];
        assert!(
            body.as_object()
                .unwrap()
                .keys()
                .all(|key| known.contains(&key.as_str())),
            "{body}"
        );
        assert_eq!(
            asked[0].header("authorization"),
            Some("Bearer callback-key")
        );
    }
    // A server error that passes.
    let day = NewsDay::with_three_feeds(Backend::Strict);
    let callbacks = day.stage.callbacks.server();
    callbacks
        .faults()
        .add(Fault::status(500).on("POST", "/complete"));
    day.stage.run().ok();
    // The run was cancelled meanwhile.
    let process = day.stage.begin();
    day.stage
        .callbacks
        .end(&process.id, RunStatus::Cancelled, "by a person");
    let ran = process.end(&day.stage);
    assert_eq!(ran.status.code(), Some(0), "{}", ran.all());
    assert!(!ran.log.contains("callback"), "{}", ran.log);
}

#[test]
fn an_older_service_without_phases_is_no_trouble() {
    let mut day = NewsDay::with_three_feeds(Backend::Strict);
    day.stage.variables.extend([
        ("AUTOMATION_PHASE_URL".to_owned(), None),
        ("AUTOMATION_ID".to_owned(), None),
        ("AUTOMATION_NAME".to_owned(), None),
        ("AUTOMATION_TRIGGER_TYPE".to_owned(), None),
    ]);
    let ran = day.stage.run().ok();
    assert!(ran.told.phases.is_empty());
    assert_eq!(ran.count("started"), 1);
}
