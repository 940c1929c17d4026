//! One digest a day: collected before the next is selected, and nothing told twice or lost.

use crate::world::feeds::NewsFeeds;
use crate::world::{HOUR, MINUTE, World, finished, reason, run, started};
use lifecycle::document::{Field, NEWS};
use lifecycle::error::TargetError;
use lifecycle::news;
use lifecycle::policy::Policy as _;
use lifecycle::ports::Conversation;
use lifecycle::report::SkipReason;
use serde_json::json;

const TODAY: &str = "news:2026-08-18";
const TOMORROW: &str = "news:2026-08-19";

fn world() -> (World, NewsFeeds) {
    let world = World::new(&NEWS, news::TARGET);
    let feeds = NewsFeeds::new(&world);
    (world, feeds)
}

/// A world in which today's conversation is at work on two stories.
async fn at_work() -> (World, NewsFeeds) {
    let (world, feeds) = world();
    feeds.publish(&["a", "b"]);
    let report = world.poll("run-1", &feeds.policy()).await;
    assert_eq!(started(&report), [TODAY]);
    world.log.clear();
    (world, feeds)
}

/// The conversation of a task ends like this.
fn ends(world: &World, task: &str, how: Conversation, words: &str) {
    world.agents.is(&world.conversation(task), how, words);
}

fn told(world: &World) -> Vec<String> {
    news::seen(&world.document())
}

#[tokio::test]
async fn a_day_from_nothing_to_a_digest() {
    let (world, feeds) = at_work().await;
    let record = world.record(TODAY);
    assert_eq!(record.text(Field::Period), Some("2026-08-18"));
    assert_eq!(
        record.get(Field::ItemKeys),
        Some(&json!(["a", "a-link", "b", "b-link"]))
    );
    assert_eq!(record.count(Field::ItemCount), Some(2));
    let dir = record.workspace_dir().unwrap().to_owned();
    assert_eq!(dir, "/root/2026-08-18");
    assert_eq!(
        told(&world),
        [""; 0],
        "nothing is told before there is a digest"
    );

    world
        .workspaces
        .write(&dir, "digest.md", "# Digest\n\nAll of it.\n");
    ends(&world, TODAY, Conversation::Finished, "I wrote digest.md.");
    world.pass(MINUTE);
    let report = world.poll("run-2", &feeds.policy()).await;
    assert_eq!(finished(&report), [(TODAY, "completed")]);
    let digests = world.journal.digests.borrow().clone();
    assert_eq!(
        digests,
        [("2026-08-18".to_owned(), "# Digest\n\nAll of it.".to_owned())]
    );
    assert_eq!(told(&world), ["a", "a-link", "b", "b-link"]);
    assert_eq!(world.workspaces.all(), [""; 0]);
    let document = world.document();
    let last = document.get("last_digest").unwrap();
    assert_eq!(last["period"], json!("2026-08-18"));
    assert_eq!(last["text"], json!("# Digest\n\nAll of it."));
    let record = world.record(TODAY);
    assert_eq!(record.get(Field::ItemKeys), None);
    assert_eq!(
        record.text(Field::ConversationUrl),
        last["conversation_url"].as_str()
    );
    assert_eq!(
        record.seconds(Field::CompletedAt),
        Some(world.clock.now.get())
    );
}

#[tokio::test]
async fn without_a_file_the_final_message_is_the_digest() {
    let (world, feeds) = at_work().await;
    ends(&world, TODAY, Conversation::Finished, "  The digest.\n");
    world.pass(MINUTE);
    world.poll("run-2", &feeds.policy()).await;
    assert_eq!(world.status(TODAY), "completed");
    assert_eq!(world.journal.digests.borrow()[0].1, "The digest.");
}

/// While today has a record, no feed is read.
#[tokio::test]
async fn a_claimed_day_reads_nothing() {
    let (world, feeds) = at_work().await;
    for _ in 0..3 {
        world.pass(MINUTE);
        let report = world.poll("run-2", &feeds.policy()).await;
        assert_eq!(
            reason(&report, "2026-08-18"),
            Some(SkipReason::AlreadyTracked)
        );
        assert_eq!(report.funnel, None);
    }
    assert_eq!(world.log.of("read feeds").len(), 0);
}

/// Yesterday is collected in the very run that selects today's stories, and none of its stories
/// comes again.
#[tokio::test]
async fn yesterday_is_collected_before_today_is_selected() {
    let (world, feeds) = at_work().await;
    ends(&world, TODAY, Conversation::Finished, "The digest.");
    feeds.publish(&["c"]);
    world.pass(24.0 * HOUR);
    let report = world.poll("run-2", &feeds.policy()).await;
    assert_eq!(finished(&report), [(TODAY, "completed")]);
    assert_eq!(started(&report), [TOMORROW]);
    assert_eq!(
        world.record(TOMORROW).get(Field::ItemKeys),
        Some(&json!(["c", "c-link"]))
    );
    let deeds = world.log.all();
    let at = |start: &str| {
        deeds
            .iter()
            .position(|deed| deed.starts_with(start))
            .expect(start)
    };
    assert!(at(&format!("write {TODAY} completed")) < at("read feeds"));
}

/// While yesterday is still at work, its stories count as told: it will tell them.
#[tokio::test]
async fn yesterdays_stories_do_not_come_again_while_it_is_at_work() {
    let (world, feeds) = world();
    world.pass(14.0 * HOUR);
    feeds.publish(&["a", "b"]);
    world.poll("run-1", &feeds.policy()).await;
    feeds.publish(&["c"]);
    world.pass(HOUR);
    let report = world.poll("run-2", &feeds.policy()).await;
    assert_eq!(
        (world.status(TODAY), started(&report)),
        ("active", vec![TOMORROW])
    );
    assert_eq!(
        world.record(TOMORROW).get(Field::ItemKeys),
        Some(&json!(["c", "c-link"]))
    );
}

/// Only a digest widens what counts as told: any other end loses nothing.
#[tokio::test]
async fn stories_of_a_day_that_went_wrong_come_again() {
    let cases = [
        (Conversation::Finished, "empty"),
        (Conversation::Error, "failed"),
        (Conversation::Stuck, "failed"),
        (Conversation::Running, "expired"),
    ];
    for (how, status) in cases {
        let (world, feeds) = at_work().await;
        ends(&world, TODAY, how, "");
        world.pass(24.0 * HOUR);
        let report = world.poll("run-2", &feeds.policy()).await;
        assert_eq!(finished(&report), [(TODAY, status)]);
        assert_eq!(world.record(TODAY).get(Field::ItemKeys), None);
        assert_eq!(told(&world), [""; 0]);
        assert_eq!(started(&report), [TOMORROW]);
        assert_eq!(
            world.record(TOMORROW).count(Field::ItemCount),
            Some(2),
            "{status}"
        );
        assert_eq!(world.journal.digests.borrow().len(), 0);
    }
}

/// A conversation that failed after writing something has still failed.
#[tokio::test]
async fn what_a_failed_conversation_wrote_is_no_digest() {
    let (world, feeds) = at_work().await;
    world
        .workspaces
        .write("/root/2026-08-18", "digest.md", "half a dig");
    ends(&world, TODAY, Conversation::Error, "half a dig");
    world.pass(MINUTE);
    world.poll("run-2", &feeds.policy()).await;
    assert_eq!(world.status(TODAY), "failed");
}

/// A deleted conversation may have written its digest before.
#[tokio::test]
async fn the_file_of_a_deleted_conversation_counts() {
    for (file, status) in [(Some("The digest."), "completed"), (None, "failed")] {
        let (world, feeds) = at_work().await;
        if let Some(text) = file {
            world
                .workspaces
                .write("/root/2026-08-18", "digest.md", text);
        }
        world.agents.forget(&world.conversation(TODAY));
        world.pass(MINUTE);
        world.poll("run-2", &feeds.policy()).await;
        assert_eq!(world.status(TODAY), status);
        assert_eq!(world.workspaces.all(), [""; 0]);
    }
}

#[tokio::test]
async fn nothing_new_leaves_the_day_open() {
    let (world, feeds) = world();
    let report = world.poll("run-1", &feeds.policy()).await;
    assert_eq!(reason(&report, "2026-08-18"), Some(SkipReason::NothingNew));
    assert_eq!(
        report.skipped[0].detail,
        "0 stories fetched, 0 of them unseen, 0 of those fresh"
    );
    assert_eq!(world.status(TODAY), "none");
    let document = world.document();
    assert_eq!(
        document.get("last_checked"),
        Some(&json!(world.clock.now.get()))
    );
    assert_eq!(document.get("last_funnel").unwrap()["fetched"], json!(0));
    feeds.publish(&["a"]);
    world.pass(HOUR);
    let report = world.poll("run-2", &feeds.policy()).await;
    assert_eq!(
        started(&report),
        [TODAY],
        "a feed that publishes at noon is not silenced"
    );
}

#[tokio::test]
async fn some_failed_feeds_are_told_and_all_failed_feeds_fail() {
    let (world, feeds) = world();
    feeds.publish(&["a"]);
    feeds.fail(1);
    let report = world.poll("run-1", &feeds.policy()).await;
    assert!(!report.failed());
    assert_eq!(
        report.feed_errors.unwrap(),
        ["https://example.test/feed-0: HTTP 500"]
    );
    let prompt = world.agents.starts.borrow()[0].prompt.clone();
    assert!(prompt.contains("## Feeds that could not be read"));

    let (world, feeds) = self::world();
    feeds.fail(2);
    let (policy, document) = (feeds.policy(), world.document());
    let Err(error) = policy.discover(&world, &(), &document).await else {
        panic!("something was found");
    };
    assert_eq!(
        error,
        TargetError::AllFeedsFailed {
            count: 2,
            first: "https://example.test/feed-0: HTTP 500".into(),
        }
    );
    let report = world.poll("run-1", &feeds.policy()).await;
    assert_eq!(
        report.error.as_deref(),
        Some(
            "no feed could be read, of 2 configured; the first: https://example.test/feed-0: HTTP 500"
        )
    );
    assert_eq!(world.status(TODAY), "none");
}

/// Nobody wants yesterday's news: the run stays for its own conversation.
#[tokio::test]
async fn a_run_waits_for_its_own_conversation() {
    let (world, feeds) = world();
    feeds.publish(&["a"]);
    world.agents.looks_until_finished.set(Some(3));
    let mut patient = run("run-1");
    patient.wait_seconds = 300.0;
    let before = world.clock.now.get();
    world.workspaces.make("/root/2026-08-18");
    let report = world.poll_as(&patient, &feeds.policy()).await;
    let waited = world.clock.now.get() - before;
    assert_eq!(started(&report), [TODAY]);
    assert!(waited >= 15.0, "nothing is collected in the first seconds");
    assert!(waited < 60.0, "{waited}");
    assert_eq!(finished(&report), [(TODAY, "empty")]);
}

/// The first look is worth its question: not before the conversation may be collected.
#[tokio::test]
async fn a_waiting_run_does_not_look_too_early() {
    let (world, feeds) = world();
    feeds.publish(&["a"]);
    world.agents.looks_until_finished.set(Some(0));
    let mut patient = run("run-1");
    patient.wait_seconds = 300.0;
    world.poll_as(&patient, &feeds.policy()).await;
    assert_eq!(world.status(TODAY), "empty");
    assert_eq!(world.log.of("observe").len(), 1);
}

#[tokio::test]
async fn waiting_ends_with_its_time_and_with_the_runs() {
    for (wait, left, expected) in [
        (0.0, 480.0, 0.0),
        (300.0, 480.0, 300.0),
        (300.0, 130.0, 100.0),
    ] {
        let (world, feeds) = world();
        feeds.publish(&["a"]);
        world.clock.left.set(left);
        let mut patient = run("run-1");
        patient.wait_seconds = wait;
        let before = world.clock.now.get();
        world.poll_as(&patient, &feeds.policy()).await;
        assert_eq!(Some(world.clock.now.get() - before), Some(expected));
        assert_eq!(world.status(TODAY), "active");
    }
}

/// In sandbox mode the conversation dies with the run, so the run stays as long as it may.
#[tokio::test]
async fn in_a_sandbox_a_run_stays_for_what_it_started() {
    let (world, feeds) = world();
    feeds.publish(&["a"]);
    world.agents.is_sandbox.set(true);
    world.agents.looks_until_finished.set(Some(20));
    world.poll("run-1", &feeds.policy()).await;
    assert_eq!(world.status(TODAY), "empty");
}

#[tokio::test]
async fn a_day_that_could_not_be_set_up_is_tried_again() {
    let (world, feeds) = world();
    feeds.publish(&["a"]);
    let refused = || lifecycle::ports::AgentError::Refused("422".into());
    world
        .agents
        .next_starts
        .borrow_mut()
        .extend([refused(), refused()]);
    world.poll("run-1", &feeds.policy()).await;
    assert_eq!(
        (world.status(TODAY), world.workspaces.all().len()),
        ("none", 0)
    );
    world.poll("run-2", &feeds.policy()).await;
    // Now it backs off, and reads no feeds meanwhile.
    world.log.clear();
    let report = world.poll("run-3", &feeds.policy()).await;
    assert_eq!(reason(&report, "2026-08-18"), Some(SkipReason::BackingOff));
    assert_eq!(world.log.of("read feeds").len(), 0);
    world.pass(6.0 * MINUTE);
    let report = world.poll("run-4", &feeds.policy()).await;
    assert_eq!(started(&report), [TODAY]);
}
