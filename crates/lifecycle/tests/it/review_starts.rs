//! Which pull requests are reviewed, and at which commit.

use crate::world::github::{GitHub, LABEL, commit, limited, unavailable};
use crate::world::scenes::pull::{TASK, world};
use crate::world::{HOUR, MINUTE, NOW, fixture, reason, started};
use lifecycle::document::{Document, Field, REVIEW};
use lifecycle::policy::{Policy as _, SetupError};
use lifecycle::report::SkipReason;
use serde_json::json;

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

/// What the last look at a trigger says, when `change` has come in between.
async fn confirmed(change: impl FnOnce(&GitHub)) -> Result<(), SetupError> {
    let (world, github) = world();
    let policy = github.policy();
    let document = world.document();
    let survey = policy.survey().await.unwrap();
    let found = policy.discover(&world, &survey, &document).await;
    let mut trigger = found.unwrap().triggers.remove(0);
    change(&github);
    policy.confirm(&world, &mut trigger, &document).await
}

/// A forge that is busy says nothing against the task; one that cannot be asked is a failed start.
#[tokio::test]
async fn a_last_look_that_fails_is_told_from_a_trigger_that_is_gone() {
    assert_eq!(confirmed(|_| {}).await, Ok(()));
    let gone = SetupError::Skip(SkipReason::NoLongerOpen, String::new());
    assert_eq!(confirmed(|github| github.close(4)).await, Err(gone));
    let busy = confirmed(|github| github.fails("pull", limited())).await;
    let later = SetupError::Skip(SkipReason::RateLimited, limited().to_string());
    assert_eq!(busy, Err(later));
    let silent = confirmed(|github| github.fails("pull", unavailable())).await;
    let failed = SetupError::Failed(unavailable().to_string());
    assert_eq!(silent, Err(failed));
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
