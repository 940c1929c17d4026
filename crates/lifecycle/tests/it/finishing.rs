//! One finish per task: leases, marks, and attempts.

use crate::world::github::{GitHub, limited, no_access, refused, unavailable};
use crate::world::scenes::pull::{TASK, at_work};
use crate::world::{MINUTE, World, finished, run};
use futures_util::future::join_all;
use lifecycle::document::{Document, Field, Status};
use lifecycle::identity::{Kind, marker};
use lifecycle::ports::Conversation;
use serde_json::json;

/// A world in which a review has ended without having been published.
async fn ended() -> (World, GitHub) {
    let (world, github, id) = at_work().await;
    world.agents.is(&id, Conversation::Finished, "Looks good.");
    world.pass(MINUTE);
    (world, github)
}

fn results(github: &GitHub) -> usize {
    github.comments_with(&marker(TASK, Kind::Result))
}

#[tokio::test]
async fn overlapping_runs_finish_once() {
    for has_guards in [true, false] {
        let (world, github) = ended().await;
        world.store.has_guards.set(has_guards);
        let runs: Vec<_> = (2..10).map(|n| run(&format!("run-{n}"))).collect();
        let policy = github.policy();
        let reports = join_all(runs.iter().map(|run| world.poll_as(run, &policy))).await;
        let ends: usize = reports.iter().map(|report| report.finished.len()).sum();
        assert_eq!((ends, results(&github)), (1, 1));
        assert_eq!(world.status(TASK), "closed");
        // A guard that an overlapping run held for a moment may need one more poll.
        world.pass(16.0 * MINUTE);
        world.poll("run-10", &github.policy()).await;
        assert_eq!(world.workspaces.all(), [""; 0]);
        assert_eq!(world.record(TASK).text(Field::LeaseOwner), None);
        assert_eq!(world.store.guard_names(), [""; 0]);
    }
}

/// The lease is written before anything is asked or posted.
#[tokio::test]
async fn the_lease_comes_before_the_comment() {
    let (world, github) = ended().await;
    world.store.has_guards.set(true);
    world.poll("run-2", &github.policy()).await;
    let deeds = world.log.all();
    let at = |deed: &str| deeds.iter().position(|found| found == deed).expect(deed);
    assert!(at("guard lease:4:label:4:0") < at("write 4:label:4 active"));
    assert!(at("write 4:label:4 active") < at("github comments"));
    assert!(at("github comments") < at("github comment"));
    assert!(at("github comment") < at("write 4:label:4 closed"));
}

/// Leaves the task as a run left it that died after posting and before recording.
fn died_after_posting(world: &World, github: &GitHub) {
    let text = format!("AI review\n{}", marker(TASK, Kind::Result));
    github.comments.borrow_mut().push((4, text));
    let until = world.clock.now.get() + 15.0 * MINUTE;
    world.store.edit(|document| {
        let mut record = document.record(TASK).unwrap();
        record
            .set(Field::LeaseOwner, "run-2")
            .set(Field::LeaseUntil, until);
        document.put_record(TASK, record);
    });
    if world.store.has_guards.get() {
        let held = json!({"run_id": "run-2", "until": until});
        let mut guards = world.store.guards.borrow_mut();
        guards.insert("lease:4:label:4:0".into(), held);
    }
}

#[tokio::test]
async fn whoever_takes_over_looks_for_the_mark_before_posting() {
    for has_guards in [true, false] {
        let (world, github) = ended().await;
        world.store.has_guards.set(has_guards);
        died_after_posting(&world, &github);
        // While the lease lasts, nobody else touches the task.
        world.pass(10.0 * MINUTE);
        world.log.clear();
        let report = world.poll("run-3", &github.policy()).await;
        assert_eq!(finished(&report), []);
        assert_eq!(world.status(TASK), "active");
        // When it has lapsed, the task is taken over; the comment is there already.
        world.pass(6.0 * MINUTE);
        let report = world.poll("run-4", &github.policy()).await;
        assert_eq!(finished(&report), [(TASK, "closed")]);
        assert_eq!(results(&github), 1);
        assert_eq!(
            world.store.guard_names(),
            [""; 0],
            "the dead run's key is gone as well"
        );
    }
}

/// What was decided on an older copy of a record counts only if nothing has changed since.
#[tokio::test]
async fn a_task_that_another_run_has_just_finished_is_left_alone() {
    let (world, github) = ended().await;
    let finished_by_another = Box::new(|document: &mut Document| {
        let mut record = document.record(TASK).unwrap();
        record.set_status(Status::Closed);
        document.put_record(TASK, record)
    });
    world.store.meanwhile.replace(Some(finished_by_another));
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!((finished(&report), results(&github)), (vec![], 0));
}

/// A lease that ran out while the run was slow: nothing is posted any more.
#[tokio::test]
async fn nothing_is_posted_after_the_lease_has_run_out() {
    let (world, github) = ended().await;
    github.delay.set(10.0 * MINUTE);
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!((finished(&report), results(&github)), (vec![], 0));
    github.delay.set(0.0);
    world.poll("run-3", &github.policy()).await;
    assert_eq!((world.status(TASK), results(&github)), ("closed", 1));
}

#[tokio::test]
async fn a_forge_that_is_slow_or_silent_costs_nothing_but_time() {
    let (world, github) = ended().await;
    for n in 0..5 {
        github.fails(
            "reviews",
            if n % 2 == 0 { limited() } else { unavailable() },
        );
        world.poll(&format!("run-at-{n}"), &github.policy()).await;
        world.pass(MINUTE);
    }
    assert_eq!(world.status(TASK), "active");
    assert_eq!(world.document().retry(TASK), None, "these are no attempts");
    world.poll("run-9", &github.policy()).await;
    assert_eq!((world.status(TASK), results(&github)), ("closed", 1));
}

/// Three attempts, over as many polls; then the task is closed with what stood against it.
#[tokio::test]
async fn after_three_failed_attempts_finishing_is_given_up() {
    let (world, github) = ended().await;
    for attempt in 1..=3 {
        github.fails("comment", no_access());
        let report = world
            .poll(&format!("run-{}", attempt + 1), &github.policy())
            .await;
        assert!(
            report
                .warnings
                .iter()
                .any(|text| text.contains("not accessible"))
        );
        if attempt < 3 {
            assert_eq!(world.status(TASK), "active", "after attempt {attempt}");
            assert_eq!(world.document().retry(TASK).unwrap().attempts, attempt);
        }
        world.pass(MINUTE);
    }
    assert_eq!(world.status(TASK), "closed");
    let error = world.record(TASK).text(Field::Error).unwrap().to_owned();
    assert!(
        error.contains("Resource not accessible by personal access token"),
        "{error}"
    );
    assert_eq!(world.document().retry(TASK), None);
    assert_eq!(world.workspaces.all(), [""; 0]);
}

/// Refused for its length: once more, much shorter, in the same poll.
#[tokio::test]
async fn a_comment_that_is_refused_for_its_length_is_posted_shorter() {
    let (world, github) = ended().await;
    let long = "A finding.\n".repeat(10_000);
    world
        .agents
        .is(&world.conversation(TASK), Conversation::Finished, &long);
    github.fails("comment", refused(422));
    world.poll("run-2", &github.policy()).await;
    assert_eq!((world.status(TASK), results(&github)), ("closed", 1));
    let comments = github.comments.borrow();
    let (_, body) = comments.last().unwrap();
    assert!(body.chars().count() < 40_000);
    assert!(body.contains("has been cut here") && body.contains("Written by an AI agent"));
}

/// A short comment is not refused for its length: that is an attempt that failed.
#[tokio::test]
async fn a_short_comment_that_is_refused_is_not_shortened() {
    let (world, github) = ended().await;
    github.fails("comment", refused(422));
    world.poll("run-2", &github.policy()).await;
    assert_eq!(
        world
            .log
            .all()
            .iter()
            .filter(|deed| *deed == "github comment")
            .count(),
        1
    );
    assert_eq!(
        world.document().retry(TASK).map(|retry| retry.attempts),
        Some(1)
    );
}

/// A comment whose answer was lost is found by the next poll, and not posted again.
#[tokio::test]
async fn a_comment_whose_answer_was_lost_is_not_posted_again() {
    let (world, github) = ended().await;
    github.fails("comment", unavailable());
    world.poll("run-2", &github.policy()).await;
    assert_eq!(world.status(TASK), "active");
    let text = format!("AI review\n{}", marker(TASK, Kind::Result));
    github.comments.borrow_mut().push((4, text));
    world.pass(MINUTE);
    world.poll("run-3", &github.policy()).await;
    assert_eq!((world.status(TASK), results(&github)), ("closed", 1));
}

/// The agent server is asked again for last words that it could not give.
#[tokio::test]
async fn a_result_is_not_made_up_when_the_server_is_silent() {
    let (world, github) = ended().await;
    world.agents.is_silent.set(true);
    world.poll("run-2", &github.policy()).await;
    assert_eq!((world.status(TASK), results(&github)), ("active", 0));
    world.agents.is_silent.set(false);
    world.poll("run-3", &github.policy()).await;
    assert_eq!(github.comments_with("Looks good."), 1);
}
