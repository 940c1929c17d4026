//! Records and documents that lack what this program would have written: by an older one, or by
//! hand.

use crate::world::github::{GitHub, REPO};
use crate::world::gitlab::{GitLab, PROJECT};
use crate::world::{MINUTE, NOW, World, finished, started};
use lifecycle::document::{Document, Field, ISSUE, REVIEW, Record, Status};
use lifecycle::identity::conversation_id;
use lifecycle::ports::Conversation;
use serde_json::json;

const REVIEW_TASK: &str = "4:label:4";
const ISSUE_TASK: &str = "42:label:123";

fn edit(world: &World, task: &str, change: impl FnOnce(&mut Record)) {
    world.store.edit(|document| {
        let mut record = document.record(task).unwrap();
        change(&mut record);
        document.put_record(task, record);
    });
}

/// A world in which a review is at work whose record does not say of what.
async fn review_of_nothing() -> (World, GitHub, String) {
    let world = World::new(&REVIEW, REPO);
    let github = GitHub::new(&world);
    github.open_labelled(4);
    let report = world.poll("run-1", &github.policy()).await;
    assert_eq!(started(&report), [REVIEW_TASK]);
    edit(&world, REVIEW_TASK, |record| {
        record.unset(Field::PrNumber);
    });
    github.comments.borrow_mut().clear();
    let id = world.conversation(REVIEW_TASK);
    world.pass(MINUTE);
    world.log.clear();
    (world, github, id)
}

/// A world in which an issue is at work, with one commit.
async fn issue_at_work() -> (World, GitLab, String) {
    let world = World::new(&ISSUE, PROJECT);
    let gitlab = GitLab::new(&world);
    gitlab.open_labelled(42, 123);
    let report = world.poll("run-1", &gitlab.policy()).await;
    assert_eq!(started(&report), [ISSUE_TASK]);
    gitlab.commits(1);
    let id = world.conversation(ISSUE_TASK);
    world.pass(MINUTE);
    world.log.clear();
    (world, gitlab, id)
}

/// It is watched like any other, and ends without a word: nobody knows where to say it.
#[tokio::test]
async fn a_review_of_no_pull_request_ends_without_a_word() {
    let (world, github, id) = review_of_nothing().await;
    world.poll("run-2", &github.policy()).await;
    assert_eq!(world.status(REVIEW_TASK), "active");
    world.agents.is(&id, Conversation::Finished, "Looks good.");
    let report = world.poll("run-3", &github.policy()).await;
    assert_eq!(finished(&report), [(REVIEW_TASK, "closed")]);
    assert_eq!(github.comments.borrow().len(), 0);
    assert_eq!(world.log.of("github pull"), [""; 0]);
    assert_eq!(world.workspaces.all(), [""; 0]);
    let notes = world.journal.notes.borrow();
    assert!(notes.contains(&format!("{REVIEW_TASK}: its record names no pull request")));
}

#[tokio::test]
async fn a_claim_of_no_pull_request_is_adopted_without_a_word() {
    let (world, github, id) = review_of_nothing().await;
    edit(&world, REVIEW_TASK, |record| {
        record.set_status(Status::Starting);
    });
    world.pass(16.0 * MINUTE);
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(world.status(REVIEW_TASK), "active");
    assert_eq!(world.conversation(REVIEW_TASK), id);
    assert_eq!(report.warnings, [""; 0]);
    assert_eq!(github.comments.borrow().len(), 0);
}

/// A claim of the deployed scripts, which do not know the conversation's id beforehand: only the one
/// that we would have chosen can be looked up.
#[tokio::test]
async fn a_claim_without_a_conversation_is_looked_up_by_the_id_that_it_would_have() {
    let world = World::new(&REVIEW, REPO);
    let github = GitHub::new(&world);
    github.open(4, 'b');
    let id = conversation_id(crate::world::AUTOMATION, REPO, REVIEW_TASK);
    world.agents.is(&id, Conversation::Running, "");
    let mut record = Record::default();
    record
        .set_status(Status::Starting)
        .set(Field::PrNumber, 4)
        .set(Field::LastActivity, NOW - 20.0 * MINUTE);
    world.store.edit(|document| {
        document.put_record(REVIEW_TASK, record);
    });
    world.poll("run-1", &github.policy()).await;
    assert_eq!(world.status(REVIEW_TASK), "active");
    assert_eq!(world.conversation(REVIEW_TASK), id, "it is named now");
}

/// A claim that names no directory has none to remove.
#[tokio::test]
async fn a_claim_without_a_workspace_is_dropped() {
    let world = World::new(&REVIEW, REPO);
    let github = GitHub::new(&world);
    let mut record = Record::default();
    record
        .set_status(Status::Starting)
        .set(Field::LastActivity, NOW - 20.0 * MINUTE);
    world.store.edit(|document| {
        document.put_record(REVIEW_TASK, record);
    });
    let report = world.poll("run-1", &github.policy()).await;
    assert_eq!((world.status(REVIEW_TASK), report.in_flight), ("none", 0));
    assert_eq!(report.warnings, [""; 0]);
    assert_eq!(world.log.of("remove"), [""; 0]);
}

/// Nobody can be asked or told about it, so nothing is pushed either.
#[tokio::test]
async fn work_for_no_issue_has_failed() {
    let (world, gitlab, id) = issue_at_work().await;
    edit(&world, ISSUE_TASK, |record| {
        record.unset(Field::IssueIid);
    });
    world.poll("run-2", &gitlab.policy()).await;
    assert_eq!(
        world.status(ISSUE_TASK),
        "active",
        "it may be at work all the same"
    );
    world.agents.is(&id, Conversation::Finished, "Done.");
    let report = world.poll("run-3", &gitlab.policy()).await;
    assert_eq!(finished(&report), [(ISSUE_TASK, "failed")]);
    assert_eq!(
        gitlab.pushes.borrow().len() + gitlab.notes.borrow().len(),
        0
    );
    let notes = world.journal.notes.borrow();
    assert!(notes.contains(&format!("{ISSUE_TASK}: its record names no issue")));
}

/// Without the commit that the work started from, a merge request of its branch that was opened in
/// time is taken for ours; and so is one whose head GitLab does not state.
#[tokio::test]
async fn a_merge_request_is_judged_by_what_is_known() {
    for lacks_base in [true, false] {
        let (world, gitlab, id) = issue_at_work().await;
        gitlab.merge_request(57, "openhands/issue-42", world.clock.now.get());
        if lacks_base {
            edit(&world, ISSUE_TASK, |record| {
                record.unset(Field::BaseSha);
            });
        } else {
            gitlab.merge_requests.borrow_mut()[0].sha = None;
        }
        gitlab.holds_base.set(false);
        world.agents.is(&id, Conversation::Finished, "Done.");
        let report = world.poll("run-2", &gitlab.policy()).await;
        assert_eq!(finished(&report), [(ISSUE_TASK, "closed")]);
        assert_eq!(
            world.record(ISSUE_TASK).count(Field::MergeRequestIid),
            Some(57)
        );
        assert_eq!(world.log.of("gitlab contains"), [""; 0]);
        assert_eq!(gitlab.pushes.borrow().len(), 0);
    }
}

/// Without a base or a clone, nobody can tell what the agent did: a good end is an error, and a bad
/// one is told at once, for there is nothing to keep.
#[tokio::test]
async fn work_without_a_base_or_a_clone_cannot_be_told_from_what_was_there() {
    for lacks_base in [true, false] {
        for how in [Conversation::Finished, Conversation::Error] {
            let (world, gitlab, id) = issue_at_work().await;
            edit(&world, ISSUE_TASK, |record| {
                record.unset(if lacks_base {
                    Field::BaseSha
                } else {
                    Field::WorkspaceDir
                });
            });
            world.agents.is(&id, how, "Done.");
            let report = world.poll("run-2", &gitlab.policy()).await;
            assert_eq!(gitlab.pushes.borrow().len(), 0);
            if how == Conversation::Finished {
                assert_eq!(world.status(ISSUE_TASK), "active");
                assert_eq!(
                    report.warnings,
                    [
                        "42:label:123: finishing failed: the clone cannot be used: its record \
                         names no clone or no base commit"
                    ]
                );
            } else {
                assert_eq!(finished(&report), [(ISSUE_TASK, "failed")]);
                assert!(gitlab.only_note().contains("ended with an error"));
            }
        }
    }
}

/// In a sandbox the clone of an expired task is in another one: it is told at once as well.
#[tokio::test]
async fn work_in_another_sandbox_expires_at_once() {
    let (world, gitlab, id) = issue_at_work().await;
    world.agents.is_sandbox.set(true);
    world.agents.forget(&id);
    world.workspaces.dirs.borrow_mut().clear();
    world.pass(2.0 * crate::world::HOUR);
    let report = world.poll("run-2", &gitlab.policy()).await;
    assert_eq!(finished(&report), [(ISSUE_TASK, "expired")]);
    assert_eq!(report.warnings, [""; 0]);
    let note = gitlab.only_note();
    assert!(
        note.contains("did not come to an end within two hours"),
        "{note}"
    );
    assert_eq!(world.log.of("git push"), [""; 0]);
}

/// A document that an older program began says from now on whose it is.
#[tokio::test]
async fn a_document_without_a_name_gets_it() {
    let world = World::new(&REVIEW, REPO);
    let github = GitHub::new(&world);
    github.open_labelled(4);
    let older = json!({"version": 2, "reviews": {"9:label:9": {"status": "closed"}}, "extra": 1});
    let older = Document::from_value(&REVIEW, older).unwrap();
    assert_eq!(older.owner(), None);
    world.store.document.replace(older);
    world.poll("run-1", &github.policy()).await;
    let document = world.document();
    assert_eq!(document.schema(), &REVIEW);
    assert_eq!(document.owner(), Some(REPO));
    assert_eq!(document.get("extra"), Some(&json!(1)));
    assert_eq!(world.status("9:label:9"), "closed");
}
