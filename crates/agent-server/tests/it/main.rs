//! The client of the agent server and the reports of a run, against the stand-ins. Inputs are
//! files under `fixtures/agent-server/`, `fixtures/runtime/` and `fixtures/network/`.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "an integration test"
)]

mod grounds;
mod observe;
mod readiness;
mod report;
mod secrets;
mod start;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use agent_server::{AgentServer, Connection};
use http_client::{Client, Policy};
use lifecycle::ports::StartConversation;
use serde_json::Value;

const ID: &str = "f020e135-9ead-43f1-a3b5-5ef74fc22697";

fn policy() -> Policy {
    Policy {
        retry_pause: Duration::from_millis(2),
        call_timeout: Duration::from_millis(500),
        ..Policy::default()
    }
}

fn client() -> Client {
    Client::new(policy()).unwrap()
}

fn fixture(path: &str) -> Value {
    let path = format!("{}/../../fixtures/{path}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn connection(server: &testbed::agent_server::AgentServer) -> Connection {
    Connection::from_lookup(|name| match name {
        "AGENT_SERVER_URL" => Some(server.base_url().to_owned()),
        "SESSION_API_KEY" => Some(server.key()),
        _ => None,
    })
    .unwrap()
}

fn agents(server: &testbed::agent_server::AgentServer) -> AgentServer {
    AgentServer::new(client(), connection(server))
}

/// A client and the list of its warnings.
fn agents_with(connection: Connection) -> (AgentServer, Rc<RefCell<Vec<String>>>) {
    let warnings = Rc::new(RefCell::new(Vec::new()));
    let kept = Rc::clone(&warnings);
    let agents = AgentServer::new(client(), connection)
        .on_warning(move |text| kept.borrow_mut().push(text.to_owned()));
    (agents, warnings)
}

fn request() -> StartConversation {
    StartConversation {
        conversation_id: ID.to_owned(),
        working_dir: "/workspace/news-digest/2026-08-01".to_owned(),
        prompt: "Write the digest of 1 August 2026.\n\nStories follow.".to_owned(),
    }
}
