//! A dry run reads everything, says what a run would do, and leaves no trace.

use crate::world::feeds::NewsFeeds;
use crate::world::github::{GitHub, REPO};
use crate::world::gitlab::{GitLab, PROJECT};
use crate::world::{MINUTE, World, reason, run, started};
use lifecycle::document::{ISSUE, NEWS, REVIEW, Schema};
use lifecycle::engine::Run;
use lifecycle::policy::Policy;
use lifecycle::ports::Conversation;
use lifecycle::report::{SkipReason, TargetReport};

fn dry() -> Run {
    let mut run = run("run-dry");
    run.dry_run = true;
    run
}

/// Polls dry and checks that nothing was touched.
async fn check<P: Policy>(world: &World, policy: &P) -> TargetReport {
    world.log.clear();
    let before = world.document();
    let report = world.poll_as(&dry(), policy).await;
    assert_eq!(world.document(), before);
    let deeds = [
        "write",
        "guard",
        "cache",
        "create",
        "remove",
        "start",
        "interrupt",
        "git ",
    ];
    for deed in world.log.all() {
        assert!(!deeds.iter().any(|word| deed.starts_with(word)), "{deed}");
        assert!(
            !["github comment", "gitlab note", "gitlab open"].contains(&deed.as_str()),
            "{deed}"
        );
    }
    report
}

fn world(schema: &'static Schema, target: &str) -> World {
    let world = World::new(schema, target);
    world.store.has_guards.set(true);
    world
}

#[tokio::test]
async fn of_a_repository() {
    let world = world(&REVIEW, REPO);
    let github = GitHub::new(&world);
    for number in [4, 5] {
        github.open_labelled(number);
    }
    world.poll("run-1", &github.policy()).await;
    world.agents.is(
        &world.conversation("4:label:4"),
        Conversation::Finished,
        "Fine.",
    );
    github.open_labelled(6);
    github.open(7, 'b');
    github.label(7, 70, 0.0);
    github.change(7, |details| details.pull.draft = true);
    world.pass(MINUTE);
    let mut only_ready = GitHub::new(&world);
    only_ready.settings.review_drafts = false;
    only_ready.pulls.replace(github.pulls.borrow().clone());
    only_ready.log_event(6, 6, 0.0);
    let report = check(&world, &only_ready.policy()).await;
    assert_eq!(started(&report), ["6:label:6"], "what would be started");
    assert_eq!(reason(&report, "7"), Some(SkipReason::Draft));
    let planned: Vec<(&str, &str)> = report
        .planned
        .iter()
        .map(|step| (step.task.as_str(), step.step.as_str()))
        .collect();
    assert_eq!(
        planned,
        [
            ("4:label:4", "collect its result"),
            ("5:label:5", "leave it alone for now")
        ]
    );
    // The same caps hold as in a run, counting what would be started.
    only_ready.pulls.replace(github.pulls.borrow().clone());
    only_ready.open_labelled(8);
    let mut capped = dry();
    capped.max_active = 3;
    let report = world.poll_as(&capped, &only_ready.policy()).await;
    assert_eq!(started(&report), ["6:label:6"]);
    assert_eq!(reason(&report, "8"), Some(SkipReason::MaxActive));
}

#[tokio::test]
async fn of_a_project() {
    let world = world(&ISSUE, PROJECT);
    let gitlab = GitLab::new(&world);
    gitlab.open_labelled(42, 123);
    let report = check(&world, &gitlab.policy()).await;
    assert_eq!(started(&report), ["42:label:123"]);
    assert_eq!(world.store.cache.borrow().as_ref(), None);
}

#[tokio::test]
async fn of_the_news() {
    let world = world(&NEWS, "news");
    let feeds = NewsFeeds::new(&world);
    feeds.publish(&["a", "b"]);
    let report = check(&world, &feeds.policy()).await;
    assert_eq!(started(&report), ["news:2026-08-18"]);
    let funnel = report.funnel.unwrap();
    assert_eq!((funnel.fetched, funnel.unseen, funnel.fresh), (2, 2, 2));
    let shortlist = report.shortlist.unwrap();
    assert_eq!(shortlist[0].title, "Story a");
    assert_eq!(shortlist[0].fingerprints, ["a", "a-link"]);
    assert_eq!(
        shortlist[0].published.as_deref(),
        Some("2026-08-18T09:12:00Z")
    );
}
