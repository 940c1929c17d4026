//! What is asked and how answers are read, without a server; and what its refusals mean, with one.

mod refusals;

use super::answers::{Verdict, problems};
use super::requests::{Change, Draft, Trigger};
use super::{Automation, Capabilities, Run, Upload};
use serde_json::{Value, json};

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn draft() -> Draft {
    Draft {
        name: "Reviews".into(),
        trigger: Trigger::cron("*/5 * * * *", "Europe/Berlin"),
        tarball_path: Some("oh-internal://uploads/1".into()),
        entrypoint: "./github-pr-reviewer".into(),
        timeout: 600,
        keep_alive: None,
        template: None,
    }
}

#[test]
fn a_draft_says_what_the_service_wants_to_know() {
    let mut expected = json!({
        "name": "Reviews",
        "trigger": {"type": "cron", "schedule": "*/5 * * * *", "timezone": "Europe/Berlin"},
        "tarball_path": "oh-internal://uploads/1", "entrypoint": "./github-pr-reviewer",
        "timeout": 600,
    });
    assert_eq!(json!(draft()), expected);
    let draft = Draft {
        keep_alive: Some(true),
        tarball_path: None,
        ..draft().of_template("github-pr-reviewer:1".into(), "0.1.0")
    };
    expected["keep_alive"] = json!(true);
    expected["template"] = json!({"id": "github-pr-reviewer:1", "version": "0.1.0"});
    expected["tarball_path"] = json!("oh-internal://uploads/00000000-0000-0000-0000-000000000000");
    assert_eq!(json!(draft), expected);
}

#[test]
fn a_change_says_only_what_changes() {
    assert_eq!(json!(Change::default()), json!({}));
    let change = Change {
        entrypoint: Some("./news-digest".into()),
        timeout: Some(900),
        ..Change::default()
    };
    assert_eq!(
        json!(change),
        json!({"entrypoint": "./news-digest", "timeout": 900})
    );
}

#[test]
fn an_automation_is_read_as_far_as_it_is_known() {
    let least: Automation = read(json!({"id": "1", "something": ["new"]}));
    assert_eq!(least.schedule(), "-");
    assert!(least.is_active() && !least.is_scheduled() && least.generated_from().is_none());
    let full: Automation = read(json!({
        "id": "1", "name": "A", "entrypoint": "python3 main.py", "enabled": true, "state": "DRAFT",
        "tarball_path": "oh-internal://uploads/77", "timeout": null, "keep_alive": null,
        "trigger": {"type": "cron", "schedule": "0 7 * * *"}, "plugin_spec": null,
        "preset_metadata": {"template": {"id": "x"}},
    }));
    assert_eq!((full.schedule(), full.timezone()), ("0 7 * * *", "UTC"));
    assert_eq!(
        (full.upload_id(), full.generated_from()),
        (Some("77"), None)
    );
    assert!(!full.is_active());
    let event: Automation = read(json!({
        "id": "1", "enabled": false, "trigger": {"type": "event", "source": "github"},
        "preset_metadata": {"preset_type": "prompt"}, "tarball_path": "https://example.com/a",
    }));
    assert_eq!(
        (event.schedule(), event.generated_from()),
        ("event", Some("prompt"))
    );
    assert!(!event.is_active() && event.upload_id().is_none());
}

#[test]
fn runs_uploads_and_capabilities() {
    for (status, open, completed) in [
        ("PENDING", true, false),
        ("RUNNING", true, false),
        ("COMPLETED", false, true),
        ("FAILED", false, false),
        ("CANCELLED", false, false),
        ("SKIPPED", false, false),
    ] {
        let run: Run = read(json!({"id": "1", "status": status, "error_detail": null}));
        assert_eq!(
            (run.is_open(), run.is_completed()),
            (open, completed),
            "{status}"
        );
    }
    let failed: Upload = read(json!({"id": "1", "status": "FAILED", "tarball_path": null}));
    assert_eq!(failed.tarball_path, None);
    let some: Capabilities = read(json!({
        "ready": true, "maxAutomationTimeoutSeconds": 1200, "features": ["kvStore"],
    }));
    assert!(some.lacks("customTarball") && !some.lacks("kvStore"));
    let silent: Capabilities = read(json!({}));
    assert!(!silent.ready && !silent.lacks("kvStore"));
}

#[test]
fn refusals_are_told_in_the_words_of_the_service() {
    let list = json!({"detail": [
        {"loc": ["body", "trigger", "cron", "schedule"], "msg": "Value error, Invalid cron"},
        {"loc": ["body", "template"], "msg": "Extra inputs are not permitted"},
        {"loc": ["body"], "msg": "Odd"},
    ]});
    let found = problems(list.to_string().as_bytes());
    assert_eq!(
        found.in_words(),
        "trigger.schedule: Invalid cron; template: Extra inputs are not permitted; Odd"
    );
    assert!(found.names("template") && found.names("schedule") && !found.names("cron"));
    for (body, words) in [
        (r#"{"detail": "Upload not found"}"#, "Upload not found"),
        (r#"{"detail": {"message": "no"}}"#, r#"{"message":"no"}"#),
        ("<html>\u{1b}[2J bad\ngateway", "<html> [2J bad gateway"),
        ("", ""),
    ] {
        assert_eq!(problems(body.as_bytes()).in_words(), words);
    }
    let verdict: Verdict = read(json!({"valid": false, "errors": [
        {"field": "timeout", "code": "x", "message": "Value error, too long"},
        {"field": null, "code": "y", "message": "Odd"},
    ]}));
    assert_eq!(verdict.in_words(), ["timeout: too long", "Odd"]);
    let silent: Verdict = read(json!({"valid": false}));
    assert_eq!(silent.in_words().len(), 1);
    let fine: Verdict = read(json!({"valid": true, "errors": []}));
    assert!(fine.in_words().is_empty());
}
