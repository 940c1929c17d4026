//! Setting a task up, and what is undone, remembered and tried again when that fails.

use crate::world::github::GitHub;
use crate::world::scenes::pull::{TASK, world};
use crate::world::{LOST, MINUTE, fixture, reason, run, started};
use lifecycle::document::Field;
use lifecycle::identity::{Kind, marker};
use lifecycle::ports::{AgentError, CheckoutError, Conversation};
use lifecycle::report::SkipReason;
use serde_json::json;

#[tokio::test]
async fn a_failed_setup_gives_claim_and_workspace_back() {
    let (world, github) = world();
    world.store.has_guards.set(true);
    let broken = || CheckoutError::Failed("the archive ended early".into());
    github
        .next_checkouts
        .borrow_mut()
        .extend([broken(), broken()]);

    let report = world.poll("run-1", &github.policy()).await;
    assert_eq!(reason(&report, "4"), Some(SkipReason::SetupFailed));
    assert!(
        report.warnings[0].contains("the archive ended early"),
        "{:?}",
        report.warnings
    );
    assert_eq!(world.status(TASK), "none");
    assert_eq!(world.workspaces.all(), [""; 0]);
    assert_eq!(world.store.guard_names(), [""; 0]);
    assert_eq!(
        github.comments.borrow().len(),
        0,
        "a failed start is not announced"
    );
    assert_eq!(world.document().retry(TASK).unwrap().attempts, 1);

    // The next poll tries at once; after that it waits longer each time.
    world.pass(MINUTE);
    world.poll("run-2", &github.policy()).await;
    assert_eq!(world.document().retry(TASK).unwrap().attempts, 2);
    world.pass(4.0 * MINUTE);
    let report = world.poll("run-3", &github.policy()).await;
    assert_eq!(reason(&report, "4"), Some(SkipReason::BackingOff));
    assert!(report.skipped[0].detail.contains("the archive ended early"));
    world.pass(2.0 * MINUTE);
    let report = world.poll("run-4", &github.policy()).await;
    assert_eq!(started(&report), [TASK]);
    assert_eq!(
        world.document().retry(TASK),
        None,
        "what worked out is forgotten"
    );
    assert_eq!(world.record(TASK).count(Field::Attempt), Some(2));
}

#[tokio::test]
async fn waiting_gets_longer_up_to_six_hours() {
    let (world, github) = world();
    let mut waits = Vec::new();
    for n in 0..10 {
        let error = CheckoutError::Failed("disk full".into());
        github.next_checkouts.borrow_mut().push_back(error);
        world.poll(&format!("run-{n}"), &github.policy()).await;
        let next_try = world.document().retry(TASK).unwrap().next_try;
        waits.push((next_try - world.clock.now.get()) / MINUTE);
        world
            .clock
            .now
            .set(next_try.max(world.clock.now.get() + 1.0));
    }
    assert_eq!(
        waits,
        [0.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 360.0, 360.0]
    );
}

/// No room for another conversation: nothing is posted, and nothing more is tried in this run.
#[tokio::test]
async fn a_full_agent_server_stops_further_starts() {
    let case = fixture("runtime/no-room-for-another-conversation.json");
    assert_eq!(case["status"], json!(429));
    let (world, github) = world();
    github.open_labelled(5);
    github.open_labelled(6);
    let full = AgentError::Full(case["body"]["detail"]["error"].to_string());
    world.agents.next_starts.borrow_mut().push_back(full);

    let report = world.poll("run-1", &github.policy()).await;
    assert!(!report.failed());
    for item in ["4", "5", "6"] {
        assert_eq!(
            reason(&report, item),
            Some(SkipReason::AgentServerFull),
            "{item}"
        );
    }
    assert_eq!(
        world.log.of("start").len(),
        1,
        "the others are not tried one by one"
    );
    assert_eq!(github.comments.borrow().len(), 0);
    assert_eq!(world.workspaces.all(), [""; 0]);
    assert_eq!(world.document().records().count(), 0);
    assert_eq!(
        world.document().retry_tasks(),
        [""; 0],
        "it is no failure of the task"
    );

    world.pass(MINUTE);
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(started(&report).len(), 3);
}

/// A full server stops the starts of all targets of the run.
#[tokio::test]
async fn a_full_agent_server_is_known_to_the_other_targets() {
    let (first, github) = world();
    first
        .agents
        .next_starts
        .borrow_mut()
        .push_back(AgentError::Full("3 of 3".into()));
    let run = run("run-1");
    first.poll_as(&run, &github.policy()).await;
    let (second, github) = world();
    let report = second.poll_as(&run, &github.policy()).await;
    assert_eq!(reason(&report, "4"), Some(SkipReason::AgentServerFull));
    assert_eq!(second.log.of("start").len(), 0);
}

#[tokio::test]
async fn a_start_whose_answer_was_lost_is_found() {
    let (world, github) = world();
    let lost = AgentError::Unavailable(LOST.into());
    world.agents.next_starts.borrow_mut().push_back(lost);
    let report = world.poll("run-1", &github.policy()).await;
    assert_eq!(started(&report), [TASK]);
    assert_eq!(world.status(TASK), "active");
}

/// A claim is never thrown away while its conversation may exist.
#[tokio::test]
async fn a_start_of_which_nothing_is_known_keeps_its_claim() {
    let (world, github) = world();
    world
        .agents
        .next_starts
        .borrow_mut()
        .push_back(AgentError::Unavailable("timeout".into()));
    let report = world.poll("run-1", &github.policy()).await;
    assert_eq!(reason(&report, "4"), Some(SkipReason::SetupFailed));
    assert_eq!(world.status(TASK), "starting");
    assert_eq!(world.workspaces.all().len(), 1);
    // The request arrived after all, after we had looked.
    let id = world.conversation(TASK);
    world.agents.is(&id, Conversation::Running, "");
    world.pass(16.0 * MINUTE);
    world.poll("run-2", &github.policy()).await;
    assert_eq!(world.status(TASK), "active");
    assert_eq!(
        github.comments_with(&marker(TASK, Kind::Acknowledgement)),
        1
    );
}

#[tokio::test]
async fn a_refused_start_is_undone_and_tried_again() {
    let (world, github) = world();
    world
        .agents
        .next_starts
        .borrow_mut()
        .push_back(AgentError::Refused("422".into()));
    let report = world.poll("run-1", &github.policy()).await;
    assert_eq!(reason(&report, "4"), Some(SkipReason::SetupFailed));
    assert_eq!(world.status(TASK), "none");
    assert_eq!(world.workspaces.all(), [""; 0]);
    assert_eq!(
        started(&world.poll("run-2", &github.policy()).await),
        [TASK]
    );
}

/// A workspace that cannot be removed keeps its claim, so that somebody remembers it.
#[tokio::test]
async fn what_cannot_be_undone_is_remembered() {
    let (world, github) = world();
    world
        .agents
        .next_starts
        .borrow_mut()
        .push_back(AgentError::Refused("422".into()));
    world.workspaces.removal_fails.set(true);
    world.poll("run-1", &github.policy()).await;
    assert_eq!(world.status(TASK), "starting");
    world.workspaces.removal_fails.set(false);
    world.pass(16.0 * MINUTE);
    world.poll("run-2", &github.policy()).await;
    assert_eq!(
        world.workspaces.all().len(),
        1,
        "released, and started anew"
    );
    assert_eq!(world.status(TASK), "active");
}

#[tokio::test]
async fn a_run_that_is_nearly_over_starts_nothing() {
    let (world, github) = world();
    world.clock.left.set(10.0);
    let report = world.poll("run-1", &github.policy()).await;
    assert_eq!(reason(&report, "4"), Some(SkipReason::OutOfTime));
    assert_eq!(world.document().records().count(), 0);
}

/// The branch was pushed over between listing and download: no failure, and the next poll takes
/// the new head.
#[tokio::test]
async fn a_head_that_moved_before_the_download_is_taken_by_the_next_poll() {
    let case = fixture("github/head-moved-before-download.json");
    let head = |which: &str| {
        case[which]["head"]
            .as_str()
            .unwrap()
            .chars()
            .next()
            .unwrap()
    };
    let (world, github) = world();
    github.push(4, head("listed"));
    let gone = CheckoutError::Gone("404".into());
    github.next_checkouts.borrow_mut().push_back(gone);

    let report = world.poll("run-1", &github.policy()).await;
    assert_eq!(reason(&report, "4"), Some(SkipReason::HeadMoved));
    assert_eq!(world.status(TASK), "none");
    assert_eq!(world.workspaces.all(), [""; 0]);
    assert_eq!(world.document().retry_tasks(), [""; 0]);
    assert_eq!(github.comments.borrow().len(), 0);
    assert_eq!(report.warnings, [""; 0]);

    github.push(4, head("fresh"));
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(started(&report), [TASK]);
    assert_eq!(
        world.record(TASK).text(Field::HeadSha),
        case["fresh"]["head"].as_str()
    );
}

/// What failed is forgotten when its label is taken off.
#[tokio::test]
async fn failures_of_triggers_that_are_gone_are_forgotten() {
    let (world, github) = world();
    github.open_labelled(5);
    let broken = || CheckoutError::Failed("damaged".into());
    github
        .next_checkouts
        .borrow_mut()
        .extend([broken(), broken()]);
    world.poll("run-1", &github.policy()).await;
    assert_eq!(world.document().retry_tasks(), [TASK, "5:label:5"]);
    github.change(4, |details| details.pull.labels.clear());
    github.change(5, |details| details.pull.draft = true);
    let mut only_ready = GitHub::new(&world);
    only_ready.settings.review_drafts = false;
    only_ready.pulls.replace(github.pulls.borrow().clone());
    world.poll("run-2", &only_ready.policy()).await;
    assert_eq!(world.document().retry_tasks(), [""; 0]);
}
