//! One published review of exactly the labelled commit.

use crate::world::github::{GitHub, LABEL, REPO, commit, limited, unavailable};
use crate::world::{HOUR, MINUTE, NOW, World, finished, fixture, reason, started};
use lifecycle::document::{Document, Field, REVIEW};
use lifecycle::identity::{Kind, marker};
use lifecycle::ports::{Conversation, ForgeError};
use lifecycle::report::SkipReason;
use serde_json::json;

const TASK: &str = "4:label:4";

fn world() -> (World, GitHub) {
    let world = World::new(&REVIEW, REPO);
    let github = GitHub::new(&world);
    github.open_labelled(4);
    (world, github)
}

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

/// What changes between listing and start is seen before anything is claimed.
#[tokio::test]
async fn a_trigger_is_looked_at_once_more_before_it_is_claimed() {
    type Change = fn(&GitHub);
    let cases: [(Change, SkipReason); 4] = [
        (|github| github.close(4), SkipReason::NoLongerOpen),
        (
            |github| github.pulls.borrow_mut().clear(),
            SkipReason::NoLongerOpen,
        ),
        (
            |github| github.change(4, |pull| pull.pull.labels.clear()),
            SkipReason::LostLabel,
        ),
        (
            |github| github.change(4, |pull| pull.pull.draft = true),
            SkipReason::Draft,
        ),
    ];
    for (change, expected) in cases {
        let (world, mut github) = world();
        github.settings.review_drafts = false;
        github.before_pull.replace(Some(change));
        let report = world.poll("run-1", &github.policy()).await;
        assert_eq!(reason(&report, "4"), Some(expected));
        assert_eq!(
            world.log.of("create").len() + world.log.of("write 4").len(),
            0
        );
    }
}

/// The head that is reviewed is the one that was confirmed, not the one that was listed.
#[tokio::test]
async fn a_head_that_moved_before_the_claim_is_the_one_reviewed() {
    let (world, github) = world();
    github
        .before_pull
        .replace(Some(|github| github.push(4, 'c')));
    world.poll("run-1", &github.policy()).await;
    assert_eq!(
        world.record(TASK).text(Field::HeadSha),
        Some(commit('c').as_str())
    );
    assert!(
        world.agents.starts.borrow()[0]
            .prompt
            .contains(&commit('c'))
    );
}

#[tokio::test]
async fn labels_are_compared_without_case_and_drafts_as_configured() {
    let (world, mut github) = world();
    github.change(4, |pull| pull.pull.labels = vec!["OpenHands-Review".into()]);
    github.open(5, 'c');
    github.change(5, |pull| pull.pull.labels = vec![format!("{LABEL}-later")]);
    github.open_labelled(6);
    github.change(6, |pull| pull.pull.draft = true);
    github.open(7, 'd');
    github.change(7, |pull| pull.pull.labels = vec![LABEL.into()]);
    github.settings.review_drafts = false;
    let report = world.poll("run-1", &github.policy()).await;
    assert_eq!(report.discovered, 3);
    assert_eq!(started(&report), [TASK]);
    assert_eq!(
        reason(&report, "5"),
        None,
        "a longer label with the same start is another one"
    );
    assert_eq!(reason(&report, "6"), Some(SkipReason::Draft));
    assert_eq!(reason(&report, "7"), Some(SkipReason::NoLabelEvent));
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
    github.fails(
        "list",
        ForgeError::NotFound {
            call: "GET /repos/acme/widget/pulls".into(),
            detail: "Not Found".into(),
        },
    );
    let report = world.poll("run-3", &github.policy()).await;
    assert_eq!(
        report.error.as_deref(),
        Some("GET /repos/acme/widget/pulls: not found (Not Found)")
    );
    assert_eq!(world.workspaces.all(), [""; 0]);
}

/// One pull request whose label events cannot be read does not hide the others.
#[tokio::test]
async fn one_bad_item_spoils_no_list() {
    let (world, github) = world();
    github.open_labelled(5);
    github.fails("events", unavailable());
    let report = world.poll("run-1", &github.policy()).await;
    assert_eq!(reason(&report, "4"), Some(SkipReason::SetupFailed));
    assert_eq!(started(&report), ["5:label:5"]);
}

/// A document of an earlier version is taken over: what it says has been reviewed is not reviewed
/// again.
#[tokio::test]
async fn what_an_older_document_has_reviewed_is_not_reviewed_again() {
    let (world, github) = world();
    let legacy = fixture("state/github-pr-reviewer/version-2.json");
    let adopted = Document::from_value(&REVIEW, legacy).unwrap();
    world.store.document.replace(adopted);
    github.label(4, 900, NOW - HOUR);
    github.open_labelled(5);
    let report = world.poll("run-1", &github.policy()).await;
    assert_eq!(reason(&report, "4"), Some(SkipReason::AlreadyTracked));
    assert_eq!(started(&report), ["5:label:5"]);
    let document = world.document();
    assert_eq!(document.get("version"), Some(&json!(3)));
    assert_eq!(
        document.record("4:label:900").unwrap().status().name(),
        "closed"
    );
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

/// A fork must not bring its own review guide: for those it is read at the base.
#[tokio::test]
async fn the_guide_of_a_fork_is_read_at_the_base() {
    const PATH: &str = ".agents/skills/custom-codereview-guide.md";
    for from_fork in [true, false] {
        let (world, mut github) = world();
        github.settings.guide_path = format!("/{PATH}");
        github.change(4, |pull| pull.from_fork = from_fork);
        github.brings(PATH, "Guide of the head.");
        let base = (PATH.to_owned(), commit('0'));
        github
            .files
            .borrow_mut()
            .insert(base, "Guide of the base.".into());
        world.poll("run-1", &github.policy()).await;
        let prompt = world.agents.starts.borrow()[0].prompt.clone();
        assert_eq!(prompt.contains("Guide of the base."), from_fork);
        assert_eq!(prompt.contains("Guide of the head."), !from_fork);
    }
}

/// Snapshots show how each open pull request looked, and go when it is closed.
#[tokio::test]
async fn snapshots_follow_the_open_pull_requests() {
    let (world, github) = world();
    github.open(5, 'c');
    world.poll("run-1", &github.policy()).await;
    let prs = world.document().get("prs").unwrap().clone();
    assert_eq!(prs["4"]["label_present"], json!(true));
    assert_eq!(prs["4"]["label_event_id"], json!(4));
    assert_eq!(
        prs["5"],
        json!({"head_sha": commit('c'), "label_present": false, "labels": [], "last_seen": NOW})
    );
    github.close(5);
    world.pass(MINUTE);
    world.poll("run-2", &github.policy()).await;
    assert_eq!(
        world
            .document()
            .get("prs")
            .unwrap()
            .as_object()
            .unwrap()
            .len(),
        1
    );
}
