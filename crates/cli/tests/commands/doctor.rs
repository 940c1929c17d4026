//! `doctor`: what is in place, what is not, and what to do about it.

use crate::place::{ID, Place};
use crate::process::{Process, tree};
use serde_json::{Value, json};
use testbed::faults::Fault;
use testbed::feeds::{Feeds, Format, Story, http_date};
use testbed::github::{Barrier, GitHub, NewPull};
use testbed::gitlab::{GitLab, NewIssue};
use testbed::kv::{Behaviour, KvStore};

const TOKEN: &str = "ghp_0123456789abcdef0123";

fn findings(report: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let findings = report["findings"].as_array().unwrap();
    let wrong = findings.iter().filter(|one| one["status"] != "ok");
    wrong
        .map(|one| {
            format!(
                "{} {}: {}",
                text(&one["status"]),
                text(&one["check"]),
                text(&one["found"])
            )
        })
        .collect()
}

#[test]
fn a_reviewer_with_everything_in_place() {
    let github = GitHub::start().unwrap();
    github.token(TOKEN, "acme-bot");
    let repo = github.repo("acme/widget");
    repo.open_pull(NewPull::titled("One"))
        .label("openhands-review", "alice");
    let place = Place::new(&json!({"repos": ["acme/widget"], "github_api_url": github.api_url()}));
    place
        .agent
        .set_secret("GITHUB_PERSONAL_ACCESS_TOKEN", TOKEN);
    let before = tree(place.scratch.root());
    let ended = place.command(&["doctor", "github-pr-reviewer"]).run();
    let text = place.plain(ended.said(0));
    insta::assert_snapshot!("doctor-reviewer-in-place", text);
    assert!(!text.contains(TOKEN) && !text.contains(&place.agent.key()));
    assert_eq!(tree(place.scratch.root()), before);
    assert_eq!(place.agent.created(), 0);
    github.check().unwrap();
    place.agent.check().unwrap();
}

#[test]
fn a_reviewer_with_much_that_is_wrong() {
    let github = GitHub::start().unwrap();
    github.token(TOKEN, "acme-bot");
    github.repo("acme/widget").archive();
    github.repo("acme/locked").set_barrier(Barrier::Sso);
    let repos = ["acme/widget", "acme/locked", "acme/missing"];
    let config = json!({
        "repos": repos, "github_api_url": github.api_url(), "trigger_lable": "x",
        "agent_secret_names": ["GITHUB_PERSONAL_ACCESS_TOKEN", "NPM_TOKEN"],
    });
    let place = Place::new(&config);
    place.document(
        "github_pr_reviewer_label_event_a1_acme__widget.json",
        &json!({"version": 9, "repo": "acme/widget"}),
    );
    place.agent.set_llm(json!({}));
    let ended = place
        .command(&["doctor"])
        .env("GITHUB_PERSONAL_ACCESS_TOKEN", TOKEN)
        .env("AUTOMATION_CALLBACK_URL", "not an address")
        .env("SSL_CERT_FILE", "/no/such/file.pem")
        .run();
    insta::assert_snapshot!("doctor-reviewer-much-wrong", place.plain(ended.said(1)));
}

#[test]
fn tokens_and_keys_that_are_not_accepted() {
    let github = GitHub::start().unwrap();
    let place = Place::new(&json!({"repos": ["acme/widget"], "github_api_url": github.api_url()}));
    let doctor = |key: &str, token: Option<&str>| {
        let mut command = place
            .command(&["doctor", "--json"])
            .env("SESSION_API_KEY", key);
        if let Some(token) = token {
            command = command.env("GITHUB_PERSONAL_ACCESS_TOKEN", token);
        }
        let ended = command.run();
        assert_eq!(ended.code, 1, "{ended:?}");
        findings(&ended.json()).join("\n")
    };
    let both = doctor("wrong", Some("ghp_unknown000000000"));
    assert!(
        both.contains("failed agent server: the agent server did not accept"),
        "{both}"
    );
    assert!(
        both.contains("failed token: GET /user: the token was not accepted"),
        "{both}"
    );
    let none = doctor(&place.agent.key(), None);
    assert!(
        none.contains("failed token: GITHUB_PERSONAL_ACCESS_TOKEN is not set"),
        "{none}"
    );
    assert!(
        none.contains("skipped repository: a token is needed first"),
        "{none}"
    );
}

#[test]
fn an_issue_automation_in_place_and_not() {
    let gitlab = GitLab::start().unwrap();
    gitlab.user("bot");
    gitlab.token("glpat-good-0123456789ab", "bot");
    let good = gitlab.project("group/team/service").unwrap();
    good.set_member("bot", 30);
    good.create_label("OpenHands");
    good.open_issue(NewIssue::titled("One"))
        .label("OpenHands", "bot");
    let reporter = gitlab.project("group/reading").unwrap();
    reporter.set_member("bot", 20);
    let empty = gitlab.empty_project("group/empty").unwrap();
    empty.set_member("bot", 40);
    let closed = gitlab.project("group/archived").unwrap();
    closed.set_member("bot", 50);
    closed.archive();
    let quiet = gitlab.project("group/quiet").unwrap();
    quiet.set_member("bot", 30);
    quiet.enable_issues(false);
    let projects = [
        "group/team/service",
        "group/reading",
        "group/empty",
        "group/archived",
        "group/quiet",
        "group/hidden",
    ];
    let config = json!({"projects": projects, "gitlab_api_url": gitlab.api_url()});
    let place = Place::new(&config);
    place
        .agent
        .set_secret("GITLAB_TOKEN", "glpat-good-0123456789ab");
    let ended = place.command(&["doctor", "gitlab-issue-to-mr"]).run();
    let text = ended.said(1).replace(&gitlab.url(), "GITLAB");
    insta::assert_snapshot!("doctor-issues", place.plain(&text));
}

#[test]
fn feeds_that_can_be_read_and_that_cannot() {
    let feeds = Feeds::start().unwrap();
    let story =
        Story::new("1", "One", "https://example.com/1").published(crate::place::now() - 7300.0);
    let good = feeds.feed("/good.xml", "Good News", Format::Rss, &[story]);
    let undated = Story::new("1", "One", "https://example.com/1");
    let plain = feeds.feed("/undated.xml", "Undated", Format::Atom, &[undated]);
    let nothing = feeds.feed("/empty.xml", "Empty", Format::Rss, &[]);
    let page = feeds.raw(
        "/page",
        "text/html",
        "<!doctype html><html><title>x</title></html>",
    );
    let odd = feeds.raw(
        "/odd.xml",
        "text/xml",
        "<rss><channel><title>Odd & so</title><item>\
        <title>One</title><link>https://example.com/odd</link></item></channel></rss>",
    );
    let gone = feeds.status("/gone.xml", 410);
    let place = Place::new(&json!({"feeds": [good, plain, nothing, page, odd, gone]}));
    let ended = place.command(&["doctor", "news-digest"]).run();
    let text = ended.said(1).replace(feeds.server().base_url(), "FEEDS");
    insta::assert_snapshot!("doctor-feeds", place.plain(&text));
    feeds.server().check().unwrap();
}

#[test]
fn a_configuration_that_cannot_be_read_is_a_finding() {
    let place = Place::new(&json!({"feeds": []}));
    let ended = place.command(&["doctor", "--json"]).run();
    let report = ended.json();
    ended.said(1);
    assert_eq!(report["status"], "failed");
    let wrong = findings(&report);
    assert!(wrong[0].starts_with("failed configuration: "), "{wrong:?}");
    assert!(
        wrong.iter().any(|one| one.starts_with("skipped targets: ")),
        "{wrong:?}"
    );

    std::fs::write(&place.config, "{\"feeds\": ").unwrap();
    let ended = place.command(&["doctor"]).run();
    assert!(ended.said(1).contains("not a JSON object"), "{ended:?}");
}

#[test]
fn nothing_at_all_is_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.json");
    std::fs::write(
        &config,
        r#"{"projects": ["group/project"], "gitlab_api_url": "http://127.0.0.1:1"}"#,
    )
    .unwrap();
    let ended = Process::new(crate::process::PEOPLE)
        .args(["doctor", "--json"])
        .current_dir(folder.path())
        .env("PATH", "")
        .run();
    let report = ended.json();
    let wrong = findings(&report).join("\n");
    for expected in [
        "failed agent server: AGENT_SERVER_URL is not set",
        "failed token: GITLAB_TOKEN is not set",
        "failed state: no place for state",
        "failed git: ",
        "failed GitLab: ",
    ] {
        assert!(wrong.contains(expected), "{expected} is not in:\n{wrong}");
    }
}

#[test]
fn the_place_of_documents() {
    let place = Place::new(&json!({"feeds": ["http://127.0.0.1:1/feed"]}));
    let kv = KvStore::start(Behaviour::Strict).unwrap();
    kv.set_secret_configured(false);
    let ended = place
        .command(&["doctor", "--json"])
        .env("AUTOMATION_API_URL", kv.api_url())
        .env("AUTOMATION_KV_TOKEN", kv.token(ID))
        .run();
    let wrong = findings(&ended.json()).join("\n");
    assert!(wrong.contains("failed state: "), "{wrong}");
    assert!(wrong.contains("AUTOMATION_KV_SECRET"), "{wrong}");

    let ended = place
        .command(&["doctor", "--json"])
        .env("WORKSPACE_BASE", "runs/1")
        .run();
    let wrong = findings(&ended.json()).join("\n");
    assert!(
        wrong.contains("failed workspaces: runs/1 is not absolute"),
        "{wrong}"
    );

    // A file where the folder should be.
    std::fs::write(place.scratch.state_dir(), "").unwrap();
    let ended = place.command(&["doctor", "--json"]).run();
    let wrong = findings(&ended.json()).join("\n");
    assert!(wrong.contains("cannot be written to"), "{wrong}");
}

#[test]
fn a_clock_that_is_wrong_is_told() {
    let place = Place::new(&json!({"feeds": ["http://127.0.0.1:1/feed"]}));
    let date = http_date(crate::place::now() + 7300.0);
    let fault = Fault::status(200).header("date", &date).on("GET", "/alive");
    place.agent.server().faults().add(fault);
    let ended = place.command(&["doctor", "--json"]).run();
    let wrong = findings(&ended.json()).join("\n");
    assert!(
        wrong.contains("warning clock: this machine is 2 h behind agent server"),
        "{wrong}"
    );
}
