//! Every behaviour over the socket, as a client sees it.

mod archives;
mod limits;
mod posting;
mod reading;

use serde_json::{Value, json};

use super::{GitHub, NewPull, Pull, Repository};
use crate::call::{Answer, Call};
use crate::schema::Schemas;

/// A GitHub with the repository `acme/widget` and a token of `acme-bot`.
struct World {
    github: GitHub,
    repo: Repository,
}

impl World {
    fn new() -> Self {
        let github = GitHub::start().unwrap();
        github.set_now(1_787_043_600.0);
        github.token("ghp_1", "acme-bot");
        let repo = github.repo("acme/widget");
        Self { github, repo }
    }

    fn url(&self, path: &str) -> String {
        if path.starts_with("http") {
            path.to_owned()
        } else {
            self.github.api_url() + path
        }
    }

    fn call(&self, method: &str, path: &str) -> Call {
        Call::new(method, &self.url(path))
            .bearer("ghp_1")
            .header("user-agent", "tests")
            .header("accept", "application/vnd.github+json")
            .header("x-github-api-version", "2022-11-28")
    }

    fn get(&self, path: &str) -> Answer {
        self.call("GET", path).send().unwrap()
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        self.call("POST", path).json(body).send().unwrap()
    }

    fn pull(&self) -> Pull {
        let files = [("src/lib.rs", "pub fn one() -> u8 {\n    1\n}\n")];
        self.repo.open_pull(NewPull::titled("Add one").files(files))
    }
}

/// Fails unless every item of a list (or the value alone) fits its published schema.
#[track_caller]
fn fits(schema: &str, value: &Value) {
    let schemas = Schemas::github();
    let problems = match value {
        Value::Array(items) => {
            assert!(!items.is_empty());
            schemas.check_items(schema, value)
        }
        value => schemas.check(schema, value),
    };
    assert!(problems.is_empty(), "{schema}: {problems:#?}");
}
