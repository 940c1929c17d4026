//! Redirects: what is followed, and what does not travel along.

use std::sync::{Arc, Mutex};

use http_client::{HttpError, NetworkEnv, Redirects, Request, Secret};
use serde_json::Value;

use crate::server::{Asked, Reply, Server};
use crate::{client, client_in, fixture_at, fixture_path, url};

/// A server whose answers are set once its own address is known.
async fn server_with(
    answer: impl Fn(&Value, &Asked, usize) -> Reply + Send + Sync + 'static,
) -> (Server, Arc<Mutex<Value>>) {
    let case = Arc::new(Mutex::new(Value::Null));
    let shared = Arc::clone(&case);
    let server = Server::start(move |asked, n| answer(&shared.lock().unwrap(), asked, n)).await;
    (server, case)
}

#[tokio::test]
async fn a_token_stays_at_home_when_the_archive_is_elsewhere() {
    let (api, case) = server_with(|case, _, _| {
        Reply::redirect(302, case["hops"][0]["location"].as_str().unwrap())
    })
    .await;
    let download = Server::start(|_, n| match n {
        0 => Reply::text("archive"),
        _ => Reply::Answer(
            403,
            Vec::new(),
            b"see ?token=ONE_TIME_SECRET for tok-123".to_vec(),
        ),
    })
    .await;
    let read = fixture_at(
        "archive-redirect-with-one-time-token.json",
        &[
            ("https://api.github.com", api.url.as_str()),
            ("https://codeload.github.com", download.url.as_str()),
        ],
    );
    *case.lock().unwrap() = read.clone();

    let request = Request::get("GitHub", url(read["request"].as_str().unwrap()))
        .credential("authorization", Secret::new("Bearer tok-123"))
        .header("x-my-token", "also-a-secret")
        .header("accept", "application/octet-stream");
    let client = client();
    let mut stream = client.stream(request.clone()).await.unwrap();
    assert!(stream.redirected());
    assert_eq!(stream.chunk().await.unwrap().unwrap(), "archive");
    assert_eq!(stream.chunk().await.unwrap(), None);
    drop(stream);
    let carried: Vec<bool> = [&api, &download]
        .iter()
        .map(|server| server.asked()[0].header("authorization").is_some())
        .collect();
    assert_eq!(serde_json::json!(carried), read["authorization"]);
    assert_eq!(download.asked()[0].header("x-my-token"), None);
    assert_eq!(
        download.asked()[0].header("accept"),
        Some("application/octet-stream")
    );
    assert!(download.lines()[0].contains("token=ONE_TIME_SECRET"));

    let error = client
        .send(request)
        .await
        .unwrap()
        .ok()
        .unwrap_err()
        .to_string();
    assert!(!error.contains("ONE_TIME_SECRET"), "{error}");
    assert!(!error.contains("tok-123"), "{error}");
    assert!(
        error.contains("GET /repos/acme/widget/tarball/SHA"),
        "{error}"
    );
}

#[tokio::test]
async fn a_moved_repository_is_read_and_written_at_its_new_place() {
    let (server, case) = server_with(|case, asked, _| {
        let answers = case["answers"].as_array().unwrap();
        let answer = answers
            .iter()
            .find(|answer| answer["call"] == asked.line.as_str())
            .unwrap();
        let status = u16::try_from(answer["status"].as_u64().unwrap()).unwrap();
        let reply = Reply::Answer(status, Vec::new(), answer["body"].to_string().into_bytes());
        match answer["location"].as_str() {
            Some(location) => reply.with("location", location),
            None => reply,
        }
    })
    .await;
    *case.lock().unwrap() = fixture_at(
        "moved-repository.json",
        &[("https://api.github.com", server.url.as_str())],
    );

    let client = client();
    let get = Request::get("GitHub", server.at("/repos/acme/old-name"))
        .credential("authorization", Secret::new("Bearer t"));
    let response = client.send(get).await.unwrap().ok().unwrap();
    assert!(response.redirected && response.moved_permanently);
    assert_eq!(
        response.json::<Value>().unwrap()["full_name"],
        "acme/new-name"
    );
    assert_eq!(response.call(), "GET /repos/acme/old-name");

    let post = Request::post(
        "GitHub",
        server.at("/repos/acme/old-name/issues/4/comments"),
    )
    .credential("authorization", Secret::new("Bearer t"))
    .json(&serde_json::json!({"body": "hello"}))
    .unwrap();
    let response = client.send(post).await.unwrap();
    assert_eq!((response.status, response.moved_permanently), (201, false));
    let asked = server.asked();
    assert_eq!(asked[3].line, "POST /repositories/7/issues/4/comments");
    assert_eq!(asked[3].body, br#"{"body":"hello"}"#);
    assert!(
        asked
            .iter()
            .all(|asked| asked.header("authorization") == Some("Bearer t"))
    );
}

#[tokio::test]
async fn a_feed_that_moves_to_https_and_then_to_a_relative_place() {
    let case: Arc<Mutex<Value>> = Arc::default();
    let answer = {
        let case = Arc::clone(&case);
        move |hop: usize| {
            let hop = case.lock().unwrap()["hops"][hop].clone();
            let status = u16::try_from(hop["status"].as_u64().unwrap()).unwrap();
            match hop["location"].as_str() {
                Some(location) => Reply::redirect(status, location),
                None => Reply::status(status),
            }
        }
    };
    let plain = Server::start({
        let answer = answer.clone();
        move |_, n| answer(n)
    })
    .await;
    let secure = Server::start_tls("company-server", move |_, n| answer(n + 1)).await;
    let read = fixture_at(
        "feed-moves-to-https-then-relative.json",
        &[
            ("http://news.example.org", plain.url.as_str()),
            ("https://news.example.org", secure.url.as_str()),
        ],
    );
    *case.lock().unwrap() = read.clone();

    let env = NetworkEnv {
        cert_file: Some(fixture_path("company-root.pem")),
        ..NetworkEnv::default()
    };
    let feed = Request::get("feed", url(read["feed"].as_str().unwrap()))
        .redirects(Redirects::FollowGuarded);
    let response = client_in(env).send(feed).await.unwrap();
    assert_eq!(response.url.as_str(), read["base"].as_str().unwrap());
    assert!(response.redirected && !response.moved_permanently);
    assert_eq!(response.call(), "GET /rss");
}

#[tokio::test]
async fn a_write_is_not_led_to_another_host_and_not_turned_into_a_read() {
    let other = Server::start(|_, _| Reply::text("got it")).await;
    let elsewhere = other.url.clone();
    let server = Server::start(move |_, n| {
        Reply::redirect([307, 302, 303][n], &format!("{elsewhere}/taken"))
    })
    .await;
    let client = client();
    let post = Request::post("GitLab", server.at("/notes")).body("text", "text/plain");
    let error = client.send(post.clone()).await.unwrap_err();
    assert!(matches!(error, HttpError::Redirect { .. }), "{error}");
    assert!(!error.is_effect_unknown());
    for status in [302, 303] {
        assert_eq!(client.send(post.clone()).await.unwrap().status, status);
    }
    assert!(other.lines().is_empty());
}

#[tokio::test]
async fn a_credential_does_not_come_back_with_the_redirect() {
    let servers: Arc<Mutex<(String, String)>> = Arc::default();
    let home = Server::start({
        let servers = Arc::clone(&servers);
        move |_, n| match n {
            0 => Reply::redirect(302, &format!("{}/x", servers.lock().unwrap().1)),
            _ => Reply::text("done"),
        }
    })
    .await;
    let away = Server::start({
        let servers = Arc::clone(&servers);
        move |_, _| Reply::redirect(302, &format!("{}/back", servers.lock().unwrap().0))
    })
    .await;
    *servers.lock().unwrap() = (home.url.clone(), away.url.clone());
    let get = Request::get("GitHub", home.at("/")).credential("private-token", Secret::new("t"));
    client().send(get).await.unwrap();
    let carried: Vec<_> = home
        .asked()
        .iter()
        .map(|asked| asked.header("private-token").is_some())
        .collect();
    assert_eq!(carried, [true, false]);
    assert_eq!(away.asked()[0].header("private-token"), None);
}

#[tokio::test]
async fn a_password_in_the_address_is_a_credential_of_its_origin() {
    let other = Server::start(|_, _| Reply::status(404)).await;
    let elsewhere = other.url.clone();
    let server = Server::start(move |_, n| match n {
        0 => Reply::redirect(301, "/feed"),
        _ => Reply::redirect(301, &format!("{elsewhere}/feed")),
    })
    .await;
    let with_password = server.url.replace("http://", "http://me:pass%21word@");
    let error = client()
        .send(Request::get("feed", url(&with_password)))
        .await
        .unwrap()
        .ok()
        .unwrap_err()
        .to_string();
    assert!(
        server
            .asked()
            .iter()
            .all(|asked| asked.header("authorization").is_some())
    );
    assert_eq!(other.asked()[0].header("authorization"), None);
    assert!(
        !error.contains("pass%21word") && !error.contains("me:"),
        "{error}"
    );
}

#[tokio::test]
async fn circles_and_other_schemes_end() {
    for (location, says) in [
        ("/again", "more than ten"),
        ("file:///etc/passwd", "scheme file"),
        ("ftp://example.org/x", "scheme ftp"),
        ("http://", "no address"),
    ] {
        let server = Server::start(move |_, _| Reply::redirect(302, location)).await;
        let error = client()
            .send(Request::get("feed", server.at("/")))
            .await
            .unwrap_err();
        assert!(matches!(error, HttpError::Redirect { .. }), "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[tokio::test]
async fn a_redirect_is_the_answer_when_asked_for() {
    let server = Server::start(|_, _| Reply::redirect(302, "/next")).await;
    let get = Request::get("GitHub", server.at("/")).redirects(Redirects::No);
    let response = client().send(get).await.unwrap();
    assert_eq!(
        (response.status, response.headers.get("Location")),
        (302, Some("/next"))
    );
}
