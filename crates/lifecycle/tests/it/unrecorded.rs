//! Ends that come too late or cannot be recorded, and tasks that are gone by then.

use crate::world::github::{GitHub, no_access};
use crate::world::scenes::pull::{TASK, at_work};
use crate::world::{MINUTE, World, finished};
use lifecycle::document::{Document, Field, Status};
use lifecycle::identity::{Kind, marker};
use lifecycle::ports::Conversation;

/// A world in which a review has ended without having been published; the label is off again.
async fn ended() -> (World, GitHub) {
    let (world, github, id) = at_work().await;
    world.agents.is(&id, Conversation::Finished, "Looks good.");
    github.change(4, |details| details.pull.labels.clear());
    world.pass(MINUTE);
    (world, github)
}

fn results(github: &GitHub) -> usize {
    github.comments_with(&marker(TASK, Kind::Result))
}

fn is_leased_to(document: &Document, run: &str) -> bool {
    document
        .record(TASK)
        .is_some_and(|record| record.text(Field::LeaseOwner) == Some(run))
}

/// A store that took longer over the lease than the lease lasts: by then it is somebody else's.
#[tokio::test]
async fn a_lease_that_ran_out_while_it_was_written_is_none() {
    let (world, github) = ended().await;
    let now = world.clock.now.clone();
    let slow = Box::new(move |_: &mut Document| {
        now.set(now.get() + 16.0 * MINUTE);
        true
    });
    world.store.meanwhile.replace(Some(slow));
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!((finished(&report), world.status(TASK)), (vec![], "active"));
    assert_eq!(world.log.of("github reviews"), [""; 0], "nothing was asked");
    assert_eq!(results(&github), 0);

    let report = world.poll("run-3", &github.policy()).await;
    assert_eq!(finished(&report), [(TASK, "closed")]);
    assert_eq!(results(&github), 1);
}

/// The end was told and could not be written: the target fails, and nothing is told twice.
#[tokio::test]
async fn an_end_for_which_the_service_has_no_room_is_told_once() {
    let (world, github) = ended().await;
    let limit = world.store.limit.clone();
    let fills = Box::new(move |document: &mut Document| {
        let is_leased = is_leased_to(document, "run-2");
        if is_leased {
            limit.set(0);
        }
        is_leased
    });
    world.store.meanwhile.replace(Some(fills));
    let report = world.poll("run-2", &github.policy()).await;
    let error = report.error.unwrap();
    assert!(
        error.starts_with("acme/widget: ") && error.contains("do not fit into the state store"),
        "{error}"
    );
    assert_eq!((report.finished.len(), world.status(TASK)), (0, "active"));
    assert_eq!(results(&github), 1);
    assert_eq!(
        world.workspaces.all().len(),
        1,
        "nothing goes before it is recorded"
    );

    // Nor could the lease be given back, so it has to lapse.
    world.store.limit.set(usize::MAX);
    world.pass(16.0 * MINUTE);
    let report = world.poll("run-3", &github.policy()).await;
    assert_eq!(finished(&report), [(TASK, "closed")]);
    assert_eq!(results(&github), 1);
    assert_eq!(world.workspaces.all(), [""; 0]);
}

/// Somebody resets the state while an attempt fails: the attempt is of no use to anybody.
#[tokio::test]
async fn an_attempt_at_a_task_that_is_gone_is_not_counted() {
    let (world, github) = ended().await;
    github.fails("comment", no_access());
    let reset = Box::new(|document: &mut Document| {
        is_leased_to(document, "run-2") && document.remove_record(TASK)
    });
    world.store.meanwhile.replace(Some(reset));
    let report = world.poll("run-2", &github.policy()).await;
    assert!(!report.failed(), "{:?}", report.error);
    let document = world.document();
    assert_eq!(document.records().count(), 0);
    assert_eq!(document.retry_tasks(), [""; 0]);
}

/// Another run, whose lease has lapsed meanwhile, ends the task after all: its word stands.
#[tokio::test]
async fn an_attempt_at_a_task_that_has_ended_is_not_counted() {
    let (world, github) = ended().await;
    github.fails("comment", no_access());
    let ends = Box::new(|document: &mut Document| {
        let is_ours = is_leased_to(document, "run-2");
        if is_ours {
            let mut record = document.record(TASK).unwrap();
            record.set_status(Status::Stale).unset(Field::WorkspaceDir);
            document.put_record(TASK, record);
        }
        is_ours
    });
    world.store.meanwhile.replace(Some(ends));
    let report = world.poll("run-2", &github.policy()).await;
    assert!(!report.failed(), "{:?}", report.error);
    assert_eq!((world.status(TASK), report.in_flight), ("stale", 0));
    assert_eq!(world.document().retry_tasks(), [""; 0]);
}

/// Somebody resets the state while a workspace is removed: its record does not come back.
#[tokio::test]
async fn a_record_that_is_removed_while_its_workspace_goes_stays_removed() {
    let (world, github) = ended().await;
    world.workspaces.removal_fails.set(true);
    world.poll("run-2", &github.policy()).await;
    assert_eq!(world.status(TASK), "closed");
    assert_eq!(world.workspaces.all().len(), 1);

    world.workspaces.removal_fails.set(false);
    let reset = Box::new(|document: &mut Document| {
        is_leased_to(document, "run-3") && document.remove_record(TASK)
    });
    world.store.meanwhile.replace(Some(reset));
    let report = world.poll("run-3", &github.policy()).await;
    assert_eq!(report.released, 1);
    assert_eq!(world.workspaces.all(), [""; 0]);
    assert_eq!(world.document().records().count(), 0);
}
