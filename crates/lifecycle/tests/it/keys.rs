//! Claim and lease keys that hold nothing, cannot be deleted, or have no room.

use crate::world::github::GitHub;
use crate::world::scenes::pull::{self, TASK};
use crate::world::{MINUTE, World, finished, reason, started};
use lifecycle::document::{Document, Field, size};
use lifecycle::identity::{Kind, marker};
use lifecycle::ports::{AgentError, Conversation, StoreError};
use lifecycle::report::SkipReason;
use serde_json::json;

const KEY: &str = "claim:4:label:4:0";
const LEASE: &str = "lease:4:label:4:0";

fn world() -> (World, GitHub) {
    let (world, github) = pull::world();
    world.store.has_guards.set(true);
    (world, github)
}

/// A world in which a review has ended, without having been collected yet.
async fn ended() -> (World, GitHub) {
    let (world, github) = world();
    let report = world.poll("run-1", &github.policy()).await;
    assert_eq!(started(&report), [TASK]);
    let id = world.conversation(TASK);
    world.agents.is(&id, Conversation::Finished, "Looks good.");
    world.pass(MINUTE);
    (world, github)
}

fn size_of(document: &Document) -> usize {
    size::wire_size(&document.to_value())
}

/// Nobody can tell what a key without a record stands for: it is named, and left to a person.
#[tokio::test]
async fn a_claim_key_without_a_record_is_named_and_starts_nothing() {
    for held in [
        json!({"run_id": "run-0"}),
        json!({"run_id": "run-0", "record": 5}),
        json!("taken"),
    ] {
        let (world, github) = world();
        world
            .store
            .guards
            .borrow_mut()
            .insert(KEY.into(), held.clone());
        let report = world.poll("run-1", &github.policy()).await;
        assert_eq!(reason(&report, "4"), Some(SkipReason::ClaimedElsewhere));
        assert_eq!(
            report.warnings,
            ["4:label:4: its claim key holds no record; delete the key if no run is at work"]
        );
        assert_eq!(world.status(TASK), "none");
        assert_eq!(world.log.of("create").len(), 0);
        assert_eq!(world.store.guards.borrow()[KEY], held);

        world.store.guards.borrow_mut().clear();
        let report = world.poll("run-2", &github.policy()).await;
        assert_eq!(started(&report), [TASK]);
    }
}

/// A claim is given back key first: while the key is there, so is the record by which it is found.
#[tokio::test]
async fn a_claim_whose_key_cannot_be_deleted_keeps_its_record() {
    let (world, github) = world();
    let refused = AgentError::Refused("422".into());
    world.agents.next_starts.borrow_mut().push_back(refused);
    world.store.undeletable.borrow_mut().insert(KEY.into());
    let report = world.poll("run-1", &github.policy()).await;
    assert_eq!(reason(&report, "4"), Some(SkipReason::SetupFailed));
    let warning = &report.warnings[0];
    assert!(
        warning.starts_with("the key claim:4:label:4:0 could not be deleted"),
        "{warning}"
    );
    assert_eq!(world.status(TASK), "starting");
    assert_eq!(world.workspaces.all(), [""; 0]);

    // Nor does whoever finds it stalled forget it before its key is gone.
    world.pass(16.0 * MINUTE);
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(started(&report), [""; 0]);
    assert_eq!(world.status(TASK), "starting");
    assert_eq!(world.store.guard_names(), [KEY]);

    world.store.undeletable.borrow_mut().clear();
    world.pass(16.0 * MINUTE);
    let report = world.poll("run-3", &github.policy()).await;
    assert_eq!(started(&report), [TASK]);
    assert_eq!(world.record(TASK).count(Field::Attempt), Some(1));
    assert_eq!(world.store.guard_names(), ["claim:4:label:4:1"]);
}

/// A claim that found no room leaves a key that cannot be deleted: the next poll finds the key.
#[tokio::test]
async fn a_key_that_was_left_alone_becomes_a_claim_again() {
    let (world, github) = world();
    world.store.budget.set(700);
    world.store.undeletable.borrow_mut().insert(KEY.into());
    let report = world.poll("run-1", &github.policy()).await;
    assert_eq!(reason(&report, "4"), Some(SkipReason::NoRoom));
    assert_eq!(world.status(TASK), "none");
    assert_eq!(world.store.guard_names(), [KEY]);

    world.store.budget.set(size::ONE_BYTES);
    world.store.undeletable.borrow_mut().clear();
    world.pass(MINUTE);
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(reason(&report, "4"), Some(SkipReason::ClaimedElsewhere));
    assert_eq!(
        world.record(TASK).text(Field::LeaseOwner),
        Some("run-1"),
        "it is the claim of the run that made the key"
    );
    world.pass(16.0 * MINUTE);
    let report = world.poll("run-3", &github.policy()).await;
    assert_eq!(started(&report), [TASK]);
    assert_eq!(world.agents.starts.borrow().len(), 1);
}

/// On a service that limits all keys together, what the document remembers of the past makes way.
#[tokio::test]
async fn room_for_a_claim_key_is_made_in_the_document() {
    let (world, github) = world();
    github.change(4, |details| details.pull.labels.clear());
    for number in 100..200 {
        github.open(number, 'c');
    }
    world.poll("run-1", &github.policy()).await;
    let before = world.document();
    let snapshots = |document: &Document| document.get("prs").unwrap().as_object().unwrap().len();
    assert_eq!(snapshots(&before), 101);
    let room = size_of(&before) + 100;
    world.store.room.set(room);
    github.open_labelled(4);
    world.log.clear();
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(started(&report), [TASK]);
    assert_eq!(world.status(TASK), "active");
    assert_eq!(world.store.guard_names(), [KEY]);
    assert!(snapshots(&world.document()) < 101);
    let deeds = world.log.all();
    let at = |deed: &str| deeds.iter().position(|found| found == deed).expect(deed);
    assert!(at("write") < at("guard claim:4:label:4:0"));
}

/// Where nothing is left to make way, nothing is claimed and nothing is lost.
#[tokio::test]
async fn without_room_for_its_key_nothing_is_claimed() {
    let (world, github) = world();
    github.change(4, |details| details.pull.labels.clear());
    world.poll("run-1", &github.policy()).await;
    let before = world.document();
    world.store.room.set(size_of(&before) + 50);
    github.label(4, 4, world.clock.now.get());
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(reason(&report, "4"), Some(SkipReason::NoRoom));
    assert!(!report.failed(), "{:?}", report.error);
    assert_eq!(world.status(TASK), "none");
    assert_eq!(world.store.guard_names(), [""; 0]);
    assert_eq!(
        world.log.of("create").len() + world.log.of("start").len(),
        0
    );

    world.store.room.set(usize::MAX);
    let report = world.poll("run-3", &github.policy()).await;
    assert_eq!(started(&report), [TASK]);
}

/// Nothing is finished without the exclusive right to do it.
#[tokio::test]
async fn without_room_for_its_lease_key_nothing_is_told() {
    let (world, github) = ended().await;
    let before = world.document();
    // Documents of other targets have filled the service.
    world.store.room.set(0);
    let report = world.poll("run-2", &github.policy()).await;
    let error = report.error.unwrap();
    assert!(error.contains("do not fit into the state store"), "{error}");
    assert_eq!(world.record(TASK), before.record(TASK).unwrap());
    assert_eq!(github.comments_with(&marker(TASK, Kind::Result)), 0);
    assert_eq!(world.workspaces.all().len(), 1);

    world.store.room.set(usize::MAX);
    let report = world.poll("run-3", &github.policy()).await;
    assert_eq!(finished(&report), [(TASK, "closed")]);
    assert_eq!(github.comments_with(&marker(TASK, Kind::Result)), 1);
}

/// A store that fails when the lease is taken ends the poll of the target: nothing is told.
#[tokio::test]
async fn a_lease_that_cannot_be_asked_for_ends_the_poll() {
    let (world, github) = ended().await;
    let unavailable = StoreError::Unavailable {
        place: "KV key guard".into(),
        detail: "status 500".into(),
    };
    world.store.guard_errors.borrow_mut().push_back(unavailable);
    let report = world.poll("run-2", &github.policy()).await;
    assert!(report.error.unwrap().contains("status 500"));
    assert_eq!(world.status(TASK), "active");
    assert_eq!(github.comments_with(&marker(TASK, Kind::Result)), 0);
    let report = world.poll("run-3", &github.policy()).await;
    assert_eq!(finished(&report), [(TASK, "closed")]);
}

/// Forty runs that died over one task are no accident: the next one keeps its hands off.
#[tokio::test]
async fn a_task_over_which_every_run_died_is_left_to_a_person() {
    let (world, github) = ended().await;
    for number in 0..40 {
        let lapsed = json!({"run_id": "run-0", "until": world.clock.now.get() - MINUTE});
        let name = format!("lease:4:label:4:{number}");
        world.store.guards.borrow_mut().insert(name, lapsed);
    }
    let keys = world.store.guard_names();
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(
        report.warnings,
        ["4:label:4: every run that tried to finish it died; look at the logs of earlier runs"]
    );
    assert_eq!((finished(&report), world.status(TASK)), (vec![], "active"));
    assert_eq!(github.comments_with(&marker(TASK, Kind::Result)), 0);
    assert_eq!(world.store.guard_names(), keys);
}

/// A lease key that cannot be deleted is remembered in the record, and deleted by a later poll.
#[tokio::test]
async fn a_lease_key_that_cannot_be_deleted_is_not_forgotten() {
    let (world, github) = ended().await;
    world.store.undeletable.borrow_mut().insert(LEASE.into());
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(finished(&report), [(TASK, "closed")]);
    assert_eq!(world.store.guard_names(), [LEASE]);
    assert_eq!(world.record(TASK).text(Field::LeaseOwner), Some("run-2"));

    world.store.undeletable.borrow_mut().clear();
    world.pass(16.0 * MINUTE);
    let report = world.poll("run-3", &github.policy()).await;
    assert_eq!(finished(&report), []);
    assert_eq!(world.store.guard_names(), [""; 0]);
    assert_eq!(world.record(TASK).text(Field::LeaseOwner), None);
    assert_eq!(github.comments_with(&marker(TASK, Kind::Result)), 1);
}
