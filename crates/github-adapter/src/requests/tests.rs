use std::fmt::Write as _;

use super::*;
use crate::config::{api_base, parse_repo};

fn requests(api: &str) -> Requests {
    let api = api_base(api).unwrap();
    let repo = parse_repo("acme/widget", &api).unwrap();
    Requests::new(api, repo)
}

fn shown(asks: &[Ask]) -> String {
    let mut text = String::new();
    for ask in asks {
        writeln!(text, "{} {}\n  accept: {}", ask.method, ask.url, ask.accept).unwrap();
        if let Some(body) = &ask.body {
            writeln!(text, "  {body}").unwrap();
        }
    }
    text
}

fn all(requests: &Requests) -> Vec<Ask> {
    vec![
        requests.user(),
        requests.viewer(),
        requests.repository(),
        requests.open_pulls(),
        requests.pull(42),
        requests.events(42),
        requests.reviews(42),
        requests.comments(42, 1_787_044_320.9),
        requests.new_comment(42, "A \"quoted\" line\n<!-- marker -->"),
        requests
            .file(".agents/skills/custom-codereview-guide.md", "main")
            .unwrap(),
        requests.file("/docs/a b#c?d%2F.md", "topic/ä&b").unwrap(),
        requests.archive("0123456789abcdef0123456789abcdef01234567"),
    ]
}

#[test]
fn requests_to_the_cloud() {
    insta::assert_snapshot!(
        "requests-to-the-cloud",
        shown(&all(&requests("https://api.github.com")))
    );
}

#[test]
fn requests_to_an_enterprise_server() {
    let requests = requests("https://github.example.com/api/v3");
    insta::assert_snapshot!("requests-to-an-enterprise-server", shown(&all(&requests)));
}

#[test]
fn a_path_never_leaves_the_files_of_the_repository() {
    let requests = requests("https://api.github.com");
    for path in ["", "/", "..", "../x", "a/../../b", "a/./b", "a//b", "a/.."] {
        assert!(requests.file(path, "main").is_none(), "{path}");
    }
}

#[test]
fn calls_in_words_have_no_query() {
    let requests = requests("https://api.github.com");
    assert_eq!(
        requests.comments(42, 0.0).call(),
        "GET /repos/acme/widget/issues/42/comments"
    );
}

#[test]
fn bodies_have_the_published_shape() {
    let schemas = testbed::schema::Schemas::github();
    let ask = requests("https://api.github.com").new_comment(42, "Done.");
    assert_eq!(
        schemas.check_closed("request:create-issue-comment", &ask.body.unwrap()),
        []
    );
}
