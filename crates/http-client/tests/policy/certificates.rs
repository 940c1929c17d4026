//! Whose certificates are trusted.

use http_client::{HttpError, NetworkEnv, Request};

use crate::server::{Reply, Server};
use crate::{client_in, fixture_path};

async fn ask(certificate: &str, env: NetworkEnv) -> Result<Vec<u8>, HttpError> {
    let server = Server::start_tls(certificate, |_, _| Reply::text("secure")).await;
    let client = client_in(env);
    let result = client
        .send(Request::get("GitLab", server.at("/api/v4")))
        .await;
    assert_eq!(
        client.counters().requests,
        1,
        "a distrusted server is not asked again"
    );
    result.map(|response| response.body)
}

fn cert_file(name: &str) -> NetworkEnv {
    NetworkEnv::from_lookup(|variable| {
        (variable == "SSL_CERT_FILE").then(|| fixture_path(name).display().to_string())
    })
}

#[tokio::test]
async fn a_company_root_in_ssl_cert_file_is_trusted() {
    assert_eq!(
        ask("company-server", cert_file("company-root.pem"))
            .await
            .unwrap(),
        b"secure"
    );
}

#[tokio::test]
async fn a_company_root_in_ssl_cert_dir_is_trusted() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::copy(
        fixture_path("company-root.pem"),
        dir.path().join("0a1b2c3d.0"),
    )
    .unwrap();
    std::fs::write(dir.path().join("notes.txt"), "no certificate").unwrap();
    let env = NetworkEnv::from_lookup(|variable| {
        (variable == "SSL_CERT_DIR").then(|| format!("/nowhere:{}", dir.path().display()))
    });
    assert_eq!(ask("company-server", env).await.unwrap(), b"secure");
}

#[tokio::test]
async fn an_unknown_root_is_an_error_that_says_what_to_do() {
    let error = ask("company-server", NetworkEnv::default())
        .await
        .unwrap_err();
    assert!(matches!(error, HttpError::Tls { .. }), "{error}");
    assert!(!error.is_effect_unknown());
    let text = error.to_string();
    assert!(
        text.contains("UnknownIssuer") && text.contains("SSL_CERT_FILE"),
        "{text}"
    );
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_named() {
    let error = ask("company-server", cert_file("no-such-file.pem"))
        .await
        .unwrap_err();
    assert!(matches!(error, HttpError::Tls { .. }), "{error}");
    assert!(error.to_string().contains("no-such-file.pem"), "{error}");
}

#[tokio::test]
async fn the_name_must_be_right() {
    let error = ask(
        "company-server-of-other-name",
        cert_file("company-root.pem"),
    )
    .await
    .unwrap_err();
    assert!(matches!(error, HttpError::Tls { .. }), "{error}");
}

#[tokio::test]
async fn a_self_signed_server_is_trusted_when_it_is_named_itself_and_not_otherwise() {
    let own = cert_file("self-signed-server.pem");
    assert_eq!(ask("self-signed-server", own).await.unwrap(), b"secure");
    assert!(
        ask("self-signed-server", cert_file("company-root.pem"))
            .await
            .is_err()
    );
}
