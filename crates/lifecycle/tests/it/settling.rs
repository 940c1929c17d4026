//! When a conversation is collected, stopped, and its workspace removed.

use crate::world::scenes::pull::{TASK, at_work};
use crate::world::{HOUR, MINUTE, finished, fixture};
use lifecycle::document::Field;
use lifecycle::ports::Conversation;

/// A conversation that is idle before it runs is collected once, when it has finished.
#[tokio::test]
async fn nothing_is_collected_in_the_first_seconds() {
    let case = fixture("runtime/conversation-is-idle-before-it-runs.json");
    let (world, github, id) = at_work().await;
    let began = world.clock.now.get();
    let ages = case["seconds_after_start"].as_array().unwrap();
    let looks = case["observed"].as_array().unwrap();
    let mut collected = Vec::new();
    for (age, look) in ages.iter().zip(looks) {
        world.clock.now.set(began + age.as_f64().unwrap());
        let conversation = match look.as_str().unwrap() {
            "IdleFresh" => Conversation::IdleFresh,
            "Running" => Conversation::Running,
            _ => Conversation::Finished,
        };
        world.agents.is(&id, conversation, "Looks good.");
        let report = world.poll(&format!("run-at-{age}"), &github.policy()).await;
        if !report.finished.is_empty() {
            collected.push(age.as_f64().unwrap());
        }
    }
    assert_eq!(collected, [120.0]);
    assert_eq!(github.comments_with("Looks good."), 1);
}

#[tokio::test]
async fn even_a_finished_conversation_is_left_to_settle() {
    let (world, github, id) = at_work().await;
    world.agents.is(&id, Conversation::Finished, "Looks good.");
    world.pass(14.0);
    world.poll("run-2", &github.policy()).await;
    assert_eq!(world.status(TASK), "active");
    assert_eq!(world.log.of("observe").len(), 0);
    world.pass(1.0);
    world.poll("run-3", &github.policy()).await;
    assert_eq!(world.status(TASK), "closed");
}

/// An expired conversation is stopped first; only then its workspace goes, and nothing is posted.
#[tokio::test]
async fn after_two_hours_it_is_interrupted_first() {
    let (world, github, _) = at_work().await;
    world.pass(2.0 * HOUR);
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(finished(&report), [(TASK, "expired")]);
    assert_eq!(report.released, 1);
    let deeds = world.log.all();
    let at = |start: &str| {
        deeds
            .iter()
            .position(|deed| deed.starts_with(start))
            .expect(start)
    };
    assert!(at("interrupt") < at("write 4:label:4 expired"));
    assert!(at("write 4:label:4 expired") < at("remove"));
    let record = world.record(TASK);
    assert_eq!(record.seconds(Field::ExpiredAfter), Some(2.0 * HOUR));
    assert_eq!(record.workspace_dir(), None);
    assert_eq!(record.text(Field::LeaseOwner), None);
    assert_eq!(
        github.comments.borrow().len(),
        1,
        "only the acknowledgement"
    );
}

/// A suspicion that turns out wrong (here: a listing without the pull request) does not keep a
/// task alive.
#[tokio::test]
async fn what_has_expired_ends_even_if_the_listing_lacks_it() {
    let (world, github, _) = at_work().await;
    world.pass(2.0 * HOUR);
    github.unlisted.borrow_mut().push(4);
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(finished(&report), [(TASK, "expired")]);
}

#[tokio::test]
async fn a_conversation_that_cannot_be_stopped_keeps_its_workspace() {
    let (world, github, id) = at_work().await;
    world.pass(2.0 * HOUR);
    world.agents.is_silent.set(true);
    world.poll("run-2", &github.policy()).await;
    assert_eq!(
        (world.status(TASK), world.workspaces.all().len()),
        ("active", 1)
    );
    world.agents.is_silent.set(false);
    world.agents.is(&id, Conversation::Running, "");
    world.poll("run-3", &github.policy()).await;
    assert_eq!(
        (world.status(TASK), world.workspaces.all().len()),
        ("expired", 0)
    );
}

/// The task may end before its conversation does: then the workspace waits.
#[tokio::test]
async fn a_workspace_stays_while_its_conversation_runs() {
    let (world, github, id) = at_work().await;
    github.close(4);
    world.pass(MINUTE);
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(finished(&report), [(TASK, "closed")]);
    assert_eq!(report.released, 0);
    assert_eq!(world.workspaces.all().len(), 1);
    assert!(
        world.record(TASK).workspace_dir().is_some(),
        "the record remembers it"
    );

    world.agents.is(&id, Conversation::Finished, "");
    world.pass(MINUTE);
    let report = world.poll("run-3", &github.policy()).await;
    assert_eq!(report.released, 1);
    assert_eq!(world.workspaces.all(), [""; 0]);
    assert_eq!(world.record(TASK).workspace_dir(), None);

    // And then it costs nothing more.
    world.log.clear();
    world.poll("run-4", &github.policy()).await;
    assert_eq!(
        world.log.of("observe").len() + world.log.of("write").len(),
        0
    );
}

#[tokio::test]
async fn a_conversation_that_outlives_its_task_by_two_hours_is_stopped() {
    let (world, github, _) = at_work().await;
    github.close(4);
    world.pass(MINUTE);
    world.poll("run-2", &github.policy()).await;
    assert_eq!(world.log.of("interrupt").len(), 0);
    world.pass(2.0 * HOUR);
    world.poll("run-3", &github.policy()).await;
    assert_eq!(world.log.of("interrupt").len(), 1);
    assert_eq!(world.workspaces.all(), [""; 0]);
}

#[tokio::test]
async fn a_workspace_that_cannot_be_removed_is_tried_again() {
    let (world, github, id) = at_work().await;
    world.agents.is(&id, Conversation::Finished, "Looks good.");
    world.workspaces.removal_fails.set(true);
    world.pass(MINUTE);
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(world.status(TASK), "closed");
    assert!(
        report.warnings[0].contains("permission denied"),
        "{:?}",
        report.warnings
    );
    world.workspaces.removal_fails.set(false);
    world.pass(MINUTE);
    world.poll("run-3", &github.policy()).await;
    assert_eq!(world.workspaces.all(), [""; 0]);
    assert_eq!(
        github.comments_with("Looks good."),
        1,
        "nothing is told again"
    );
}

/// `WORKSPACE_BASE` differs from run to run: what an earlier run made is removed too.
#[tokio::test]
async fn a_workspace_of_an_earlier_run_is_removed() {
    let (world, github, id) = at_work().await;
    let earlier = "/root/automation-runs/run-0/repositories/acme__widget/pr-4-bbbbbbbbbbbb";
    world.workspaces.make(earlier);
    world.store.edit(|document| {
        let mut record = document.record(TASK).unwrap();
        record.set(Field::WorkspaceDir, earlier);
        document.put_record(TASK, record);
    });
    world.agents.is(&id, Conversation::Finished, "Looks good.");
    world.pass(MINUTE);
    world.poll("run-2", &github.policy()).await;
    assert!(!world.workspaces.all().iter().any(|dir| dir == earlier));
}

#[tokio::test]
async fn a_directory_outside_our_roots_is_reported_and_left_alone() {
    let (world, github, id) = at_work().await;
    world.workspaces.make("/home/user/thesis");
    world.store.edit(|document| {
        let mut record = document.record(TASK).unwrap();
        record.set(Field::WorkspaceDir, "/home/user/thesis");
        document.put_record(TASK, record);
    });
    world.agents.is(&id, Conversation::Finished, "Looks good.");
    world.pass(MINUTE);
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(world.status(TASK), "closed");
    assert!(
        report
            .warnings
            .iter()
            .any(|text| text.contains("outside the workspace roots"))
    );
    assert!(
        world
            .workspaces
            .all()
            .contains(&"/home/user/thesis".to_owned())
    );
}

/// Locally, unknown means deleted: the end, and people are told.
#[tokio::test]
async fn a_deleted_conversation_ends_its_task() {
    let (world, github, id) = at_work().await;
    world.agents.forget(&id);
    world.pass(MINUTE);
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(finished(&report), [(TASK, "closed")]);
    assert_eq!(world.workspaces.all(), [""; 0]);
    assert_eq!(github.comments_with("its conversation was deleted"), 1);
}

/// In sandbox mode, unknown means elsewhere: GitHub is asked, and nothing is concluded.
#[tokio::test]
async fn in_a_sandbox_an_unknown_conversation_is_not_the_end() {
    let (world, github, id) = at_work().await;
    world.agents.is_sandbox.set(true);
    world.agents.forget(&id);
    world.pass(MINUTE);
    world.poll("run-2", &github.policy()).await;
    assert_eq!(world.status(TASK), "active");
    assert!(world.log.all().contains(&"github reviews".to_owned()));
    assert_eq!(github.comments.borrow().len(), 1);
    world.pass(2.0 * HOUR);
    let report = world.poll("run-3", &github.policy()).await;
    assert_eq!(finished(&report), [(TASK, "expired")]);
    assert_eq!(
        world.log.of("interrupt").len(),
        0,
        "there is nothing here to stop"
    );
}

#[tokio::test]
async fn a_silent_server_changes_nothing() {
    let (world, github, id) = at_work().await;
    world.agents.is(&id, Conversation::Finished, "Looks good.");
    world.agents.is_silent.set(true);
    world.pass(3.0 * HOUR);
    let report = world.poll("run-2", &github.policy()).await;
    assert!(!report.failed());
    assert_eq!((world.status(TASK), report.in_flight), ("active", 1));
    assert_eq!(world.workspaces.all().len(), 1);
}

/// What waits for a person waits two hours at most.
#[tokio::test]
async fn a_paused_conversation_is_left_to_its_person() {
    let (world, github, id) = at_work().await;
    for conversation in [Conversation::Paused, Conversation::WaitingForConfirmation] {
        world.agents.is(&id, conversation, "");
        world.pass(10.0 * MINUTE);
        world.poll("run-2", &github.policy()).await;
        assert_eq!(world.status(TASK), "active");
    }
    world.pass(2.0 * HOUR);
    world.poll("run-3", &github.policy()).await;
    assert_eq!(
        (world.status(TASK), world.workspaces.all().len()),
        ("expired", 0)
    );
}

/// A record of a status that this release does not know is kept, and its directory is released.
#[tokio::test]
async fn a_status_of_a_later_release_is_kept() {
    let (world, github, id) = at_work().await;
    world.store.edit(|document| {
        let mut record = document.record(TASK).unwrap();
        record.set(Field::Status, "superseded");
        document.put_record(TASK, record);
    });
    world.agents.is(&id, Conversation::Finished, "");
    world.pass(MINUTE);
    world.poll("run-2", &github.policy()).await;
    assert_eq!(world.record(TASK).text(Field::Status), Some("superseded"));
    assert_eq!(world.workspaces.all(), [""; 0]);
    assert_eq!(github.comments.borrow().len(), 1);
}
