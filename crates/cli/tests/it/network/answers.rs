//! Answers that are not what was asked for, from each service, at each request.

use crate::stage::scenes::{Scene, fresh_work};
use crate::stage::{A_MINUTE, Automation, Backend, a_few_at_a_time};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Mutex;
use testbed::faults::Fault;

/// What comes in place of the JSON that was asked for.
fn rubbish() -> Vec<(String, Fault)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/network/answers-that-are-not-the-json-expected.json");
    let input: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let mut faults: Vec<(String, Fault)> = input["answers"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["body"].is_string() && !one["error"].is_null())
        .map(|one| {
            let kind = one["content_type"].as_str().unwrap_or("application/json");
            let body = one["body"].as_str().unwrap();
            (body.to_owned(), Fault::wrong_body(kind, body))
        })
        .collect();
    // Nested deeper than any reader should follow, and longer than any should read.
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    faults.push((
        "deep".to_owned(),
        Fault::wrong_body("application/json", deep),
    ));
    let long = format!("[\"{}\"]", "x".repeat(10 << 20));
    faults.push((
        "long".to_owned(),
        Fault::wrong_body("application/json", long),
    ));
    faults.push(("half".to_owned(), Fault::half_then_close()));
    faults.push(("reset".to_owned(), Fault::reset()));
    faults.push(("lost".to_owned(), Fault::answer_lost()));
    faults
}

/// A scene that stands before the run that starts or the run that collects.
fn before(automation: Automation, collects: bool) -> Box<dyn Scene> {
    let mut scene = fresh_work(automation, Backend::Strict);
    scene.stage_mut().config["time_budget_seconds"] = json!(60);
    if collects {
        scene.stage().run().ok();
        scene.stage().agents_finish();
        scene.stage().let_time_pass(A_MINUTE);
    }
    scene
}

/// One service answers with rubbish during one whole run: the run says so and ends, and later ones
/// finish the work as if nothing had been.
fn one_bad_run(
    automation: Automation,
    collects: bool,
    service: usize,
    (name, fault): &(String, Fault),
) -> Result<(), String> {
    let scene = before(automation, collects);
    let server = scene.services()[service];
    let of = format!(
        "{automation:?}, collects {collects}, {}, {name:.20}",
        server.name()
    );
    let asked = server.log().len();
    server.faults().add(fault.clone().always());
    let ran = scene.stage().run();
    if !matches!(ran.status.code(), Some(0 | 1)) {
        return Err(format!("{of}: {}", ran.all()));
    }
    let is_receiver = server.name() == scene.stage().callbacks.server().name();
    let was_asked = server.log().len() > asked;
    if !is_receiver {
        if ran.told.callbacks.len() != 1 {
            return Err(format!("{of}: no callback: {}", ran.all()));
        }
        let told = format!("{}{:?}", ran.log, ran.told.error);
        if was_asked && !told.contains("warning") && !told.contains("error") {
            return Err(format!("{of}: not a word about it: {}", ran.all()));
        }
        if ran.log.lines().any(|line| line.len() > 3000) {
            return Err(format!("{of}: all of it is shown"));
        }
    }
    server.faults().clear();
    scene
        .polls_until_quiet()
        .map(|_| ())
        .map_err(|why| format!("{of}: {why}"))
}

#[test]
fn rubbish_from_any_service_is_told_and_loses_nothing() {
    let mut jobs = Vec::new();
    for automation in [Automation::News, Automation::Review, Automation::Issue] {
        let services = before(automation, false).services().len();
        for service in 0..services {
            for (number, fault) in rubbish().into_iter().enumerate() {
                // Both runs get every kind, each service a third of them.
                for collects in [false, true] {
                    if (number + service + usize::from(collects)).is_multiple_of(3) {
                        jobs.push((automation, collects, service, fault.clone()));
                    }
                }
            }
        }
    }
    let failures = Mutex::new(Vec::new());
    a_few_at_a_time(&jobs, |(automation, collects, service, fault)| {
        if let Err(why) = one_bad_run(*automation, *collects, *service, fault) {
            failures.lock().unwrap().push(why);
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(
        failures.is_empty(),
        "{} of {}\n{}",
        failures.len(),
        jobs.len(),
        failures.join("\n\n")
    );
}
