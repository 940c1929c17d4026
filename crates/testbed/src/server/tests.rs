//! The core alone: log, faults, latency, the final check, and stopping.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::{get, post};

use super::*;
use crate::call::Call;
use crate::faults::Fault;

/// A service whose only state is a count of effects.
fn counter() -> (StandIn, Arc<AtomicU32>) {
    let effects = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&effects);
    let stand_in = StandIn::start("counter", |_| {
        Router::new()
            .route("/text", get(|| async { "twelve bytes" }))
            .route(
                "/add",
                post(move || async move {
                    counted.fetch_add(1, Ordering::Relaxed);
                    "added"
                }),
            )
    })
    .unwrap();
    (stand_in, effects)
}

/// Why a call got no whole answer.
fn unanswered(call: &Call) -> String {
    let error = call.send().unwrap_err();
    let message = error.to_string();
    match error {
        TestbedError::Call { call, reason } => {
            assert_eq!(message, format!("{call} got no answer: {reason}"));
            assert!(call.contains(" http://127.0.0.1:"), "{call}");
            reason
        }
        other => panic!("{other}"),
    }
}

#[test]
fn logs_what_was_asked_and_how_it_was_answered() {
    let (service, _) = counter();
    let body = serde_json::json!({"a": 1});
    let call = Call::post(&service.url("/add?x=a%2Fb"), &body).header("X-Thing", "7");
    assert_eq!(call.send().unwrap().status, 200);
    let logged = service.log().last("POST", "/add").unwrap();
    assert_eq!(logged.line(), "#1 POST /add?x=a%2Fb -> 200");
    assert_eq!(logged.header("x-thing"), Some("7"));
    assert_eq!(logged.query_value("x").as_deref(), Some("a/b"));
    assert_eq!(logged.json(), Some(body));
    service.check().unwrap();
}

#[test]
fn check_names_requests_that_nobody_expected() {
    let (service, _) = counter();
    assert_eq!(
        Call::get(&service.url("/nowhere")).send().unwrap().status,
        404
    );
    assert_eq!(
        Call::delete(&service.url("/text")).send().unwrap().status,
        404
    );
    let error = service.check().unwrap_err();
    assert!(
        matches!(&error, TestbedError::Unexpected { service: "counter", requests }
            if requests.len() == 2),
        "{error:?}"
    );
    let message = error.to_string();
    assert!(
        message.contains("2 unexpected request(s) to the counter stand-in"),
        "{message}"
    );
    assert!(
        message.contains("#1 GET /nowhere -> 404 (no such route: GET /nowhere)"),
        "{message}"
    );
    assert!(message.contains("DELETE /text"), "{message}");
    service.log().clear();
    service.check().unwrap();
}

#[test]
fn status_fault_applies_as_often_as_asked_and_keeps_the_effect_away() {
    let (service, effects) = counter();
    let fault = Fault::status(429)
        .on("POST", "/add")
        .header("Retry-After", "3")
        .skip(1)
        .times(2);
    let id = service.faults().add(fault);
    let call = Call::new("POST", &service.url("/add"));
    let statuses: Vec<u16> = (0..4).map(|_| call.send().unwrap().status).collect();
    assert_eq!(statuses, [200, 429, 429, 200]);
    assert_eq!(
        (effects.load(Ordering::Relaxed), service.faults().hits(id)),
        (2, 2)
    );
    assert_eq!(service.faults().unspent(), 0);
    assert!(service.log().all()[1].fault.is_some());
}

#[test]
fn reset_gives_no_answer_and_no_effect_but_a_lost_answer_has_one() {
    let (service, effects) = counter();
    let call = Call::new("POST", &service.url("/add"));
    service.faults().add(Fault::reset());
    assert!(unanswered(&call).contains("reset"));
    assert_eq!(effects.load(Ordering::Relaxed), 0);
    service.faults().add(Fault::answer_lost());
    unanswered(&call);
    assert_eq!(effects.load(Ordering::Relaxed), 1);
    assert_eq!(service.log().all()[1].status, None);
    assert_eq!(call.send().unwrap().text(), "added");
}

#[test]
fn a_hung_request_shows_in_the_log_and_does_not_hold_up_the_end() {
    let (service, _) = counter();
    service.faults().add(Fault::hang());
    let call = Call::get(&service.url("/text")).timeout(Duration::from_millis(30));
    unanswered(&call);
    assert_eq!(service.log().all()[0].status, None);
    let start = Instant::now();
    drop(service);
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn half_an_answer_is_cut_or_hangs() {
    let (service, _) = counter();
    let call = Call::get(&service.url("/text")).timeout(Duration::from_millis(50));
    for fault in [Fault::half_then_close(), Fault::half_then_hang()] {
        service.faults().add(fault);
        unanswered(&call);
        assert_eq!(
            service.log().last("GET", "/text").unwrap().status,
            Some(200)
        );
    }
}

#[test]
fn a_drip_arrives_whole_and_late() {
    let (service, _) = counter();
    service
        .faults()
        .add(Fault::drip(4, Duration::from_millis(10)));
    let start = Instant::now();
    assert_eq!(
        Call::get(&service.url("/text")).send().unwrap().text(),
        "twelve bytes"
    );
    assert!(start.elapsed() >= Duration::from_millis(20));
}

#[test]
fn wrong_body_keeps_the_status() {
    let (service, _) = counter();
    service
        .faults()
        .add(Fault::wrong_body("text/html", "<html>"));
    let answer = Call::get(&service.url("/text")).send().unwrap();
    assert_eq!((answer.status, answer.text().as_str()), (200, "<html>"));
    assert_eq!(answer.header("content-type"), Some("text/html"));
}

#[test]
fn latency_and_delay_make_requests_wait_together() {
    let (service, _) = counter();
    service.faults().set_latency(Duration::from_millis(15));
    service
        .faults()
        .add(Fault::delay(Duration::from_millis(15)).always());
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| Call::get(&service.url("/text")).send().unwrap());
        }
    });
    assert!(start.elapsed() >= Duration::from_millis(30));
    assert_eq!(service.log().max_in_flight(), 3);
    assert_eq!(service.log().in_flight(), 0);
    assert_eq!(service.connections(), 3);
}

#[test]
fn a_closed_port_refuses() {
    let port = ClosedPort::take().unwrap();
    assert!(unanswered(&Call::get(port.base_url())).contains("refused"));
}

#[test]
#[ignore = "started by a_port_that_cannot_be_had_is_told_with_the_reason"]
fn asks_for_a_port_when_no_more_files_may_be_open() {
    let mut held = Vec::new();
    while let Ok(file) = std::fs::File::open("/dev/null") {
        held.push(file);
        if held.len() > 1000 {
            return;
        }
    }
    let stand_in = StandIn::start("counter", |_| Router::new());
    let port = ClosedPort::take();
    drop(held);
    let (stand_in, port) = (stand_in.unwrap_err(), port.unwrap_err());
    for (error, name) in [(stand_in, "counter"), (port, "closed port")] {
        let TestbedError::Listen { service, source } = &error else {
            panic!("{error}");
        };
        assert_eq!((*service, source.raw_os_error()), (name, Some(EMFILE)));
        let expected = format!("the {name} stand-in cannot listen on loopback: ");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
    println!("{DONE}");
}

/// Too many open files.
const EMFILE: i32 = 24;
/// The last words of the process whose limit is low.
const DONE: &str = "both were refused";

#[test]
fn a_port_that_cannot_be_had_is_told_with_the_reason() {
    let output = std::process::Command::new("sh")
        .args(["-c", r#"ulimit -n 48; exec "$@""#, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "--nocapture"])
        .arg("server::tests::asks_for_a_port_when_no_more_files_may_be_open")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains(DONE), "{output:?}");
}
