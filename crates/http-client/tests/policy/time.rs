//! Time limits, the time budget, and turns.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use http_client::{Client, HttpError, Policy, Request};

use crate::server::{Reply, Server};
use crate::{client, client_within};

const SHORT: Duration = Duration::from_millis(100);

async fn mute() -> Server {
    Server::start(|_, _| Reply::Hang(Vec::new())).await
}

#[tokio::test]
async fn a_server_that_never_answers_costs_one_limit() {
    let server = mute().await;
    let client = client_within(SHORT);
    let request = Request::get("agent server", server.at("/api/settings"));
    let started = Instant::now();
    // Ten calls, four at a time: those that wait for a turn do not each wait for the server.
    let results = join_all((0..10).map(|_| client.send(request.clone()))).await;
    assert!(started.elapsed() < SHORT * 2, "{:?}", started.elapsed());
    let mut timeouts = 0;
    for error in results.into_iter().map(Result::unwrap_err) {
        match error {
            HttpError::Timeout { sent: true, .. } => {
                assert!(error.is_effect_unknown());
                timeouts += 1;
            }
            HttpError::Unresponsive { .. } => assert!(!error.is_effect_unknown()),
            other => panic!("{other}"),
        }
    }
    assert_eq!(timeouts, 4);
    assert_eq!(client.counters().requests, 4);
}

#[tokio::test]
async fn a_server_that_answers_again_is_asked_again() {
    let server = Server::start(|_, n| {
        if n == 0 {
            Reply::Hang(Vec::new())
        } else {
            Reply::text("back")
        }
    })
    .await;
    let client = client_within(SHORT);
    let request = Request::get("agent server", server.at("/"));
    assert!(client.send(request.clone()).await.is_err());
    assert!(matches!(
        client.send(request.clone()).await,
        Err(HttpError::Unresponsive { .. })
    ));
    assert_eq!(
        client.send(request.clone().urgent()).await.unwrap().body,
        b"back"
    );
    assert_eq!(client.send(request).await.unwrap().body, b"back");
}

#[tokio::test]
async fn an_impatient_call_does_not_speak_for_the_others() {
    let server = Server::start(|_, n| match n {
        0 => Reply::Hang(Vec::new()),
        _ => Reply::text("there"),
    })
    .await;
    let client = client();
    let request = Request::get("automation service", server.at("/"));
    assert!(
        client
            .send(request.clone().timeout(Duration::from_millis(5)))
            .await
            .is_err()
    );
    assert_eq!(client.send(request).await.unwrap().body, b"there");
}

#[tokio::test]
async fn a_drop_at_a_time_does_not_stretch_the_limit() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n".to_vec();
    let drip = Server::start({
        let body = [head.clone(), vec![b'x'; 1000]].concat();
        move |_, _| Reply::Drip(body.clone(), Duration::from_millis(1))
    })
    .await;
    let half = Server::start(move |_, _| Reply::Hang([head.clone(), vec![b'x'; 9]].concat())).await;
    for server in [drip, half] {
        let request = Request::get("feed", server.at("/")).timeout(SHORT);
        let started = Instant::now();
        let error = client().send(request).await.unwrap_err();
        assert!(matches!(error, HttpError::Timeout { .. }), "{error}");
        assert!(started.elapsed() < SHORT * 3, "{:?}", started.elapsed());
    }
}

#[tokio::test]
async fn the_time_budget_ends_calls_and_pauses() {
    let server = mute().await;
    let busy = Server::start(|_, _| Reply::status(503).with("retry-after", "30")).await;
    let client = client();
    client.set_deadline(Some(Instant::now() + SHORT));
    // A pause that does not fit is not begun.
    assert_eq!(
        client
            .send(Request::get("test", busy.at("/")))
            .await
            .unwrap()
            .status,
        503
    );
    assert!(
        client
            .send(Request::get("test", server.at("/")))
            .await
            .is_err()
    );
    let error = client
        .send(Request::get("test", busy.at("/")))
        .await
        .unwrap_err();
    assert!(matches!(error, HttpError::Deadline { .. }), "{error}");
    assert!(!error.is_effect_unknown());
    // What must go out goes out.
    let callback = Request::post("automation service", busy.at("/complete")).urgent();
    assert_eq!(client.send(callback).await.unwrap().status, 503);
}

#[tokio::test]
async fn calls_take_turns() {
    let pause = Duration::from_millis(5);
    let slow = || Server::start(move |_, _| Reply::Late(pause, Box::new(Reply::text("x"))));
    let servers = [slow().await, slow().await, slow().await];
    let policy = Policy {
        max_in_flight: 9,
        ..Policy::default()
    };
    let client = Client::new(policy).unwrap();
    let calls = (0..36).map(|n| client.send(Request::get("test", servers[n % 3].at("/"))));
    for result in join_all(calls).await {
        result.unwrap();
    }
    assert!(
        servers.iter().all(|server| server.peak() <= 4),
        "at most four to one host"
    );
    assert!(servers.iter().map(Server::peak).sum::<usize>() <= 12);
    assert!(servers.iter().all(|server| server.connections() <= 4));
}

#[tokio::test]
async fn a_stream_keeps_its_turn_until_it_is_dropped() {
    let server = Server::start(|_, _| Reply::text("x")).await;
    let client = Client::new(Policy {
        max_per_host: 1,
        ..Policy::default()
    })
    .unwrap();
    let request = Request::get("test", server.at("/"));
    let stream = client.stream(request.clone()).await.unwrap();
    let waiting = tokio::time::timeout(Duration::from_millis(5), client.send(request.clone()));
    assert!(waiting.await.is_err());
    drop(stream);
    client.send(request).await.unwrap();
}
