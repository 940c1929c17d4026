//! Claims whose run has died: looked up before anything follows from them.

use crate::world::scenes::pull::{DIR, TASK, after_a_death};
use crate::world::{HOUR, MINUTE, NOW, finished, started};
use lifecycle::document::{Field, Retry};
use lifecycle::identity::{Kind, marker};
use lifecycle::ports::Conversation;

#[tokio::test]
async fn a_claim_with_a_conversation_is_adopted() {
    let (world, github, id) = after_a_death();
    world.agents.is(&id, Conversation::Running, "");
    world.store.edit(|document| {
        let retry = Retry {
            attempts: 2,
            ..Retry::default()
        };
        document.put_retry(TASK, &retry);
    });
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(world.status(TASK), "active");
    assert_eq!(
        world.document().retry(TASK),
        None,
        "setting it up has succeeded after all"
    );
    assert_eq!(started(&report), [""; 0]);
    assert_eq!(
        world.agents.starts.borrow().len(),
        0,
        "nothing is started twice"
    );
    assert_eq!(world.workspaces.all(), [DIR]);
    assert_eq!(
        github.comments_with(&marker(TASK, Kind::Acknowledgement)),
        1
    );
    let record = world.record(TASK);
    assert_eq!(record.text(Field::LeaseOwner), None);
    assert_eq!(
        Some(record.last_activity()),
        Some(NOW - 20.0 * MINUTE),
        "it started back then"
    );
}

#[tokio::test]
async fn an_adopted_claim_is_acknowledged_only_once() {
    let (world, github, id) = after_a_death();
    world.agents.is(&id, Conversation::Running, "");
    let posted = format!("reviewing\n{}", marker(TASK, Kind::Acknowledgement));
    github.comments.borrow_mut().push((4, posted));
    world.poll("run-2", &github.policy()).await;
    assert_eq!(world.status(TASK), "active");
    assert_eq!(github.comments.borrow().len(), 1);
}

#[tokio::test]
async fn a_claim_without_a_conversation_is_released_and_started_anew() {
    let (world, github, id) = after_a_death();
    let report = world.poll("run-2", &github.policy()).await;
    let deeds = world.log.all();
    let at = |deed: &str| deeds.iter().rposition(|found| found == deed).expect(deed);
    assert!(at(&format!("remove {DIR}")) < at("write 4:label:4 removed"));
    assert!(at("write 4:label:4 removed") < at("write 4:label:4 starting"));
    assert_eq!(started(&report), [TASK]);
    assert_eq!(world.conversation(TASK), id);
    assert_eq!(world.record(TASK).count(Field::Attempt), Some(1));
}

#[tokio::test]
async fn a_claim_waits_while_the_server_cannot_say() {
    let (world, github, _) = after_a_death();
    world.agents.is_silent.set(true);
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(world.status(TASK), "starting");
    assert_eq!(world.workspaces.all(), [DIR]);
    assert!(
        report
            .warnings
            .iter()
            .any(|text| text.contains("connection refused"))
    );
}

#[tokio::test]
async fn a_young_claim_is_left_alone_whatever_the_server_says() {
    let (world, github, _) = after_a_death();
    world.clock.now.set(NOW - 6.0 * MINUTE);
    world.poll("run-2", &github.policy()).await;
    assert_eq!(world.status(TASK), "starting");
    assert_eq!(world.log.of("observe").len(), 0, "it costs no question");
}

/// In sandbox mode the conversation is on another server: GitHub knows a result, or the two hours
/// decide.
#[tokio::test]
async fn in_a_sandbox_an_unknown_conversation_is_elsewhere() {
    let (world, github, _) = after_a_death();
    world.agents.is_sandbox.set(true);
    world.poll("run-2", &github.policy()).await;
    assert_eq!(world.status(TASK), "starting");
    assert_eq!(world.agents.starts.borrow().len(), 0);

    let published = (4, crate::world::github::commit('b'), NOW);
    github.reviews.borrow_mut().push(published);
    let report = world.poll("run-3", &github.policy()).await;
    assert_eq!(finished(&report), [(TASK, "closed")]);
    assert_eq!(github.comments.borrow().len(), 0);
}

#[tokio::test]
async fn in_a_sandbox_an_unknown_conversation_expires_without_an_interrupt() {
    let (world, github, _) = after_a_death();
    world.agents.is_sandbox.set(true);
    world.pass(2.0 * HOUR);
    let report = world.poll("run-2", &github.policy()).await;
    assert_eq!(finished(&report), [(TASK, "expired")]);
    assert_eq!(world.log.of("interrupt").len(), 0);
    assert_eq!(world.workspaces.all(), [""; 0]);
}
