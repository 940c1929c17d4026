//! Services that ask to slow down, and lists in pages.

use std::time::{Duration, Instant};

use http_client::{HttpError, RateLimit, Request};

use crate::server::{Reply, Server};
use crate::{client, fixture_at};

fn reply(answer: &serde_json::Value) -> Reply {
    let status = u16::try_from(answer["status"].as_u64().unwrap()).unwrap();
    let mut reply = Reply::Answer(status, Vec::new(), answer["body"].to_string().into_bytes());
    for (name, value) in answer["headers"].as_object().unwrap() {
        reply = reply.with(name, value.as_str().unwrap());
    }
    reply
}

fn in_words(limit: RateLimit) -> String {
    match limit {
        RateLimit::After(wait) => format!("{} s", wait.as_secs()),
        RateLimit::Until(moment) => format!("until {moment:.0}"),
        RateLimit::Unspecified => "unspecified".to_owned(),
    }
}

#[tokio::test]
async fn three_ways_to_say_slow_down() {
    let case = fixture_at("three-ways-to-say-slow-down.json", &[]);
    for (answer, wait) in case["answers"]
        .as_array()
        .unwrap()
        .iter()
        .zip(case["waits"].as_array().unwrap())
    {
        let owned = answer.clone();
        let server = Server::start(move |_, _| reply(&owned)).await;

        let raw = Request::get("GitHub", server.at("/user")).retry_statuses(false);
        let response = client().send(raw).await.unwrap();
        assert_eq!(in_words(response.limit().unwrap()), wait.as_str().unwrap());

        let client = client();
        let error = client
            .send(Request::get("GitHub", server.at("/user")))
            .await
            .unwrap_err();
        let HttpError::Limited {
            service: "GitHub",
            wait: limit,
            ..
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!(in_words(limit), wait.as_str().unwrap());
        assert_eq!(client.counters().requests, 1);
    }
}

#[tokio::test]
async fn a_limit_that_does_not_fit_ends_the_work_on_that_host() {
    let server = Server::start(|_, _| Reply::status(429).with("retry-after", "57")).await;
    let other = Server::start(|_, _| Reply::text("x")).await;
    let client = client();
    client.set_deadline(Some(Instant::now() + Duration::from_secs(20)));
    for _ in 0..3 {
        let error = client
            .send(Request::get("GitHub", server.at("/a")))
            .await
            .unwrap_err();
        assert!(matches!(error, HttpError::Limited { .. }), "{error}");
        assert!(error.to_string().contains("limited for 57 s"), "{error}");
    }
    assert_eq!(
        server.lines().len(),
        1,
        "a host that asked to be left alone is left alone"
    );
    client
        .send(Request::get("feed", other.at("/")))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_limit_that_fits_is_waited_out() {
    let server = Server::start(|_, n| match n {
        0 => Reply::status(429).with("retry-after", "0.005"),
        _ => Reply::text("done"),
    })
    .await;
    let client = client();
    let response = client
        .send(Request::get("GitLab", server.at("/")))
        .await
        .unwrap();
    assert_eq!(response.body, b"done");
    assert_eq!(client.counters().retries, 1);
}

#[tokio::test]
async fn a_moment_is_counted_from_the_date_of_the_answer() {
    let server = Server::start(|_, _| {
        Reply::status(403)
            .with("x-ratelimit-remaining", "0")
            .with("x-ratelimit-reset", "1787215837")
            .with("date", "Thu, 20 Aug 2026 08:49:37 GMT")
    })
    .await;
    // A minute from the date of the answer, whatever the clock here says: too long for 30 s.
    let client = client();
    client.set_deadline(Some(Instant::now() + Duration::from_secs(30)));
    let error = client
        .send(Request::get("GitHub", server.at("/")))
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            HttpError::Limited {
                wait: RateLimit::Until(_),
                ..
            }
        ),
        "{error}"
    );
}

#[tokio::test]
async fn a_limited_write_is_an_error_and_not_repeated() {
    let server = Server::start(|_, _| Reply::status(429).with("retry-after", "0")).await;
    let error = client()
        .send(Request::post("GitHub", server.at("/")))
        .await
        .unwrap_err();
    assert!(matches!(error, HttpError::Limited { .. }), "{error}");
    assert!(!error.is_effect_unknown());
    assert_eq!(server.lines().len(), 1);
}

#[tokio::test]
async fn a_403_without_a_sign_of_a_limit_is_an_answer() {
    let server = Server::start(|_, n| {
        let message = [
            "Resource not accessible",
            "You have exceeded a secondary Rate Limit",
        ][n];
        Reply::Answer(403, Vec::new(), message.as_bytes().to_vec())
            .with("x-ratelimit-remaining", "4999")
    })
    .await;
    let client = client();
    let get = Request::get("GitHub", server.at("/"));
    let response = client.send(get.clone()).await.unwrap();
    assert_eq!((response.status, response.limit()), (403, None));
    assert_eq!(response.body, b"Resource not accessible");
    let error = client.send(get).await.unwrap_err();
    assert!(
        matches!(
            error,
            HttpError::Limited {
                wait: RateLimit::Unspecified,
                ..
            }
        ),
        "{error}"
    );
}

#[tokio::test]
async fn a_period_in_place_of_a_moment() {
    let server = Server::start(|_, _| {
        Reply::status(429)
            .with("ratelimit-remaining", "0")
            .with("ratelimit-reset", "40")
    })
    .await;
    let get = Request::get("GitLab", server.at("/")).retry_statuses(false);
    let limit = client().send(get).await.unwrap().limit().unwrap();
    assert_eq!(limit, RateLimit::After(Duration::from_secs(40)));
}

#[tokio::test]
async fn the_next_page_is_taken_from_the_link_header_as_it_is() {
    let pages = std::sync::Arc::new(std::sync::Mutex::new(serde_json::Value::Null));
    let server = Server::start({
        let pages = std::sync::Arc::clone(&pages);
        move |_, n| {
            let page = pages.lock().unwrap()["pages"][n].clone();
            let items = vec![0; usize::try_from(page["items"].as_u64().unwrap()).unwrap()];
            Reply::text(&serde_json::to_string(&items).unwrap())
                .with("link", page["link"].as_str().unwrap())
        }
    })
    .await;
    let case = fixture_at(
        "next-page-has-another-path.json",
        &[("https://api.github.com", server.url.as_str())],
    );
    *pages.lock().unwrap() = case.clone();

    let client = client();
    let mut items = 0;
    let mut next = Some(server.at(case["first"].as_str().unwrap()));
    while let Some(page) = next {
        let response = client.send(Request::get("GitHub", page)).await.unwrap();
        items += response.json::<Vec<u8>>().unwrap().len();
        next = response.next_page().unwrap();
    }
    assert_eq!(items, 103);
    assert_eq!(
        server.lines()[1],
        "GET /repositories/7/issues/4/events?per_page=100&page=2"
    );
    assert_eq!(client.counters().requests, 2);
}

#[tokio::test]
async fn a_next_page_on_another_host_is_not_asked_and_not_passed_over() {
    let server = Server::start(|_, _| {
        Reply::text("[]").with(
            "link",
            "<https://evil.example/page2>; title=\"a, b\"; rel=next",
        )
    })
    .await;
    let response = client()
        .send(Request::get("GitHub", server.at("/list")))
        .await
        .unwrap();
    assert_eq!(response.next_link(), None);
    let error = response.next_page().unwrap_err();
    assert!(error.to_string().contains("evil.example"), "{error}");
}
