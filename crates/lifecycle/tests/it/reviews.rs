//! The ends of a review: published, posted, or suppressed.

use crate::world::github::{GitHub, REPO, commit, limited, unavailable};
use crate::world::scenes::pull::{TASK, world};
use crate::world::{HOUR, MINUTE, NOW, World, finished, fixture, started};
use lifecycle::document::{Document, Field, REVIEW};
use lifecycle::error::TargetError;
use lifecycle::identity::{Kind, marker};
use lifecycle::policy::Policy as _;
use lifecycle::ports::{Conversation, ForgeError};
use serde_json::json;

/// A world in which the review of commit `bb…` is at work.
async fn at_work() -> (World, GitHub) {
    let (world, github) = world();
    let report = world.poll("run-1", &github.policy()).await;
    assert_eq!(started(&report), [TASK]);
    world.log.clear();
    world.pass(MINUTE);
    (world, github)
}

fn ends(world: &World, how: Conversation, words: &str) {
    world.agents.is(&world.conversation(TASK), how, words);
}

#[tokio::test]
async fn a_published_review_closes_the_task_without_a_comment() {
    let (world, github) = at_work().await;
    github
        .reviews
        .borrow_mut()
        .push((4, commit('b'), NOW + 30.0));
    ends(
        &world,
        Conversation::Finished,
        "I have published the review.",
    );
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(finished(&report), [(TASK, "closed")]);
    assert_eq!(
        world.record(TASK).seconds(Field::CompletedAt),
        Some(world.clock.now.get())
    );
    assert_eq!(github.comments_with(&marker(TASK, Kind::Result)), 0);
    assert_eq!(world.workspaces.all(), [""; 0]);
}

/// Reviews that prove nothing (another person's, one of another commit, one from before): the
/// agent's text is posted. Whose and whether it is pending is for the adapter to see.
#[tokio::test]
async fn without_a_published_review_the_text_is_posted() {
    let case = fixture("github/reviews-that-prove-nothing.json");
    let (world, github) = world();
    github.push(4, 'b');
    assert_eq!(case["head_sha"], json!(commit('b')));
    world.poll("run-1", &github.policy()).await;
    world.pass(MINUTE);
    let other_commit = case["reviews"][2]["commit_id"].as_str().unwrap().to_owned();
    let too_early = NOW - HOUR;
    github.reviews.borrow_mut().extend([
        (4, other_commit, NOW + 30.0),
        (4, commit('b'), too_early),
        (5, commit('b'), NOW + 30.0),
    ]);
    ends(
        &world,
        Conversation::Finished,
        "One finding: the retry never ends.",
    );
    world.poll("run-2", &github.policy()).await;
    assert_eq!(world.status(TASK), "closed");
    assert_eq!(
        github.comments_with("One finding: the retry never ends."),
        1
    );
}

/// Even a conversation that failed may have published its review before.
#[tokio::test]
async fn a_review_published_before_the_end_counts() {
    let (world, github) = at_work().await;
    github
        .reviews
        .borrow_mut()
        .push((4, commit('b'), NOW + 30.0));
    ends(&world, Conversation::Error, "");
    world.poll("run-2", &github.policy()).await;
    assert_eq!(world.status(TASK), "closed");
    assert_eq!(
        github.comments.borrow().len(),
        1,
        "only the acknowledgement"
    );
}

#[tokio::test]
async fn a_failed_conversation_is_told_with_what_it_left() {
    for how in [Conversation::Error, Conversation::Stuck] {
        let (world, github) = at_work().await;
        ends(&world, how, "I had begun to read.");
        world.poll("run-2", &github.policy()).await;
        assert_eq!(world.status(TASK), "closed");
        assert_eq!(github.comments_with("did not succeed"), 1);
        assert_eq!(github.comments_with("I had begun to read."), 1);
    }
}

/// Closed, merged or deleted meanwhile: nothing is posted, whether the conversation has ended or
/// not.
#[tokio::test]
async fn a_pull_request_that_is_closed_meanwhile_ends_silently() {
    for how in [Conversation::Running, Conversation::Finished] {
        for is_gone in [false, true] {
            let (world, github) = at_work().await;
            if is_gone {
                github.pulls.borrow_mut().clear();
            } else {
                github.close(4);
            }
            ends(&world, how, "Looks good.");
            let report = world.poll("run-2", &github.policy()).await;
            assert_eq!(finished(&report), [(TASK, "closed")]);
            assert_eq!(github.comments.borrow().len(), 1);
        }
    }
}

#[tokio::test]
async fn a_head_that_moved_makes_the_review_stale() {
    for how in [Conversation::Running, Conversation::Finished] {
        let (world, github) = at_work().await;
        github.push(4, 'c');
        ends(&world, how, "Looks good.");
        let report = world.poll("run-2", &github.policy()).await;
        assert_eq!(finished(&report), [(TASK, "stale")]);
        let expected = format!("head changed from {} to {}", commit('b'), commit('c'));
        assert_eq!(
            world.record(TASK).text(Field::StaleReason),
            Some(expected.as_str())
        );
        assert_eq!(github.comments.borrow().len(), 1);
        assert_eq!(
            started(&report),
            [""; 0],
            "the label event has had its review"
        );
    }
}

/// A listing that lacks it is no proof: the pull request itself is asked before anything follows.
#[tokio::test]
async fn a_suspicion_is_looked_at_once_more() {
    let (world, github) = at_work().await;
    github.unlisted.borrow_mut().push(4);
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!((world.status(TASK), finished(&report)), ("active", vec![]));
    github.fails("pull", unavailable());
    world.poll("run-3", &github.policy()).await;
    assert_eq!(world.status(TASK), "active");
    assert_eq!(
        world.record(TASK).text(Field::LeaseOwner),
        None,
        "the lease was given back"
    );
}

/// A limit is no failure, and nothing follows from it.
#[tokio::test]
async fn a_rate_limit_ends_the_poll_and_changes_nothing() {
    for call in ["list", "events"] {
        let (world, github) = at_work().await;
        github.open_labelled(5);
        github.fails(call, limited());
        let report = world.poll("run-2", &github.policy()).await;
        assert!(!report.failed());
        assert!(report.warnings[0].contains("rate limited until 2026-08-18T09:12:57Z"));
        assert_eq!((world.status(TASK), report.in_flight), ("active", 1));
        assert_eq!(started(&report), [""; 0]);
        let report = world.poll("run-3", &github.policy()).await;
        assert_eq!(started(&report), ["5:label:5"]);
    }
}

/// A repository that cannot be read fails with a message that names it; workspaces are still
/// released.
#[tokio::test]
async fn a_repository_that_cannot_be_read_fails_alone() {
    let (world, github) = at_work().await;
    github.close(4);
    world.poll("run-2", &github.policy()).await;
    ends(&world, Conversation::Finished, "");
    let not_found = ForgeError::NotFound {
        call: "GET /repos/acme/widget/pulls".into(),
        detail: "Not Found".into(),
    };
    github.fails("list", not_found.clone());
    let Err(error) = github.policy().survey().await else {
        panic!("it was read");
    };
    assert_eq!(error, TargetError::Forge(not_found.clone()));
    github.fails("list", not_found);
    let report = world.poll("run-3", &github.policy()).await;
    assert_eq!(
        report.error.as_deref(),
        Some("GET /repos/acme/widget/pulls: not found (Not Found)")
    );
    assert_eq!(world.workspaces.all(), [""; 0]);
}

/// Documents of the deployed scripts are taken over in the middle of their work.
#[tokio::test]
async fn a_document_of_the_scripts_is_carried_on() {
    let file = "state/github-pr-reviewer/written-by-script-active.json";
    let script = Document::from_value(&REVIEW, fixture(file)).unwrap();
    let world = World::new(&REVIEW, REPO);
    let mut github = GitHub::new(&world);
    github.settings.repo = script.owner().unwrap().to_owned();
    world
        .clock
        .now
        .set(script.get("updated_at").unwrap().as_f64().unwrap() + MINUTE);
    let mut active = 0;
    for (_, record) in script.records() {
        let number = record.count(Field::PrNumber).unwrap();
        github.open(number, 'b');
        let head = record.text(Field::HeadSha).unwrap().to_owned();
        github.change(number, |pull| pull.pull.head_sha = head);
        world.agents.is(
            record.conversation_id().unwrap(),
            Conversation::Finished,
            "Fine.",
        );
        active += 1;
    }
    world.store.document.replace(script.clone());
    let report = world.poll("run-1", &github.policy()).await;
    assert_eq!(report.finished.len(), active);
    assert_eq!(github.comments_with("Fine."), active);
    // Workspaces below another root are theirs: reported, and remembered.
    assert!(
        world
            .document()
            .records()
            .all(|(_, record)| record.status().name() == "closed")
    );
    for (task, before) in script.records() {
        let after = world.record(task);
        assert_eq!(after.get(Field::HtmlUrl), before.get(Field::HtmlUrl));
    }
}
