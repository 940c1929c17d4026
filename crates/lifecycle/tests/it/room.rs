//! The room of a document: what does not fit is not started, and what has been started fits.

use crate::world::scenes::pull::{TASK, world};
use crate::world::{MINUTE, reason, run, started};
use lifecycle::ports::{Conversation, StoreError};
use lifecycle::report::SkipReason;

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
