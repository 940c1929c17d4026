//! The receiver over its socket, and the environments of runs.

use serde_json::{Value, json};

use super::*;
use crate::agent_server::AgentServer;
use crate::call::Call;
use crate::kv::{Behaviour, KvStore};

fn post(url: &str, key: &str, body: &Value) -> u16 {
    Call::post(url, body).bearer(key).send().unwrap().status
}

#[test]
fn a_run_completes_once_and_reports_phases_while_it_runs() {
    let callbacks = Callbacks::start().unwrap();
    callbacks.begin("run-1", "automation-1");
    let (complete, phase) = (
        callbacks.callback_url("run-1"),
        callbacks.phase_url("run-1"),
    );
    assert_eq!(
        post(&phase, CALLBACK_KEY, &json!({"phase": "reading\n feeds"})),
        200
    );
    let body = json!({"status": "COMPLETED", "run_id": "run-1", "conversation_id": "c-1"});
    assert_eq!(post(&complete, OPENHANDS_KEY, &body), 200);
    assert_eq!(post(&complete, OPENHANDS_KEY, &body), 409);
    assert_eq!(post(&phase, CALLBACK_KEY, &json!({"phase": "late"})), 409);
    let run = callbacks.run("run-1").unwrap();
    assert_eq!(
        (run.status, run.conversation.as_deref()),
        (RunStatus::Completed, Some("c-1"))
    );
    assert_eq!(
        (run.phases, run.callbacks.len()),
        (vec!["reading feeds".to_owned()], 2)
    );
    callbacks.server().check().unwrap();
}

#[test]
fn a_failure_keeps_its_words() {
    let callbacks = Callbacks::start().unwrap();
    callbacks.begin("run-1", "automation-1");
    let body = json!({"status": "FAILED", "run_id": "run-1", "error": "every feed failed"});
    assert_eq!(
        post(&callbacks.callback_url("run-1"), CALLBACK_KEY, &body),
        200
    );
    let run = &callbacks.runs()[0];
    assert_eq!(
        (run.status, &run.error),
        (RunStatus::Failed, &Some(json!("every feed failed")))
    );
}

#[test]
fn a_success_overrules_what_the_watchdog_guessed_but_not_a_cancellation() {
    let callbacks = Callbacks::start().unwrap();
    let body = json!({"status": "COMPLETED"});
    for (run, status, error, expected) in [
        ("late", RunStatus::Failed, "Timed out: no callback", 200),
        ("cancelled", RunStatus::Cancelled, "Cancelled by user", 409),
    ] {
        callbacks.begin(run, "automation-1");
        callbacks.end(run, status, error);
        assert_eq!(
            post(&callbacks.callback_url(run), CALLBACK_KEY, &body),
            expected,
            "{run}"
        );
    }
}

#[test]
fn refuses_what_the_service_refuses() {
    let callbacks = Callbacks::start().unwrap();
    callbacks.begin("run-1", "automation-1");
    let (complete, phase) = (
        callbacks.callback_url("run-1"),
        callbacks.phase_url("run-1"),
    );
    let good = json!({"status": "COMPLETED"});
    assert_eq!(post(&complete, "wrong", &good), 401);
    assert_eq!(
        post(&callbacks.callback_url("other"), CALLBACK_KEY, &good),
        404
    );
    for bad in [
        json!({"status": "DONE"}),
        json!({"status": "COMPLETED", "duration_ms": 812}),
        json!({"status": "COMPLETED", "conversation_id": 7}),
        json!([]),
    ] {
        assert_eq!(post(&complete, CALLBACK_KEY, &bad), 422, "{bad}");
    }
    for bad in [
        json!({"phase": ""}),
        json!({"phase": "x".repeat(201)}),
        json!({"step": "x"}),
    ] {
        assert_eq!(post(&phase, CALLBACK_KEY, &bad), 422, "{bad}");
    }
    assert_eq!(callbacks.run("run-1").unwrap().status, RunStatus::Running);
}

#[test]
fn local_runs_have_directories_of_their_own_and_the_store_of_their_automation() {
    let (agent, callbacks) = (AgentServer::start().unwrap(), Callbacks::start().unwrap());
    let (kv, scratch) = (
        KvStore::start(Behaviour::Strict).unwrap(),
        Scratch::new().unwrap(),
    );
    let setup = RunSetup::local(&agent, &scratch)
        .kv(&kv)
        .callbacks(&callbacks)
        .model("fast");
    let (first, second) = (setup.prepare().unwrap(), setup.prepare().unwrap());
    assert_ne!(first.directory, second.directory);
    let expected = scratch.root().join("automation-runs").join(&first.id);
    assert_eq!(
        first.variables["WORKSPACE_BASE"],
        expected.display().to_string()
    );
    assert!(expected.is_dir());
    let names: Vec<&str> = first.variables.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "AGENT_SERVER_URL",
            "AUTOMATION_API_URL",
            "AUTOMATION_CALLBACK_API_KEY",
            "AUTOMATION_CALLBACK_URL",
            "AUTOMATION_EVENT_PAYLOAD",
            "AUTOMATION_ID",
            "AUTOMATION_KV_TOKEN",
            "AUTOMATION_MODEL",
            "AUTOMATION_NAME",
            "AUTOMATION_PHASE_URL",
            "AUTOMATION_RUN_ID",
            "AUTOMATION_TRIGGER_TYPE",
            "SESSION_API_KEY",
            "WORKSPACE_BASE",
        ]
    );
    assert_eq!(first.variables["AUTOMATION_API_URL"], kv.api_url());
    let event: Value = serde_json::from_str(&first.variables["AUTOMATION_EVENT_PAYLOAD"]).unwrap();
    assert_eq!(event["automation_id"], setup.automation_id());
    assert_eq!(
        callbacks.run(&second.id).unwrap().status,
        RunStatus::Running
    );
    assert_eq!(scratch.files().unwrap().len(), 3);
}

#[test]
fn a_sandbox_has_no_workspace_base_and_no_callback_key() {
    let (agent, callbacks) = (AgentServer::start().unwrap(), Callbacks::start().unwrap());
    let scratch = Scratch::new().unwrap();
    let setup = RunSetup::sandbox(&agent, &scratch).callbacks(&callbacks);
    let run = setup.prepare().unwrap();
    assert!(!run.variables.contains_key("WORKSPACE_BASE"));
    assert!(!run.variables.contains_key("AUTOMATION_CALLBACK_API_KEY"));
    assert!(!run.variables.contains_key("AUTOMATION_KV_TOKEN"));
    assert_eq!(run.variables["OPENHANDS_API_KEY"], OPENHANDS_KEY);
    let older = setup
        .older_service()
        .unset("SESSION_API_KEY")
        .set("OH_SESSION_API_KEYS_0", "k");
    let run = older.prepare_as("run-7").unwrap();
    assert!(!run.variables.contains_key("AUTOMATION_PHASE_URL"));
    assert!(!run.variables.contains_key("SESSION_API_KEY"));
    assert_eq!(run.variables["OH_SESSION_API_KEYS_0"], "k");
}

#[test]
fn a_directory_that_cannot_be_made_is_told_with_its_path() {
    let scratch = Scratch::new().unwrap();
    let taken = scratch.root().join("automation-runs");
    std::fs::write(&taken, "").unwrap();
    let error = scratch.run_dir("run-1").unwrap_err();
    let expected = taken.join("run-1").display().to_string();
    assert!(
        matches!(&error, TestbedError::Scratch { path, source }
            if *path == expected && source.kind() == std::io::ErrorKind::NotADirectory),
        "{error:?}"
    );
    assert!(error.to_string().contains(&expected), "{error}");
}
