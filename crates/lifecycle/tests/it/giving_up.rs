//! After three attempts an issue's work is given up: what there is of it is recorded, kept and told.

use crate::world::gitlab::{BASE, GitLab, PROJECT, lasting, passing};
use crate::world::scenes::issue::{BRANCH, TASK, ended_with};
use crate::world::{MINUTE, NOW, World, finished, started};
use lifecycle::document::{Field, ISSUE, Record, Status};
use lifecycle::ports::{Conversation, PushError};

fn declined() -> PushError {
    PushError::Refused("pre-receive hook declined".into())
}

/// Polls a minute apart that change nothing but the number of attempts.
async fn in_vain(world: &World, gitlab: &GitLab, polls: u64) {
    for attempt in 1..=polls {
        let report = world.poll("run-2", &gitlab.policy()).await;
        assert_eq!(finished(&report), [], "attempt {attempt}");
        let record = world.record(TASK);
        assert_eq!(record.count(Field::FinalizeAttempts), Some(attempt));
        world.pass(MINUTE);
    }
}

/// A forge that is out of order for a moment does not use up the attempts of a run that waits.
#[tokio::test]
async fn a_run_that_waits_leaves_time_between_its_attempts() {
    let world = World::new(&ISSUE, PROJECT);
    world.agents.is_sandbox.set(true);
    world.agents.looks_until_finished.set(Some(1));
    let gitlab = GitLab::new(&world);
    gitlab.open_labelled(42, 123);
    gitlab.commits(2);
    gitlab.push_fails(declined());
    gitlab.push_fails(declined());
    let report = world.poll("run-1", &gitlab.policy()).await;
    assert_eq!(started(&report), [TASK]);
    assert_eq!(finished(&report), [(TASK, "closed")]);
    assert_eq!(world.log.of("git push").len(), 3);
    let took = world.clock.now.get() - NOW;
    // Half a minute after the first attempt, a minute after the second.
    assert!((90.0..180.0).contains(&took), "{took} s");
}

/// The agent has opened its merge request, and nobody can be told.
#[tokio::test]
async fn a_merge_request_is_recorded_although_the_issue_cannot_be_told() {
    for error in lasting() {
        let (world, gitlab) = ended_with(Conversation::Finished, 2).await;
        gitlab.merge_request(57, BRANCH, NOW + 30.0);
        for _ in 0..3 {
            gitlab.fails("note", error.clone());
        }
        in_vain(&world, &gitlab, 2).await;
        let report = world.poll("run-3", &gitlab.policy()).await;
        assert_eq!(finished(&report), [(TASK, "closed")], "{error}");
        let record = world.record(TASK);
        assert_eq!(record.count(Field::MergeRequestIid), Some(57));
        assert_eq!(record.text(Field::OpenedBy), Some("agent"));
        assert_eq!(record.count(Field::FinalizeAttempts), Some(3));
        assert_eq!(record.text(Field::Error), Some(error.to_string().as_str()));
        assert_eq!(world.log.of("git push"), [""; 0], "{error}");
        assert_eq!(world.workspaces.all(), [""; 0], "{error}");
    }
}

/// What will pass by itself is waited for, also when everything else has been given up.
#[tokio::test]
async fn nothing_is_given_up_unsaid_while_the_forge_is_out_of_reach() {
    for error in passing() {
        for call in ["notes", "note", "merge requests"] {
            let (world, gitlab) = ended_with(Conversation::Finished, 2).await;
            for _ in 0..6 {
                gitlab.push_fails(declined());
            }
            in_vain(&world, &gitlab, 2).await;
            // The merge requests are asked for before the work is looked at, and once more after.
            gitlab.fails_after(usize::from(call == "merge requests"), call, error.clone());
            let report = world.poll("run-3", &gitlab.policy()).await;
            assert_eq!(finished(&report), [], "{call}: {error}");
            assert_eq!(world.status(TASK), "active", "{call}: {error}");
            assert_eq!(world.workspaces.all().len(), 1, "{call}: {error}");
            let report = world.poll("run-4", &gitlab.policy()).await;
            assert_eq!(finished(&report), [(TASK, "failed")], "{call}: {error}");
            assert!(gitlab.only_note().contains("pre-receive hook declined"));
        }
    }
}

#[tokio::test]
async fn nothing_is_given_up_while_the_document_cannot_be_read() {
    let (world, gitlab) = ended_with(Conversation::Finished, 2).await;
    for _ in 0..6 {
        gitlab.push_fails(declined());
    }
    in_vain(&world, &gitlab, 2).await;
    world.store.loads_fail_after.set(Some(1));
    let report = world.poll("run-3", &gitlab.policy()).await;
    assert_eq!((finished(&report), world.status(TASK)), (vec![], "active"));
    world.store.loads_fail_after.set(None);
    let report = world.poll("run-4", &gitlab.policy()).await;
    assert_eq!(finished(&report), [(TASK, "failed")]);
}

/// The last attempt went on to another branch, because somebody else's work was on the first one.
#[tokio::test]
async fn work_is_kept_on_the_branch_that_it_is_on() {
    let (world, gitlab) = ended_with(Conversation::Finished, 2).await;
    gitlab.push_fails(declined());
    gitlab.push_fails(declined());
    in_vain(&world, &gitlab, 2).await;
    gitlab.branches.borrow_mut().insert(BRANCH.into());
    gitlab.push_fails(PushError::Taken(BRANCH.into()));
    gitlab.fails("open", lasting()[0].clone());
    let report = world.poll("run-3", &gitlab.policy()).await;
    assert_eq!(finished(&report), [(TASK, "failed")]);
    let second = format!("{BRANCH}-2");
    let branches: Vec<String> = gitlab.branches.borrow().iter().cloned().collect();
    assert_eq!(branches, [BRANCH, second.as_str()]);
    let pushes = gitlab.pushes.borrow();
    assert!(pushes.iter().all(|push| push.branch == second));
    assert_eq!(
        world.record(TASK).text(Field::Branch),
        Some(second.as_str())
    );
    assert!(gitlab.only_note().contains(&format!("`{second}`")));
}

/// Whoever reads the note learns how the conversation ended, and that nothing is left of its work.
#[tokio::test]
async fn work_that_cannot_be_kept_is_missed_in_the_note() {
    for (how, words) in [
        (Conversation::Error, "its conversation ended with an error"),
        (Conversation::Stuck, "it went round in circles"),
    ] {
        let (world, gitlab) = ended_with(how, 2).await;
        for _ in 0..4 {
            gitlab.push_fails(declined());
        }
        in_vain(&world, &gitlab, 2).await;
        let report = world.poll("run-3", &gitlab.policy()).await;
        assert_eq!(finished(&report), [(TASK, "failed")]);
        let note = gitlab.only_note();
        assert!(
            note.contains(words) && note.contains("What it left could not be kept."),
            "{note}"
        );
        assert!(note.contains("> refused: pre-receive") || note.contains("declined"));
    }
}

/// A disk that does not answer is no proof that there is no work.
#[tokio::test]
async fn work_is_not_given_up_because_the_disk_does_not_answer() {
    let (world, gitlab) = ended_with(Conversation::Error, 2).await;
    world.workspaces.reading_fails.set(true);
    in_vain(&world, &gitlab, 1).await;
    assert_eq!(world.workspaces.all().len(), 1);
    world.workspaces.reading_fails.set(false);
    let report = world.poll("run-3", &gitlab.policy()).await;
    assert_eq!(finished(&report), [(TASK, "failed")]);
    assert!(gitlab.branches.borrow().contains(BRANCH));
}

/// Nor is it proof that the directory of another sandbox is none of this one's.
#[tokio::test]
async fn a_workspace_is_not_forgotten_because_the_disk_does_not_answer() {
    let world = World::new(&ISSUE, PROJECT);
    world.agents.is_sandbox.set(true);
    let gitlab = GitLab::new(&world);
    let dir = "/root/group__team__service/issue-42-123";
    let mut record = Record::default();
    record
        .set_status(Status::Failed)
        .set(Field::IssueIid, 42)
        .set(Field::BaseSha, BASE)
        .set(Field::ConversationId, "another")
        .set(Field::WorkspaceDir, dir)
        .set(Field::LastActivity, NOW - MINUTE);
    world.store.edit(|document| {
        document.put_record(TASK, record);
    });
    world.workspaces.reading_fails.set(true);
    let report = world.poll("run-1", &gitlab.policy()).await;
    assert_eq!(world.record(TASK).workspace_dir(), Some(dir));
    assert!(
        report
            .warnings
            .iter()
            .any(|text| text.contains("input/output error")),
        "{:?}",
        report.warnings
    );
    world.workspaces.reading_fails.set(false);
    world.poll("run-2", &gitlab.policy()).await;
    assert_eq!(world.record(TASK).workspace_dir(), None);
}
