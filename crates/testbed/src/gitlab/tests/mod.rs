//! Every behaviour over the socket, as a client sees it, and git with a real git.

mod git;
mod issues;
mod merge_requests;
mod projects;
mod secure;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::{GitLab, Issue, NewIssue, Project};
use crate::call::{Answer, Call};
use crate::coding::encode;
use crate::schema::Schemas;

const TOKEN: &str = "glpat-1";

/// A GitLab with a project three groups deep, in which `automation` is a developer.
struct World {
    gitlab: GitLab,
    project: Project,
}

impl World {
    fn new() -> Self {
        Self::of(GitLab::start().unwrap())
    }

    fn of(gitlab: GitLab) -> Self {
        gitlab.set_now(1_787_043_600.0);
        gitlab.token(TOKEN, "automation");
        let project = gitlab.project("group/team/service").unwrap();
        project.set_member("automation", 30);
        Self { gitlab, project }
    }

    /// The address of something below the project.
    fn url(&self, rest: &str) -> String {
        let project = encode(&self.project.path());
        format!("{}/projects/{project}{rest}", self.gitlab.api_url())
    }

    fn get(&self, rest: &str) -> Answer {
        Call::get(&self.url(rest))
            .header("private-token", TOKEN)
            .send()
            .unwrap()
    }

    fn post(&self, rest: &str, body: &Value) -> Answer {
        Call::post(&self.url(rest), body)
            .header("private-token", TOKEN)
            .send()
            .unwrap()
    }

    fn issue(&self) -> Issue {
        self.project.open_issue(NewIssue::titled("Retry uploads"))
    }
}

/// The values of a member over a list.
fn pluck(answer: &Answer, member: &str) -> Vec<u64> {
    let list = answer.json();
    list.as_array()
        .unwrap()
        .iter()
        .map(|item| item[member].as_u64().unwrap())
        .collect()
}

/// Fails unless a value (or every item of a list) fits its schema.
#[track_caller]
fn fits(schema: &str, value: &Value) {
    let schemas = Schemas::gitlab();
    let problems = match value {
        Value::Array(items) => {
            assert!(!items.is_empty());
            schemas.check_items(schema, value)
        }
        value => schemas.check(schema, value),
    };
    assert!(problems.is_empty(), "{schema}: {problems:#?}");
}

/// A call of a real git that knows nothing of this machine, with a credential for one host if given.
fn command(directory: &Path, credential: Option<(&str, &str)>, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    for (name, value) in super::git::environment(directory) {
        command.env(name, value);
    }
    for (name, value) in [
        ("no_proxy", "127.0.0.1"),
        ("GIT_AUTHOR_NAME", "agent"),
        ("GIT_AUTHOR_EMAIL", "agent@example.org"),
        ("GIT_COMMITTER_NAME", "agent"),
        ("GIT_COMMITTER_EMAIL", "agent@example.org"),
    ] {
        command.env(name, value);
    }
    if let Some((host, token)) = credential {
        let basic = crate::coding::base64(format!("oauth2:{token}").as_bytes());
        command
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", format!("http.{host}/.extraHeader"))
            .env(
                "GIT_CONFIG_VALUE_0",
                format!("Authorization: Basic {basic}"),
            );
    }
    command.current_dir(directory).args(arguments);
    command
}

fn git(directory: &Path, credential: Option<(&str, &str)>, arguments: &[&str]) -> Output {
    command(directory, credential, arguments).output().unwrap()
}

/// The same, and it must succeed.
#[track_caller]
fn git_ok(directory: &Path, credential: Option<(&str, &str)>, arguments: &[&str]) -> String {
    let output = git(directory, credential, arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "git {arguments:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
