//! The ends of an issue's task, and that nothing an agent did is lost.

use crate::world::scenes::issue::{TASK, ended};
use crate::world::{HOUR, MINUTE, finished, fixture};
use lifecycle::document::Field;
use lifecycle::error::TargetError;
use lifecycle::identity::{Kind, marker};
use lifecycle::policy::Policy as _;
use lifecycle::ports::{Conversation, ForgeError, Project, PushError, Work};

#[tokio::test]
async fn nothing_to_push_leaves_the_answer_on_the_issue() {
    let (world, gitlab) = ended(Conversation::Finished, "Which endpoint is meant?").await;
    let report = world.poll("run-2", &gitlab.policy()).await;
    assert_eq!(finished(&report), [(TASK, "no-changes")]);
    assert!(gitlab.only_note().contains("Which endpoint is meant?"));
    assert_eq!(gitlab.pushes.borrow().len(), 0);
    assert_eq!(world.workspaces.all(), [""; 0]);
}

/// What was not committed is work as well.
#[tokio::test]
async fn edits_that_were_not_committed_are_delivered() {
    let (world, gitlab) = ended(Conversation::Finished, "Done.").await;
    gitlab.work.set(Work {
        commits: 0,
        uncommitted: true,
    });
    world.poll("run-2", &gitlab.policy()).await;
    assert_eq!(
        (world.status(TASK), gitlab.pushes.borrow().len()),
        ("closed", 1)
    );
}

#[tokio::test]
async fn an_issue_that_is_closed_meanwhile_gets_nothing() {
    for how in [
        Conversation::Running,
        Conversation::Finished,
        Conversation::Error,
    ] {
        for is_gone in [false, true] {
            let (world, gitlab) = ended(how, "Done.").await;
            gitlab.commits(1);
            if is_gone {
                gitlab.issues.borrow_mut().clear();
            } else {
                gitlab.change(42, |issue| issue.open = false);
            }
            let report = world.poll("run-2", &gitlab.policy()).await;
            assert_eq!(finished(&report), [(TASK, "issue-closed")]);
            assert_eq!(
                gitlab.notes.borrow().len() + gitlab.pushes.borrow().len(),
                0
            );
        }
    }
}

/// Taking the label off stops nothing: the work was asked for.
#[tokio::test]
async fn an_issue_that_lost_its_label_is_still_finished() {
    let (world, gitlab) = ended(Conversation::Running, "").await;
    gitlab.change(42, |issue| issue.labels.clear());
    world.poll("run-2", &gitlab.policy()).await;
    assert_eq!(world.status(TASK), "active");
    gitlab.commits(1);
    world
        .agents
        .is(&world.conversation(TASK), Conversation::Finished, "Done.");
    world.poll("run-3", &gitlab.policy()).await;
    assert_eq!(world.status(TASK), "closed");
}

/// Commits and edits of a conversation that failed are kept on the branch, without a merge request.
#[tokio::test]
async fn the_work_of_a_failed_conversation_is_kept() {
    for keep in [true, false] {
        let (world, mut gitlab) = ended(Conversation::Error, "I got this far.").await;
        gitlab.settings.keep_failed_work = keep;
        gitlab.commits(2);
        let report = world.poll("run-2", &gitlab.policy()).await;
        assert_eq!(finished(&report), [(TASK, "failed")]);
        let note = gitlab.only_note();
        assert_eq!(
            note.contains("(2 commits) is on the branch `openhands/issue-42`"),
            keep
        );
        assert!(note.contains("I got this far."));
        assert_eq!(gitlab.pushes.borrow().len(), usize::from(keep));
        assert_eq!(gitlab.merge_requests.borrow().len(), 0);
    }
}

/// A network that is down for a moment loses no work: it is kept by the next poll.
#[tokio::test]
async fn work_that_cannot_be_kept_right_now_is_kept_later() {
    let (world, gitlab) = ended(Conversation::Error, "").await;
    gitlab.commits(2);
    gitlab.push_fails(PushError::Unavailable("timeout".into()));
    world.poll("run-2", &gitlab.policy()).await;
    assert_eq!(
        (world.status(TASK), gitlab.notes.borrow().len()),
        ("active", 0)
    );
    world.pass(MINUTE);
    world.poll("run-3", &gitlab.policy()).await;
    assert_eq!(
        (world.status(TASK), gitlab.pushes.borrow().len()),
        ("failed", 1)
    );
}

#[tokio::test]
async fn the_work_of_an_expired_conversation_is_kept() {
    let (world, gitlab) = ended(Conversation::Running, "").await;
    gitlab.commits(1);
    world.pass(2.0 * HOUR);
    let report = world.poll("run-2", &gitlab.policy()).await;
    assert_eq!(finished(&report), [(TASK, "expired")]);
    assert!(
        gitlab
            .only_note()
            .contains("did not come to an end within two hours")
    );
    assert_eq!(gitlab.pushes.borrow().len(), 1);
    let deeds = world.log.all();
    let at = |start: &str| {
        deeds
            .iter()
            .position(|deed| deed.starts_with(start))
            .expect(start)
    };
    assert!(
        at("interrupt") < at("git push"),
        "it is stopped before its work is read"
    );
    assert_eq!(world.workspaces.all(), [""; 0]);
}

/// Three attempts over as many polls, then one note that names what stands against it.
#[tokio::test]
async fn a_push_that_is_refused_three_times_is_given_up() {
    let (world, gitlab) = ended(Conversation::Finished, "Done.").await;
    gitlab.commits(1);
    let rule = "remote: GitLab: Author 'agent@example.com' is not allowed by the push rules";
    for attempt in 1..=3_u64 {
        gitlab.push_fails(PushError::Refused(rule.into()));
        if attempt == 3 {
            // Keeping the work is refused as well.
            gitlab.push_fails(PushError::Refused(rule.into()));
        }
        world
            .poll(&format!("run-{}", attempt + 1), &gitlab.policy())
            .await;
        if attempt < 3 {
            assert_eq!(world.status(TASK), "active");
            assert_eq!(
                world.record(TASK).count(Field::FinalizeAttempts),
                Some(attempt)
            );
            assert_eq!(
                gitlab.notes.borrow().len(),
                0,
                "people are told once, at the end"
            );
        }
        world.pass(MINUTE);
    }
    assert_eq!(world.status(TASK), "failed");
    let record = world.record(TASK);
    assert_eq!(record.count(Field::FinalizeAttempts), Some(3));
    assert!(
        record
            .text(Field::Error)
            .unwrap()
            .contains("not allowed by the push rules")
    );
    let note = gitlab.only_note();
    assert!(
        note.contains(&format!("> git push failed: {rule}")),
        "{note}"
    );
    assert!(note.contains(&marker(TASK, Kind::Result)));
    assert_eq!(world.workspaces.all(), [""; 0]);
}

/// A merge request that cannot be opened: the error says where the work is.
#[tokio::test]
async fn work_without_a_merge_request_is_not_lost_sight_of() {
    let (world, gitlab) = ended(Conversation::Finished, "Done.").await;
    gitlab.commits(3);
    gitlab.fails(
        "open",
        ForgeError::NoAccess {
            call: "POST /merge_requests".into(),
            detail: "403 Forbidden".into(),
        },
    );
    let report = world.poll("run-2", &gitlab.policy()).await;
    let warning = &report.warnings[0];
    assert!(
        warning.contains("3 commit(s) are on branch openhands/issue-42"),
        "{warning}"
    );
    assert!(warning.contains("403 Forbidden"));
    // The push stands; the next attempt opens it.
    world.pass(MINUTE);
    world.poll("run-3", &gitlab.policy()).await;
    assert_eq!(world.status(TASK), "closed");
}

/// Empty repository, repository switched off, archived: one clear line, no note on any issue, and
/// what is under way is not touched.
#[tokio::test]
async fn projects_that_cannot_be_worked_on_fail_with_one_line() {
    let states = fixture("gitlab/project-states.json");
    let expected = [
        "the repository is empty",
        "the repository is",
        "the project is archived",
    ];
    for (state, expected) in states.as_array().unwrap().iter().zip(expected) {
        let (world, gitlab) = ended(Conversation::Finished, "Done.").await;
        gitlab.commits(1);
        let disabled = state["repository_access_level"].as_str() == Some("disabled");
        gitlab.project.replace_with(|project| Project {
            default_branch: state["default_branch"].as_str().map(str::to_owned),
            archived: state["archived"].as_bool() == Some(true),
            repository_enabled: !disabled,
            ..project.clone()
        });
        let Err(error) = gitlab.policy().survey().await else {
            panic!("it can be worked on");
        };
        assert!(matches!(error, TargetError::Unsuitable(_)), "{error:?}");
        let report = world.poll("run-2", &gitlab.policy()).await;
        assert_eq!(report.error, Some(error.to_string()));
        let error = error.to_string();
        assert!(
            error.starts_with(expected) && !error.contains('\n'),
            "{error}"
        );
        assert_eq!(gitlab.notes.borrow().len(), 0);
        assert_eq!(world.status(TASK), "active");
    }
}
