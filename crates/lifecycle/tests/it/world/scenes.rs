//! What many tests begin with: one pull request or one issue that carries the label, and what has
//! come of it so far.

/// A pull request.
pub mod pull {
    use crate::world::github::{GitHub, REPO, commit};
    use crate::world::{AUTOMATION, MINUTE, NOW, World, started};
    use lifecycle::document::{Field, REVIEW, Record, Status};
    use lifecycle::identity::conversation_id;

    pub const TASK: &str = "4:label:4";
    pub const DIR: &str = "/root/acme__widget/pr-4-bbbbbbbbbbbb";

    /// Nothing has been started.
    pub fn world() -> (World, GitHub) {
        let world = World::new(&REVIEW, REPO);
        let github = GitHub::new(&world);
        github.open_labelled(4);
        (world, github)
    }

    /// A review has just been started, as this conversation.
    pub async fn at_work() -> (World, GitHub, String) {
        let (world, github) = world();
        let report = world.poll("run-1", &github.policy()).await;
        assert_eq!(started(&report), [TASK]);
        let id = world.conversation(TASK);
        world.log.clear();
        (world, github, id)
    }

    /// run-1 died in the middle of setting up, 20 minutes ago.
    pub fn after_a_death() -> (World, GitHub, String) {
        let (world, github) = world();
        let id = conversation_id(AUTOMATION, REPO, TASK);
        let mut record = Record::default();
        record
            .set_status(Status::Starting)
            .set(Field::PrNumber, 4)
            .set(Field::HeadSha, commit('b'))
            .set(Field::LabelEventId, 4)
            .set(Field::ConversationId, id.as_str())
            .set(Field::WorkspaceDir, DIR)
            .set(Field::LastActivity, NOW - 20.0 * MINUTE)
            .set(Field::LeaseOwner, "run-1")
            .set(Field::LeaseUntil, NOW - 5.0 * MINUTE);
        world.store.edit(|document| {
            document.put_record(TASK, record);
        });
        world.workspaces.make(DIR);
        (world, github, id)
    }
}

/// An issue.
pub mod issue {
    use crate::world::gitlab::{GitLab, PROJECT};
    use crate::world::{MINUTE, World, started};
    use lifecycle::document::ISSUE;
    use lifecycle::ports::Conversation;

    pub const TASK: &str = "42:label:123";
    pub const BRANCH: &str = "openhands/issue-42";

    /// Nothing has been started.
    pub fn world() -> (World, GitLab) {
        let world = World::new(&ISSUE, PROJECT);
        let gitlab = GitLab::new(&world);
        gitlab.open_labelled(42, 123);
        (world, gitlab)
    }

    /// The conversation has ended like this with these words, a minute after its start.
    pub async fn ended(how: Conversation, words: &str) -> (World, GitLab) {
        let (world, gitlab) = world();
        let report = world.poll("run-1", &gitlab.policy()).await;
        assert_eq!(started(&report), [TASK]);
        world.agents.is(&world.conversation(TASK), how, words);
        world.pass(MINUTE);
        world.log.clear();
        (world, gitlab)
    }

    /// The same, with that many commits in its clone.
    pub async fn ended_with(how: Conversation, commits: u64) -> (World, GitLab) {
        let (world, gitlab) = ended(how, "Done.").await;
        gitlab.commits(commits);
        (world, gitlab)
    }
}
