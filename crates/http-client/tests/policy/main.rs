//! The HTTP policy against servers on loopback that do what servers do. Inputs are files under
//! `fixtures/network/`, named for what they show.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "an integration test"
)]

mod answers;
mod bodies;
mod certificates;
mod guard;
mod limits;
mod proxies;
mod redirects;
mod retries;
mod server;
mod time;

use std::path::PathBuf;
use std::time::Duration;

use http_client::{Client, NetworkEnv, Policy, Url};

/// A client with short pauses.
fn client() -> Client {
    client_in(NetworkEnv::default())
}

/// A client whose calls may take no longer than `limit`.
fn client_within(limit: Duration) -> Client {
    Client::new(Policy {
        call_timeout: limit,
        ..Policy::default()
    })
    .unwrap()
}

fn client_in(env: NetworkEnv) -> Client {
    Client::new(Policy {
        retry_pause: Duration::from_millis(2),
        env,
        ..Policy::default()
    })
    .unwrap()
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn fixture_path(name: &str) -> PathBuf {
    PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/network"
    ))
    .join(name)
}

fn fixture(name: &str) -> String {
    std::fs::read_to_string(fixture_path(name)).unwrap()
}

/// A fixture with its example origins put on loopback servers.
fn fixture_at(name: &str, origins: &[(&str, &str)]) -> serde_json::Value {
    let mut text = fixture(name);
    for (example, real) in origins {
        text = text.replace(example, real);
    }
    serde_json::from_str(&text).unwrap()
}
