//! A public host must not lead us into our own network. A loopback server plays the public host,
//! reached as a proxy by the name that it has on the outside.

use http_client::{HttpError, NetworkEnv, Redirects, Request};

use crate::server::{Reply, Server};
use crate::{client, client_in, url};

fn feed(address: &str) -> Request {
    Request::get("feed", url(address)).redirects(Redirects::FollowGuarded)
}

fn behind(proxy: &Server) -> NetworkEnv {
    NetworkEnv {
        http_proxy: Some(proxy.url.clone()),
        no_proxy: Some("0.0.0.0/1,128.0.0.0/1,::/0".to_owned()),
        ..NetworkEnv::default()
    }
}

#[tokio::test]
async fn a_public_host_does_not_lead_to_a_private_address() {
    let secret = Server::start(|_, _| Reply::text("internal")).await;
    let port = secret.url.rsplit_once(':').unwrap().1.to_owned();
    for host in [
        "127.0.0.1",
        "127.8.8.8",
        "2130706433",
        "0x7f.1",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "0.0.0.0",
        "[::]",
        "10.0.0.1",
        "172.16.3.4",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.169.254",
        "[fd00::1]",
        "[fe80::1]",
        "[::ffff:10.0.0.1]",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
    ] {
        let target = format!("http://{host}:{port}/");
        let public = Server::start(move |_, _| Reply::redirect(302, &target)).await;
        let error = client_in(behind(&public))
            .send(feed("http://public.example/rss"))
            .await
            .unwrap_err();
        assert!(
            matches!(error, HttpError::Redirect { .. }),
            "{host}: {error}"
        );
        assert!(
            error.to_string().contains("private address"),
            "{host}: {error}"
        );
        assert_eq!(public.lines(), ["GET http://public.example/rss"], "{host}");
    }
    assert!(secret.lines().is_empty());
}

#[tokio::test]
async fn a_public_host_leads_to_another_public_host() {
    let public = Server::start(|_, n| match n {
        0 => Reply::redirect(302, "http://other.example/rss"),
        _ => Reply::text("feed"),
    })
    .await;
    let response = client_in(behind(&public))
        .send(feed("http://public.example/rss"))
        .await
        .unwrap();
    assert_eq!(response.body, b"feed");
}

#[tokio::test]
async fn loopback_leads_to_loopback_but_not_to_the_metadata_of_a_cloud() {
    let server = Server::start(|asked, _| match asked.line.as_str() {
        "GET /a" => Reply::redirect(302, "/b"),
        "GET /c" => Reply::redirect(302, "http://169.254.169.254/latest/meta-data"),
        _ => Reply::text("feed"),
    })
    .await;
    let client = client();
    let response = client.send(feed(server.at("/a").as_str())).await.unwrap();
    assert_eq!(response.body, b"feed");
    let error = client
        .send(feed(server.at("/c").as_str()))
        .await
        .unwrap_err();
    assert!(matches!(error, HttpError::Redirect { .. }), "{error}");
}
