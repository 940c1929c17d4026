//! What people are told about a token and a repository, against the stand-in for GitHub.
#![allow(clippy::unwrap_used, reason = "tests")]

use github_adapter::{Access, GitHub, api_base, parse_repo};
use http_client::{Client, Policy, Secret};
use lifecycle::ports::ForgeError;
use testbed::github::{self, NewPull};

fn adapter(github: &github::GitHub, token: &str) -> GitHub {
    let api = api_base(&github.api_url()).unwrap();
    let name = parse_repo("acme/widget", &api).unwrap();
    let client = Client::new(Policy::default()).unwrap();
    GitHub::new(client, api, name, Secret::new(token))
}

#[tokio::test]
async fn a_token_is_told_whose_it_is_and_what_it_may() {
    let github = github::GitHub::start().unwrap();
    github.token("writes", "acme-bot");
    github.read_only_token("reads", "reader");
    let repo = github.repo("acme/widget");
    let access = |role| Access {
        full_name: "acme/widget".to_owned(),
        archived: false,
        role: Some(role),
    };
    let writer = adapter(&github, "writes");
    assert_eq!(writer.login().await.unwrap(), "acme-bot");
    assert_eq!(writer.access().await.unwrap(), access("write"));
    let reader = adapter(&github, "reads");
    assert_eq!(reader.access().await.unwrap(), access("read"));
    repo.archive();
    assert!(reader.access().await.unwrap().archived);
    let stranger = adapter(&github, "unknown");
    let error = stranger.login().await.unwrap_err();
    assert!(matches!(error, ForgeError::BadToken { .. }), "{error}");
    github.check().unwrap();
}

#[tokio::test]
async fn a_repository_that_is_hidden_is_no_access() {
    let github = github::GitHub::start().unwrap();
    github.token("other", "outsider");
    github.repo("acme/widget").make_private(["acme-bot"]);
    let error = adapter(&github, "other").access().await.unwrap_err();
    assert!(matches!(error, ForgeError::NoAccess { .. }), "{error}");
}

#[tokio::test]
async fn a_label_is_there_or_not() {
    let github = github::GitHub::start().unwrap();
    github.token("writes", "acme-bot");
    let repo = github.repo("acme/widget");
    repo.open_pull(NewPull::titled("One"))
        .label("Take a look?", "alice");
    let adapter = adapter(&github, "writes");
    assert!(adapter.has_label("take a LOOK?").await.unwrap());
    assert!(!adapter.has_label("openhands-review").await.unwrap());
    github.check().unwrap();
}
