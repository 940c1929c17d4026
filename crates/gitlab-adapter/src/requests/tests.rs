use std::fmt::Write as _;

use super::*;
use crate::config::{api_base, parse_project};
use crate::fixtures;

fn requests(api: &str, project: &str) -> Requests {
    let api = api_base(api).unwrap();
    let path = parse_project(project, &api).unwrap();
    Requests::new(api, path.as_str())
}

fn draft() -> MergeRequestDraft {
    MergeRequestDraft {
        source_branch: "openhands/issue-42".to_owned(),
        target_branch: "main".to_owned(),
        title: "Draft: Retry \"uploads\"".to_owned(),
        description: "Closes #42\n<!-- marker -->".to_owned(),
    }
}

fn all(requests: &Requests) -> Vec<Ask> {
    let sha = |digit: &str| digit.repeat(40);
    vec![
        requests.user(),
        requests.project(),
        requests.labels("needs work"),
        requests.labels("5\" disk"),
        requests.open_issues("agent::todo"),
        requests.open_issues("a, b"),
        requests.issue(42),
        requests.label_events(42),
        requests.notes(42),
        requests.new_note(42, "A \"quoted\" line\n<!-- marker -->"),
        requests.member(5),
        requests.branch("openhands/issue-42").unwrap(),
        requests.merge_requests("openhands/issue-42"),
        requests.new_merge_request(&draft()),
        requests.merge_base(&sha("c"), &sha("b")),
    ]
}

fn shown(asks: &[Ask]) -> String {
    let mut text = String::new();
    for ask in asks {
        writeln!(text, "{} {}", ask.method, ask.url).unwrap();
        if let Some(body) = &ask.body {
            writeln!(text, "  {body}").unwrap();
        }
    }
    text
}

#[test]
fn requests_about_a_project_three_groups_deep_below_a_path() {
    let requests = requests("https://git.example.com/gitlab", "group/team/sub/service");
    insta::assert_snapshot!("requests-by-path", shown(&all(&requests)));
}

#[test]
fn requests_about_a_moved_project_go_by_number() {
    let requests = requests("https://gitlab.com", "group/service").by_number(81);
    insta::assert_snapshot!("requests-by-number", shown(&all(&requests)));
}

#[test]
fn paths_are_encoded_whole_and_once() {
    for case in fixtures::json("paths-to-encode.json").as_array().unwrap() {
        let expected = case["path"].as_str().unwrap();
        let at = |project| requests("https://gitlab.example.com", project);
        let ask = if let Some(configured) = case["configured"].as_str() {
            at(configured).project()
        } else {
            at("group/service")
                .branch(case["branch"].as_str().unwrap())
                .unwrap()
        };
        assert!(ask.url.as_str().ends_with(expected), "{}", ask.url);
    }
    let hostile = requests("https://gitlab.example.com", "group/service")
        .branch("a?b#c%2F..")
        .unwrap();
    assert!(
        hostile.url.as_str().ends_with("/branches/a%3Fb%23c%252F.."),
        "{}",
        hostile.url
    );
    for name in ["", ".", ".."] {
        assert!(
            requests("https://gitlab.com", "group/service")
                .branch(name)
                .is_none()
        );
    }
}

#[test]
fn the_filter_carries_the_label_as_it_is() {
    let requests = requests("https://gitlab.example.com", "group/service");
    for case in fixtures::json("labels-to-filter-by.json")
        .as_array()
        .unwrap()
    {
        let ask = requests.open_issues(case["label"].as_str().unwrap());
        let query = ask.url.query().unwrap();
        let allowed = case["query_any_of"]
            .as_array()
            .cloned()
            .unwrap_or_else(|| vec![case["query"].clone()]);
        let sent = query
            .split('&')
            .find(|pair| pair.starts_with("labels="))
            .unwrap();
        assert!(allowed.iter().any(|one| one == sent), "{query}");
    }
    for label in ["a,b", " padded", "None", "any"] {
        let ask = requests.open_issues(label);
        assert!(!ask.url.query().unwrap().contains("labels="), "{}", ask.url);
    }
}

#[test]
fn calls_in_words_have_no_query() {
    let requests = requests("https://gitlab.com", "group/service");
    assert_eq!(
        requests.notes(42).call(),
        "GET /api/v4/projects/group%2Fservice/issues/42/notes"
    );
}

#[test]
fn bodies_have_the_published_shapes() {
    let schemas = testbed::schema::Schemas::gitlab();
    let requests = requests("https://gitlab.com", "group/service");
    for (schema, ask) in [
        ("request:create-note", requests.new_note(42, "Done.")),
        (
            "request:create-merge-request",
            requests.new_merge_request(&draft()),
        ),
    ] {
        assert_eq!(schemas.check_closed(schema, &ask.body.unwrap()), []);
    }
}
