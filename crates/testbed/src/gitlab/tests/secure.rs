//! An instance below a path and behind TLS with a private authority.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::*;
use crate::tls::PrivateCa;

/// Sends a request over TLS; trusts the authority given, nobody without one.
fn get(url: &str, ca: Option<&PrivateCa>) -> std::io::Result<String> {
    let url = url::Url::parse(url).unwrap();
    let mut roots = RootCertStore::empty();
    if let Some(ca) = ca {
        roots
            .add(CertificateDer::from_pem_slice(ca.pem().as_bytes()).unwrap())
            .unwrap();
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let host = url.host_str().unwrap().to_owned();
    let socket = TcpStream::connect((host.as_str(), url.port().unwrap()))?;
    let name = ServerName::try_from(host.clone()).unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut line = StreamOwned::new(connection, socket);
    let path = url.path();
    write!(
        line,
        "GET {path} HTTP/1.1\r\nhost: {host}\r\nprivate-token: {TOKEN}\r\nconnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    // The other side may close without the farewell that TLS asks for.
    match line.read_to_string(&mut answer) {
        Err(error) if answer.is_empty() => Err(error),
        _ => Ok(answer),
    }
}

#[test]
fn only_who_knows_the_authority_gets_through() {
    let ca = PrivateCa::new().unwrap();
    let world = World::of(GitLab::start_tls("/gitlab", &ca).unwrap());
    assert!(world.gitlab.url().starts_with("https://127.0.0.1:"));
    let answer = get(&world.url(""), Some(&ca)).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains(&format!(
        "\"http_url_to_repo\":\"{}\"",
        world.project.clone_url()
    )));
    assert!(get(&world.url(""), None).is_err());
    let other = PrivateCa::new().unwrap();
    assert!(get(&world.url(""), Some(&other)).is_err());
    world.gitlab.check().unwrap();
}

#[test]
fn git_gets_through_with_the_authority_in_a_file() {
    let ca = PrivateCa::new().unwrap();
    let world = World::of(GitLab::start_tls("/gitlab", &ca).unwrap());
    let directory = tempfile::tempdir().unwrap();
    let file = ca.write_to(directory.path()).unwrap();
    let host = world.gitlab.url();
    let host = host.trim_end_matches("/gitlab");
    let url = world.project.clone_url();
    let mut clone = command(
        directory.path(),
        Some((host, TOKEN)),
        &["clone", "-q", &url, "clone"],
    );
    let output = clone.env("GIT_SSL_CAINFO", &file).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(directory.path().join("clone/README.md").exists());
    let mut again = command(
        directory.path(),
        Some((host, TOKEN)),
        &["clone", "-q", &url, "again"],
    );
    let output = again.env_remove("GIT_SSL_CAINFO").output().unwrap();
    assert!(!output.status.success());
}
