//! One start per trigger: claims, setting up, and what happens when it does not work out.

use crate::world::github::{GitHub, REPO, commit};
use crate::world::{AUTOMATION, LOST, MINUTE, NOW, World, finished, fixture, reason, run, started};
use futures_util::future::join_all;
use lifecycle::document::{Document, Field, REVIEW, Record, Status};
use lifecycle::identity::{Kind, conversation_id, marker};
use lifecycle::ports::{AgentError, CheckoutError, Conversation, StoreError};
use lifecycle::report::SkipReason;
use serde_json::json;

const TASK: &str = "4:label:4";

fn world() -> (World, GitHub) {
    let world = World::new(&REVIEW, REPO);
    let github = GitHub::new(&world);
    github.open_labelled(4);
    (world, github)
}

/// Claim, then everything slow; the conversation's id and place are written before it exists.
#[tokio::test]
async fn the_claim_comes_before_anything_slow() {
    let (world, github) = world();
    world.store.has_guards.set(true);
    let report = world.poll("run-1", &github.policy()).await;
    let slow = [
        "guard",
        "write 4",
        "create",
        "github checkout",
        "start",
        "github comment",
    ];
    let deeds: Vec<String> = world
        .log
        .all()
        .into_iter()
        .filter(|deed| slow.iter().any(|word| deed.starts_with(word)))
        .filter(|deed| deed != "github comments")
        .collect();
    assert_eq!(
        deeds,
        [
            "guard claim:4:label:4:0",
            "write 4:label:4 starting",
            "create /root/acme__widget/pr-4-bbbbbbbbbbbb",
            "github checkout",
            "start",
            "github comment",
            "write 4:label:4 active",
        ]
    );
    let held = &world.store.guards.borrow()["claim:4:label:4:0"];
    let id = conversation_id(AUTOMATION, REPO, TASK);
    assert_eq!(held["record"]["conversation_id"], json!(id));
    assert_eq!(
        held["record"]["workspace_dir"],
        json!("/root/acme__widget/pr-4-bbbbbbbbbbbb")
    );
    assert_eq!(started(&report), [TASK]);
    assert_eq!(report.started[0].conversation_id, id);
    assert_eq!(report.in_flight, 1);
    let record = world.record(TASK);
    assert_eq!(record.conversation_id(), Some(id.as_str()));
    assert_eq!(record.text(Field::LeaseOwner), None, "the claim is over");
    assert_eq!(record.count(Field::LabelEventId), Some(4));
    assert_eq!(record.text(Field::HeadSha), Some(commit('b').as_str()));
}

#[tokio::test]
async fn a_tracked_event_is_not_started_again() {
    let (world, github) = world();
    world.poll("run-1", &github.policy()).await;
    world.pass(MINUTE);
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(reason(&report, "4"), Some(SkipReason::AlreadyTracked));
    assert_eq!(world.agents.starts.borrow().len(), 1);
    assert_eq!(github.comments.borrow().len(), 1);
}

/// Two runs that read the same version: one of them claims, the other leaves it alone.
#[tokio::test]
async fn two_runs_start_one_conversation() {
    let case = fixture("lifecycle/two-runs-claim-one-task.json");
    check_overlap(
        case["runs"].as_u64().unwrap(),
        case["conversations"].as_u64().unwrap(),
    )
    .await;
}

#[tokio::test]
async fn eight_runs_start_one_conversation() {
    check_overlap(8, 1).await;
}

async fn check_overlap(runs: u64, conversations: u64) {
    for has_guards in [true, false] {
        let (world, github) = world();
        world.store.has_guards.set(has_guards);
        let ids: Vec<_> = (1..=runs).map(|n| run(&format!("run-{n}"))).collect();
        let policy = github.policy();
        let polls = ids.iter().map(|run| world.poll_as(run, &policy));
        let reports = join_all(polls).await;
        assert_eq!(world.agents.starts.borrow().len() as u64, conversations);
        let winners = reports
            .iter()
            .filter(|report| !report.started.is_empty())
            .count();
        assert_eq!(winners, 1);
        for report in reports.iter().filter(|report| report.started.is_empty()) {
            assert!(!report.failed(), "{:?}", report.error);
            let why = reason(report, "4").unwrap();
            assert!(matches!(
                why,
                SkipReason::ClaimedElsewhere | SkipReason::AlreadyTracked
            ));
        }
        assert_eq!(
            github.comments_with(&marker(TASK, Kind::Acknowledgement)),
            1
        );
        assert_eq!(world.status(TASK), "active");
    }
}

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

/// The write of a record was overtaken, but its claim key is there: it is restored, not started.
#[tokio::test]
async fn a_record_is_restored_from_its_claim_key() {
    let (world, github) = world();
    world.store.has_guards.set(true);
    world.poll("run-1", &github.policy()).await;
    world.store.edit(|document| {
        document.remove_record(TASK);
    });
    world.pass(MINUTE);
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(reason(&report, "4"), Some(SkipReason::ClaimedElsewhere));
    assert_eq!(world.status(TASK), "starting");
    assert_eq!(world.agents.starts.borrow().len(), 1);
    // From there on it is like any claim whose run has died.
    world.pass(16.0 * MINUTE);
    world.poll("run-3", &github.policy()).await;
    assert_eq!(world.status(TASK), "active");
    let id = world.conversation(TASK);
    world.agents.is(&id, Conversation::Finished, "Looks good.");
    let report = world.poll("run-4", &github.policy()).await;
    assert_eq!(finished(&report), [(TASK, "closed")]);
    assert_eq!(
        world.store.guard_names(),
        [""; 0],
        "keys go when the task has ended"
    );
    assert_eq!(github.comments.borrow().len(), 2);
}

/// On a store where the later of two writes stands, an overtaken one is made good.
#[tokio::test]
async fn an_overtaken_write_is_applied_again_at_the_end() {
    let (world, github) = world();
    world.store.has_guards.set(true);
    world.store.lost_writes.set(2);
    world.poll("run-1", &github.policy()).await;
    assert_eq!(world.status(TASK), "active");
}

#[tokio::test]
async fn what_cannot_be_recorded_is_not_started() {
    let (world, github) = world();
    world.store.budget.set(700);
    for has_guards in [true, false] {
        world.store.has_guards.set(has_guards);
        let report = world.poll("run-1", &github.policy()).await;
        assert_eq!(reason(&report, "4"), Some(SkipReason::NoRoom));
        assert_eq!(world.log.of("start").len(), 0);
        assert_eq!(world.store.guard_names(), [""; 0]);
    }
    assert!(world.store.largest() <= 700);
}

/// A document that is full of live tasks still takes their end, and never more than its share.
#[tokio::test]
async fn what_is_under_way_finds_room_for_its_end() {
    let (world, github) = world();
    for number in 5..30 {
        github.open_labelled(number);
    }
    world.store.budget.set(4000);
    let mut all = run("run-1");
    all.max_new = 0;
    let report = world.poll_as(&all, &github.policy()).await;
    let under_way = report.started.len();
    assert!(
        under_way >= 2
            && report
                .skipped
                .iter()
                .any(|s| s.reason == SkipReason::NoRoom)
    );
    for (_, record) in world.document().records() {
        world.agents.is(
            record.conversation_id().unwrap(),
            Conversation::Finished,
            "Fine.",
        );
    }
    world.pass(MINUTE);
    let mut none = run("run-2");
    none.max_new = 1;
    none.started.set(1);
    let report = world.poll_as(&none, &github.policy()).await;
    assert_eq!(report.finished.len(), under_way);
    assert_eq!(world.workspaces.all(), [""; 0]);
    assert!(world.store.largest() <= 4000, "{}", world.store.largest());
}

/// A service that has less room than expected: the document shrinks and is written all the same.
#[tokio::test]
async fn a_document_that_the_service_refuses_is_shrunk() {
    let (world, github) = world();
    for number in 100..200 {
        github.open(number, 'c');
    }
    world.store.limit.set(6000);
    let report = world.poll("run-1", &github.policy()).await;
    assert!(!report.failed(), "{:?}", report.error);
    assert_eq!(
        (started(&report), world.status(TASK)),
        (vec![TASK], "active")
    );
    assert!(world.store.largest() <= 6000);
}

/// And one that refuses even that starts nothing that nobody would remember.
#[tokio::test]
async fn a_claim_that_the_service_refuses_is_no_claim() {
    for has_guards in [true, false] {
        let (world, github) = world();
        world.store.has_guards.set(has_guards);
        world.store.limit.set(300);
        let report = world.poll("run-1", &github.policy()).await;
        assert_eq!(reason(&report, "4"), Some(SkipReason::NoRoom));
        assert_eq!(
            world.log.of("start").len() + world.log.of("create").len(),
            0
        );
        assert_eq!(world.store.guard_names(), [""; 0]);
    }
}

/// A store that cannot be read ends the run of the target: nothing is done on a guess.
#[tokio::test]
async fn without_the_store_nothing_happens() {
    let (world, github) = world();
    world.store.error.replace(Some(StoreError::Unavailable {
        place: "KV key state:acme__widget".into(),
        detail: "500".into(),
    }));
    let report = world.poll("run-1", &github.policy()).await;
    assert!(report.failed());
    assert!(report.error.unwrap().contains("KV key state:acme__widget"));
    assert_eq!(
        world.log.of("start").len() + world.log.of("create").len(),
        0
    );
    assert_eq!(github.comments.borrow().len(), 0);
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

/// Another run claims the older label event of the same commit at the same time, for the same
/// directory: the later comer waits for the next poll.
#[tokio::test]
async fn a_directory_that_was_taken_meanwhile_is_not_taken_again() {
    let (world, github) = world();
    let taken = Box::new(|document: &mut Document| {
        let mut record = Record::default();
        record
            .set_status(Status::Starting)
            .set(Field::LastActivity, NOW)
            .set(Field::WorkspaceDir, "/root/acme__widget/pr-4-bbbbbbbbbbbb");
        document.put_record("4:label:3", record)
    });
    world.store.meanwhile.replace(Some(taken));
    let report = world.poll("run-1", &github.policy()).await;
    assert_eq!(reason(&report, "4"), Some(SkipReason::ClaimedElsewhere));
    assert_eq!(
        (world.status(TASK), world.log.of("create").len()),
        ("none", 0)
    );
    world.poll("run-2", &github.policy()).await;
    let dir = world.record(TASK).workspace_dir().unwrap().to_owned();
    assert_eq!(dir, "/root/acme__widget/pr-4-bbbbbbbbbbbb-4");
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

/// Two tasks on one commit never share a directory.
#[tokio::test]
async fn a_second_task_on_the_same_commit_has_a_workspace_of_its_own() {
    let (world, github) = world();
    world.poll("run-1", &github.policy()).await;
    github.label(4, 9, NOW + MINUTE);
    world.pass(2.0 * MINUTE);
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(started(&report), ["4:label:9"]);
    let dirs =
        [TASK, "4:label:9"].map(|task| world.record(task).workspace_dir().unwrap().to_owned());
    assert_ne!(dirs[0], dirs[1]);
    assert_eq!(world.workspaces.all(), dirs);
}
