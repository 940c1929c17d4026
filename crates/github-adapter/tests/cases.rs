//! The adapter against answers written down word for word: cases met elsewhere, each a file under
//! `fixtures/github/`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use github_adapter::{GitHub, api_base, parse_repo};
use http_client::{Client, Policy, Secret};
use lifecycle::ports::{CheckoutError, ForgeError, ReviewForge};
use serde_json::{Value, json};
use testbed::written::{self, Answer};
use testbed::{StandIn, fixtures};

const TOKEN: &str = "ghp_0123456789abcdef0123";

fn serve(answers: Vec<Answer>) -> StandIn {
    written::serve("GitHub, written down", answers).unwrap()
}

fn adapter(server: &StandIn, repo: &str) -> GitHub {
    let api = server.base_url().parse().unwrap();
    let name = parse_repo(repo, &api_base("https://api.github.com").unwrap()).unwrap();
    GitHub::new(
        Client::new(Policy::default()).unwrap(),
        api,
        name,
        Secret::new(TOKEN),
    )
}

fn fixture(name: &str) -> Value {
    fixtures::read(&format!("github/{name}")).unwrap()
}

fn status(value: &Value) -> u16 {
    u16::try_from(value.as_u64().unwrap()).unwrap()
}

#[tokio::test]
async fn limits_said_in_three_ways() {
    let mut ends = Vec::new();
    for answer in fixture("limits-said-in-three-ways.json")
        .as_array()
        .unwrap()
    {
        let mut headers = answer["headers"].clone();
        headers["date"] = json!("Tue, 18 Aug 2026 09:12:00 GMT");
        let server = serve(vec![Answer::new(
            status(&answer["status"]),
            &headers,
            &answer["body"],
        )]);
        let forge = adapter(&server, "acme/widget").as_of(1_787_044_320.0);
        let Err(ForgeError::Limited { resets_at, .. }) = forge.list_open().await else {
            panic!("{answer}")
        };
        ends.push(resets_at.unwrap().floor());
    }
    assert_eq!(ends, [1_787_044_377.0, 1_787_044_350.0, 1_787_211_000.0]);
}

#[tokio::test]
async fn event_pages_below_another_path() {
    let case = fixture("event-pages-below-another-path.json");
    let mut id = 0;
    let mut answers = Vec::new();
    for page in case["pages"].as_array().unwrap() {
        let events: Vec<Value> = (0..page["items"].as_u64().unwrap())
            .map(|_| {
                id += 1;
                json!({"id": id, "event": "labeled", "label": {"name": "x"}, "created_at": "2026-08-18T09:00:00Z"})
            })
            .collect();
        let link = page["link"]
            .as_str()
            .unwrap()
            .replace("https://api.github.com", "BASE");
        answers.push(Answer::new(
            200,
            &json!({ "link": link }),
            &Value::Array(events),
        ));
    }
    let server = serve(answers);
    let event = adapter(&server, "acme/widget")
        .newest_label_event(4, "x")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(event.id, 103);
    let asked: Vec<String> = server
        .log()
        .all()
        .iter()
        .map(testbed::request_log::Logged::target)
        .collect();
    assert_eq!(
        asked,
        [
            "/repos/acme/widget/issues/4/events?per_page=100",
            "/repositories/7/issues/4/events?per_page=100&page=2",
        ]
    );
}

#[tokio::test]
async fn archive_redirected_to_download_host() {
    let case = fixture("archive-redirected-to-download-host.json");
    let hops = case["hops"].as_array().unwrap();
    let sha = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
    let download = serve(vec![Answer::new(
        status(&hops[1]["status"]),
        &Value::Null,
        &json!("archive"),
    )]);
    let location = hops[0]["location"].as_str().unwrap().replace("SHA", sha);
    let location = location.replace("https://codeload.github.com", download.base_url());
    let server = serve(vec![Answer::new(
        status(&hops[0]["status"]),
        &json!({ "location": location }),
        &Value::Null,
    )]);
    let forge = adapter(&server, "acme/widget");
    let mut stream = forge.archive(sha, 1_000).await.unwrap();
    assert!(stream.chunk().await.unwrap().is_some());
    drop(stream);
    let bearer = format!("Bearer {TOKEN}");
    let first = server.log().last("GET", "/").unwrap();
    assert_eq!(first.path, format!("/repos/acme/widget/tarball/{sha}"));
    assert_eq!(first.header("authorization"), Some(bearer.as_str()));
    let second = download.log().last("GET", "/").unwrap();
    assert_eq!(second.query, "token=ONE_TIME_SECRET");
    assert_eq!(second.header("authorization"), None);
    // What the download host refuses is told without the one-time token.
    let refusing = serve(vec![Answer::new(
        403,
        &Value::Null,
        &json!({"message": "?token=ONE_TIME_SECRET"}),
    )]);
    let location = location.replace(download.base_url(), refusing.base_url());
    let server = serve(vec![Answer::new(
        302,
        &json!({ "location": location }),
        &Value::Null,
    )]);
    let error = adapter(&server, "acme/widget")
        .archive(sha, 1_000)
        .await
        .unwrap_err();
    assert!(
        !format!("{error} {error:?}").contains("ONE_TIME_SECRET"),
        "{error}"
    );
}

#[tokio::test]
async fn comment_too_long() {
    let case = fixture("comment-too-long.json");
    let answer = &case["answer"];
    let server = serve(vec![Answer::new(
        status(&answer["status"]),
        &Value::Null,
        &answer["body"],
    )]);
    let error = adapter(&server, "acme/widget")
        .comment(4, &"x".repeat(70_000))
        .await
        .unwrap_err();
    assert!(
        matches!(error, ForgeError::Refused { status: 422, .. }),
        "{error}"
    );
    assert!(
        error.to_string().contains("maximum is 65536 characters"),
        "{error}"
    );
    assert_eq!(server.log().len(), 1);
}

#[tokio::test]
async fn repository_renamed() {
    let case = fixture("repository-renamed.json");
    let configured = case["configured"].as_str().unwrap();
    let written: Vec<&Value> = case["answers"].as_array().unwrap().iter().collect();
    let led = |answer: &Value, rest: &str| {
        let location = answer["location"]
            .as_str()
            .unwrap()
            .replace("https://api.github.com", "BASE");
        Answer::new(
            status(&answer["status"]),
            &json!({"location": format!("{location}{rest}")}),
            &Value::Null,
        )
    };
    let posted = json!({"html_url": "https://github.com/acme/new-name/pull/4#issuecomment-1"});
    let server = serve(vec![
        led(written[0], "/pulls"),
        Answer::new(200, &Value::Null, &json!([])),
        led(written[0], ""),
        Answer::new(200, &Value::Null, &written[1]["body"]),
        led(written[2], ""),
        Answer::new(201, &Value::Null, &posted),
    ]);
    let forge = adapter(&server, configured);
    let listing = forge.list_open().await.unwrap();
    assert_eq!(listing.moved_to.as_deref(), Some("acme/new-name"));
    assert_eq!(
        forge.comment(4, "Done.").await.unwrap(),
        posted["html_url"].as_str().unwrap()
    );
    let log = server.log().all();
    let asked: Vec<String> = log
        .iter()
        .map(|one| format!("{} {}", one.method, one.path))
        .collect();
    assert_eq!(
        asked,
        [
            "GET /repos/acme/old-name/pulls",
            "GET /repositories/7/pulls",
            "GET /repos/acme/old-name",
            "GET /repositories/7",
            "POST /repos/acme/old-name/issues/4/comments",
            "POST /repositories/7/issues/4/comments",
        ]
    );
    assert_eq!(log[5].json(), Some(json!({"body": "Done."})));
    let bearer = format!("Bearer {TOKEN}");
    assert_eq!(log[5].header("authorization"), Some(bearer.as_str()));
}

#[tokio::test]
async fn head_moved_before_download() {
    let case = fixture("head-moved-before-download.json");
    let pull = |which: &str| {
        let (number, sha) = (&case[which]["number"], &case[which]["head"]);
        json!({"number": number, "state": "open", "head": {"sha": sha}})
    };
    let server = serve(vec![
        Answer::new(200, &Value::Null, &json!([pull("listed")])),
        Answer::new(
            status(&case["tarball"]["status"]),
            &Value::Null,
            &json!({"message": "Not Found"}),
        ),
        Answer::new(200, &Value::Null, &pull("fresh")),
    ]);
    let forge = adapter(&server, "acme/widget");
    let listed = forge.list_open().await.unwrap().items.remove(0);
    let error = forge.archive(&listed.head_sha, 1_000).await.unwrap_err();
    assert!(matches!(error, CheckoutError::Gone(_)), "{error}");
    let fresh = forge.pull(listed.number).await.unwrap().unwrap();
    assert_eq!(fresh.pull.head_sha, case["fresh"]["head"].as_str().unwrap());
}

#[tokio::test]
async fn the_token_of_an_app_is_told_by_graphql() {
    let refused = json!({"message": "Resource not accessible by integration"});
    let review = |login: &str| {
        json!([{
            "id": 5, "user": {"login": login}, "state": "COMMENTED", "html_url": "https://github.com/r",
            "commit_id": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "submitted_at": "2026-08-18T09:12:00Z",
        }])
    };
    let viewer = json!({"data": {"viewer": {"login": "acme-ci[bot]"}}});
    for (login, found) in [
        ("acme-ci[bot]", true),
        ("acme-ci", false),
        ("other[bot]", false),
    ] {
        let server = serve(vec![
            Answer::new(403, &Value::Null, &refused),
            Answer::new(200, &Value::Null, &viewer),
            Answer::new(200, &Value::Null, &review(login)),
        ]);
        let forge = adapter(&server, "acme/widget");
        let review = forge
            .published_review(4, &"b".repeat(40), 1_787_044_320.0)
            .await
            .unwrap();
        assert_eq!(review.is_some(), found, "{login}");
    }
    let server = serve(vec![
        Answer::new(403, &Value::Null, &refused),
        Answer::new(404, &Value::Null, &json!({"message": "Not Found"})),
    ]);
    let error = adapter(&server, "acme/widget")
        .find_comment(4, "marker", 0.0)
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("personal access token"),
        "{error}"
    );
}

#[tokio::test]
async fn a_list_without_end_or_elsewhere_is_an_error() {
    let page = |link: &str| Answer::new(200, &json!({ "link": link }), &json!([]));
    let server = serve(
        (0..60)
            .map(|_| page("<BASE/again>; rel=\"next\""))
            .collect(),
    );
    let error = adapter(&server, "acme/widget")
        .list_open()
        .await
        .unwrap_err();
    assert!(error.to_string().contains("more than 50 pages"), "{error}");
    let error = adapter(&server, "acme/widget")
        .newest_label_event(1, "x")
        .await
        .unwrap_err();
    assert!(matches!(error, ForgeError::Unavailable { .. }), "{error}");
    let server = serve(vec![page("<https://evil.example/next>; rel=\"next\"")]);
    let error = adapter(&server, "acme/widget")
        .list_open()
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("another host (evil.example)"),
        "{error}"
    );
}

/// A list of nothing takes many times its bytes in memory.
#[tokio::test]
async fn a_list_of_more_items_than_a_page_holds_is_an_error() {
    let endless: Vec<u8> = vec![0; 1001];
    let server = serve(vec![Answer::new(200, &Value::Null, &json!(endless))]);
    let error = adapter(&server, "acme/widget")
        .list_open()
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("more than 1000 items"),
        "{error}"
    );
}

#[tokio::test]
async fn an_answer_that_is_no_json_of_the_kind_is_no_answer() {
    for body in [
        json!({"message": "hello"}),
        json!(null),
        json!("text"),
        json!(7),
    ] {
        let server = serve(
            (0..3)
                .map(|_| Answer::new(200, &Value::Null, &body))
                .collect(),
        );
        let forge = adapter(&server, "acme/widget");
        for error in [
            forge.list_open().await.unwrap_err(),
            forge.pull(1).await.unwrap_err(),
            forge.comment(1, "x").await.unwrap_err(),
        ] {
            assert!(matches!(error, ForgeError::Unavailable { .. }), "{error}");
        }
    }
}
