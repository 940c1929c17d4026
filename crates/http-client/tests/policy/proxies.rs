//! Proxies, and what never goes through one.

use http_client::{NetworkEnv, Request, Secret};

use crate::client_in;
use crate::server::{Reply, Server};
use crate::url;

#[tokio::test]
async fn a_proxy_is_used_for_others_and_never_for_loopback() {
    let proxy = Server::start(|_, _| Reply::text("by proxy")).await;
    let agent_server = Server::start(|_, _| Reply::text("direct")).await;
    let with_password = proxy.url.replace("http://", "http://user:pass@");
    let env = NetworkEnv::from_lookup(|name| match name {
        "HTTP_PROXY" | "HTTPS_PROXY" => Some(with_password.clone()),
        _ => None,
    });
    let client = client_in(env);

    let call = Request::get("agent server", agent_server.at("/api"))
        .credential("x-session-api-key", Secret::new("key"));
    assert_eq!(client.send(call).await.unwrap().body, b"direct");
    assert!(proxy.lines().is_empty());

    let feed = Request::get("feed", url("http://feeds.example/rss"));
    assert_eq!(client.send(feed).await.unwrap().body, b"by proxy");
    let asked = &proxy.asked()[0];
    assert_eq!(asked.line, "GET http://feeds.example/rss");
    assert_eq!(
        asked.header("proxy-authorization"),
        Some("Basic dXNlcjpwYXNz")
    );
}

#[tokio::test]
async fn https_goes_through_a_tunnel() {
    let proxy = Server::start(|_, _| Reply::status(407)).await;
    let env = NetworkEnv {
        https_proxy: Some(proxy.url.clone()),
        ..NetworkEnv::default()
    };
    let error = client_in(env)
        .send(Request::get(
            "GitHub",
            url("https://api.github.example/user"),
        ))
        .await
        .unwrap_err();
    assert_eq!(proxy.lines()[0], "CONNECT api.github.example:443");
    assert!(error.to_string().contains("proxy"), "{error}");
    assert!(!error.is_effect_unknown());
}

#[tokio::test]
async fn a_proxy_that_cannot_be_used_is_an_error_where_it_would_be_used() {
    let server = Server::start(|_, _| Reply::text("direct")).await;
    let env = NetworkEnv {
        all_proxy: Some("socks5://me:secret@proxy.example:1080".to_owned()),
        ..NetworkEnv::default()
    };
    let client = client_in(env);
    client
        .send(Request::get("test", server.at("/")))
        .await
        .unwrap();
    let error = client
        .send(Request::get("feed", url("http://feeds.example/")))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("socks5") && error.contains("proxy.example"),
        "{error}"
    );
    assert!(!error.contains("secret"), "{error}");
}
