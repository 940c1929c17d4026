//! A day, from its first run to its digest.

use crate::stage::scenes::{NewsDay, Scene as _};
use crate::stage::{A_MINUTE, Backend};
use serde_json::{Value, json};
use std::time::Duration;
use testbed::agent_server::Pace;
use testbed::feeds::Story;

const MEMBERS: &[&str] = &[
    "last_checked",
    "last_digest",
    "last_feed_errors",
    "last_funnel",
    "seen",
    "tasks",
    "updated_at",
    "version",
    // Says whose write it is, so that one whose answer was lost is recognised.
    "written_by",
];

fn names(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn two_runs_take_a_day_from_nothing_to_completed() {
    for backend in Backend::ALL {
        let day = NewsDay::with_three_feeds(backend);
        let first = day.stage.run().ok();
        assert_eq!(first.count("started"), 1, "{}", first.all());
        assert_eq!(day.feed_requests(), 3);
        let conversation = day.stage.agent.conversations().pop().unwrap();
        assert!(
            conversation.body["secrets"]
                .as_object()
                .is_none_or(serde_json::Map::is_empty)
        );
        assert!(
            conversation.body["mcp_config"].is_null(),
            "{}",
            conversation.body
        );
        assert_eq!(
            first.told.conversation.as_deref(),
            Some(conversation.id.as_str())
        );
        assert!(!first.told.phases.is_empty());
        let record = day.stage.record();
        assert_eq!(record["status"], "active");
        assert_eq!(record["workspace_dir"], conversation.working_dir.as_str());
        let period = record["period"].as_str().unwrap().to_owned();
        assert!(
            conversation
                .working_dir
                .ends_with(&format!("/news-digest/{period}"))
        );
        assert_eq!(record["item_count"], 6);
        assert_eq!(record["item_keys"].as_array().unwrap().len(), 12);

        day.stage.agents_finish();
        day.stage.let_time_pass(A_MINUTE);
        let second = day.stage.run().ok();
        assert_eq!(second.count("finished"), 1, "{}", second.all());
        assert!(!second.told.phases.is_empty());
        day.is_done().unwrap();
        day.stage.assert_quiet();
        assert_eq!(day.feed_requests(), 3, "today is done: nothing is fetched");

        let document = day.stage.document();
        assert_eq!(document["version"], 1);
        let strange: Vec<&str> = names(&document)
            .into_iter()
            .filter(|name| !MEMBERS.contains(name))
            .collect();
        assert_eq!(strange, Vec::<&str>::new());
        assert_eq!(
            document["last_funnel"],
            json!({"fetched": 6, "fresh": 6, "unseen": 6})
        );
        assert_eq!(document["last_feed_errors"], json!([]));
        assert_eq!(document["last_digest"]["period"], period.as_str());
        let task = &document["tasks"][format!("news:{period}")];
        let expected = [
            "completed_at",
            "conversation_id",
            "conversation_url",
            "item_count",
            "last_activity",
            "period",
            "status",
        ];
        assert_eq!(names(task), expected);
        day.check();
    }
}

#[test]
fn a_run_that_waits_collects_at_once() {
    let mut day = NewsDay::with_three_feeds(Backend::LikeSqlite);
    day.stage.config["wait_seconds"] = json!(60);
    day.stage
        .agent
        .set_script(NewsDay::script().pace(Pace::Looks(1)));
    let ran = day.stage.run().ok();
    assert_eq!(
        (ran.count("started"), ran.count("finished")),
        (1, 1),
        "{}",
        ran.all()
    );
    assert!(ran.took < Duration::from_secs(45), "{:?}", ran.took);
    assert!(
        ran.log.contains("Story number 1, by all accounts"),
        "{}",
        ran.log
    );
    day.is_done().unwrap();
    day.stage.assert_quiet();
    day.check();
}

#[test]
fn nothing_new_leaves_the_day_open() {
    let day = NewsDay::with_three_feeds(Backend::Strict);
    day.stage.run().ok();
    day.stage.agents_finish();
    day.stage.let_time_pass(A_MINUTE);
    day.stage.run().ok();
    // The next morning, before anybody has published.
    day.stage.edit(|document| {
        let record = document["tasks"]
            .as_object()
            .unwrap()
            .values()
            .next()
            .unwrap()
            .clone();
        document["tasks"] = json!({"news:2020-01-01": record});
    });
    day.stage.agent.delete_all();
    let ran = day.stage.run().ok();
    assert_eq!(ran.count("started"), 0);
    let reasons = ran.target()["skipped"].to_string();
    assert!(reasons.contains("nothing-new"), "{reasons}");
    assert_eq!(
        ran.target()["funnel"],
        json!({"fetched": 6, "unseen": 0, "fresh": 0})
    );
    assert_eq!(day.stage.statuses().len(), 1, "the day stays open");

    // The first story of the day.
    let story = Story::numbered(77, crate::stage::scenes::now() - 60.0);
    day.feeds.publish("/feed-2", &[story]);
    let ran = day.stage.run().ok();
    assert_eq!(ran.count("started"), 1, "{}", ran.all());
    let prompt = day.stage.agent.conversations().pop().unwrap().prompt;
    assert!(
        prompt.contains("Story number 77") && !prompt.contains("Story number 11"),
        "{prompt}"
    );
    day.check();
}

#[test]
fn a_day_that_is_claimed_costs_no_feed_request() {
    let day = NewsDay::with_three_feeds(Backend::LikeSqlite);
    day.stage.run().ok();
    assert_eq!(day.feed_requests(), 3);
    for status in [
        "starting",
        "active",
        "completed",
        "failed",
        "empty",
        "expired",
    ] {
        day.stage.edit(|document| {
            let tasks = document["tasks"].as_object_mut().unwrap();
            tasks.values_mut().next().unwrap()["status"] = json!(status);
        });
        let ran = day.stage.run().ok();
        assert!(
            ran.target()["skipped"]
                .to_string()
                .contains("already-tracked"),
            "{}",
            ran.all()
        );
        assert_eq!(day.feed_requests(), 3, "{status}");
    }
    assert_eq!(day.stage.agent.created(), 1);
}

#[test]
fn one_broken_feed_is_told_and_three_fail_the_run() {
    let day = NewsDay::with_three_feeds(Backend::Files);
    day.feeds.status("/feed-2", 500);
    let ran = day.stage.run().ok();
    assert_eq!(ran.count("feed_errors"), 1, "{}", ran.all());
    assert!(
        ran.target()["feed_errors"][0]
            .as_str()
            .unwrap()
            .contains("/feed-2")
    );
    let prompt = day.stage.agent.conversations().pop().unwrap().prompt;
    assert!(
        prompt.contains("/feed-2"),
        "the agent hears of it: {prompt}"
    );

    let day = NewsDay::with_three_feeds(Backend::Files);
    for path in ["/feed-1", "/feed-2", "/feed-3"] {
        day.feeds.status(path, 404);
    }
    let error = day.stage.run().failed(1);
    assert!(
        error.contains("/feed-1") && error.contains("404"),
        "{error}"
    );
    assert_eq!(day.stage.agent.created(), 0);
    assert!(day.stage.records().is_empty());
    assert_eq!(day.stage.left_on_disk(), Vec::<String>::new());
}

#[test]
fn a_wrong_configuration_is_exit_2_and_the_service_hears_why() {
    let mut day = NewsDay::with_three_feeds(Backend::Strict);
    day.stage.config["max_items"] = json!("many");
    let error = day.stage.run().failed(2);
    assert!(
        error.contains("max_items") && error.contains("many"),
        "{error}"
    );
    day.stage.config = json!({"feeds": []});
    let error = day.stage.run().failed(2);
    assert!(error.contains("feeds"), "{error}");
    assert_eq!(day.feed_requests(), 0);
    assert!(day.stage.document().is_null());
}
