//! How much is started at once, and in which order.

use crate::world::github::{GitHub, LABEL, REPO};
use crate::world::{MINUTE, NOW, World, reason, run, started};
use lifecycle::document::REVIEW;
use lifecycle::report::SkipReason;

fn world(numbers: &[u64]) -> (World, GitHub) {
    let world = World::new(&REVIEW, REPO);
    let github = GitHub::new(&world);
    for number in numbers {
        github.open_labelled(*number);
    }
    (world, github)
}

/// The oldest label event comes first, whatever the number, so a cap never starves anyone.
#[tokio::test]
async fn the_oldest_trigger_comes_first() {
    let (world, github) = world(&[4, 5, 6]);
    github.label(4, 40, NOW - 5.0 * MINUTE);
    github.label(5, 50, NOW - 15.0 * MINUTE);
    github.label(6, 60, NOW - 10.0 * MINUTE);
    let mut order = Vec::new();
    for n in 0..3 {
        let mut run = run(&format!("run-{n}"));
        run.max_new = 1;
        let report = world.poll_as(&run, &github.policy()).await;
        order.push(started(&report).join(","));
        world.pass(MINUTE);
    }
    assert_eq!(order, ["5:label:50", "6:label:60", "4:label:40"]);
}

#[tokio::test]
async fn events_of_one_second_are_ordered_by_their_id() {
    let (world, github) = world(&[4, 5]);
    github.label(4, 41, NOW - 5.0 * MINUTE);
    github.label(5, 40, NOW - 5.0 * MINUTE);
    let report = world.poll("run-1", &github.policy()).await;
    assert_eq!(started(&report), ["5:label:40", "4:label:41"]);
}

#[tokio::test]
async fn a_run_starts_no_more_than_it_may() {
    let (world, github) = world(&[4, 5, 6]);
    let mut run = run("run-1");
    run.max_new = 2;
    let report = world.poll_as(&run, &github.policy()).await;
    assert_eq!(started(&report), ["4:label:4", "5:label:5"]);
    assert_eq!(reason(&report, "6"), Some(SkipReason::CapReached));
    assert_eq!(report.skipped[0].detail, "max_new_per_run is 2");
}

/// The cap of a run counts over all its targets.
#[tokio::test]
async fn the_cap_is_shared_by_all_targets() {
    let run = {
        let mut run = run("run-1");
        run.max_new = 3;
        run
    };
    let (first, github) = world(&[4, 5]);
    assert_eq!(first.poll_as(&run, &github.policy()).await.started.len(), 2);
    let (second, github) = world(&[4, 5]);
    let report = second.poll_as(&run, &github.policy()).await;
    assert_eq!(started(&report), ["4:label:4"]);
    assert_eq!(reason(&report, "5"), Some(SkipReason::CapReached));
}

/// A start that failed leaves its place to the next.
#[tokio::test]
async fn a_failed_start_does_not_use_up_the_cap() {
    let (world, github) = world(&[4, 5]);
    let broken = lifecycle::ports::CheckoutError::Failed("damaged".into());
    github.next_checkouts.borrow_mut().push_back(broken);
    let mut run = run("run-1");
    run.max_new = 1;
    let report = world.poll_as(&run, &github.policy()).await;
    assert_eq!(started(&report), ["5:label:5"]);
}

#[tokio::test]
async fn no_more_are_at_work_than_allowed() {
    let (world, github) = world(&[4, 5, 6]);
    let capped = |run_id| {
        let mut run = run(run_id);
        run.max_active = 2;
        run
    };
    let report = world.poll_as(&capped("run-1"), &github.policy()).await;
    assert_eq!(started(&report).len(), 2);
    assert_eq!(reason(&report, "6"), Some(SkipReason::MaxActive));
    world.pass(MINUTE);
    let report = world.poll_as(&capped("run-2"), &github.policy()).await;
    assert_eq!(reason(&report, "6"), Some(SkipReason::MaxActive));
    // One of them ends: there is room in that very poll.
    world.agents.forget(&world.conversation("4:label:4"));
    let report = world.poll_as(&capped("run-3"), &github.policy()).await;
    assert_eq!(started(&report), ["6:label:6"]);
}

/// A label that is put on again while a cap holds is started when there is room, although an
/// older event of the same pull request has been handled.
#[tokio::test]
async fn a_label_put_on_again_under_a_cap_is_not_forgotten() {
    let (world, github) = world(&[4]);
    world.poll("run-1", &github.policy()).await;
    world.agents.forget(&world.conversation("4:label:4"));
    world.pass(5.0 * MINUTE);
    world.poll("run-2", &github.policy()).await;
    github.label(4, 44, NOW + 5.0 * MINUTE);
    for n in 3..8 {
        world.pass(5.0 * MINUTE);
        let mut full = run(&format!("run-{n}"));
        full.max_new = 1;
        full.started.set(1);
        let report = world.poll_as(&full, &github.policy()).await;
        assert_eq!(
            reason(&report, "4"),
            Some(SkipReason::CapReached),
            "run-{n}"
        );
    }
    let report = world.poll("run-9", &github.policy()).await;
    assert_eq!(started(&report), ["4:label:44"]);
}

/// Tracked and unchanged work costs no question of its own: one listing, nothing else.
#[tokio::test]
async fn unchanged_pull_requests_cost_one_listing() {
    let numbers: Vec<u64> = (1..=10).collect();
    let (world, github) = world(&numbers);
    for number in 11..=30 {
        github.open(number, 'c');
    }
    world.poll("run-1", &github.policy()).await;
    world.pass(5.0 * MINUTE);
    world.poll("run-2", &github.policy()).await;
    world.pass(5.0 * MINUTE);
    world.log.clear();
    let report = world.poll("run-3", &github.policy()).await;
    assert_eq!(world.log.of("github"), ["github list"]);
    assert_eq!(world.log.of("write"), [""; 0], "and no write");
    assert_eq!((report.discovered, report.skipped.len()), (10, 10));
    // With another label configured, what was learned of the old one proves nothing.
    github.change(1, |details| {
        details.pull.labels = vec![LABEL.into(), "other".into()];
    });
    let mut other = GitHub::new(&world);
    other.pulls.replace(github.pulls.borrow().clone());
    other.settings.trigger_label = "other".into();
    other.log_event(1, 99, NOW);
    let report = world.poll("run-4", &other.policy()).await;
    assert_eq!(started(&report), ["1:label:99"]);
}

/// A document without room for all snapshots comes to rest: the same ones stay, and an unchanged
/// repository costs no write.
#[tokio::test]
async fn a_full_document_comes_to_rest() {
    let numbers: Vec<u64> = (1..=10).collect();
    let (world, github) = world(&numbers);
    for number in 11..=40 {
        github.open(number, 'c');
    }
    let mut all = run("run-1");
    all.max_new = 0;
    world.poll_as(&all, &github.policy()).await;
    for number in numbers {
        world
            .agents
            .forget(&world.conversation(&format!("{number}:label:{number}")));
    }
    world.pass(5.0 * MINUTE);
    world.poll("run-2", &github.policy()).await;
    let full = world.store.sizes.borrow().last().copied().unwrap();
    world.store.budget.set(full - 5000);
    for n in 3..6 {
        world.pass(5.0 * MINUTE);
        github.open(50 + n, 'd');
        world.poll(&format!("run-{n}"), &github.policy()).await;
    }
    world.log.clear();
    for n in 6..9 {
        world.pass(5.0 * MINUTE);
        world.poll(&format!("run-{n}"), &github.policy()).await;
    }
    assert_eq!(world.log.of("write"), [""; 0]);
}

/// What a claim has reserved for its end is of use to snapshots until then.
#[tokio::test]
async fn snapshots_may_lie_in_the_room_of_live_tasks() {
    let (world, github) = world(&[4]);
    world.poll("run-1", &github.policy()).await;
    let now = world.store.sizes.borrow().last().copied().unwrap();
    world.store.budget.set(now + 200);
    github.open(5, 'c');
    world.pass(MINUTE);
    world.poll("run-2", &github.policy()).await;
    let document = world.document();
    assert!(document.get("prs").unwrap().get("4").is_some());
    assert!(document.get("prs").unwrap().get("5").is_some());
}
