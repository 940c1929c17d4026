//! What cannot be deployed: a clear message, the right exit code, and nothing made.

use crate::bench::{Bench, packed};
use serde_json::json;
use testbed::ClosedPort;
use testbed::agent_server::AgentServer;
use testbed::faults::Fault;
use testbed::github::{Barrier, GitHub};
use testbed::gitlab::GitLab;

const TOKEN: &str = "ghp_0123456789abcdef0123";

#[test]
fn a_wrong_address() {
    let bench = Bench::new();
    let closed = ClosedPort::take().unwrap();
    let agent = AgentServer::start().unwrap();
    let elsewhere = Bench::new();
    let moved = Fault::status(308).header("location", "https://other.example.com/");
    elsewhere.service.server().faults().add(moved.always());
    let website = Bench::new();
    let page = Fault::wrong_body("text/html", "<html>Welcome</html>").always();
    website.service.server().faults().add(page);
    let cases = [
        (closed.base_url(), 1, "cannot be reached"),
        (agent.base_url(), 1, "is no automation service"),
        (
            website.service.host(),
            1,
            "was answered with status 200 and text/html",
        ),
        (
            elsewhere.service.host(),
            1,
            "sends callers on to https://other.example.com/",
        ),
        ("openhands.example.com", 2, "should begin with https://"),
        (
            "https://me:secret@openhands.example.com",
            2,
            "holds no user or password",
        ),
    ];
    for (host, code, words) in cases {
        let ended = bench.reviewer(&["--host", host]).run();
        let error = ended.refused(code);
        assert!(
            error.contains(words) && !error.contains("secret"),
            "{host}: {error}"
        );
    }
    bench.is_untouched();
    // A key goes nowhere but to the service.
    for standin in [elsewhere.service.server(), website.service.server()] {
        let calls = standin.log().all();
        assert!(
            calls
                .iter()
                .all(|call| call.header("authorization").is_none())
        );
    }
}

#[test]
fn a_wrong_key_or_none() {
    let bench = Bench::new();
    let ended = bench
        .reviewer(&[])
        .env("OPENHANDS_API_KEY", "wrong-key-0123")
        .run();
    let error = ended.refused(1);
    assert!(
        error.contains("does not accept the key") && !error.contains("wrong-key"),
        "{error}"
    );
    // The one for automations comes first.
    let both = bench
        .reviewer(&[])
        .env("OPENHANDS_AUTOMATION_API_KEY", "wrong-key-0123");
    both.run().refused(1);
    let none = bench
        .reviewer(&[])
        .without("OPENHANDS_API_KEY")
        .without("OPENHANDS_HOST");
    let ended = none.run();
    let error = ended.refused(2);
    assert!(
        error.contains("OPENHANDS_HOST") && error.contains("OPENHANDS_API_KEY"),
        "{error}"
    );
    bench.is_untouched();

    let forbidden = Fault::status(403).body(
        "application/json",
        r#"{"detail": "Requires view_automations permission"}"#,
    );
    bench
        .service
        .server()
        .faults()
        .add(forbidden.on("GET", "/v1/capabilities"));
    let ended = bench.reviewer(&[]).run();
    assert!(
        ended
            .refused(1)
            .contains("Requires view_automations permission"),
        "{ended:?}"
    );
    let on_the_line = bench.deploy(&["github-pr-reviewer", "--key", "x"]).run();
    assert_eq!(on_the_line.code, 2);
    bench.is_untouched();
}

#[test]
fn an_archive_that_is_too_large_or_another() {
    let bench = Bench::new();
    let noise: Vec<u8> = (0..1_100_000_u32)
        .map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[0] ^ n.to_le_bytes()[1])
        .collect();
    let noise: Vec<u8> = noise
        .iter()
        .scan(7_u32, |state, byte| {
            *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Some(byte ^ state.to_be_bytes()[0])
        })
        .collect();
    let entries = [("github-pr-reviewer", noise, 0o755)];
    bench.file("github-pr-reviewer.tar.gz", packed(&entries));
    let ended = bench.reviewer(&[]).run();
    let error = ended.refused(1);
    assert!(
        error.contains("takes at most 1048576") && error.contains("--archive"),
        "{error}"
    );

    let other = bench.archive("news-digest").display().to_string();
    let ended = bench
        .deploy(&["github-pr-reviewer", "--repo", "a/b", "--archive", &other])
        .run();
    assert!(
        ended
            .refused(1)
            .contains("is no archive of github-pr-reviewer: it holds bin/news-digest")
    );
    bench.file("broken.tar.gz", b"no archive");
    for (archive, words) in [
        ("broken.tar.gz", "not a whole .tar.gz"),
        ("none.tar.gz", "cannot be read"),
    ] {
        let ended = bench
            .deploy(&["github-pr-reviewer", "--repo", "a/b", "--archive", archive])
            .run();
        assert!(ended.refused(1).contains(words), "{ended:?}");
    }
    bench.is_untouched();
}

#[test]
fn a_service_that_cannot() {
    let bench = Bench::new();
    bench.service.set_kv_store(false);
    let ended = bench.reviewer(&[]).run();
    let error = ended.refused(1);
    assert!(
        error.contains("AUTOMATION_KV_SECRET") && error.contains("--file-state"),
        "{error}"
    );
    let ended = bench.reviewer(&["--mode", "sandbox", "--file-state"]).run();
    assert!(
        ended
            .refused(1)
            .contains("every run would do all work again")
    );
    bench.is_untouched();
    let ended = bench.reviewer(&["--file-state"]).run();
    ended.said(0);
    assert!(
        ended
            .stderr
            .contains("warning: the automation service has no KV store"),
        "{ended:?}"
    );

    let bench = Bench::new();
    bench.service.set_ready(false);
    assert!(
        bench
            .reviewer(&[])
            .run()
            .refused(1)
            .contains("is not ready")
    );
    bench.is_untouched();

    // An older one cannot say it beforehand: what was made is removed again.
    let bench = Bench::new();
    bench.service.set_preflight(false);
    bench.service.set_kv_store(false);
    assert!(
        bench
            .reviewer(&[])
            .run()
            .refused(1)
            .contains("AUTOMATION_KV_SECRET")
    );
    bench.is_untouched();
}

#[test]
fn a_configuration_with_a_mistake() {
    let bench = Bench::new();
    bench.file("list.json", "[]");
    bench.file(
        "label.json",
        r#"{"repos": ["acme/widget"], "trigger_label": 7}"#,
    );
    bench.file("none.json", "{}");
    bench.file(
        "near.json",
        r#"{"repos": ["acme/widget"], "trigger_lable": "x"}"#,
    );
    let cases: [(&[&str], &str); 9] = [
        (&["--config", "list.json"], "list.json: not a JSON object"),
        (
            &["--config", "label.json"],
            "label.json: `trigger_label` should be a string",
        ),
        (
            &["--config", "none.json"],
            "this is missing: repositories as owner/repo: --repo",
        ),
        (
            &["--config", "missing.json"],
            "missing.json: cannot be read",
        ),
        (&[], "this is missing: repositories"),
        (
            &["--repo", "widget"],
            "`repos` should be a list of owner/repo names",
        ),
        (
            &["--repo", "acme/widget", "--set", "max_active"],
            "should be KEY=VALUE",
        ),
        (
            &["--repo", "acme/widget", "--topic", "Rust"],
            "--topic is for news-digest",
        ),
        (
            &[
                "--repo",
                "acme/widget",
                "--set",
                "time_budget_seconds=900",
                "--timeout",
                "600",
            ],
            "`time_budget_seconds` is 900",
        ),
    ];
    for (arguments, words) in cases {
        let ended = bench.bring("github-pr-reviewer", arguments).run();
        let error = ended.refused(2);
        assert!(error.contains(words), "{arguments:?}: {error}");
    }
    assert_eq!(bench.service.server().log().count("POST", ""), 0);
    bench.is_untouched();
    let ended = bench
        .bring(
            "github-pr-reviewer",
            &["--config", "near.json", "--dry-run", "--json"],
        )
        .run();
    assert!(
        ended.json()["warnings"][0]
            .as_str()
            .unwrap()
            .contains("did you mean `trigger_label`"),
        "{ended:?}"
    );
}

#[test]
fn a_schedule_that_the_service_refuses() {
    let bench = Bench::new();
    for (arguments, words) in [
        (["--schedule", "every day"], "should have five fields"),
        (
            ["--schedule", "* * * * ;"],
            "the automation service would refuse this: trigger: Invalid cron",
        ),
        (
            ["--timezone", "Nowhere"],
            "would refuse this: trigger: Invalid timezone",
        ),
        (["--timeout", "4000"], "at most 1800 seconds"),
        (["--timeout", "20"], "at least 90 seconds"),
    ] {
        let ended = bench.reviewer(&arguments).run();
        let error = ended.refused(2);
        assert!(error.contains(words), "{arguments:?}: {error}");
    }
    // An older one says so only when it is asked to do it.
    bench.service.set_preflight(false);
    let ended = bench.reviewer(&["--timezone", "Nowhere"]).run();
    assert!(ended.refused(1).contains("Invalid timezone"), "{ended:?}");
    bench.is_untouched();
}

#[test]
fn repositories_that_the_token_cannot_see() {
    let github = GitHub::start().unwrap();
    github.token(TOKEN, "acme-bot");
    github.repo("acme/widget");
    github.repo("acme/locked").set_barrier(Barrier::Sso);
    let bench = Bench::new();
    let url = github.api_url();
    let deploy = |repos: &[&str], token: &str| {
        let mut more = vec!["--github-api-url", url.as_str()];
        for repo in repos {
            more.extend(["--repo", repo]);
        }
        let command = bench.bring("github-pr-reviewer", &more);
        command.env("GITHUB_PERSONAL_ACCESS_TOKEN", token).run()
    };
    let ended = deploy(&["acme/widget", "acme/secret", "acme/locked"], TOKEN);
    let error = ended.refused(1);
    assert!(
        error.contains("repository acme/secret: ") && error.contains("repository acme/locked: "),
        "{error}"
    );
    assert!(
        !error.contains("acme/widget") && !error.contains(TOKEN),
        "{error}"
    );
    let ended = deploy(&["acme/widget"], "ghp_unknown0123456789");
    assert!(
        ended.refused(1).contains("the token was not accepted"),
        "{ended:?}"
    );
    bench.is_untouched();

    let gitlab = GitLab::start().unwrap();
    gitlab.user("bot");
    gitlab.token("glpat-good-0123456789ab", "bot");
    gitlab.project("group/weak").unwrap().set_member("bot", 20);
    let url = gitlab.api_url();
    let more = [
        "--project",
        "group/weak",
        "--project",
        "group/none",
        "--gitlab-api-url",
        url.as_str(),
    ];
    let command = bench.bring("gitlab-issue-to-mr", &more);
    let ended = command.env("GITLAB_TOKEN", "glpat-good-0123456789ab").run();
    let error = ended.refused(1);
    assert!(
        error.contains("project group/weak: the token cannot push")
            && error.contains("project group/none: "),
        "{error}"
    );
    bench.is_untouched();
}

#[test]
fn what_is_said_makes_no_sense() {
    let bench = Bench::new();
    for arguments in [
        ["--dispatch", "--dry-run"].as_slice(),
        &["--write-archive", "x.tar.gz", "--dispatch"],
        &["--mode", "moon"],
        &["list"],
    ] {
        let ended = bench.reviewer(arguments).run();
        assert_eq!(ended.code, 2, "{arguments:?}: {ended:?}");
    }
    let ended = bench.deploy(&[]).run();
    assert!(
        ended.refused(2).contains("which automation: news-digest, "),
        "{ended:?}"
    );
    let report = bench.deploy(&["--json"]).run();
    assert_eq!(report.json()["status"], json!("failed"));
    bench.is_untouched();
}
