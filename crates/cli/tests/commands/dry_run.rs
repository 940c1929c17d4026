//! A dry run of the news digest: the funnel and the shortlist, and not a trace of it anywhere.

use crate::process::{DEPLOYABLE, PEOPLE, Process, tree};
use serde_json::{Value, json};
use std::path::Path;
use testbed::callback::{CALLBACK_KEY, Callbacks};
use testbed::feeds::{Feeds, Format, Story};
use testbed::github::GitHub;

/// 2026-08-20T06:00:00Z.
const NOW: f64 = 1_787_205_600.0;
const HOUR: f64 = 3600.0;

/// Three feeds, one of them down; one story in two of them, one too old, one undated.
fn site() -> (Feeds, Value) {
    let feeds = Feeds::start().unwrap();
    let bridge = Story::new(
        "city-1",
        "Harbour bridge reopens",
        "https://news.example.com/bridge",
    )
    .published(NOW - HOUR)
    .summary("<p>Traffic has been running since six this morning, the city says.</p>");
    let old = Story::new(
        "city-2",
        "Bakers end their strike",
        "https://news.example.com/bakers",
    );
    let city = feeds.feed(
        "/city.xml",
        "City News",
        Format::Rss,
        &[bridge.clone(), old.published(NOW - 70.0 * HOUR)],
    );
    let undated = Story::new(
        "tech-1",
        "A tiny compiler",
        "https://tech.example.com/compiler",
    );
    let again = Story::new(
        "x",
        &bridge.title,
        "https://NEWS.example.com/bridge/?utm_source=x",
    );
    let tech = feeds.feed(
        "/tech.json",
        "Tech Notes",
        Format::JsonFeed,
        &[undated, again],
    );
    let down = feeds.status("/down.xml", 500);
    let config = json!({"feeds": [city, tech, down], "topics": ["City", "Technology"]});
    (feeds, config)
}

/// A report without what differs from run to run.
fn plain(mut report: Value, feeds: &Feeds) -> String {
    report["run_id"] = "RUN".into();
    report["duration_ms"] = 0.into();
    let text = serde_json::to_string_pretty(&report).unwrap();
    text.replace(feeds.server().base_url(), "FEEDS")
}

fn news_digest(root: &Path, config: &Value) -> Process {
    let file = root.join("settings.json");
    std::fs::write(&file, config.to_string()).unwrap();
    Process::new(DEPLOYABLE[0].1)
        .args([
            "--dry-run",
            "--json",
            "--now",
            "2026-08-20T06:00:00Z",
            "--config",
        ])
        .args([&file])
        .current_dir(root)
        .env("HOME", root)
}

#[test]
fn the_report_has_funnel_and_shortlist_and_nothing_is_written() {
    let (feeds, config) = site();
    let root = tempfile::tempdir().unwrap();
    let process = news_digest(root.path(), &config);
    let before = tree(root.path());
    let ended = process.run();
    ended.said(0);
    insta::assert_snapshot!("news-dry-run", plain(ended.json(), &feeds));
    assert_eq!(tree(root.path()), before);
    for path in ["/city.xml", "/tech.json"] {
        assert_eq!(feeds.hits(path), 1, "{path}");
    }
    assert!(
        feeds
            .server()
            .log()
            .all()
            .iter()
            .all(|request| request.method == "GET")
    );
    feeds.server().check().unwrap();
}

#[test]
fn what_was_told_is_left_out_and_the_document_stays_as_it_is() {
    let (feeds, config) = site();
    let root = tempfile::tempdir().unwrap();
    let process = news_digest(root.path(), &config);
    let first = process.run().json();
    let stories = first["targets"][0]["shortlist"].as_array().unwrap();
    let bridge = |story: &&Value| story["title"] == "Harbour bridge reopens";
    let told = &stories.iter().find(bridge).unwrap()["fingerprints"];
    let folder = root.path().join(".openhands/workspaces/automation-state");
    std::fs::create_dir_all(&folder).unwrap();
    let document = folder.join("news_digest_default.json");
    let text = json!({"version": 1, "seen": told, "tasks": {}}).to_string();
    std::fs::write(&document, &text).unwrap();
    let before = tree(root.path());
    let report = news_digest(root.path(), &config).run().json();
    let target = &report["targets"][0];
    assert_eq!(
        target["funnel"],
        json!({"fetched": 4, "unseen": 2, "fresh": 1})
    );
    assert_eq!(target["shortlist"][0]["title"], "A tiny compiler");
    assert_eq!(std::fs::read_to_string(&document).unwrap(), text);
    assert_eq!(tree(root.path()), before);
    feeds.server().check().unwrap();
}

#[test]
fn a_dry_run_sends_no_callback_and_no_phase() {
    let (_feeds, config) = site();
    let root = tempfile::tempdir().unwrap();
    let callbacks = Callbacks::start().unwrap();
    callbacks.begin("run-1", "a1");
    let ended = news_digest(root.path(), &config)
        .env("AUTOMATION_RUN_ID", "run-1")
        .env("AUTOMATION_CALLBACK_URL", callbacks.callback_url("run-1"))
        .env("AUTOMATION_CALLBACK_API_KEY", CALLBACK_KEY)
        .env("AUTOMATION_PHASE_URL", callbacks.phase_url("run-1"))
        .run();
    assert_eq!(ended.json()["run_id"], "run-1");
    assert!(callbacks.server().log().is_empty());
}

#[test]
fn the_binary_for_people_runs_the_same() {
    let (feeds, config) = site();
    let root = tempfile::tempdir().unwrap();
    let deployed = news_digest(root.path(), &config).run();
    let file = root.path().join("settings.json");
    let file = file.to_str().unwrap();
    let run = |arguments: &[&str]| {
        Process::new(PEOPLE)
            .args(["run", "news-digest", "--config", file, "--dry-run"])
            .args(["--now", "2026-08-20T06:00:00Z"])
            .args(arguments)
            .current_dir(root.path())
            .env("HOME", root.path())
            .run()
    };
    let by_people = run(&["--json"]);
    assert_eq!(
        plain(by_people.json(), &feeds),
        plain(deployed.json(), &feeds)
    );
    let words = run(&[]);
    let words: Vec<&str> = words
        .said(0)
        .lines()
        .filter(|line| !line.contains(" ms,"))
        .collect();
    let words = words.join("\n").replace(feeds.server().base_url(), "FEEDS");
    insta::assert_snapshot!("news-dry-run-in-words", words);
}

#[test]
fn exit_codes_tell_how_many_targets_failed() {
    let github = GitHub::start().unwrap();
    github.token("ghp_0123456789abcdef0123", "acme-bot");
    github.repo("acme/widget");
    let run = |repos: &[&str], arguments: &[&str]| {
        let root = tempfile::tempdir().unwrap();
        let config = json!({"repos": repos, "github_api_url": github.api_url()});
        std::fs::write(root.path().join("config.json"), config.to_string()).unwrap();
        Process::new(DEPLOYABLE[1].1)
            .args(["--dry-run"])
            .args(arguments)
            .current_dir(root.path())
            .env("HOME", root.path())
            .env("GITHUB_PERSONAL_ACCESS_TOKEN", "ghp_0123456789abcdef0123")
            .run()
    };
    for json in [[].as_slice(), &["--json"]] {
        let strict = [json, &["--strict"]].concat();
        let some = ["acme/widget", "acme/missing"];
        run(&some, json).said(0);
        run(&some, &strict).said(3);
        run(&["acme/widget"], &strict).said(0);
        run(&["acme/missing", "acme/gone"], &strict).said(1);
        run(&["acme/missing"], json).said(1);
    }
    let report = run(&["acme/missing", "acme/widget"], &["--json", "--strict"]).json();
    assert_eq!(report["status"], "completed");
    assert_eq!(report["targets"][0]["status"], "failed");
    assert_eq!(report["targets"][1]["status"], "ok");
}

#[test]
fn every_feed_down_is_a_failure() {
    let feeds = Feeds::start().unwrap();
    let config = json!({"feeds": [feeds.status("/down.xml", 404)]});
    let root = tempfile::tempdir().unwrap();
    let ended = news_digest(root.path(), &config).run();
    assert_eq!(ended.json()["status"], "failed");
    ended.said(1);
}
