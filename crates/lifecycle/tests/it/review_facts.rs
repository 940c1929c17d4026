//! What GitHub says beside a pull request, or does not say.

use crate::world::github::REPO;
use crate::world::scenes::pull::{TASK, world};
use crate::world::started;

/// A moved repository is worked on, and the configuration should say where it is now.
#[tokio::test]
async fn a_repository_that_was_moved_is_told() {
    let (world, github) = world();
    github.moved_to.replace(Some("acme/gadget".into()));
    let report = world.poll("run-1", &github.policy()).await;
    assert_eq!(started(&report), [TASK]);
    assert_eq!(
        report.warnings,
        ["the repository is called acme/gadget now; update the configuration"]
    );
    assert_eq!(world.document().owner(), Some(REPO));
}

/// What a checkout leaves out is no secret: it stands in the log.
#[tokio::test]
async fn what_a_checkout_leaves_out_is_told() {
    for (left_out, expected) in [
        ("", "3 files unpacked"),
        (
            "2 links, 1 device",
            "3 files unpacked; left out: 2 links, 1 device",
        ),
    ] {
        let (world, github) = world();
        github.left_out.replace(left_out.into());
        world.poll("run-1", &github.policy()).await;
        let notes = world.journal.notes.borrow();
        assert!(notes.contains(&format!("{TASK}: {expected}")), "{notes:?}");
    }
}

/// The guidance of a fork is read at the base; where GitHub does not state it, at the default branch.
#[tokio::test]
async fn without_a_stated_base_guidance_is_read_at_the_default_branch() {
    for (base, expected) in [
        ("", "contents/AGENTS.md` and so on"),
        ("0123", "contents/AGENTS.md?ref=0123` and so on"),
    ] {
        let (world, github) = world();
        github.change(4, |details| {
            details.from_fork = true;
            details.base_sha = base.into();
        });
        world.poll("run-1", &github.policy()).await;
        let prompt = world.agents.starts.borrow()[0].prompt.clone();
        assert!(prompt.contains(expected), "{prompt}");
    }
}
