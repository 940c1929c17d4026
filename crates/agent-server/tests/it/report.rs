//! The end of a run and its phases, as the automation service gets them.

use std::time::{Duration, Instant};

use agent_server::{Delivery, Outcome, ReportTarget, Reporter, last_words};
use http_client::Secret;
use serde_json::json;
use testbed::callback::{CALLBACK_KEY, Callbacks};
use testbed::faults::Fault;

use crate::{client, fixture, policy};

const RUN: &str = "7d3f1c00-52b4-4e0a-8a11-000000000001";

fn target(callbacks: &Callbacks) -> ReportTarget {
    callbacks.begin(RUN, "5f6a0a3e-6f0e-4c55-9d1e-0a4a1a7c1d11");
    ReportTarget::from_lookup(|name| match name {
        "AUTOMATION_CALLBACK_URL" => Some(callbacks.callback_url(RUN)),
        "AUTOMATION_PHASE_URL" => Some(callbacks.phase_url(RUN)),
        "AUTOMATION_CALLBACK_API_KEY" => Some(CALLBACK_KEY.to_owned()),
        "OPENHANDS_API_KEY" => Some("another".to_owned()),
        "AUTOMATION_RUN_ID" => Some(RUN.to_owned()),
        _ => None,
    })
}

fn kind(delivery: &Delivery) -> &'static str {
    match delivery {
        Delivery::Sent => "sent",
        Delivery::AlreadyOver => "already over",
        Delivery::NowhereToSend => "nowhere to send",
        Delivery::Lost(_) => "lost",
    }
}

#[tokio::test]
async fn answers_to_the_callback() {
    let case = fixture("runtime/callback-answers.json");
    for answer in case["answers"].as_array().unwrap() {
        let callbacks = Callbacks::start().unwrap();
        let reporter = Reporter::new(client(), target(&callbacks));
        let status = u16::try_from(answer["status"].as_u64().unwrap()).unwrap();
        callbacks
            .server()
            .faults()
            .add(Fault::status(status).always());
        let delivery = reporter.complete(&Outcome::Completed, None).await;
        assert_eq!(
            kind(&delivery),
            answer["delivery"].as_str().unwrap(),
            "{status}"
        );
        assert_eq!(
            callbacks.server().log().len() as u64,
            answer["asked"].as_u64().unwrap()
        );
    }
}

#[tokio::test]
async fn only_what_the_service_knows_is_sent() {
    let callbacks = Callbacks::start().unwrap();
    let reporter = Reporter::new(client(), target(&callbacks));
    assert_eq!(
        reporter.complete(&Outcome::Completed, None).await,
        Delivery::Sent
    );
    // The run is over now; saying so again is no trouble.
    let failed = Outcome::Failed("every target failed".to_owned());
    assert_eq!(
        reporter.complete(&failed, Some("c-1")).await,
        Delivery::AlreadyOver
    );
    assert_eq!(
        callbacks.run(RUN).unwrap().callbacks,
        [
            json!({"status": "COMPLETED", "run_id": RUN}),
            json!({"status": "FAILED", "run_id": RUN, "error": "every target failed", "conversation_id": "c-1"}),
        ],
    );
    callbacks.server().check().unwrap();
}

#[tokio::test]
async fn a_server_error_is_tried_again_and_the_budget_does_not_matter() {
    let callbacks = Callbacks::start().unwrap();
    let client = client();
    client.set_deadline(Some(Instant::now()));
    let reporter = Reporter::new(client, target(&callbacks));
    callbacks.server().faults().add(Fault::status(500));
    callbacks.server().faults().add(Fault::reset());
    assert_eq!(
        reporter.complete(&Outcome::Completed, None).await,
        Delivery::Sent
    );
}

#[tokio::test]
async fn an_error_text_is_short_and_without_secrets() {
    let callbacks = Callbacks::start().unwrap();
    let target = ReportTarget {
        secrets: vec![Secret::new("hush-hush-hush")],
        ..target(&callbacks)
    };
    let reporter = Reporter::new(client(), target);
    let text = format!(
        "{} hush-hush-hush {CALLBACK_KEY} {}",
        "é".repeat(1_985),
        "x".repeat(99)
    );
    reporter.complete(&Outcome::Failed(text), None).await;
    let sent = callbacks.run(RUN).unwrap().callbacks[0]["error"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(sent.chars().count(), 2_000);
    assert!(sent.ends_with("é *** *** xxxxx…"), "{sent}");
}

#[tokio::test]
async fn the_key_of_a_sandbox_and_no_service_at_all() {
    let target = ReportTarget::from_lookup(|name| {
        (name == "OPENHANDS_API_KEY").then(|| "sandbox-key".to_owned())
    });
    assert_eq!(target.key.as_ref().unwrap().expose(), "sandbox-key");
    let reporter = Reporter::new(client(), target.clone());
    assert_eq!(
        reporter.complete(&Outcome::Completed, None).await,
        Delivery::NowhereToSend
    );
    reporter.phase("Reading feeds").await;
    let limit = Duration::from_secs(5);
    let delivery = last_words(policy(), target, Outcome::Completed, limit);
    assert_eq!(delivery, Delivery::NowhereToSend);
}

#[tokio::test]
async fn phases_are_one_short_line() {
    let callbacks = Callbacks::start().unwrap();
    let reporter = Reporter::new(client(), target(&callbacks));
    reporter.phase("Reading\n 20 feeds").await;
    reporter.phase(" \n").await;
    reporter.phase(&"ü".repeat(300)).await;
    let phases = callbacks.run(RUN).unwrap().phases;
    assert_eq!(phases[0], "Reading 20 feeds");
    assert_eq!(phases[1].chars().count(), 200);
    assert_eq!(phases.len(), 2);
}

#[tokio::test]
async fn a_service_that_takes_no_phases_is_not_asked_again() {
    for (status, asked) in [(404, 1), (409, 1), (401, 1), (503, 2)] {
        let callbacks = Callbacks::start().unwrap();
        let reporter = Reporter::new(client(), target(&callbacks));
        callbacks
            .server()
            .faults()
            .add(Fault::status(status).always());
        reporter.phase("one").await;
        reporter.phase("two").await;
        assert_eq!(callbacks.server().log().len(), asked, "{status}");
    }
}

#[test]
fn last_words_come_from_a_thread_of_their_own() {
    let callbacks = Callbacks::start().unwrap();
    let outcome = Outcome::Failed("panicked".to_owned());
    let limit = Duration::from_secs(5);
    let delivery = last_words(policy(), target(&callbacks), outcome.clone(), limit);
    assert_eq!(delivery, Delivery::Sent);
    assert_eq!(
        callbacks.run(RUN).unwrap().callbacks[0]["error"],
        "panicked"
    );

    callbacks.server().faults().add(Fault::hang().always());
    let started = Instant::now();
    let limit = Duration::from_millis(50);
    let delivery = last_words(policy(), target(&callbacks), outcome, limit);
    assert_eq!(kind(&delivery), "lost");
    assert!(started.elapsed() < Duration::from_secs(2));
}
