//! What a dry run says of each step that a run would make.

use crate::world::github::{GitHub, REPO, commit, unavailable};
use crate::world::{HOUR, MINUTE, NOW, World, reason, run, started};
use lifecycle::document::{Field, REVIEW, Record, Status};
use lifecycle::ports::Conversation;
use lifecycle::report::{SkipReason, TargetReport};

/// Looks, and checks that nothing was touched.
async fn look(world: &World, github: &GitHub) -> TargetReport {
    world.log.clear();
    let before = world.document();
    let guards = world.store.guard_names();
    let mut dry = run("run-dry");
    dry.dry_run = true;
    let report = world.poll_as(&dry, &github.policy()).await;
    assert_eq!(world.document(), before);
    assert_eq!(world.store.guard_names(), guards);
    let touching = [
        "write",
        "guard",
        "cache",
        "create",
        "remove",
        "start",
        "interrupt",
    ];
    for deed in world.log.all() {
        let is_quiet = !touching.iter().any(|word| deed.starts_with(word));
        assert!(is_quiet && deed != "github comment", "{deed}");
    }
    report
}

fn words(report: &TargetReport) -> Vec<(&str, &str)> {
    let mut words: Vec<(&str, &str)> = report
        .planned
        .iter()
        .map(|planned| (planned.task.as_str(), planned.step.as_str()))
        .collect();
    words.sort_unstable();
    words
}

/// Puts a record in place whose last activity was that long ago, with a workspace, and its
/// conversation; the pull request is open without a label.
fn put(
    world: &World,
    github: &GitHub,
    number: u64,
    status: Status,
    age: f64,
    how: Option<Conversation>,
) {
    github.open(number, 'b');
    let dir = format!("/root/acme__widget/pr-{number}");
    world.workspaces.make(&dir);
    let id = format!("conversation-{number}");
    if let Some(how) = how {
        world.agents.is(&id, how, "");
    }
    let mut record = Record::default();
    record
        .set_status(status)
        .set(Field::PrNumber, number)
        .set(Field::HeadSha, commit('b'))
        .set(Field::ConversationId, id)
        .set(Field::WorkspaceDir, dir)
        .set(Field::LastActivity, NOW - age);
    world.store.edit(|document| {
        document.put_record(&format!("{number}:label:{number}"), record);
    });
}

fn edit(world: &World, task: &str, change: impl FnOnce(&mut Record)) {
    world.store.edit(|document| {
        let mut record = document.record(task).unwrap();
        change(&mut record);
        document.put_record(task, record);
    });
}

/// One task for each step.
fn one_of_each() -> (World, GitHub) {
    use Conversation::{Finished, Running};
    let world = World::new(&REVIEW, REPO);
    world.store.has_guards.set(true);
    let github = GitHub::new(&world);
    let put = |number, status, age, how| put(&world, &github, number, status, age, how);
    put(1, Status::Starting, MINUTE, None);
    put(2, Status::Starting, HOUR, Some(Running));
    put(3, Status::Starting, HOUR, None);
    put(4, Status::Active, HOUR, Some(Running));
    put(5, Status::Active, HOUR, Some(Finished));
    put(6, Status::Active, 3.0 * HOUR, Some(Running));
    put(7, Status::Active, HOUR, Some(Running));
    github.close(7);
    put(8, Status::Closed, HOUR, Some(Finished));
    put(9, Status::Closed, 3.0 * HOUR, Some(Running));
    put(10, Status::Closed, HOUR, None);
    edit(&world, "10:label:10", |record| {
        record
            .unset(Field::WorkspaceDir)
            .set(Field::LeaseOwner, "run-0")
            .set(Field::LeaseUntil, NOW - MINUTE);
    });
    put(11, Status::Closed, HOUR, None);
    edit(&world, "11:label:11", |record| {
        record.unset(Field::WorkspaceDir);
    });
    (world, github)
}

#[tokio::test]
async fn each_step_is_named_and_none_is_made() {
    let (world, github) = one_of_each();
    let report = look(&world, &github).await;
    assert_eq!(
        words(&report),
        [
            ("10:label:10", "delete its keys"),
            ("1:label:1", "leave it alone for now"),
            ("2:label:2", "adopt its conversation"),
            ("3:label:3", "release the stalled claim"),
            ("4:label:4", "leave it alone for now"),
            ("5:label:5", "collect its result"),
            ("6:label:6", "give it up after two hours"),
            ("7:label:7", "end it if its item is closed or changed"),
            ("8:label:8", "remove its workspace"),
            (
                "9:label:9",
                "stop its conversation and remove its workspace"
            ),
        ],
        "and nothing is said of what has come to rest"
    );
    let notes = world.journal.notes.borrow();
    assert!(notes.contains(&"5:label:5: would collect its result".to_owned()));
}

/// The same records, and a run that does what was said of each.
#[tokio::test]
async fn a_run_does_what_was_said_of_each() {
    let (world, github) = one_of_each();
    let report = world.poll("run-1", &github.policy()).await;
    let status = |number: u64| world.status(&format!("{number}:label:{number}"));
    let statuses: Vec<&str> = (1..=11).map(status).collect();
    assert_eq!(
        statuses,
        [
            "starting", "active", "none", "active", "closed", "expired", "closed", "closed",
            "closed", "closed", "closed"
        ]
    );
    assert_eq!(report.released, 4, "5, 6, 8 and 9");
    let left = [1, 10, 11, 2, 4, 7].map(|number| format!("/root/acme__widget/pr-{number}"));
    assert_eq!(world.workspaces.all(), left);
    assert_eq!(
        world.record("10:label:10").text(Field::LeaseOwner),
        None,
        "its keys are gone"
    );
}

/// In a sandbox an unknown conversation is elsewhere.
#[tokio::test]
async fn in_a_sandbox_other_steps_follow_from_what_is_not_known() {
    let world = World::new(&REVIEW, REPO);
    let github = GitHub::new(&world);
    world.agents.is_sandbox.set(true);
    put(&world, &github, 4, Status::Active, HOUR, None);
    put(&world, &github, 5, Status::Active, 3.0 * HOUR, None);
    put(&world, &github, 6, Status::Closed, HOUR, None);
    let report = look(&world, &github).await;
    assert_eq!(
        words(&report),
        [
            ("4:label:4", "ask the forge for a result"),
            ("5:label:5", "give it up after two hours"),
            ("6:label:6", "remove its workspace"),
        ]
    );
}

/// A trigger that would not be started is not listed as if it were.
#[tokio::test]
async fn what_would_not_be_started_is_skipped_with_the_reason() {
    let world = World::new(&REVIEW, REPO);
    let github = GitHub::new(&world);
    for number in [4, 5, 6] {
        github.open_labelled(number);
    }
    github.fails("pull", unavailable());
    github.before_pull.replace(Some(|github| github.close(5)));
    let report = look(&world, &github).await;
    assert_eq!(reason(&report, "4"), Some(SkipReason::SetupFailed));
    let skipped = report.skipped.iter().find(|skipped| skipped.item == "4");
    assert!(skipped.unwrap().detail.contains("502 Bad Gateway"));
    assert_eq!(reason(&report, "5"), Some(SkipReason::NoLongerOpen));
    assert_eq!(started(&report), ["6:label:6"]);
    assert_eq!(world.document().retry_tasks(), [""; 0]);
}
