//! From a script to its successor: the same id, so the same documents, and no work is done again.
//! What is uploaded is really started, as the service would, with the real binary in it.

mod issues;
mod world;

use crate::bench::Bench;
use serde_json::{Value, json};
use testbed::agent_server::{Script, Status};
use testbed::automation_service::API_KEY;
use testbed::call::Call;
use testbed::feeds::{Feeds, Format, Story};
use testbed::github::{GitHub, NewPull, Pull};
use world::{World, dispatch, with_binary};

const TOKEN: &str = "ghp_0123456789abcdef0123";
const LABEL: &str = "openhands-review";

fn script() -> Script {
    Script::of([Status::Running, Status::Finished]).response("I have looked at it.")
}

fn labelled(github: &GitHub, title: &str) -> (Pull, u64) {
    let new = NewPull::titled(title).files([("src/lib.rs", "pub fn f() {}\n")]);
    let pull = github.repo("acme/widget").open_pull(new);
    let event = pull.label(LABEL, "alice");
    (pull, event)
}

/// A record as the script writes it.
fn record(
    (pull, event): &(Pull, u64),
    status: &str,
    conversation: &str,
    dir: &str,
) -> (String, Value) {
    let record = json!({
        "conversation_id": conversation, "head_sha": pull.head_sha(), "html_url": "https://example.com/",
        "last_activity": cli::clock::system_now() - 600.25, "pr_number": pull.number(), "status": status,
        "trigger_label_event_created_at": "2026-11-29T11:07:40Z", "trigger_label_event_id": event,
        "workspace_dir": dir,
    });
    (format!("{}:label:{event}", pull.number()), record)
}

fn reviews_go_on(with_kv: bool) {
    let github = GitHub::start().unwrap();
    github.token(TOKEN, "acme-bot");
    let (ended, active, new) = (
        labelled(&github, "One"),
        labelled(&github, "Two"),
        labelled(&github, "Three"),
    );
    let bench = Bench::new();
    with_binary(
        &bench,
        "github-pr-reviewer",
        env!("CARGO_BIN_EXE_github-pr-reviewer"),
    );
    let config =
        json!({"repos": ["acme/widget"], "github_api_url": github.api_url(), "wait_seconds": 0});
    let id = bench.script("Reviews", Some(&config));
    bench.service.set_kv_store(with_kv);
    let world = World::new(with_kv, script());
    world
        .agent
        .set_secret("GITHUB_PERSONAL_ACCESS_TOKEN", TOKEN);
    world.serve(&bench);

    let at_work = "542c7841-99d3-4ae6-93e2-3e14895cc934";
    let dir = world.conversation(at_work, "repositories/acme__widget/pr-2-0317bc6d05b5");
    let records = [
        record(&ended, "closed", "82c67cd0-e5a8-4f05-8843-89533a915d21", ""),
        record(&active, "active", at_work, &dir),
    ];
    let document = json!({
        "version": 3, "repo": "acme/widget", "trigger_label": LABEL, "updated_at": 1_796_033_321.099_349_7,
        "prs": {}, "reviews": serde_json::Map::from_iter(records), "note": "kept",
    });
    let (key, file) = (
        "state:acme__widget",
        format!("github_pr_reviewer_label_event_{id}_acme__widget.json"),
    );
    world.remember(&id, key, &file, &document);
    let keys: Vec<&str> = with_kv.then_some(key).into_iter().collect();
    bench.service.set_keys(&id, &keys);

    let started_before = world.agent.created();
    let ended_well = bench
        .bring(
            "github-pr-reviewer",
            &["--update", &id, "--dispatch", "--json"],
        )
        .run();
    ended_well.said(0);
    let report = ended_well.json();
    assert_eq!(
        (&report["id"], &report["run"]["status"]),
        (&json!(id), &json!("COMPLETED"))
    );
    assert!(
        !report["run"]["phases"].as_array().unwrap().is_empty(),
        "{report}"
    );

    // What is new is begun, and nothing else.
    assert_eq!(world.agent.created(), started_before + 1);
    let found = world.remembered(&id, key, &file);
    let task = |(pull, event): &(Pull, u64)| format!("{}:label:{event}", pull.number());
    assert_eq!(found["note"], "kept");
    assert_eq!(found["reviews"][task(&ended)]["status"], "closed");
    assert_eq!(
        found["reviews"][task(&ended)]["conversation_id"],
        document["reviews"][task(&ended)]["conversation_id"]
    );
    assert_eq!(found["reviews"][task(&active)]["conversation_id"], at_work);
    assert_eq!(found["reviews"][task(&new)]["status"], "active");
    assert!(ended.0.comments().is_empty(), "{:?}", ended.0.comments());

    dispatch(&bench, &id);
    dispatch(&bench, &id);
    assert_eq!(world.agent.created(), started_before + 1);
    let found = world.remembered(&id, key, &file);
    assert_eq!(found["reviews"][task(&active)]["status"], "closed");
    assert_eq!(found["reviews"].as_object().unwrap().len(), 3);

    // The way back is in the report: what was replaced, and the documents are still the script's.
    let one = format!("{}/v1/{id}", bench.service.api_url());
    let back = Call::new("PATCH", &one)
        .json(&report["replaced"])
        .bearer(API_KEY);
    assert_eq!(back.send().unwrap().status, 200);
    let now = bench.service.automation(&id).unwrap();
    assert_eq!(now["entrypoint"], "python3 main.py");
    assert_eq!(bench.config_of(&now), config);
    assert_eq!(
        (&found["version"], &found["repo"]),
        (&json!(3), &json!("acme/widget"))
    );
}

#[test]
fn reviews_that_a_script_has_made_are_not_made_again() {
    reviews_go_on(true);
}

#[test]
fn and_neither_are_those_that_it_remembers_in_a_file() {
    reviews_go_on(false);
}

#[test]
fn a_digest_that_a_script_has_written_is_not_written_again() {
    let feeds = Feeds::start().unwrap();
    let now = cli::clock::system_now();
    let stories = [1, 2].map(|number| Story::numbered(number, now - 3600.0));
    let url = feeds.feed("/feed", "Site", Format::Rss, &stories);
    let bench = Bench::new();
    with_binary(&bench, "news-digest", env!("CARGO_BIN_EXE_news-digest"));
    let id = bench.script("Digest", Some(&json!({"feeds": [url], "wait_seconds": 0})));
    let world = World::new(true, script());
    world.serve(&bench);
    let mut tasks = serde_json::Map::new();
    // Around midnight it may be either day.
    for moment in [now, now + 600.0] {
        let period = lifecycle::moment::day(moment);
        let task = json!({
            "completed_at": now - 900.5, "conversation_id": "f020e135-9ead-43f1-a3b5-5ef74fc22697",
            "item_count": 15, "last_activity": now - 1000.5, "period": period, "status": "completed",
        });
        tasks.insert(format!("news:{period}"), task);
    }
    let document = json!({
        "version": 1, "last_checked": now - 900.5, "last_feed_errors": [], "seen": ["ce94200ade9f2102"],
        "tasks": tasks, "updated_at": now - 900.5,
    });
    world.remember(&id, "state", "", &document);
    bench.service.set_keys(&id, &["state"]);
    let ended = bench
        .bring("news-digest", &["--update", &id, "--dispatch"])
        .run();
    let said = ended.said(0);
    assert!(
        said.contains("state     stays: state\n") && said.contains(" completed\n"),
        "{said}"
    );
    assert_eq!(world.agent.created(), 0);
    let found = world.remembered(&id, "state", "");
    assert_eq!(found["tasks"], document["tasks"]);
    assert_eq!(found["seen"], document["seen"]);
}
