//! Ends of an issue's task that do not come about as they should: too late, in the wrong place, or
//! not yet.

use crate::world::gitlab::{GitLab, passing, refused};
use crate::world::scenes::issue::{BRANCH, TASK, ended_with};
use crate::world::{MINUTE, World, finished};
use lifecycle::document::{Document, Field};
use lifecycle::ports::{AgentError, Conversation, PushError};

/// Polls once more, and checks that the work is delivered, once.
async fn is_delivered(world: &World, gitlab: &GitLab, branch: &str) {
    let report = world.poll("run-9", &gitlab.policy()).await;
    assert_eq!(finished(&report), [(TASK, "closed")]);
    let opened = gitlab.merge_requests.borrow();
    assert_eq!(opened.len(), 1);
    assert_eq!(opened[0].source_branch, branch);
    assert!(gitlab.only_note().contains(&opened[0].web_url));
}

/// The agent's words belong into the merge request: without them none is opened yet.
#[tokio::test]
async fn nothing_is_pushed_before_the_agents_last_words_are_known() {
    let (world, gitlab) = ended_with(Conversation::Finished, 1).await;
    let error = AgentError::Unavailable("timeout".into());
    world.agents.next_responses.borrow_mut().push_back(error);
    let report = world.poll("run-2", &gitlab.policy()).await;
    assert_eq!((finished(&report), world.status(TASK)), (vec![], "active"));
    assert_eq!(world.log.of("git push"), [""; 0]);
    assert_eq!(gitlab.notes.borrow().len(), 0);
    assert_eq!(
        world.record(TASK).get(Field::FinalizeAttempts),
        None,
        "it is no attempt"
    );
    is_delivered(&world, &gitlab, BRANCH).await;
}

/// A lease that ran out while the forge was slow: nothing is pushed or told any more.
#[tokio::test]
async fn nothing_is_pushed_or_told_after_the_lease_has_run_out() {
    for (commits, delay) in [(1, 5.0 * MINUTE), (0, 5.0 * MINUTE), (1, 2.2 * MINUTE)] {
        let (world, gitlab) = ended_with(Conversation::Finished, 1).await;
        gitlab.commits(commits);
        gitlab.delay.set(delay);
        let report = world.poll("run-2", &gitlab.policy()).await;
        assert_eq!((finished(&report), world.status(TASK)), (vec![], "active"));
        assert_eq!(gitlab.notes.borrow().len(), 0);
        // With the shorter delay the push still was in time.
        let pushed = usize::from(delay < 3.0 * MINUTE);
        assert_eq!(gitlab.pushes.borrow().len(), pushed);
        assert_eq!(world.workspaces.all().len(), 1);

        gitlab.delay.set(0.0);
        world.pass(MINUTE);
        let report = world.poll("run-3", &gitlab.policy()).await;
        let end = if commits == 1 { "closed" } else { "no-changes" };
        assert_eq!(finished(&report), [(TASK, end)]);
        assert_eq!(gitlab.notes.borrow().len(), 1);
    }
}

/// Git says that the branch holds other work and GitLab knows of no other name: nothing is forced.
#[tokio::test]
async fn work_for_which_no_branch_is_free_waits() {
    for all_taken in [false, true] {
        let (world, gitlab) = ended_with(Conversation::Finished, 1).await;
        let names = (2..=11).map(|suffix| format!("{BRANCH}-{suffix}"));
        if all_taken {
            let mut branches = gitlab.branches.borrow_mut();
            branches.extend(names.chain([BRANCH.to_owned()]));
        }
        gitlab.push_fails(PushError::Taken(BRANCH.into()));
        let report = world.poll("run-2", &gitlab.policy()).await;
        assert_eq!(
            report.warnings,
            [
                "42:label:123: finishing failed: branch openhands/issue-42 and its successors are \
                 taken"
            ]
        );
        assert_eq!(gitlab.pushes.borrow().len(), 0);
        let record = world.record(TASK);
        assert_eq!(record.status().name(), "active");
        assert_eq!(record.text(Field::Branch), Some(BRANCH));
        assert_eq!(record.count(Field::FinalizeAttempts), Some(1));
        // Somebody has tidied up.
        gitlab.branches.borrow_mut().clear();
        is_delivered(&world, &gitlab, BRANCH).await;
    }
}

/// Somebody resets the state while the work changes its branch: the work is delivered all the same.
#[tokio::test]
async fn work_is_delivered_although_its_record_is_removed_meanwhile() {
    let (world, gitlab) = ended_with(Conversation::Finished, 1).await;
    gitlab.branches.borrow_mut().insert(BRANCH.into());
    gitlab.push_fails(PushError::Taken(BRANCH.into()));
    let reset = Box::new(|document: &mut Document| {
        let is_leased = document
            .record(TASK)
            .is_some_and(|record| record.text(Field::LeaseOwner) == Some("run-9"));
        is_leased && document.remove_record(TASK)
    });
    world.store.meanwhile.replace(Some(reset));
    is_delivered(&world, &gitlab, "openhands/issue-42-2").await;
    assert_eq!(
        world.record(TASK).text(Field::Branch),
        Some("openhands/issue-42-2")
    );
}

/// The store fails while the work changes its branch: it is not pushed where nobody would look.
#[tokio::test]
async fn work_is_not_pushed_to_a_branch_that_could_not_be_recorded() {
    let (world, gitlab) = ended_with(Conversation::Finished, 1).await;
    gitlab.branches.borrow_mut().insert(BRANCH.into());
    gitlab.push_fails(PushError::Taken(BRANCH.into()));
    let limit = world.store.limit.clone();
    let fills = Box::new(move |document: &mut Document| {
        let is_leased = document
            .record(TASK)
            .is_some_and(|record| record.text(Field::LeaseOwner) == Some("run-2"));
        if is_leased {
            limit.set(0);
        }
        is_leased
    });
    world.store.meanwhile.replace(Some(fills));
    world.poll("run-2", &gitlab.policy()).await;
    assert_eq!(world.log.of("git push"), [format!("git push {BRANCH}")]);
    assert_eq!(world.record(TASK).text(Field::Branch), Some(BRANCH));
    world.store.limit.set(usize::MAX);
    world.pass(16.0 * MINUTE);
    gitlab.push_fails(PushError::Taken(BRANCH.into()));
    is_delivered(&world, &gitlab, "openhands/issue-42-2").await;
}

/// GitLab does not know the branch for longer than a moment: that is an attempt, and the branch is
/// named.
#[tokio::test]
async fn a_branch_that_stays_unknown_costs_an_attempt() {
    let (world, gitlab) = ended_with(Conversation::Finished, 1).await;
    for _ in 0..5 {
        gitlab.fails("open", refused(400));
    }
    let before = world.clock.now.get();
    let report = world.poll("run-2", &gitlab.policy()).await;
    assert_eq!(world.log.of("gitlab open").len(), 5);
    assert_eq!(Some(world.clock.now.get() - before), Some(7.5));
    let warning = &report.warnings[0];
    assert!(
        warning.contains("1 commit(s) are on branch openhands/issue-42 at cccc"),
        "{warning}"
    );
    assert_eq!(world.record(TASK).count(Field::FinalizeAttempts), Some(1));
    is_delivered(&world, &gitlab, BRANCH).await;
}

/// An issue is missing from the list and seems closed; when it is looked at under the lease, it is
/// open again.
#[tokio::test]
async fn an_issue_that_is_open_again_is_not_given_up() {
    let (world, gitlab) = ended_with(Conversation::Running, 1).await;
    gitlab.change(42, |issue| issue.open = false);
    let reopen: fn(&GitLab) = |gitlab| gitlab.change(42, |issue| issue.open = true);
    let nothing: fn(&GitLab) = |_| {};
    gitlab.before_issue.borrow_mut().extend([nothing, reopen]);
    let before = world.record(TASK);
    let report = world.poll("run-2", &gitlab.policy()).await;
    assert_eq!(world.log.of("gitlab issue").len(), 2);
    assert_eq!((finished(&report), world.record(TASK)), (vec![], before));
    assert_eq!(world.workspaces.all().len(), 1);
}

/// Whether it is closed could not be asked: that is no reason to end anything.
#[tokio::test]
async fn an_issue_that_cannot_be_asked_for_is_not_given_up() {
    for error in passing() {
        let (world, gitlab) = ended_with(Conversation::Running, 1).await;
        gitlab.change(42, |issue| issue.open = false);
        gitlab.fails("issue", error);
        let before = world.record(TASK);
        let report = world.poll("run-2", &gitlab.policy()).await;
        assert_eq!((finished(&report), world.record(TASK)), (vec![], before));
        assert_eq!(world.log.of("write"), [""; 0], "not even a lease is taken");
        let report = world.poll("run-3", &gitlab.policy()).await;
        assert_eq!(finished(&report), [(TASK, "issue-closed")]);
    }
}
