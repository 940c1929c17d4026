//! Issues that ask for work.

use super::{Scene, at_most_one, exactly_one};
use crate::stage::{Automation, Backend, Stage};
use serde_json::{Value, json};
use testbed::StandIn;
use testbed::agent_server::{Pace, Script, Status};
use testbed::gitlab::{GitLab, Issue, MergeRequest, NewIssue, Project};
use testbed::tls::PrivateCa;

pub const GITLAB_TOKEN: &str = "glpat-SECRETSECRETSECRET1";
pub const LABEL: &str = "openhands";

/// An issue automation, a GitLab and a project on it.
pub struct Issues {
    pub stage: Stage,
    pub gitlab: GitLab,
    pub project: Project,
}

impl Issues {
    /// A project without issues, and agents that commit one change and leave another.
    pub fn none(backend: Backend) -> Self {
        Self::on(GitLab::start().unwrap(), backend, "group/service")
    }

    /// The same on an instance below a path, behind a certificate of an authority that only
    /// `SSL_CERT_FILE` makes known.
    pub fn behind_a_private_authority(backend: Backend, path: &str) -> Self {
        let ca = PrivateCa::new().unwrap();
        let mut scene = Self::on(GitLab::start_tls("/gitlab", &ca).unwrap(), backend, path);
        let file = ca.write_to(scene.stage.aside.path()).unwrap();
        scene
            .stage
            .set("SSL_CERT_FILE", &file.display().to_string());
        scene
    }

    fn on(gitlab: GitLab, backend: Backend, path: &str) -> Self {
        gitlab.token(GITLAB_TOKEN, "issue-bot");
        let initial = [("README.md", "# service\n"), ("limit.txt", "1\n")];
        let project = gitlab.project_with(path, initial).unwrap();
        project.set_member("issue-bot", 30);
        project.set_member("maintainer", 40);
        let config = json!({"projects": [path], "gitlab_api_url": gitlab.url()});
        let stage = Stage::new(Automation::Issue, backend, path, config);
        stage.agent.set_secret("GITLAB_TOKEN", GITLAB_TOKEN);
        stage.agent.set_script(Self::script());
        Self {
            stage,
            gitlab,
            project,
        }
    }

    /// The agent commits one change, leaves another one uncommitted, and is done when the test
    /// says so.
    pub fn script() -> Script {
        Script::of([Status::Idle, Status::Running, Status::Finished])
            .pace(Pace::Told)
            .writes("limit.txt", "3\n")
            .git(&["commit", "-qam", "Raise the limit to 3"])
            .writes("CHANGES.md", "- The limit is 3.\n")
            .response("The limit is 3 now.")
    }

    /// One issue that carries the label.
    pub fn one_labelled(backend: Backend) -> Self {
        let scene = Self::none(backend);
        scene.labelled("Raise the limit to 3");
        scene
    }

    /// Opens an issue and puts the label on it.
    pub fn labelled(&self, title: &str) -> Issue {
        let issue = self
            .project
            .open_issue(NewIssue::titled(title).by("maintainer"));
        issue.label(LABEL, "maintainer");
        issue
    }

    /// The texts of the notes that are not GitLab's own.
    pub fn notes(&self, iid: u64) -> Vec<String> {
        let mut notes = self.project.issue(iid).unwrap().notes();
        notes.retain(|note| !note.system);
        notes.into_iter().map(|note| note.body).collect()
    }

    /// The branches beside the default branch.
    pub fn branches(&self) -> Vec<String> {
        let branches = self.project.branches().into_keys();
        branches.filter(|name| name != "main").collect()
    }

    pub fn merge_requests(&self) -> Vec<MergeRequest> {
        self.project.merge_requests()
    }

    /// The record of an issue.
    pub fn record_of(&self, iid: u64) -> Value {
        let records = self.stage.records();
        let found = records
            .into_iter()
            .find(|(task, _)| task.starts_with(&format!("{iid}:label:")));
        found.map(|(_, record)| record).unwrap_or_default()
    }

    /// Starts what there is to start, lets the agents finish, and lets a minute pass.
    pub fn started_and_finished(&self) {
        self.stage.run().ok();
        self.stage.agents_finish();
        self.stage.let_time_pass(crate::stage::A_MINUTE);
    }

    /// Nobody was asked what nobody expected.
    pub fn check(&self) {
        self.stage.check();
        self.gitlab.check().unwrap();
    }
}

impl Scene for Issues {
    fn stage(&self) -> &Stage {
        &self.stage
    }

    fn stage_mut(&mut self) -> &mut Stage {
        &mut self.stage
    }

    fn around(&self) -> Vec<&StandIn> {
        vec![self.gitlab.server()]
    }

    fn doubled(&self) -> Result<(), String> {
        at_most_one("conversations", self.stage.agent.created())?;
        at_most_one("branches", self.branches().len())?;
        at_most_one("merge requests", self.merge_requests().len())?;
        at_most_one("notes", self.notes(1).len())
    }

    fn is_done(&self) -> Result<(), String> {
        exactly_one("conversations", self.stage.agent.created())?;
        exactly_one("branches", self.branches().len())?;
        exactly_one("merge requests", self.merge_requests().len())?;
        exactly_one("notes", self.notes(1).len())?;
        // A push whose line broke off has arrived without being listed.
        at_most_one("pushes", self.project.pushes().len())?;
        let commits = self.project.commits("main..openhands/issue-1").len();
        if commits != 2 || self.stage.statuses() != ["closed"] {
            return Err(format!("{commits} commits\n{:#}", self.stage.document()));
        }
        Ok(())
    }
}
