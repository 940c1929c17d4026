//! Work becomes one merge request: opened, found, or taken over.

use crate::world::gitlab::{BASE, GitLab, refused};
use crate::world::scenes::issue::{BRANCH, TASK, ended};
use crate::world::{HOUR, MINUTE, NOW, finished, fixture, started};
use lifecycle::document::Field;
use lifecycle::issue::MergeRequestMode;
use lifecycle::ports::{Conversation, PushError};

/// The merge request of the branch is asked for before anything else, and taken over.
#[tokio::test]
async fn the_agents_own_merge_request_is_taken_over() {
    for how in [Conversation::Finished, Conversation::Error] {
        let (world, gitlab) = ended(how, "Done.").await;
        gitlab.merge_request(57, BRANCH, NOW + 30.0);
        let report = world.poll("run-2", &gitlab.policy()).await;
        assert_eq!(finished(&report), [(TASK, "closed")]);
        assert_eq!(
            world.log.of("git push").len() + world.log.of("gitlab open").len(),
            0
        );
        assert_eq!(world.record(TASK).text(Field::OpenedBy), Some("agent"));
        assert!(gitlab.only_note().contains("/merge_requests/57"));
    }
}

/// An old merge request of that name, or one from a fork, is not ours.
#[tokio::test]
async fn a_merge_request_that_is_not_ours_is_not_taken_over() {
    type Change = fn(&GitLab);
    let cases: [Change; 3] = [
        |gitlab| gitlab.merge_request(9, BRANCH, NOW - 24.0 * HOUR),
        |gitlab| {
            gitlab.merge_request(9, BRANCH, NOW + 30.0);
            gitlab.merge_requests.borrow_mut()[0].same_project = false;
        },
        |gitlab| {
            gitlab.merge_request(9, BRANCH, NOW + 30.0);
            gitlab.holds_base.set(false);
        },
    ];
    for change in cases {
        let (world, gitlab) = ended(Conversation::Finished, "Nothing to do.").await;
        change(&gitlab);
        world.poll("run-2", &gitlab.policy()).await;
        assert_eq!(world.status(TASK), "no-changes");
        assert!(!gitlab.only_note().contains("merge_requests/9"));
    }
}

/// "Another open merge request already exists": it is taken over, and the task is done.
#[tokio::test]
async fn a_merge_request_that_exists_already_is_taken_over() {
    let case = fixture("gitlab/merge-request-exists.json");
    let (world, gitlab) = ended(Conversation::Finished, "Done.").await;
    gitlab.commits(1);
    let status = u16::try_from(case["create"]["status"].as_u64().unwrap()).unwrap();
    gitlab.fails("open", refused(status));
    gitlab.appears_on_open.set(true);
    let report = world.poll("run-2", &gitlab.policy()).await;
    assert_eq!(finished(&report), [(TASK, "closed")]);
    assert_eq!(
        world.record(TASK).count(Field::MergeRequestIid),
        case["list"][0]["iid"].as_u64()
    );
    assert!(gitlab.only_note().contains("/merge_requests/57"));
}

/// A moment after a push GitLab may not know the branch yet: tried again within the run.
#[tokio::test]
async fn a_branch_that_is_not_known_yet_is_tried_again_in_the_same_run() {
    let (world, gitlab) = ended(Conversation::Finished, "Done.").await;
    gitlab.commits(1);
    gitlab.fails("open", refused(400));
    gitlab.fails("open", refused(400));
    let before = world.clock.now.get();
    let report = world.poll("run-2", &gitlab.policy()).await;
    assert_eq!(finished(&report), [(TASK, "closed")]);
    assert_eq!(Some(world.clock.now.get() - before), Some(1.5));
    assert_eq!(
        world.record(TASK).get(Field::FinalizeAttempts),
        None,
        "no attempt has failed"
    );
}

/// Somebody else's work is on the branch: it is never touched, and ours goes to the next name.
#[tokio::test]
async fn work_goes_to_a_free_branch_when_its_own_is_taken() {
    let (world, gitlab) = ended(Conversation::Finished, "Done.").await;
    gitlab.commits(1);
    gitlab.branches.borrow_mut().insert(BRANCH.into());
    gitlab.push_fails(PushError::Taken(BRANCH.into()));
    world.poll("run-2", &gitlab.policy()).await;
    assert_eq!(world.status(TASK), "closed");
    assert_eq!(
        world.record(TASK).text(Field::Branch),
        Some("openhands/issue-42-2")
    );
    assert_eq!(
        gitlab.merge_requests.borrow()[0].source_branch,
        "openhands/issue-42-2"
    );
    let deeds = world.log.all();
    let at = |deed: &str| deeds.iter().position(|found| found == deed).expect(deed);
    assert!(at("write 42:label:123 active") < at("git push openhands/issue-42-2"));
}

/// A run that dies after pushing to another name: the next one finds the merge request there.
#[tokio::test]
async fn the_next_run_looks_where_the_work_went() {
    let (world, gitlab) = ended(Conversation::Finished, "Done.").await;
    gitlab.commits(1);
    gitlab.branches.borrow_mut().insert(BRANCH.into());
    gitlab.push_fails(PushError::Taken(BRANCH.into()));
    gitlab.push_fails(PushError::Unavailable("timeout".into()));
    world.poll("run-2", &gitlab.policy()).await;
    assert_eq!(world.status(TASK), "active");
    gitlab.merge_request(57, "openhands/issue-42-2", NOW + MINUTE);
    world.pass(MINUTE);
    world.poll("run-3", &gitlab.policy()).await;
    assert_eq!(world.status(TASK), "closed");
    assert_eq!(world.record(TASK).count(Field::MergeRequestIid), Some(57));
}

#[tokio::test]
async fn a_merge_request_is_ready_when_so_configured() {
    let (world, mut gitlab) = ended(Conversation::Finished, "Done.").await;
    gitlab.settings.mode = MergeRequestMode::Ready;
    gitlab.commits(1);
    world.poll("run-2", &gitlab.policy()).await;
    assert_eq!(gitlab.titles.borrow()[0], "Retry uploads on a 502");
    let (world, gitlab) = ended(Conversation::Finished, "Done.").await;
    gitlab.commits(1);
    world.poll("run-2", &gitlab.policy()).await;
    assert_eq!(gitlab.titles.borrow()[0], "Draft: Retry uploads on a 502");
}

/// Putting the label on again gives a second branch and never touches the first.
#[tokio::test]
async fn a_label_put_on_again_gives_a_second_branch() {
    let (world, gitlab) = ended(Conversation::Finished, "Done.").await;
    gitlab.commits(1);
    world.poll("run-2", &gitlab.policy()).await;
    gitlab.label(42, 124, world.clock.now.get());
    world.pass(MINUTE);
    let report = world.poll("run-3", &gitlab.policy()).await;
    assert_eq!(started(&report), ["42:label:124"]);
    assert_eq!(
        world.record("42:label:124").text(Field::Branch),
        Some("openhands/issue-42-2")
    );
    // A merged branch that was deleted is not free either, nor one that is only promised.
    gitlab.branches.borrow_mut().clear();
    gitlab.label(42, 125, world.clock.now.get());
    world.pass(MINUTE);
    world.poll("run-4", &gitlab.policy()).await;
    assert_eq!(
        world.record("42:label:125").text(Field::Branch),
        Some("openhands/issue-42-3")
    );
}

/// The agent left commits: they are pushed, the merge request opened, the issue told once.
#[tokio::test]
async fn work_is_pushed_and_opened_as_a_draft() {
    let (world, gitlab) = ended(Conversation::Finished, "Uploads are retried.").await;
    gitlab.commits(2);
    let report = world.poll("run-2", &gitlab.policy()).await;
    assert_eq!(finished(&report), [(TASK, "closed")]);
    let merge_request = gitlab.merge_requests.borrow()[0].clone();
    assert_eq!(merge_request.source_branch, BRANCH);
    assert!(
        merge_request
            .description
            .starts_with("Uploads are retried.\n\nCloses #42")
    );
    let record = world.record(TASK);
    assert_eq!(
        record.text(Field::MergeRequestUrl),
        Some(merge_request.web_url.as_str())
    );
    assert_eq!(record.count(Field::MergeRequestIid), Some(57));
    assert_eq!(record.text(Field::OpenedBy), Some("automation"));
    assert!(gitlab.only_note().contains(&merge_request.web_url));
    assert_eq!(world.workspaces.all(), [""; 0]);
    let push = gitlab.pushes.borrow()[0].clone();
    assert_eq!(push.message, "Retry uploads on a 502\n\nCloses #42\n");
    assert_eq!(push.base_sha, BASE);
}
