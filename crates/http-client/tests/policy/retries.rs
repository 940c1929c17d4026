//! What is repeated and what is not.

use http_client::{HttpError, Request};
use tokio::net::TcpListener;

use crate::server::{Reply, Server};
use crate::{client, url};

async fn failing_twice(status: u16) -> Server {
    Server::start(move |_, n| {
        if n < 2 {
            Reply::status(status)
        } else {
            Reply::text("done")
        }
    })
    .await
}

#[tokio::test]
async fn a_read_is_repeated_after_a_gateway_error() {
    for status in [429, 502, 503, 504] {
        let server = failing_twice(status).await;
        let client = client();
        let response = client
            .send(Request::get("test", server.at("/")))
            .await
            .unwrap();
        assert_eq!(response.body, b"done");
        let counters = client.counters();
        assert_eq!((counters.requests, counters.retries), (3, 2));
    }
}

#[tokio::test]
async fn the_last_failure_is_the_answer() {
    let server = Server::start(|_, _| Reply::status(503)).await;
    let client = client();
    let response = client
        .send(Request::get("test", server.at("/")))
        .await
        .unwrap();
    assert_eq!(response.status, 503);
    assert_eq!(client.counters().requests, 3);
}

#[tokio::test]
async fn a_write_is_not_repeated_unless_it_may_be() {
    let server = failing_twice(503).await;
    let client = client();
    let post = Request::post("test", server.at("/")).body("x", "text/plain");
    assert_eq!(client.send(post.clone()).await.unwrap().status, 503);
    assert_eq!(server.lines().len(), 1);
    let put = Request::put("test", server.at("/"))
        .body("x", "text/plain")
        .idempotent(true);
    assert_eq!(client.send(put).await.unwrap().body, b"done");
    assert!(server.asked().iter().all(|asked| asked.body == b"x"));
}

#[tokio::test]
async fn a_500_is_repeated_only_when_asked_for() {
    let server = failing_twice(500).await;
    let client = client();
    let get = Request::get("test", server.at("/"));
    assert_eq!(client.send(get.clone()).await.unwrap().status, 500);
    assert_eq!(
        client
            .send(get.retry_server_error(true))
            .await
            .unwrap()
            .body,
        b"done"
    );
}

#[tokio::test]
async fn statuses_are_left_alone_when_asked_for() {
    let server = failing_twice(429).await;
    let client = client();
    let get = Request::get("test", server.at("/")).retry_statuses(false);
    assert_eq!(client.send(get).await.unwrap().status, 429);
    assert_eq!(client.counters().requests, 1);
}

#[tokio::test]
async fn a_connection_that_breaks_before_the_answer() {
    let server = Server::start(|_, n| match n {
        0 | 2 => Reply::Raw(Vec::new()),
        _ => Reply::text("done"),
    })
    .await;
    let client = client();
    let response = client
        .send(Request::get("test", server.at("/")))
        .await
        .unwrap();
    assert_eq!(response.body, b"done");

    let error = client
        .send(Request::post("test", server.at("/")))
        .await
        .unwrap_err();
    assert!(matches!(error, HttpError::Broken { .. }), "{error}");
    assert!(error.is_effect_unknown());
}

#[tokio::test]
async fn a_body_that_is_cut_off_is_read_again_and_never_taken_for_whole() {
    let cut = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf".to_vec();
    let server = Server::start({
        let cut = cut.clone();
        move |_, n| {
            if n == 0 {
                Reply::Raw(cut.clone())
            } else {
                Reply::text("whole")
            }
        }
    })
    .await;
    let response = client()
        .send(Request::get("test", server.at("/")))
        .await
        .unwrap();
    assert_eq!(response.body, b"whole");

    let server = Server::start(move |_, _| Reply::Raw(cut.clone())).await;
    let error = client()
        .send(Request::get("test", server.at("/")))
        .await
        .unwrap_err();
    assert!(matches!(error, HttpError::Broken { .. }), "{error}");
}

#[tokio::test]
async fn a_refused_connection_is_tried_again_for_any_call() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let client = client();
    let post = Request::post(
        "agent server",
        url(&format!("http://127.0.0.1:{port}/api?key=k")),
    );
    let error = client.send(post).await.unwrap_err();
    assert!(matches!(error, HttpError::Connect { .. }), "{error}");
    assert!(!error.is_effect_unknown());
    assert_eq!(client.counters().requests, 3);
    let text = error.to_string();
    assert!(text.contains("agent server"), "{text}");
    assert!(
        text.contains(&format!("POST /api (127.0.0.1:{port})")),
        "{text}"
    );
    assert!(!text.contains("key=k"), "{text}");
}

#[tokio::test]
async fn connections_are_used_again() {
    let server = Server::start(|_, _| Reply::text("x")).await;
    let client = client();
    for _ in 0..5 {
        client
            .send(Request::get("test", server.at("/")))
            .await
            .unwrap();
    }
    assert_eq!(server.connections(), 1);
    assert!(
        server.asked()[0]
            .header("user-agent")
            .unwrap()
            .starts_with("openhands-automations/")
    );
}
