//! `status`: documents as tables and as JSON, without a change to them.

use crate::place::{ID, Place, now};
use crate::process::tree;
use serde_json::json;
use testbed::kv::{Behaviour, KvStore};

const UUID: &str = "88cca966-d491-5284-af5f-c0cc9c836d60";

fn reviews(place: &Place) {
    let workspace = place
        .base()
        .join("repositories/acme__widget/pr-42-0123456789ab");
    std::fs::create_dir_all(&workspace).unwrap();
    let gone = place
        .base()
        .join("repositories/acme__widget/pr-41-0123456789ab");
    let now = now();
    let document = json!({
        "version": 3,
        "repo": "acme/widget",
        "updated_at": now - 130.0,
        "reviews": {
            "42:label:123": {
                "status": "active", "pr_number": 42, "conversation_id": UUID,
                "workspace_dir": workspace, "last_activity": now - 730.0,
            },
            "41:label:99": {
                "status": "stale", "pr_number": 41, "conversation_id": "0b0e\u{1b}[2J",
                "workspace_dir": gone, "last_activity": now - 8000.0,
            },
            "40:label:98": {
                "status": "closed", "pr_number": 40, "workspace_dir": "/etc",
                "last_activity": now - 400_000.0,
            },
            "39:label:97": {"status": "invented", "pr_number": 39},
        },
        "retries": {
            "43:label:124": {
                "attempts": 2, "next_try": now + 330.0, "last_error": "the archive was refused",
            },
        },
    });
    place.document(
        "github_pr_reviewer_label_event_a1_acme__widget.json",
        &document,
    );
}

#[test]
fn documents_are_shown_as_tables() {
    let place = Place::new(&json!({"repos": ["acme/widget", "acme/other"]}));
    reviews(&place);
    let broken = "github_pr_reviewer_label_event_a1_acme__other.json";
    std::fs::write(place.scratch.state_dir().join(broken), "{\"version\": 3, ").unwrap();
    let before = tree(place.scratch.root());
    let config = place.config.to_str().unwrap();
    let ended = place
        .command(&["status", "github-pr-reviewer", "--config", config])
        .run();
    let text = place.plain(ended.said(0));
    let text = without_size(&text);
    insta::assert_snapshot!("status-of-reviews", text);
    assert_eq!(tree(place.scratch.root()), before);
}

/// The size of a document changes with the path of the folder.
fn without_size(text: &str) -> String {
    let line = |line: &str| match line.split_once(" ago, ") {
        Some((start, size)) if size.contains(" of at most ") => format!("{start} ago, SIZE"),
        _ => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn programs_get_the_same_as_json() {
    let place = Place::new(&json!({"repos": ["acme/widget"]}));
    reviews(&place);
    // Without a name: the configuration says which automation it is for.
    let ended = place.command(&["status", "--json"]).run();
    let report = ended.json();
    assert_eq!(report["automations"][0]["automation"], "github-pr-reviewer");
    let target = &report["automations"][0]["targets"][0];
    assert_eq!(target["target"], "acme/widget");
    assert_eq!(target["error"], json!(null));
    let task = &target["tasks"][0];
    assert_eq!(task["task"], "42:label:123");
    assert_eq!(task["workspace"], "on disk");
    let url = format!("{}/conversations/{UUID}", place.agent.base_url());
    assert_eq!(task["conversation_url"], url.as_str());
    assert_eq!(target["retries"][0]["attempts"], 2);
}

#[test]
fn the_news_have_more_to_show() {
    let kv = KvStore::start(Behaviour::Strict).unwrap();
    let place = Place::new(&json!({"feeds": ["https://example.org/feed.xml"]}));
    let now = now();
    let document = json!({
        "version": 1,
        "updated_at": now - 7300.0,
        "last_checked": now - 7300.0,
        "last_funnel": {"fetched": 60, "unseen": 12, "fresh": 9},
        "last_feed_errors": ["https://example.org/feed.xml: HTTP 500"],
        "seen": ["3f2a9c1b7d4e8a05", "00112233445566ff"],
        "last_digest": {"period": "2026-08-20", "written_at": now, "text": "…"},
        "tasks": {
            "news:2026-08-20": {
                "period": "2026-08-20", "status": "completed",
                "conversation_url": "https://openhands.example/conversations/1",
                "conversation_id": UUID, "last_activity": now - 7300.0,
            },
        },
    });
    kv.put(ID, "state", &document);
    let versions = kv.version(ID);
    let ended = place
        .command(&["status", "news-digest"])
        .env("AUTOMATION_API_URL", kv.api_url())
        .env("AUTOMATION_KV_TOKEN", kv.token(ID))
        .run();
    insta::assert_snapshot!("status-of-news", without_size(&place.plain(ended.said(0))));
    assert_eq!(kv.version(ID), versions, "nothing was written");
}

#[test]
fn no_document_is_not_a_failure_and_no_store_is() {
    let place = Place::new(&json!({"projects": ["group/team/service"]}));
    let ended = place.command(&["status"]).run();
    assert!(ended.said(0).contains("There is no document"), "{ended:?}");
    assert!(
        ended
            .stdout
            .contains("gitlab_issue_to_mr_a1_group__team__service.json")
    );

    let other = place.command(&["status", "--automation-id", "b2"]).run();
    assert!(
        other
            .said(0)
            .contains("gitlab_issue_to_mr_b2_group__team__service.json")
    );

    let kv = KvStore::start(Behaviour::Strict).unwrap();
    let token = kv.token(ID);
    kv.expire_token(&token);
    let command = place
        .command(&["status"])
        .env("AUTOMATION_API_URL", kv.api_url());
    let ended = command.env("AUTOMATION_KV_TOKEN", token).run();
    assert!(
        ended.said(1).contains("the KV token was not accepted"),
        "{ended:?}"
    );
}

#[test]
fn a_document_of_another_automation_id_is_mentioned() {
    let place = Place::new(&json!({"repos": ["acme/widget"]}));
    reviews(&place);
    let ended = place.command(&["status", "--automation-id", "b2"]).run();
    let expected = "there is also github_pr_reviewer_label_event_a1_acme__widget.json";
    assert!(ended.said(0).contains(expected), "{ended:?}");
}

#[test]
fn it_has_to_be_told_what_is_meant() {
    let place = Place::new(&json!({}));
    let ended = place.command(&["status"]).run();
    assert_eq!(ended.said(2), "");
    assert!(
        ended
            .stderr
            .contains("it names no feeds, repos or projects"),
        "{ended:?}"
    );
}
