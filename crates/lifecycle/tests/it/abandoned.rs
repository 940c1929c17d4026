//! Claims whose run has died, when looking after them does not work out either.

use crate::world::github::{GitHub, no_access};
use crate::world::scenes::pull;
use crate::world::scenes::pull::{DIR, TASK};
use crate::world::{MINUTE, NOW, World, started};
use lifecycle::document::{Document, Field, Status};
use lifecycle::identity::{Kind, marker};
use lifecycle::ports::Conversation;

/// The label is off again.
fn after_a_death() -> (World, GitHub, String) {
    let (world, github, id) = pull::after_a_death();
    github.change(4, |details| details.pull.labels.clear());
    (world, github, id)
}

/// Its conversation is at work, whether people hear of it or not.
#[tokio::test]
async fn a_claim_is_adopted_although_it_cannot_be_acknowledged() {
    let (world, github, id) = after_a_death();
    world.agents.is(&id, Conversation::Running, "");
    github.fails("comment", no_access());
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(report.warnings.len(), 1);
    let warning = &report.warnings[0];
    assert!(
        warning.starts_with("4:label:4: the start could not be acknowledged: POST /comments"),
        "{warning}"
    );
    let record = world.record(TASK);
    assert_eq!(record.status(), Status::Active);
    assert_eq!(record.conversation_id(), Some(id.as_str()));
    assert_eq!(record.text(Field::LeaseOwner), None);
    assert_eq!(world.document().retry(TASK), None, "it is no failed start");
    assert_eq!(
        world.journal.notes.borrow().last().unwrap(),
        "4:label:4: the run that started it died, but its conversation exists: adopted"
    );
    // And its result is told like any other.
    world.agents.is(&id, Conversation::Finished, "Looks good.");
    world.poll("run-3", &github.policy()).await;
    assert_eq!(github.comments_with(&marker(TASK, Kind::Result)), 1);
}

/// Somebody resets the state while a claim is being adopted: it does not come back.
#[tokio::test]
async fn a_claim_that_is_removed_while_it_is_adopted_stays_removed() {
    let (world, github, id) = after_a_death();
    world.agents.is(&id, Conversation::Running, "");
    let reset = Box::new(|document: &mut Document| {
        let is_leased = document
            .record(TASK)
            .is_some_and(|record| record.text(Field::LeaseOwner) == Some("run-2"));
        is_leased && document.remove_record(TASK)
    });
    world.store.meanwhile.replace(Some(reset));
    let report = world.poll("run-2", &github.policy()).await;
    assert!(!report.failed(), "{:?}", report.error);
    assert_eq!(report.in_flight, 0);
    assert_eq!(world.document().records().count(), 0);
}

/// A workspace that cannot be removed keeps its claim: the claim alone knows where it is.
#[tokio::test]
async fn a_claim_whose_workspace_cannot_be_removed_stays_and_is_tried_again() {
    for has_guards in [true, false] {
        let (world, github, id) = after_a_death();
        world.store.has_guards.set(has_guards);
        github.label(4, 4, NOW - 30.0 * MINUTE);
        world.workspaces.removal_fails.set(true);
        let report = world.poll("run-2", &github.policy()).await;
        assert_eq!(
            report.warnings,
            [format!(
                "4:label:4: its workspace could not be removed: {DIR}: removing: permission denied"
            )]
        );
        let record = world.record(TASK);
        assert_eq!(record.status(), Status::Starting);
        assert_eq!(record.workspace_dir(), Some(DIR));
        assert_eq!(world.workspaces.all(), [DIR]);
        assert_eq!(
            world.document().retry(TASK),
            None,
            "nothing was concluded from it"
        );
        assert_eq!(started(&report), [""; 0]);

        world.workspaces.removal_fails.set(false);
        let report = world.poll("run-3", &github.policy()).await;
        assert_eq!(started(&report), [TASK]);
        assert_eq!(world.conversation(TASK), id);
        assert_eq!(world.record(TASK).count(Field::Attempt), Some(1));
    }
}

/// A directory that is none of ours is never touched, so the claim waits for a person.
#[tokio::test]
async fn a_claim_on_a_directory_outside_our_roots_waits_for_a_person() {
    let (world, github, _) = after_a_death();
    world.workspaces.make("/home/user/thesis");
    world.store.edit(|document| {
        let mut record = document.record(TASK).unwrap();
        record.set(Field::WorkspaceDir, "/home/user/thesis");
        document.put_record(TASK, record);
    });
    let report = world.poll("run-2", &github.policy()).await;
    assert!(
        report.warnings[0].contains("remove the record's workspace_dir by hand"),
        "{:?}",
        report.warnings
    );
    assert_eq!(world.status(TASK), "starting");
    assert_eq!(world.workspaces.all(), ["/home/user/thesis", DIR]);
    // As the warning says.
    world.store.edit(|document| {
        let mut record = document.record(TASK).unwrap();
        record.unset(Field::WorkspaceDir);
        document.put_record(TASK, record);
    });
    world.poll("run-3", &github.policy()).await;
    assert_eq!(world.status(TASK), "none");
    assert_eq!(world.workspaces.all(), ["/home/user/thesis", DIR]);
}
