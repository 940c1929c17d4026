//! Conversations that cannot be stopped, or not at once: their workspaces stay until they have.

use crate::world::github::GitHub;
use crate::world::scenes::pull::{TASK, at_work};
use crate::world::{HOUR, MINUTE, World, finished};
use lifecycle::document::Field;
use lifecycle::ports::{AgentError, Conversation};

/// The same, and its pull request was closed: the task has ended, its conversation goes on.
async fn closed_at_work() -> (World, GitHub, String) {
    let (world, github, id) = at_work().await;
    github.close(4);
    world.pass(MINUTE);
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(finished(&report), [(TASK, "closed")]);
    assert_eq!(report.released, 0);
    (world, github, id)
}

fn refuse_interrupt(world: &World) {
    let refused = AgentError::Refused("409 Conflict".into());
    world.agents.next_interrupts.borrow_mut().push_back(refused);
}

#[tokio::test]
async fn what_cannot_be_interrupted_does_not_expire() {
    let (world, github, _) = at_work().await;
    let before = world.record(TASK);
    world.pass(2.0 * HOUR);
    refuse_interrupt(&world);
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(
        report.warnings,
        [
            "4:label:4: expired, but it could not be stopped: the agent server refused: 409 \
             Conflict"
        ]
    );
    assert_eq!((finished(&report), report.in_flight), (vec![], 1));
    assert_eq!(world.record(TASK), before, "the lease was given back");
    assert_eq!(world.workspaces.all().len(), 1);

    let report = world.poll("run-3", &github.policy()).await;
    assert_eq!(finished(&report), [(TASK, "expired")]);
    assert_eq!(world.workspaces.all(), [""; 0]);
}

/// Even if it looks idle: it may begin at any moment.
#[tokio::test]
async fn what_outlives_its_task_and_cannot_be_interrupted_keeps_its_workspace() {
    for how in [Conversation::Running, Conversation::IdleFresh] {
        let (world, github, id) = closed_at_work().await;
        world.agents.is(&id, how, "");
        world.pass(3.0 * HOUR);
        refuse_interrupt(&world);
        let report = world.poll("run-3", &github.policy()).await;
        assert_eq!(
            report.warnings,
            ["4:label:4: it could not be stopped: the agent server refused: 409 Conflict"]
        );
        assert_eq!((report.released, world.workspaces.all().len()), (0, 1));
        assert!(world.record(TASK).workspace_dir().is_some());

        let report = world.poll("run-4", &github.policy()).await;
        assert_eq!(report.released, 1);
        assert_eq!(world.workspaces.all(), [""; 0]);
        assert_eq!(world.record(TASK).workspace_dir(), None);
    }
}

/// An interrupt that was accepted proves nothing: the conversation is looked at once more.
#[tokio::test]
async fn what_runs_on_after_its_interrupt_keeps_its_workspace() {
    let (world, github, id) = closed_at_work().await;
    world.agents.is_deaf.set(true);
    for n in 3..6 {
        world.pass(2.0 * HOUR);
        world.poll(&format!("run-{n}"), &github.policy()).await;
        assert_eq!(world.log.of("interrupt").len(), n - 2);
        assert_eq!(world.workspaces.all().len(), 1, "after {n} polls");
    }
    world.agents.is(&id, Conversation::Finished, "");
    let report = world.poll("run-6", &github.policy()).await;
    assert_eq!(report.released, 1);
}

/// What has expired and neither runs nor says "paused" never began, or waits for a person. A
/// quarter of an hour later it counts as stopped.
#[tokio::test]
async fn what_stays_idle_after_its_interrupt_is_released_a_quarter_of_an_hour_later() {
    for idle in [
        Conversation::IdleFresh,
        Conversation::WaitingForConfirmation,
    ] {
        let (world, github, id) = at_work().await;
        world.agents.is(&id, idle, "");
        world.agents.is_deaf.set(true);
        world.pass(2.0 * HOUR);
        let report = world.poll("run-2", &github.policy()).await;
        assert_eq!(finished(&report), [(TASK, "expired")]);
        assert_eq!(world.workspaces.all().len(), 1, "{idle:?}");
        world.pass(14.0 * MINUTE);
        world.poll("run-3", &github.policy()).await;
        assert_eq!(world.workspaces.all().len(), 1, "{idle:?}");
        world.pass(MINUTE);
        let report = world.poll("run-4", &github.policy()).await;
        assert_eq!((report.released, world.workspaces.all().len()), (1, 0));
    }
}

/// In a sandbox, the directory of an ended task is another sandbox's, unless it is here.
#[tokio::test]
async fn in_a_sandbox_only_a_directory_that_is_not_here_is_forgotten() {
    let (world, github, id) = closed_at_work().await;
    world.agents.is_sandbox.set(true);
    world.agents.forget(&id);
    world.store.has_guards.set(true);
    world.pass(MINUTE);
    let report = world.poll("run-3", &github.policy()).await;
    assert_eq!(report.released, 0);
    assert!(world.record(TASK).workspace_dir().is_some());
    assert_eq!(world.workspaces.all().len(), 1, "it may be at work there");

    world.workspaces.dirs.borrow_mut().clear();
    world.poll("run-4", &github.policy()).await;
    let record = world.record(TASK);
    assert_eq!(record.workspace_dir(), None);
    assert_eq!(record.text(Field::LeaseOwner), None);
    assert_eq!(world.store.guard_names(), [""; 0]);
    assert_eq!(world.log.of("remove ").len(), 0);
}
