//! GitLab and git fail at each call of finishing in turn: nothing is lost, told twice or given up
//! for it.

use crate::world::gitlab::{GitLab, lasting, passing};
use crate::world::scenes::issue::{BRANCH, TASK, ended_with};
use crate::world::{MINUTE, World, finished};
use lifecycle::document::Field;
use lifecycle::ports::{Conversation, ForgeError, PushError};

/// The calls of finishing, with how many of that name come before in the same poll.
const KEEPING: [(&str, usize); 7] = [
    ("merge requests", 0),
    ("issue", 0),
    ("project", 1),
    ("project", 2),
    ("identity", 0),
    ("notes", 0),
    ("note", 0),
];
const OPENING: (&str, usize) = ("open", 0);

/// Polls once while something fails, and checks that everything is still there and, if it will not
/// pass by itself, that the attempt counts.
async fn fails_once(world: &World, gitlab: &GitLab, counts: bool, what: &str) {
    let report = world.poll("run-2", &gitlab.policy()).await;
    assert!(!report.failed(), "{what}: {:?}", report.error);
    assert_eq!(
        (finished(&report), world.status(TASK)),
        (vec![], "active"),
        "{what}"
    );
    assert_eq!(world.workspaces.all().len(), 1, "{what}");
    assert_eq!(gitlab.notes.borrow().len(), 0, "{what}");
    let attempts = counts.then_some(1);
    let record = world.record(TASK);
    assert_eq!(record.count(Field::FinalizeAttempts), attempts, "{what}");
    let retry = world.document().retry(TASK);
    assert_eq!(retry.map(|retry| retry.attempts), attempts, "{what}");
    let warned = report
        .warnings
        .iter()
        .any(|text| text.starts_with("42:label:123: finishing failed: "));
    assert_eq!(warned, counts, "{what}: {:?}", report.warnings);
    world.pass(MINUTE);
}

/// The next poll delivers the work: one merge request, one note.
async fn is_delivered(world: &World, gitlab: &GitLab, what: &str) {
    let report = world.poll("run-3", &gitlab.policy()).await;
    assert_eq!(finished(&report), [(TASK, "closed")], "{what}");
    assert_eq!(gitlab.merge_requests.borrow().len(), 1, "{what}");
    assert!(gitlab.only_note().contains("/merge_requests/57"), "{what}");
    assert_eq!(world.document().retry(TASK), None, "{what}");
    assert_eq!(world.workspaces.all(), [""; 0], "{what}");
}

/// The next poll keeps the work on its branch: no merge request, one note.
async fn is_kept(world: &World, gitlab: &GitLab, what: &str) {
    let report = world.poll("run-3", &gitlab.policy()).await;
    assert_eq!(finished(&report), [(TASK, "failed")], "{what}");
    assert!(gitlab.branches.borrow().contains(BRANCH), "{what}");
    assert_eq!(world.record(TASK).text(Field::Branch), Some(BRANCH));
    assert_eq!(gitlab.merge_requests.borrow().len(), 0, "{what}");
    let note = gitlab.only_note();
    assert!(
        note.contains("(2 commits) is on the branch"),
        "{what}: {note}"
    );
    assert_eq!(world.workspaces.all(), [""; 0], "{what}");
}

fn both_kinds() -> impl Iterator<Item = (ForgeError, bool)> {
    let passing = passing().into_iter().map(|error| (error, false));
    passing.chain(lasting().into_iter().map(|error| (error, true)))
}

#[tokio::test]
async fn work_is_delivered_after_any_call_of_the_forge_has_failed() {
    for (call, before) in KEEPING.into_iter().chain([OPENING]) {
        for (error, counts) in both_kinds() {
            let what = format!("{call}, {before} before: {error}");
            let (world, gitlab) = ended_with(Conversation::Finished, 2).await;
            gitlab.fails_after(before, call, error);
            fails_once(&world, &gitlab, counts, &what).await;
            is_delivered(&world, &gitlab, &what).await;
        }
    }
}

/// What a conversation left that failed is no less work: one refusal does not throw it away.
#[tokio::test]
async fn work_of_a_failed_conversation_is_kept_after_any_call_of_the_forge_has_failed() {
    for (call, before) in KEEPING {
        for (error, counts) in both_kinds() {
            let what = format!("{call}, {before} before: {error}");
            let (world, gitlab) = ended_with(Conversation::Error, 2).await;
            gitlab.fails_after(before, call, error);
            fails_once(&world, &gitlab, counts, &what).await;
            is_kept(&world, &gitlab, &what).await;
        }
    }
}

#[tokio::test]
async fn work_survives_git_that_fails() {
    let errors = [
        (PushError::Unavailable("timeout".into()), false),
        (PushError::Refused("pre-receive hook declined".into()), true),
        (
            PushError::Clone("reading objects: permission denied".into()),
            true,
        ),
    ];
    for how in [Conversation::Finished, Conversation::Error] {
        for (error, counts) in &errors {
            for at_push in [false, true] {
                let what = format!("{how:?}, at push: {at_push}, {error}");
                let (world, gitlab) = ended_with(how, 2).await;
                if at_push {
                    gitlab.push_fails(error.clone());
                } else {
                    gitlab.inspect_errors.borrow_mut().push_back(error.clone());
                }
                fails_once(&world, &gitlab, *counts, &what).await;
                if how == Conversation::Finished {
                    is_delivered(&world, &gitlab, &what).await;
                } else {
                    is_kept(&world, &gitlab, &what).await;
                }
            }
        }
    }
}

/// A merge request is there, and whether it is ours cannot be said: it is not opened again.
#[tokio::test]
async fn a_merge_request_that_cannot_be_judged_is_not_opened_again() {
    for (error, counts) in both_kinds() {
        let what = error.to_string();
        let (world, gitlab) = ended_with(Conversation::Finished, 2).await;
        gitlab.merge_request(57, BRANCH, world.clock.now.get());
        gitlab.fails("contains", error);
        fails_once(&world, &gitlab, counts, &what).await;
        assert_eq!(gitlab.pushes.borrow().len(), 0, "{what}");
        is_delivered(&world, &gitlab, &what).await;
    }
}

/// Nor is an answer without work told twice, or dropped because the note was refused once.
#[tokio::test]
async fn an_answer_is_told_after_the_note_has_failed() {
    for call in ["notes", "note"] {
        for (error, counts) in both_kinds() {
            let what = format!("{call}: {error}");
            let (world, gitlab) = ended_with(Conversation::Finished, 2).await;
            gitlab.commits(0);
            gitlab.fails(call, error);
            fails_once(&world, &gitlab, counts, &what).await;
            let report = world.poll("run-3", &gitlab.policy()).await;
            assert_eq!(finished(&report), [(TASK, "no-changes")], "{what}");
            assert!(gitlab.only_note().contains("Done."), "{what}");
        }
    }
}

/// Three refusals, and the work of a conversation that failed is given up, with the reason told.
#[tokio::test]
async fn work_that_cannot_be_kept_is_given_up_after_three_attempts() {
    let (world, gitlab) = ended_with(Conversation::Error, 2).await;
    let rule = "remote: GitLab: branch names must start with a ticket";
    for attempt in 1..=3_u64 {
        gitlab.push_fails(PushError::Refused(rule.into()));
        if attempt == 3 {
            // Giving up tries once more.
            gitlab.push_fails(PushError::Refused(rule.into()));
        } else {
            assert_eq!(gitlab.notes.borrow().len(), 0);
        }
        assert_eq!(world.workspaces.all().len(), 1);
        let run = format!("run-{}", attempt + 1);
        world.poll(&run, &gitlab.policy()).await;
        world.pass(MINUTE);
    }
    let record = world.record(TASK);
    assert_eq!(record.status().name(), "failed");
    assert_eq!(record.count(Field::FinalizeAttempts), Some(3));
    assert!(record.text(Field::Error).unwrap().contains(rule));
    let note = gitlab.only_note();
    assert!(
        note.contains(&format!("> git push failed: {rule}")),
        "{note}"
    );
    assert!(!note.contains("is on the branch"), "{note}");
    assert_eq!(world.workspaces.all(), [""; 0]);
}
