//! Which issues are worked on, and what is recorded before the work begins.

use crate::world::gitlab::BASE;
use crate::world::scenes::issue::{BRANCH, TASK, world};
use crate::world::{HOUR, MINUTE, NOW, reason, started};
use lifecycle::document::{Document, Field, Record, Status};
use lifecycle::report::SkipReason;

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
