//! New automations: what is made, what is said, and that it is made once.

use crate::bench::{Bench, unpacked};
use serde_json::json;
use testbed::automation_service::{API_KEY, Course};
use testbed::call::Call;
use testbed::faults::Fault;
use testbed::github::{GitHub, NewPull};
use testbed::gitlab::GitLab;

const TOKEN: &str = "ghp_0123456789abcdef0123";

#[test]
fn a_reviewer_is_made_with_its_configuration() {
    let github = GitHub::start().unwrap();
    github.token(TOKEN, "acme-bot");
    let labelled = github.repo("acme/widget").open_pull(NewPull::titled("One"));
    labelled.label("review me", "alice");
    github.repo("acme/gadget");
    let bench = Bench::new();
    let config =
        json!({"repos": ["acme/old"], "site": {"id": 7}, "github_api_url": github.api_url()});
    bench.file("config.json", config.to_string());
    let more = [
        "--config",
        "config.json",
        "--repo",
        "acme/gadget",
        "--trigger-label",
        "review me",
    ];
    let ended = bench
        .reviewer(&more)
        .env("GITHUB_PERSONAL_ACCESS_TOKEN", TOKEN)
        .run();
    let said = bench.plain(ended.said(0));
    insta::assert_snapshot!("created", said);
    assert!(!format!("{ended:?}").contains(TOKEN));
    let [made] = bench.service.automations().try_into().unwrap();
    assert_eq!(
        (&made["name"], &made["entrypoint"], &made["timeout"]),
        (
            &json!("github-pr-reviewer"),
            &json!("./bin/github-pr-reviewer"),
            &json!(600)
        )
    );
    assert_eq!(
        made["trigger"],
        json!({"type": "cron", "schedule": "*/5 * * * *", "timezone": "UTC"})
    );
    assert_eq!(made["keep_alive"], json!(null));
    let expected = json!({
        "repos": ["acme/widget", "acme/gadget"], "site": {"id": 7},
        "github_api_url": github.api_url(), "trigger_label": "review me",
    });
    assert_eq!(bench.config_of(&made), expected);
    let uploaded = bench.service.upload(made["tarball_path"].as_str().unwrap());
    let uploaded = unpacked(&uploaded.unwrap());
    assert_eq!(
        uploaded["bin/github-pr-reviewer"],
        (b"#!/bin/sh\n".to_vec(), 0o755)
    );
    bench.service.server().check().unwrap();
    github.check().unwrap();
}

#[test]
fn a_dry_run_makes_nothing() {
    let bench = Bench::new();
    let more = [
        "--feed",
        "http://127.0.0.1:9/feed.xml",
        "--topic",
        "Rust",
        "--dry-run",
    ];
    let ended = bench.bring("news-digest", &more).run();
    insta::assert_snapshot!("dry-run", bench.plain(ended.said(0)));
    bench.is_untouched();
    let ended = bench.reviewer(&["--dry-run", "--json"]).run();
    ended.said(0);
    let report = ended.json();
    assert_eq!(
        (&report["status"], &report["id"]),
        (&json!("checked"), &json!(null))
    );
    assert_eq!(report["checks"][0]["status"], "skipped");
    bench.is_untouched();
    bench.service.server().check().unwrap();
}

#[test]
fn the_report_as_json() {
    let bench = Bench::new();
    bench
        .service
        .set_course(Course::completes(&["polling 1 repository", "waiting"]));
    let ended = bench
        .reviewer(&["--json", "--dispatch", "--name", "Reviews"])
        .run();
    ended.said(0);
    let mut report = ended.json();
    assert!(report["archive"]["bytes"].as_u64().unwrap() > 100);
    report["archive"]["bytes"] = json!("SIZE");
    for time in ["created_at", "started_at", "completed_at"] {
        if report["run"][time].is_string() {
            report["run"][time] = json!("TIME");
        }
    }
    let text = serde_json::to_string_pretty(&report).unwrap();
    insta::assert_snapshot!("report", bench.plain(&text));
}

#[test]
fn a_run_is_followed_to_its_end() {
    let bench = Bench::new();
    bench.service.set_course(Course::completes(&[
        "reading feeds",
        "waiting for the digest",
    ]));
    let more = [
        "--feed",
        "http://127.0.0.1:9/f",
        "--dispatch",
        "--schedule",
        "0 6 * * 1-5",
        "--timezone",
        "Europe/Berlin",
    ];
    let ended = bench.bring("news-digest", &more).run();
    insta::assert_snapshot!("dispatched", bench.plain(ended.said(0)));
    let log = bench.plain(&ended.stderr);
    assert!(
        log.ends_with("  reading feeds\n  waiting for the digest\n"),
        "{log}"
    );

    bench.service.set_course(Course::fails(
        &[],
        "every target failed: acme/widget: no access",
    ));
    let ended = bench.reviewer(&["--dispatch"]).run();
    let said = ended.said(1);
    assert!(
        said.contains("failed: every target failed: acme/widget: no access"),
        "{said}"
    );
    assert_eq!(
        bench.service.automations().len(),
        2,
        "it is deployed all the same"
    );
}

#[test]
fn the_same_automation_is_made_once() {
    let bench = Bench::new();
    bench.reviewer(&["--name", "Reviews"]).run().said(0);
    let id = bench.service.automations()[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let again = bench.reviewer(&["--name", "reviews", "--json"]).run();
    let error = again.refused(2);
    assert!(
        error.contains(&format!("({id})")) && error.contains(&format!("--update {id}")),
        "{error}"
    );
    assert_eq!(again.json()["status"], "failed");
    assert_eq!(
        (bench.service.automations().len(), bench.service.uploads()),
        (1, 1)
    );

    // Under another name it is another one, about which there is something to say.
    let second = bench.reviewer(&["--name", "More reviews"]).run();
    second.said(0);
    assert!(
        second
            .stderr
            .contains("warning: there is another github-pr-reviewer, Reviews"),
        "{second:?}"
    );
    assert_eq!(bench.service.automations().len(), 2);
}

#[test]
fn two_commands_at_once_make_one_automation() {
    let bench = Bench::new();
    // As the service sees it when the other one was faster after the look: the template is there.
    bench.reviewer(&["--name", "Reviews"]).run().said(0);
    let id = bench.service.automations()[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let one = format!("{}/v1/{id}", bench.service.api_url());
    let rename = Call::new("PATCH", &one).json(&json!({"name": "Renamed"}));
    assert_eq!(rename.bearer(API_KEY).send().unwrap().status, 200);
    let ended = bench.reviewer(&["--name", "Reviews"]).run();
    let error = ended.refused(2);
    assert!(
        error.contains(&format!("under the name Renamed ({id})")),
        "{error}"
    );
    assert_eq!(
        (bench.service.automations().len(), bench.service.uploads()),
        (1, 1)
    );
}

#[test]
fn what_may_be_the_predecessor_is_pointed_out() {
    let bench = Bench::new();
    let id = bench.script("github-pr-reviewer", None);
    let ended = bench.reviewer(&[]).run();
    let error = ended.refused(2);
    assert!(
        error.contains("`python3 main.py`") && error.contains(&format!("--update {id}")),
        "{error}"
    );
    assert_eq!(bench.service.automations().len(), 1);
}

#[test]
fn with_sandboxes_a_run_stays_for_the_work() {
    let bench = Bench::new();
    bench.service.set_accounts(true);
    bench.reviewer(&[]).run().said(0);
    let [made] = bench.service.automations().try_into().unwrap();
    assert_eq!(
        (&made["timeout"], &made["keep_alive"]),
        (&json!(1800), &json!(true))
    );
    assert_eq!(bench.config_of(&made)["time_budget_seconds"], 1740);

    let more = [
        "--mode",
        "sandbox",
        "--timeout",
        "900",
        "--keep-alive",
        "false",
        "--name",
        "B",
    ];
    bench.reviewer(&more).run().said(0);
    let made = bench.service.automations().pop().unwrap();
    assert_eq!(
        (&made["timeout"], &made["keep_alive"]),
        (&json!(900), &json!(false))
    );
    assert_eq!(bench.config_of(&made)["time_budget_seconds"], 840);

    bench
        .reviewer(&["--mode", "local", "--name", "C"])
        .run()
        .said(0);
    let made = bench.service.automations().pop().unwrap();
    assert_eq!(
        (&made["timeout"], &made["keep_alive"]),
        (&json!(600), &json!(null))
    );
    assert_eq!(bench.config_of(&made).get("time_budget_seconds"), None);
}

#[test]
fn an_issue_automation_is_checked_and_made() {
    let gitlab = GitLab::start().unwrap();
    gitlab.user("bot");
    gitlab.token("glpat-good-0123456789ab", "bot");
    let project = gitlab.project("group/team/service").unwrap();
    project.set_member("bot", 30);
    project.create_label("openhands");
    let bench = Bench::new();
    let url = gitlab.api_url();
    let more = [
        "--project",
        "group/team/service",
        "--gitlab-api-url",
        url.as_str(),
    ];
    let ended = bench
        .bring("gitlab-issue-to-mr", &more)
        .env("GITLAB_TOKEN", "glpat-good-0123456789ab")
        .run();
    let said = ended.said(0);
    assert!(
        said.contains("ok       project group/team/service: access: Developer (30)"),
        "{said}"
    );
    assert_eq!(
        bench.config_of(&bench.service.automations()[0])["projects"],
        json!(["group/team/service"])
    );
}

#[test]
fn an_older_service_gets_what_it_knows() {
    let bench = Bench::new();
    bench.service.set_preflight(false);
    let detail = json!({"detail": [{
        "type": "extra_forbidden", "loc": ["body", "template"],
        "msg": "Extra inputs are not permitted",
    }]});
    let unknown = Fault::status(422).body("application/json", detail.to_string());
    // After the preflight and the upload.
    bench
        .service
        .server()
        .faults()
        .add(unknown.on("POST", "/v1").skip(2));
    bench.reviewer(&[]).run().said(0);
    let again = bench.reviewer(&[]).run();
    again.refused(2);
    assert_eq!(
        (bench.service.automations().len(), bench.service.uploads()),
        (1, 1)
    );
}

#[test]
fn a_proxy_may_keep_the_bearer_for_itself() {
    let bench = Bench::new();
    let taken = Fault::status(401).on("GET", "/v1/capabilities");
    bench.service.server().faults().add(taken);
    bench.reviewer(&[]).run().said(0);
    let log = bench.service.server().log().all();
    let guarded = log.iter().filter(|call| !call.path.ends_with("/health"));
    let styles: Vec<bool> = guarded
        .map(|call| call.header("authorization").is_some())
        .collect();
    assert!(
        styles[0] && styles[1..].iter().all(|bearer| !bearer),
        "{styles:?}"
    );
}
