//! What the deployed automations look at: a news site, a GitHub and a GitLab, each with one trigger
//! and the script of the agent that follows from it.

use serde_json::{Value, json};
use testbed::feeds::Feeds;
use testbed::github::{GitHub, Pull};

use crate::e2e::error::E2eError;
use crate::e2e::facts::Facts;
use crate::e2e::product::{Stage, issue, news, review};

pub(super) struct Scene {
    feeds: Feeds,
    feed: String,
    story: String,
    repo: String,
    github: GitHub,
    pull: Pull,
    gitlab: issue::Scene,
}

impl Scene {
    /// One of which everything is called by this word.
    pub(super) fn new(stage: &Stage, word: &str) -> Result<Self, E2eError> {
        let story = format!("Night trains return, {word}");
        let (feeds, feed) = news::site(&story)?;
        news::writes_digest(stage, &story);
        let repo = format!("acme/{word}");
        let (github, pull) = review::labelled(stage, &repo)?;
        stage
            .llm
            .play_for(&format!("pull request {repo}#"), review::play());
        let project = format!("group/{word}/service");
        let gitlab = issue::Scene::new(stage, &project)?;
        stage
            .llm
            .play_for(&format!("of {project}"), issue::commits());
        Ok(Self {
            feeds,
            feed,
            story,
            repo,
            github,
            pull,
            gitlab,
        })
    }

    /// The configuration of an automation that looks at it.
    pub(super) fn config(&self, name: &str) -> Value {
        match name {
            "news-digest" => json!({"feeds": [self.feed], "wait_seconds": 0}),
            "github-pr-reviewer" => review::configured(&self.github, &self.repo).0,
            _ => self.gitlab.configured().0,
        }
    }

    /// The configuration of a reviewer of a repository that the token cannot see.
    pub(super) fn config_of_unseen(&self) -> Value {
        review::configured(&self.github, "acme/unseen").0
    }

    /// Checks what people see in the end, and that nothing was asked that nobody expected.
    pub(super) fn check(&self, digest: &Value, facts: &mut Facts) -> Result<(), E2eError> {
        facts.check(
            "news: the digest that the document holds is the agent's",
            digest["text"]
                .as_str()
                .is_some_and(|text| text.starts_with(&self.story)),
            &digest.to_string(),
        );
        review::one_of_each(facts, &self.pull);
        self.gitlab.one_of_each(facts);
        self.feeds.server().check()?;
        self.github.check()?;
        Ok(self.gitlab.forge.check()?)
    }
}
