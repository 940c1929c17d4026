//! The adapter against answers written down word for word: cases met elsewhere, each a file under
//! `fixtures/gitlab/`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use gitlab_adapter::{GitLab, parse_project};
use http_client::{Client, Policy, Secret, Url};
use lifecycle::ports::{ForgeError, IssueForge, MergeRequestDraft};
use serde_json::{Value, json};
use testbed::written::{self, Answer};
use testbed::{StandIn, fixtures};

const TOKEN: &str = "glpat-0123456789abcdef01";

fn serve(answers: Vec<Answer>) -> StandIn {
    written::serve("GitLab, written down", answers).unwrap()
}

fn adapter(server: &StandIn) -> GitLab {
    let api: Url = server.url("/gitlab/api/v4").parse().unwrap();
    let project = parse_project("group/team/service", &api).unwrap();
    GitLab::new(
        Client::new(Policy::default()).unwrap(),
        api,
        project,
        Secret::new(TOKEN),
    )
}

fn asked(server: &StandIn) -> Vec<String> {
    server
        .log()
        .all()
        .iter()
        .map(|one| format!("{} {}", one.method, one.target()))
        .collect()
}

fn fixture(name: &str) -> Value {
    fixtures::read(&format!("gitlab/{name}")).unwrap()
}

fn draft() -> MergeRequestDraft {
    MergeRequestDraft {
        source_branch: "openhands/issue-42".to_owned(),
        target_branch: "main".to_owned(),
        title: "Draft: Retry uploads".to_owned(),
        description: "Closes #42".to_owned(),
    }
}

#[tokio::test]
async fn pages_without_totals() {
    let case = fixture("pages-without-totals.json");
    let mut iid = 0;
    let mut answers = Vec::new();
    for page in case["pages"].as_array().unwrap() {
        let issues: Vec<Value> = (0..page["items"].as_u64().unwrap())
            .map(|_| {
                iid += 1;
                json!({"iid": iid, "state": "opened", "labels": ["openhands"]})
            })
            .collect();
        answers.push(Answer::new(200, &page["headers"], &Value::Array(issues)));
    }
    let server = serve(answers);
    let listing = adapter(&server).list_labelled("openhands").await.unwrap();
    assert_eq!(listing.items.len(), 104);
    let project = "/gitlab/api/v4/projects/group%2Fteam%2Fservice";
    assert_eq!(
        asked(&server),
        [
            format!(
                "GET {project}/issues?state=opened&labels=openhands&order_by=updated_at&sort=desc&per_page=100"
            ),
            // The host of the link is another one; its query is asked for at home.
            format!("GET {project}/issues?page=2&per_page=100"),
        ]
    );
    assert!(
        server
            .log()
            .all()
            .iter()
            .all(|one| one.header("private-token") == Some(TOKEN))
    );
}

#[tokio::test]
async fn project_states() {
    for (state, expected) in fixture("project-states.json")
        .as_array()
        .unwrap()
        .iter()
        .zip([
            (None, true, false),
            (None, false, false),
            (Some("main".to_owned()), true, true),
        ])
    {
        let mut body = state.clone();
        body["id"] = 7.into();
        let server = serve(vec![Answer::ok(&body)]);
        let project = adapter(&server).project().await.unwrap();
        assert_eq!(
            (
                project.default_branch,
                project.repository_enabled,
                project.archived
            ),
            expected
        );
    }
}

#[tokio::test]
async fn merge_request_exists() {
    let case = fixture("merge-request-exists.json");
    let status = u16::try_from(case["create"]["status"].as_u64().unwrap()).unwrap();
    let server = serve(vec![
        Answer::new(status, &Value::Null, &case["create"]["body"]),
        Answer::ok(&case["list"]),
    ]);
    let forge = adapter(&server);
    let error = forge.open_merge_request(&draft()).await.unwrap_err();
    assert!(
        matches!(error, ForgeError::Refused { status: 409, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("!57"), "{error}");
    let found = forge.merge_requests("openhands/issue-42").await.unwrap();
    assert_eq!(
        found
            .iter()
            .map(|one| (one.iid, one.same_project))
            .collect::<Vec<_>>(),
        [(57, true)]
    );
}

#[tokio::test]
async fn a_label_that_the_filter_takes_apart_is_looked_for_here() {
    let issue = |iid: u64, labels: Value| json!({"iid": iid, "state": "opened", "labels": labels});
    let page = json!([
        issue(1, json!(["a, b"])),
        issue(2, json!(["a", "b"])),
        issue(3, json!([])),
        {"iid": 4, "state": "closed", "labels": ["a, b"]},
        {"iid": 5, "labels": ["a, b"]},
    ]);
    let server = serve(vec![Answer::ok(&page)]);
    let listing = adapter(&server).list_labelled("a, b").await.unwrap();
    assert_eq!(
        listing
            .items
            .iter()
            .map(|issue| issue.iid)
            .collect::<Vec<_>>(),
        [1]
    );
    assert_eq!(listing.warnings.len(), 1);
    assert!(!asked(&server)[0].contains("labels="));
}

#[tokio::test]
async fn the_project_s_own_spelling_of_a_label() {
    let labels = fixture("labels-page.json");
    let next = json!({"x-next-page": "2"});
    for (label, pages, expected) in [
        (
            "openhands",
            vec![labels.clone(), json!([])],
            Some("OpenHands"),
        ),
        (
            "openhands",
            vec![labels.clone(), json!([{"name": "openhands"}])],
            Some("openhands"),
        ),
        ("OPENHANDS", vec![labels.clone()], Some("OPENHANDS")),
        ("hands", vec![labels.clone(), json!([])], None),
    ] {
        let answers = pages.iter().enumerate().map(|(index, page)| {
            if index == 0 {
                Answer::new(200, &next, page)
            } else {
                Answer::ok(page)
            }
        });
        let server = serve(answers.collect());
        let spelling = adapter(&server).label_spelling(label).await.unwrap();
        assert_eq!(spelling.as_deref(), expected, "{label}");
        assert_eq!(server.log().len(), pages.len());
    }
}

#[tokio::test]
async fn a_moved_project_takes_writes_by_its_number() {
    let moved = json!({"id": 81, "path_with_namespace": "group/renamed"});
    let server = serve(vec![
        Answer::new(
            405,
            &Value::Null,
            &json!({"message": "Non GET methods are not allowed for moved projects"}),
        ),
        Answer::new(
            301,
            &json!({"location": "BASE/gitlab/api/v4/projects/81"}),
            &Value::Null,
        ),
        Answer::ok(&moved),
        Answer::new(201, &Value::Null, &json!({"id": 5})),
        Answer::new(201, &Value::Null, &json!({"id": 6})),
    ]);
    let forge = adapter(&server);
    forge.note(42, "Done.").await.unwrap();
    forge.note(42, "Again.").await.unwrap();
    let old = "/gitlab/api/v4/projects/group%2Fteam%2Fservice";
    let new = "/gitlab/api/v4/projects/81";
    assert_eq!(
        asked(&server),
        [
            format!("POST {old}/issues/42/notes"),
            format!("GET {old}"),
            format!("GET {new}"),
            format!("POST {new}/issues/42/notes"),
            format!("POST {new}/issues/42/notes"),
        ]
    );
    assert_eq!(server.log().all()[3].json(), Some(json!({"body": "Done."})));
}

#[tokio::test]
async fn a_write_that_is_refused_for_another_reason_stays_refused() {
    let server = serve(vec![
        Answer::new(405, &Value::Null, &json!({"message": "405 Not Allowed"})),
        Answer::ok(&json!({"id": 7, "path_with_namespace": "group/team/service"})),
    ]);
    let error = adapter(&server).note(42, "Done.").await.unwrap_err();
    assert!(
        matches!(error, ForgeError::Refused { status: 405, .. }),
        "{error}"
    );
    assert_eq!(server.log().len(), 2);
}

#[tokio::test]
async fn what_contains_a_commit() {
    let base = fixture("merge-base.json");
    let unknown = json!({"message": "400 Bad request - Could not find ref: ccc"});
    let nothing = json!({"message": "404 Merge Base Not Found"});
    let head = "c".repeat(40);
    for (answer, expected) in [
        (Answer::ok(&base), Some(true)),
        (Answer::ok(&json!({"id": "a"})), Some(false)),
        (Answer::new(400, &Value::Null, &unknown), Some(false)),
        (Answer::new(404, &Value::Null, &nothing), Some(false)),
        (
            Answer::new(400, &Value::Null, &json!({"error": "refs is invalid"})),
            None,
        ),
        (
            Answer::new(
                404,
                &Value::Null,
                &json!({"message": "404 Project Not Found"}),
            ),
            None,
        ),
    ] {
        let server = serve(vec![answer]);
        let contains = adapter(&server).contains(&head, &"b".repeat(40)).await;
        assert_eq!(contains.ok(), expected);
    }
}

#[tokio::test]
async fn a_refusal_from_elsewhere_is_no_word_about_the_token() {
    let elsewhere = serve(vec![Answer::new(
        401,
        &Value::Null,
        &json!({"message": "401 Unauthorized"}),
    )]);
    let server = serve(vec![Answer::new(
        301,
        &json!({"location": elsewhere.url("/x")}),
        &Value::Null,
    )]);
    let error = adapter(&server).project().await.unwrap_err();
    assert!(matches!(error, ForgeError::Unavailable { .. }), "{error}");
    assert!(error.to_string().contains(elsewhere.base_url()), "{error}");
    assert_eq!(elsewhere.log().all()[0].header("private-token"), None);
}

#[tokio::test]
async fn a_list_without_end_is_an_error() {
    let server = serve(
        (0..60)
            .map(|_| Answer::new(200, &json!({"x-next-page": "2"}), &json!([])))
            .collect(),
    );
    let error = adapter(&server).list_labelled("x").await.unwrap_err();
    assert!(error.to_string().contains("more than 50 pages"), "{error}");
    assert_eq!(server.log().len(), 50);
}

/// A list of nothing takes many times its bytes in memory.
#[tokio::test]
async fn a_list_of_more_items_than_a_page_holds_is_an_error() {
    let endless: Vec<u8> = vec![0; 1001];
    let server = serve(vec![Answer::new(200, &json!({}), &json!(endless))]);
    let error = adapter(&server).list_labelled("x").await.unwrap_err();
    assert!(
        error.to_string().contains("more than 1000 items"),
        "{error}"
    );
}

#[tokio::test]
async fn limits_name_the_moment_they_end() {
    let now = 1_787_044_320.0;
    let date = "Tue, 18 Aug 2026 09:12:00 GMT";
    for (headers, ends) in [
        (
            json!({"retry-after": "57", "ratelimit-remaining": "0", "ratelimit-reset": "1787044999"}),
            57.0,
        ),
        (
            json!({"date": date, "ratelimit-remaining": "0", "ratelimit-reset": "1787044999"}),
            679.0,
        ),
    ] {
        let server = serve(vec![Answer::new(
            429,
            &headers,
            &json!({"message": "Retry later"}),
        )]);
        let error = adapter(&server).as_of(now).project().await.unwrap_err();
        let ForgeError::Limited {
            resets_at: Some(at),
            ..
        } = error
        else {
            panic!("{error:?}")
        };
        assert!((at - now - ends).abs() < 5.0, "{at}");
    }
}

#[tokio::test]
async fn an_answer_that_is_no_json_of_the_kind_is_no_answer() {
    for body in [
        json!({"message": "hello"}),
        json!(null),
        json!("text"),
        json!(7),
    ] {
        let server = serve((0..5).map(|_| Answer::ok(&body)).collect());
        let forge = adapter(&server);
        for error in [
            forge.project().await.unwrap_err(),
            forge.identity().await.unwrap_err(),
            forge.list_labelled("x").await.unwrap_err(),
            forge.issue(1).await.unwrap_err(),
            forge.open_merge_request(&draft()).await.unwrap_err(),
        ] {
            assert!(matches!(error, ForgeError::Unavailable { .. }), "{error}");
        }
    }
}
