//! A label on an issue becomes one merge request, and nothing that an agent did is lost.

use crate::world::gitlab::{BASE, GitLab, PROJECT, refused};
use crate::world::{HOUR, MINUTE, NOW, World, finished, fixture, reason, started};
use lifecycle::document::{Document, Field, ISSUE, Record, Status};
use lifecycle::identity::{Kind, marker};
use lifecycle::issue::MergeRequestMode;
use lifecycle::ports::{Conversation, ForgeError, Project, PushError, Work};
use lifecycle::report::SkipReason;

const TASK: &str = "42:label:123";
const BRANCH: &str = "openhands/issue-42";

fn world() -> (World, GitLab) {
    let world = World::new(&ISSUE, PROJECT);
    let gitlab = GitLab::new(&world);
    gitlab.open_labelled(42, 123);
    (world, gitlab)
}

/// A world in which the conversation has ended like this, a minute after its start.
async fn ended(how: Conversation, words: &str) -> (World, GitLab) {
    let (world, gitlab) = world();
    let report = world.poll("run-1", &gitlab.policy()).await;
    assert_eq!(started(&report), [TASK]);
    world.agents.is(&world.conversation(TASK), how, words);
    world.pass(MINUTE);
    world.log.clear();
    (world, gitlab)
}

/// What finishing will need stands in the record before the conversation exists.
#[tokio::test]
async fn branch_and_base_are_recorded_before_the_conversation_starts() {
    let (world, gitlab) = world();
    world
        .agents
        .next_starts
        .borrow_mut()
        .push_back(lifecycle::ports::AgentError::Unavailable("timeout".into()));
    world.poll("run-1", &gitlab.policy()).await;
    let record = world.record(TASK);
    assert_eq!(record.status().name(), "starting");
    assert_eq!(record.text(Field::Branch), Some(BRANCH));
    assert_eq!(record.text(Field::BaseSha), Some(BASE));
    assert_eq!(record.text(Field::BaseBranch), Some("main"));
    assert_eq!(
        record.text(Field::IssueTitle),
        Some("Retry uploads on a 502")
    );
    assert_eq!(gitlab.notes.borrow().len(), 0);
}

/// Without room for what finishing will need, no conversation is started.
#[tokio::test]
async fn without_room_for_branch_and_base_nothing_starts() {
    let (ample, gitlab) = world();
    ample.poll("run-1", &gitlab.policy()).await;
    let claim = ample.store.sizes.borrow()[0];
    let (world, gitlab) = world();
    world.store.limit.set(claim);
    let report = world.poll("run-1", &gitlab.policy()).await;
    assert_eq!(reason(&report, "42"), Some(SkipReason::NoRoom));
    assert_eq!(
        world.log.of("git clone").len(),
        1,
        "the claim itself had room"
    );
    assert_eq!(world.log.of("start").len(), 0);
    assert_eq!(
        (world.status(TASK), world.workspaces.all().len()),
        ("none", 0)
    );
}

/// A run whose start was refused has given its claim back; what it prepared is nobody else's.
#[tokio::test]
async fn another_runs_claim_keeps_its_own_base() {
    let (world, gitlab) = world();
    let refused = lifecycle::ports::AgentError::Refused("422".into());
    world.agents.next_starts.borrow_mut().push_back(refused);
    let claim_of_another = Box::new(|document: &mut Document| {
        let given_back = !document.has_record(TASK) && document.retry(TASK).is_some();
        if given_back {
            let mut record = Record::default();
            record
                .set_status(Status::Starting)
                .set(Field::IssueIid, 42)
                .set(Field::LeaseOwner, "run-2")
                .set(Field::LeaseUntil, NOW + 15.0 * MINUTE)
                .set(Field::LastActivity, NOW)
                .set(Field::BaseSha, "f".repeat(40));
            document.put_record(TASK, record);
        }
        given_back
    });
    world.store.meanwhile.replace(Some(claim_of_another));
    world.poll("run-1", &gitlab.policy()).await;
    let record = world.record(TASK);
    assert_eq!(record.text(Field::LeaseOwner), Some("run-2"));
    assert_eq!(record.text(Field::BaseSha), Some("f".repeat(40).as_str()));
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

#[tokio::test]
async fn when_all_names_are_taken_it_is_said() {
    let (world, gitlab) = world();
    for suffix in 1..=11 {
        let name = if suffix == 1 {
            BRANCH.to_owned()
        } else {
            format!("{BRANCH}-{suffix}")
        };
        gitlab.branches.borrow_mut().insert(name);
    }
    let report = world.poll("run-1", &gitlab.policy()).await;
    assert_eq!(reason(&report, "42"), Some(SkipReason::SetupFailed));
    let detail = &report.skipped[0].detail;
    assert!(
        detail.contains("openhands/issue-42 to openhands/issue-42-11 are all taken"),
        "{detail}"
    );
}

/// Who applies the label must hold the configured role; bots count by their membership.
#[tokio::test]
async fn only_members_may_trigger() {
    let cases = [
        (Some(1), Some("reporter"), Some(20), true),
        (Some(1), Some("owner"), Some(50), true),
        (Some(1), Some("guest"), Some(20), false),
        (Some(2), Some("stranger"), Some(20), false),
        (None, None, Some(20), false),
        (Some(2), Some("stranger"), None, true),
        (None, None, None, true),
    ];
    for (id, name, wanted, may) in cases {
        let (world, mut gitlab) = world();
        gitlab.settings.trigger_level = wanted;
        gitlab.labelled_by(42, id, name);
        let level = match name {
            Some("guest") => 10,
            Some("owner") => 50,
            _ => 20,
        };
        gitlab.levels.borrow_mut().insert(1, level);
        let report = world.poll("run-1", &gitlab.policy()).await;
        assert_eq!(!report.started.is_empty(), may, "{name:?}");
        if !may {
            assert_eq!(reason(&report, "42"), Some(SkipReason::NotAllowed));
            let detail = &report.skipped[0].detail;
            assert!(
                detail.contains(name.unwrap_or("an unknown account")),
                "{detail}"
            );
        }
    }
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
        let report = world.poll("run-2", &gitlab.policy()).await;
        let error = report.error.unwrap();
        assert!(
            error.starts_with(expected) && !error.contains('\n'),
            "{error}"
        );
        assert_eq!(gitlab.notes.borrow().len(), 0);
        assert_eq!(world.status(TASK), "active");
    }
}

/// What was learned of label events is remembered, and its loss costs one question.
#[tokio::test]
async fn unchanged_issues_are_not_asked_for_again() {
    let (world, gitlab) = world();
    gitlab.open_labelled(43, 130);
    world.poll("run-1", &gitlab.policy()).await;
    world.pass(5.0 * MINUTE);
    world.log.clear();
    let report = world.poll("run-2", &gitlab.policy()).await;
    assert_eq!(world.log.of("gitlab events"), [""; 0]);
    assert_eq!(reason(&report, "43"), Some(SkipReason::AlreadyTracked));
    world.store.cache.replace(None);
    world.poll("run-3", &gitlab.policy()).await;
    assert_eq!(world.log.of("gitlab events").len(), 2);
    // A changed issue is looked at again, and so is one that was looked at an hour ago.
    gitlab.label(43, 131, world.clock.now.get());
    let report = world.poll("run-4", &gitlab.policy()).await;
    assert_eq!(started(&report), ["43:label:131"]);
    world.log.clear();
    world.pass(HOUR);
    world.poll("run-5", &gitlab.policy()).await;
    assert_eq!(world.log.of("gitlab events").len(), 2);
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
