//! Issues that are not worked on, or not yet: what GitLab says beside its list, and what goes
//! wrong between the list and the clone.

use crate::world::gitlab::{GitLab, PROJECT, passing};
use crate::world::scenes::issue::{BRANCH, TASK, world};
use crate::world::{HOUR, MINUTE, NOW, reason, run, started};
use lifecycle::document::{Field, Record, Status, size};
use lifecycle::ports::{ForgeError, PushError};
use lifecycle::report::SkipReason;

fn unavailable() -> ForgeError {
    passing()[1].clone()
}

/// What changes between listing and start is seen before anything is claimed.
#[tokio::test]
async fn an_issue_is_looked_at_once_more_before_it_is_claimed() {
    type Change = fn(&GitLab);
    let cases: [(Change, SkipReason); 3] = [
        (
            |gitlab| gitlab.change(42, |issue| issue.open = false),
            SkipReason::NoLongerOpen,
        ),
        (
            |gitlab| gitlab.issues.borrow_mut().clear(),
            SkipReason::NoLongerOpen,
        ),
        (
            |gitlab| gitlab.change(42, |issue| issue.labels.clear()),
            SkipReason::LostLabel,
        ),
    ];
    for (change, expected) in cases {
        let (world, gitlab) = world();
        gitlab.before_issue.borrow_mut().push_back(change);
        let report = world.poll("run-1", &gitlab.policy()).await;
        assert_eq!(reason(&report, "42"), Some(expected));
        assert_eq!(report.warnings, [""; 0], "it is nobody's fault");
        assert_eq!(world.status(TASK), "none");
        assert_eq!(world.document().retry(TASK), None);
        assert_eq!(
            world.log.of("create").len() + world.log.of("git clone").len(),
            0
        );
    }
}

/// The commit message and the merge request bear the title that the issue has at its start.
#[tokio::test]
async fn a_title_that_was_changed_before_the_claim_is_the_one_recorded() {
    let (world, gitlab) = world();
    gitlab.before_issue.borrow_mut().push_back(|gitlab| {
        gitlab.change(42, |issue| issue.title = "Retry uploads on any 5xx".into());
    });
    world.poll("run-1", &gitlab.policy()).await;
    assert_eq!(
        world.record(TASK).text(Field::IssueTitle),
        Some("Retry uploads on any 5xx")
    );
}

/// A clone that fails is undone, remembered with what git said, and made by the next poll.
#[tokio::test]
async fn a_clone_that_fails_is_told_in_its_own_words_and_tried_again() {
    let cases = [
        (
            PushError::Refused("HTTP Basic: Access denied".into()),
            "git clone was refused: HTTP Basic: Access denied",
        ),
        (
            PushError::Unavailable("timeout".into()),
            "git clone: git did not get through: timeout",
        ),
        (
            PushError::Clone("no space left on device".into()),
            "git clone: the clone cannot be used: no space left on device",
        ),
    ];
    for (error, expected) in cases {
        let (world, gitlab) = world();
        gitlab.clone_errors.borrow_mut().push_back(error);
        let report = world.poll("run-1", &gitlab.policy()).await;
        assert_eq!(reason(&report, "42"), Some(SkipReason::SetupFailed));
        assert_eq!(report.skipped[0].detail, expected);
        assert_eq!(report.warnings, [format!("42: not started: {expected}")]);
        let retry = world.document().retry(TASK).unwrap();
        assert_eq!((retry.attempts, retry.last_error.as_str()), (1, expected));
        assert_eq!(world.status(TASK), "none");
        assert_eq!(world.workspaces.all(), [""; 0]);
        assert_eq!(world.log.of("start").len(), 0);
        let report = world.poll("run-2", &gitlab.policy()).await;
        assert_eq!(started(&report), [TASK]);
    }
}

/// GitLab keeps merge requests of branches that are gone: such a name is not free.
#[tokio::test]
async fn a_name_under_which_a_merge_request_was_opened_is_not_used_again() {
    let (world, gitlab) = world();
    gitlab.merge_request(9, BRANCH, NOW - 24.0 * HOUR);
    gitlab.branches.borrow_mut().clear();
    world.poll("run-1", &gitlab.policy()).await;
    assert_eq!(
        world.record(TASK).text(Field::Branch),
        Some("openhands/issue-42-2")
    );
}

/// Without its own spelling GitLab would not find the label; without the label there is nothing to
/// find.
#[tokio::test]
async fn a_project_without_the_label_is_not_asked_for_issues() {
    let (world, gitlab) = world();
    gitlab.has_label.set(false);
    let report = world.poll("run-1", &gitlab.policy()).await;
    assert!(!report.failed(), "{:?}", report.error);
    assert_eq!((report.discovered, report.skipped.len()), (0, 0));
    assert_eq!(world.log.of("gitlab list"), [""; 0]);
    assert_eq!(world.log.of("gitlab events"), [""; 0]);
    assert_eq!(world.document().records().count(), 0);
}

/// Without an event nobody can say when and by whom the label was applied.
#[tokio::test]
async fn an_issue_without_a_label_event_is_skipped() {
    let (world, gitlab) = world();
    gitlab.forget_event(42);
    gitlab.open_labelled(43, 130);
    let report = world.poll("run-1", &gitlab.policy()).await;
    assert_eq!(reason(&report, "42"), Some(SkipReason::NoLabelEvent));
    assert_eq!(started(&report), ["43:label:130"]);
    assert_eq!(report.discovered, 2);
    let cache = world.store.cache.borrow().clone().unwrap();
    assert_eq!(cache["events"].get("42"), None, "nothing to remember");
}

/// A moved project is worked on, and the configuration should say where it is now.
#[tokio::test]
async fn a_project_that_was_moved_is_told() {
    let (world, gitlab) = world();
    gitlab.project.borrow_mut().moved_to = Some("group/platform/service".into());
    let report = world.poll("run-1", &gitlab.policy()).await;
    assert_eq!(started(&report), [TASK]);
    assert_eq!(
        report.warnings,
        ["the project is called group/platform/service now; update the configuration"]
    );
    assert_eq!(world.document().owner(), Some(PROJECT));
}

/// An issue whose events could not be read may have any event: its record is not dropped for want
/// of room, or it would be worked on again.
#[tokio::test]
async fn what_could_not_be_asked_keeps_its_record_in_a_full_document() {
    let (world, gitlab) = world();
    let ended = |iid: u64, at: f64| {
        let mut record = Record::default();
        record
            .set_status(Status::Closed)
            .set(Field::IssueIid, iid)
            .set(Field::WebUrl, "https://git.example.com/".repeat(20))
            .set(Field::LastActivity, at);
        record
    };
    world.store.edit(|document| {
        document.put_record(TASK, ended(42, NOW - 9.0 * HOUR));
        // Closed since, so that nothing would bring it back.
        document.put_record("41:label:100", ended(41, NOW - 8.0 * HOUR));
    });
    gitlab.open_labelled(44, 140);
    gitlab.fails("events", unavailable());
    let full = size::wire_size(&world.document().to_value());
    world.store.budget.set(full + 700);
    let report = world.poll("run-1", &gitlab.policy()).await;
    assert_eq!(reason(&report, "42"), Some(SkipReason::SetupFailed));
    assert_eq!(started(&report), ["44:label:140"]);
    assert_eq!(
        (world.status(TASK), world.status("41:label:100")),
        ("closed", "none")
    );
    world.pass(MINUTE);
    let report = world.poll("run-2", &gitlab.policy()).await;
    assert_eq!(reason(&report, "42"), Some(SkipReason::AlreadyTracked));
}

/// A limit while who applied the label is looked up ends the poll; anything else concerns one issue.
#[tokio::test]
async fn who_applied_the_label_is_asked_again_when_that_failed() {
    for error in passing() {
        let is_limit = error.is_limited();
        let (world, gitlab) = world();
        gitlab.open_labelled(43, 130);
        gitlab.fails("member", error.clone());
        let report = world.poll_as(&run("run-1"), &gitlab.policy()).await;
        assert!(!report.failed(), "{:?}", report.error);
        assert!(
            report.warnings[0].contains(&error.to_string()),
            "{:?}",
            report.warnings
        );
        assert_eq!(started(&report).len(), usize::from(!is_limit));
        assert_eq!(world.status(TASK), "none");
        let report = world.poll("run-2", &gitlab.policy()).await;
        assert!(started(&report).contains(&TASK));
    }
}
