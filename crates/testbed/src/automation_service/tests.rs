//! The automation service over its socket.

use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::call::{Answer, Call};

fn send(call: Call) -> Answer {
    call.bearer(API_KEY).send().unwrap()
}

fn url(service: &AutomationService, rest: &str) -> String {
    format!("{}/v1{rest}", service.api_url())
}

fn upload(service: &AutomationService, bytes: usize) -> Answer {
    let call = Call::new("POST", &url(service, "/uploads?name=news-digest"));
    send(call.body("application/gzip", vec![7; bytes]))
}

fn draft(path: &str) -> Value {
    json!({
        "name": "News digest",
        "trigger": {"type": "cron", "schedule": "0 7 * * 1-5", "timezone": "Europe/Berlin"},
        "tarball_path": path, "entrypoint": "./news-digest", "timeout": 900, "keep_alive": true,
    })
}

fn create(service: &AutomationService, draft: &Value) -> Answer {
    send(Call::post(&url(service, ""), draft))
}

#[test]
fn takes_an_archive_of_the_largest_size_and_no_more() {
    let service = AutomationService::start().unwrap();
    let taken = upload(&service, MAX_UPLOAD_BYTES);
    assert_eq!(
        (taken.status, &taken.json()["size_bytes"]),
        (201, &json!(MAX_UPLOAD_BYTES))
    );
    let path = taken.json()["tarball_path"].as_str().unwrap().to_owned();
    assert_eq!(service.upload(&path).unwrap().len(), MAX_UPLOAD_BYTES);
    assert_eq!(upload(&service, MAX_UPLOAD_BYTES + 1).status, 413);
    let wrong_type = Call::new("POST", &url(&service, "/uploads?name=x")).body("text/plain", "x");
    assert_eq!(send(wrong_type).status, 415);
    assert_eq!(service.uploads(), 1);
}

#[test]
fn creates_changes_lists_and_deletes() {
    let service = AutomationService::start().unwrap();
    let path = upload(&service, 10).json()["tarball_path"]
        .as_str()
        .unwrap()
        .to_owned();
    let created = create(&service, &draft(&path));
    assert_eq!(
        (created.status, &created.json()["state"]),
        (201, &json!("ACTIVE"))
    );
    let id = created.json()["id"].as_str().unwrap().to_owned();
    let one = url(&service, &format!("/{id}"));
    let patch = Call::new("PATCH", &one).json(&json!({"timeout": 1200}));
    assert_eq!(send(patch).json()["timeout"], 1200);
    assert_eq!(send(Call::get(&one)).json()["entrypoint"], "./news-digest");
    let old = service.add_automation("Old digest", &json!({"entrypoint": "python main.py"}));
    let list = send(Call::get(&url(&service, ""))).json();
    assert_eq!(
        (&list["total"], &list["automations"][0]["id"]),
        (&json!(2), &json!(old))
    );
    assert_eq!(send(Call::delete(&one)).status, 204);
    assert_eq!(send(Call::get(&one)).status, 404);
    service.server().check().unwrap();
}

#[test]
fn the_same_template_is_created_once() {
    let service = AutomationService::start().unwrap();
    let mut draft = draft("https://example.com/a.tar.gz");
    draft["template"] = json!({"id": "news-digest", "version": "1"});
    let first = create(&service, &draft);
    let second = create(&service, &draft);
    assert_eq!((first.status, second.status), (201, 200));
    assert_eq!(first.json()["id"], second.json()["id"]);
}

#[test]
fn refuses_what_the_service_refuses() {
    let service = AutomationService::start().unwrap();
    let good = draft("https://example.com/a.tar.gz");
    assert_eq!(
        Call::post(&url(&service, ""), &good)
            .bearer("x")
            .send()
            .unwrap()
            .status,
        401
    );
    let other_style = Call::get(&url(&service, "")).header("X-Session-API-Key", API_KEY);
    assert_eq!(other_style.send().unwrap().status, 200);
    for (field, value) in [
        ("entrypoint", json!("./a; rm -rf /")),
        ("entrypoint", json!("/usr/bin/env")),
        ("timeout", json!(1801)),
        ("trigger", json!({"type": "cron", "schedule": "every day"})),
        ("tarball_path", json!("file:///a")),
        ("colour", json!("red")),
    ] {
        let mut bad = good.clone();
        bad[field] = value;
        assert_eq!(create(&service, &bad).status, 422, "{field}");
        let check = json!({"endpoint": "/v1", "draft": bad});
        let verdict = send(Call::post(&url(&service, "/validate"), &check)).json();
        assert_eq!(
            (&verdict["valid"], &verdict["errors"][0]["field"]),
            (&json!(false), &json!(field))
        );
    }
    assert_eq!(
        create(&service, &draft("oh-internal://uploads/none")).status,
        404
    );
    let check = json!({"endpoint": "/v1", "draft": good});
    assert_eq!(
        send(Call::post(&url(&service, "/validate"), &check)).json()["valid"],
        true
    );
    assert!(service.automations().is_empty());
}

#[test]
fn tells_what_it_can_do() {
    let service = AutomationService::start().unwrap();
    let ask = || send(Call::get(&url(&service, "/capabilities")));
    let has_kv = |answer: &Answer| {
        answer.json()["features"]
            .as_array()
            .unwrap()
            .contains(&json!("kvStore"))
    };
    assert!(has_kv(&ask()));
    service.set_kv_store(false);
    assert!(!has_kv(&ask()));
    service.set_ready(false);
    assert_eq!(ask().json()["ready"], false);
    service.set_preflight(false);
    assert_eq!(ask().status, 422);
}

#[test]
fn a_dispatched_run_goes_its_course_look_by_look() {
    let service = AutomationService::start().unwrap();
    service.set_course(Course::fails(&["reading feeds"], "every feed failed"));
    let id = service.add_automation("News", &json!({}));
    let run = send(Call::new(
        "POST",
        &url(&service, &format!("/{id}/dispatch")),
    ));
    assert_eq!(
        (run.status, &run.json()["status"]),
        (201, &json!("PENDING"))
    );
    let look = || send(Call::get(&url(&service, &format!("/{id}/runs")))).json()["runs"][0].clone();
    assert_eq!(look()["status"], "PENDING");
    let running = look();
    assert_eq!(
        (&running["status"], &running["current_phase"]),
        (&json!("RUNNING"), &json!("reading feeds"))
    );
    let failed = look();
    assert_eq!(
        (&failed["status"], &failed["error_detail"]),
        (&json!("FAILED"), &json!("every feed failed"))
    );
    assert_eq!(look()["status"], "FAILED");
}

#[test]
fn a_dispatched_run_can_be_carried_out_for_real() {
    let service = AutomationService::start().unwrap();
    let path = upload(&service, 3).json()["tarball_path"].clone();
    let id = service.add_automation("News", &json!({ "tarball_path": path }));
    let (done, finished) = mpsc::channel();
    let api = service.api_url();
    service.on_dispatch(move |dispatch| {
        assert_eq!(dispatch.archive.as_deref(), Some([7, 7, 7].as_slice()));
        let url = format!("{api}/v1/runs/{}/complete", dispatch.run);
        let call = Call::post(
            &url,
            &json!({"status": "COMPLETED", "run_id": dispatch.run}),
        );
        done.send(call.bearer(CALLBACK_KEY).send().unwrap().status)
            .unwrap();
    });
    send(Call::new(
        "POST",
        &url(&service, &format!("/{id}/dispatch")),
    ));
    assert_eq!(finished.recv_timeout(Duration::from_secs(5)).unwrap(), 200);
    assert_eq!(service.runs()[0].status, RunStatus::Completed);
}
