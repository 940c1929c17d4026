//! Digests that cannot be read, or not yet, and days that are given up.

use crate::world::feeds::NewsFeeds;
use crate::world::{HOUR, MINUTE, World, finished, started};
use lifecycle::document::{Field, NEWS};
use lifecycle::news;
use lifecycle::ports::{AgentError, Conversation};

const TODAY: &str = "news:2026-08-18";
const TOMORROW: &str = "news:2026-08-19";
const DIR: &str = "/root/2026-08-18";

/// A world in which today's conversation has ended, with a digest in its file.
async fn ended() -> (World, NewsFeeds) {
    let world = World::new(&NEWS, news::TARGET);
    let feeds = NewsFeeds::new(&world);
    feeds.publish(&["a"]);
    let report = world.poll("run-1", &feeds.policy()).await;
    assert_eq!(started(&report), [TODAY]);
    world.workspaces.write(DIR, "digest.md", "The digest.");
    let id = world.conversation(TODAY);
    world.agents.is(&id, Conversation::Finished, "I wrote it.");
    world.pass(MINUTE);
    (world, feeds)
}

/// A digest that cannot be read is tried for in three polls; then the day has failed, and its
/// stories are still new.
#[tokio::test]
async fn a_digest_that_cannot_be_read_is_given_up_after_three_attempts() {
    let (world, feeds) = ended().await;
    world.workspaces.reading_fails.set(true);
    for attempt in 1..=3 {
        let run = format!("run-{}", attempt + 1);
        let report = world.poll(&run, &feeds.policy()).await;
        assert_eq!(
            report.warnings,
            [
                "news:2026-08-18: finishing failed: digest.md: /root/2026-08-18: reading \
                 digest.md: input/output error"
            ]
        );
        if attempt < 3 {
            assert_eq!((finished(&report), world.status(TODAY)), (vec![], "active"));
            let retry = world.document().retry(TODAY).unwrap();
            assert_eq!(retry.attempts, attempt);
            assert_eq!(world.workspaces.all(), [DIR]);
        } else {
            assert_eq!(finished(&report), [(TODAY, "failed")]);
        }
        world.pass(MINUTE);
    }
    let record = world.record(TODAY);
    assert_eq!(record.get(Field::ItemKeys), None);
    assert_eq!(
        record.text(Field::ConversationUrl),
        Some(
            format!(
                "https://app.example.com/conversations/{}",
                world.conversation(TODAY)
            )
            .as_str()
        )
    );
    assert_eq!(world.document().retry(TODAY), None);
    assert_eq!(world.journal.digests.borrow().len(), 0);
    assert_eq!(world.workspaces.all(), [""; 0]);

    assert_eq!(news::seen(&world.document()), [""; 0]);
    world.pass(24.0 * HOUR);
    let report = world.poll("run-9", &feeds.policy()).await;
    assert_eq!(started(&report), [TOMORROW]);
    assert_eq!(world.record(TOMORROW).count(Field::ItemCount), Some(1));
}

/// A disk that failed once costs an attempt and no digest.
#[tokio::test]
async fn a_digest_that_could_not_be_read_once_is_read_by_the_next_poll() {
    let (world, feeds) = ended().await;
    world.workspaces.reading_fails.set(true);
    world.poll("run-2", &feeds.policy()).await;
    world.workspaces.reading_fails.set(false);
    let report = world.poll("run-3", &feeds.policy()).await;
    assert_eq!(finished(&report), [(TODAY, "completed")]);
    assert_eq!(world.journal.digests.borrow()[0].1, "The digest.");
    assert_eq!(world.document().retry(TODAY), None);
}

/// Without a file the last words are the digest: a server that does not give them is asked again,
/// and the day is not taken for empty.
#[tokio::test]
async fn last_words_that_are_not_to_be_had_are_asked_for_again() {
    let (world, feeds) = ended().await;
    world.workspaces.write(DIR, "digest.md", " \n");
    let id = world.conversation(TODAY);
    world.agents.is(&id, Conversation::Finished, "The digest.");
    for n in 2..6 {
        let error = AgentError::Unavailable("timeout".into());
        world.agents.next_responses.borrow_mut().push_back(error);
        let report = world.poll(&format!("run-{n}"), &feeds.policy()).await;
        assert_eq!((finished(&report), world.status(TODAY)), (vec![], "active"));
        world.pass(MINUTE);
    }
    assert_eq!(world.document().retry(TODAY), None, "these are no attempts");
    assert!(world.journal.notes.borrow().contains(&format!(
        "{TODAY}: no usable answer from the agent server: timeout"
    )));
    world.poll("run-6", &feeds.policy()).await;
    assert_eq!(world.journal.digests.borrow()[0].1, "The digest.");
}

/// A record without a directory (its workspace went with an older program) has its last words.
#[tokio::test]
async fn without_a_workspace_the_last_words_are_the_digest() {
    let (world, feeds) = ended().await;
    world.store.edit(|document| {
        let mut record = document.record(TODAY).unwrap();
        record.unset(Field::WorkspaceDir);
        document.put_record(TODAY, record);
    });
    let report = world.poll("run-2", &feeds.policy()).await;
    assert_eq!(finished(&report), [(TODAY, "completed")]);
    assert_eq!(world.journal.digests.borrow()[0].1, "I wrote it.");
    assert_eq!(
        world.log.of("remove"),
        [""; 0],
        "nobody knows what to remove"
    );
}

/// In another sandbox's hands a digest cannot be read: its day waits and then expires.
#[tokio::test]
async fn a_day_in_another_sandbox_expires_and_loses_no_story() {
    let (world, feeds) = ended().await;
    world.agents.is_sandbox.set(true);
    world.agents.forget(&world.conversation(TODAY));
    world.workspaces.dirs.borrow_mut().clear();
    let report = world.poll("run-2", &feeds.policy()).await;
    assert_eq!((finished(&report), world.status(TODAY)), (vec![], "active"));
    world.pass(2.0 * HOUR);
    let report = world.poll("run-3", &feeds.policy()).await;
    assert_eq!(finished(&report), [(TODAY, "expired")]);
    assert_eq!(news::seen(&world.document()), [""; 0]);
    assert_eq!(world.log.of("interrupt"), [""; 0]);
}

/// How often yesterday could not be set up is nobody's concern any more when today has begun.
#[tokio::test]
async fn failures_of_days_gone_by_are_forgotten() {
    let world = World::new(&NEWS, news::TARGET);
    let feeds = NewsFeeds::new(&world);
    feeds.publish(&["a"]);
    let refused = AgentError::Refused("422".into());
    world.agents.next_starts.borrow_mut().push_back(refused);
    world.poll("run-1", &feeds.policy()).await;
    assert_eq!(world.document().retry_tasks(), [TODAY]);
    world.pass(24.0 * HOUR);
    let report = world.poll("run-2", &feeds.policy()).await;
    assert_eq!(started(&report), [TOMORROW]);
    assert_eq!(world.document().retry_tasks(), [""; 0]);
}
