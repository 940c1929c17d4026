//! Pull requests that ask for a review.

use super::{Scene, at_most_one, exactly_one};
use crate::stage::{Automation, Backend, Stage};
use serde_json::{Value, json};
use testbed::StandIn;
use testbed::agent_server::{Deed, Pace, Script, Status};
use testbed::call::Call;
use testbed::github::{GitHub, NewPull, Posted, Pull, Repository};

pub const GITHUB_TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
pub const LABEL: &str = "openhands-review";

/// A reviewer, a GitHub and a repository on it.
pub struct PullRequests {
    pub stage: Stage,
    pub github: GitHub,
    pub repo: Repository,
}

/// What a scripted agent makes of a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reviewing {
    /// It publishes a review.
    Publishes,
    /// It only says what it thinks.
    OnlySays,
}

impl PullRequests {
    /// A repository without pull requests, and agents that only say what they think.
    pub fn none(backend: Backend) -> Self {
        let github = GitHub::start().unwrap();
        github.token(GITHUB_TOKEN, "review-bot");
        let repo = github.repo("acme/widget");
        let config = json!({"repos": ["acme/widget"], "github_api_url": github.api_url()});
        let stage = Stage::new(Automation::Review, backend, "acme/widget", config);
        stage
            .agent
            .set_secret("GITHUB_PERSONAL_ACCESS_TOKEN", GITHUB_TOKEN);
        let scene = Self {
            stage,
            github,
            repo,
        };
        scene.agents(Reviewing::OnlySays);
        scene
    }

    /// One pull request that carries the label.
    pub fn one_labelled(backend: Backend) -> Self {
        let scene = Self::none(backend);
        scene.labelled("Faster start");
        scene
    }

    /// Opens a pull request and puts the label on it.
    pub fn labelled(&self, title: &str) -> Pull {
        let pull = self.repo.open_pull(
            NewPull::titled(title)
                .files([("src/lib.rs", "pub fn start() {}\n"), ("notes.txt", title)]),
        );
        pull.label(LABEL, "alice");
        pull
    }

    /// The agent says what it thinks and is done, when the test says so.
    pub fn script() -> Script {
        Script::of([Status::Idle, Status::Running, Status::Finished])
            .pace(Pace::Told)
            .response("I have looked at it: nothing to object to.")
    }

    /// The pull request of that number.
    pub fn pull(&self, number: u64) -> Pull {
        self.repo.pull(number).unwrap()
    }

    /// What agents do from now on.
    pub fn agents(&self, reviewing: Reviewing) {
        let script = Self::script();
        let script = match reviewing {
            Reviewing::OnlySays => script,
            Reviewing::Publishes => {
                let url = format!(
                    "{}/repos/acme/widget/pulls/1/reviews",
                    self.github.api_url()
                );
                let head = self.pull(1).head_sha();
                let body = json!({"commit_id": head, "event": "COMMENT", "body": "Looks good."});
                let call = Call::post(&url, &body)
                    .bearer(GITHUB_TOKEN)
                    .header("user-agent", "agent");
                script.on_finish(Deed::http(call))
            }
        };
        self.stage.agent.set_script(script);
    }

    /// Comments of ours on a pull request that carry the mark of this kind.
    pub fn marked(&self, number: u64, kind: &str) -> Vec<Posted> {
        let mark = format!("kind={kind} -->");
        let mut comments = self.pull(number).comments();
        comments.retain(|comment| comment.body.contains(&mark));
        comments
    }

    pub fn acknowledgements(&self, number: u64) -> usize {
        self.marked(number, "acknowledgement").len()
    }

    pub fn results(&self, number: u64) -> usize {
        self.marked(number, "result").len()
    }

    /// The record of a pull request.
    pub fn record_of(&self, number: u64) -> Value {
        let records = self.stage.records();
        let found = records
            .into_iter()
            .find(|(task, _)| task.starts_with(&format!("{number}:label:")));
        found.map(|(_, record)| record).unwrap_or_default()
    }

    /// Requests to the API and to the download host, as lines.
    pub fn requests(&self) -> Vec<String> {
        let mut lines = self.github.server().log().lines();
        lines.extend(self.github.codeload().log().lines());
        lines
    }

    /// Nobody was asked what nobody expected.
    pub fn check(&self) {
        self.stage.check();
        self.github.check().unwrap();
    }
}

impl Scene for PullRequests {
    fn stage(&self) -> &Stage {
        &self.stage
    }

    fn stage_mut(&mut self) -> &mut Stage {
        &mut self.stage
    }

    fn around(&self) -> Vec<&StandIn> {
        vec![self.github.server(), self.github.codeload()]
    }

    fn doubled(&self) -> Result<(), String> {
        at_most_one("conversations", self.stage.agent.created())?;
        at_most_one("acknowledgements", self.acknowledgements(1))?;
        at_most_one("results", self.results(1))
    }

    fn is_done(&self) -> Result<(), String> {
        exactly_one("conversations", self.stage.agent.created())?;
        exactly_one("acknowledgements", self.acknowledgements(1))?;
        exactly_one("results", self.results(1))?;
        let comments = self.pull(1).comments();
        if comments.len() != 2 || self.stage.statuses() != ["closed"] {
            return Err(format!("{comments:#?}\n{:#}", self.stage.document()));
        }
        Ok(())
    }
}
