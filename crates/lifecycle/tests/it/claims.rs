//! One start per trigger: claims, claim keys, and directories.

use crate::world::github::{REPO, commit};
use crate::world::scenes::pull::{TASK, world};
use crate::world::{AUTOMATION, MINUTE, NOW, finished, fixture, reason, run, started};
use futures_util::future::join_all;
use lifecycle::document::{Document, Field, Record, Status};
use lifecycle::identity::{Kind, conversation_id, marker};
use lifecycle::ports::Conversation;
use lifecycle::report::SkipReason;
use serde_json::json;

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
