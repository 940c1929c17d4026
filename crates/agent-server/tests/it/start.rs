//! Starting conversations.

use std::time::Duration;

use agent_server::{AgentServer, Connection};
use http_client::{Client, Policy};
use lifecycle::ports::{AgentError, Agents, Observation, Started};
use testbed::ClosedPort;
use testbed::agent_server::AgentServer as StandIn;
use testbed::faults::Fault;

use crate::{ID, agents, client, connection, fixture, request};

fn started(existed: bool) -> Started {
    Started {
        conversation_id: ID.to_owned(),
        existed,
    }
}

#[tokio::test]
async fn the_same_id_is_the_same_conversation() {
    let server = StandIn::start().unwrap();
    let agents = agents(&server);
    assert_eq!(agents.start(&request()).await.unwrap(), started(false));
    assert_eq!(agents.start(&request()).await.unwrap(), started(true));
    assert_eq!(server.created(), 1);
    assert_eq!(
        server.server().log().count("GET", "/api/settings"),
        1,
        "settings are read once"
    );
    server.check().unwrap();
}

#[tokio::test]
async fn the_body_without_secrets_and_servers() {
    let server = StandIn::start().unwrap();
    server.set_llm(fixture("agent-server/settings.json")["agent_settings"]["llm"].clone());
    server.set_mcp_config(
        fixture("agent-server/settings.json")["agent_settings"]["mcp_config"].clone(),
    );
    server.set_secret("GITLAB_TOKEN", "value");
    agents(&server).start(&request()).await.unwrap();
    insta::assert_snapshot!("start-body", body(&server));
}

#[tokio::test]
async fn the_body_with_secrets_and_servers() {
    let server = StandIn::start().unwrap();
    server.set_llm(fixture("agent-server/settings.json")["agent_settings"]["llm"].clone());
    server.set_mcp_config(
        fixture("agent-server/settings.json")["agent_settings"]["mcp_config"].clone(),
    );
    server.set_secret("GITLAB_TOKEN", "value");
    server.set_secret("OTHER", "value");
    let connection = Connection {
        secret_names: vec!["GITLAB_TOKEN".to_owned()],
        forward_mcp_servers: true,
        ..connection(&server)
    };
    AgentServer::new(client(), connection)
        .start(&request())
        .await
        .unwrap();
    insta::assert_snapshot!("start-body-with-secrets-and-servers", body(&server));
}

fn body(server: &StandIn) -> String {
    let sent = server
        .server()
        .log()
        .last("POST", "/api/conversations")
        .unwrap()
        .json()
        .unwrap();
    serde_json::to_string_pretty(&sent).unwrap()
}

#[tokio::test]
async fn an_older_server_chooses_the_id() {
    let server = StandIn::start().unwrap();
    server.set_heeds_ids(false);
    let started = agents(&server).start(&request()).await.unwrap();
    assert_ne!(started.conversation_id, ID);
    assert_eq!(started.conversation_id, server.created_ids()[0]);
}

#[tokio::test]
async fn no_room_for_another_conversation() {
    let case = fixture("runtime/no-room-for-another-conversation.json");
    let server = StandIn::start().unwrap();
    server.server().faults().add(
        Fault::status(429)
            .body("application/json", case["body"].to_string())
            .on("POST", "/api"),
    );
    let agents = agents(&server);
    let error = agents.start(&request()).await.unwrap_err();
    assert_eq!(error, AgentError::Full("3 of 3 are running".to_owned()));
    assert_eq!(
        server.attempts(ID),
        0,
        "asked once, and not repeated at once"
    );

    server.set_capacity(Some(0));
    let error = agents.start(&request()).await.unwrap_err();
    assert!(matches!(error, AgentError::Full(_)), "{error}");
}

#[tokio::test]
async fn every_status_has_its_meaning() {
    let server = StandIn::start().unwrap();
    for (status, expected) in [
        (400, "refused"),
        (404, "refused"),
        (422, "refused"),
        (401, "unauthorized"),
        (403, "unauthorized"),
        (429, "full"),
        (204, "unavailable"),
        (500, "unavailable"),
        (503, "unavailable"),
    ] {
        server
            .server()
            .faults()
            .add(Fault::status(status).on("POST", "/api/conversations"));
        let error = agents(&server).start(&request()).await.unwrap_err();
        let kind = match error {
            AgentError::Full(_) => "full",
            AgentError::Unauthorized(_) => "unauthorized",
            AgentError::Refused(_) => "refused",
            AgentError::Unavailable(_) => "unavailable",
        };
        assert_eq!(kind, expected, "{status}");
    }
    assert_eq!(server.created(), 0);
}

#[tokio::test]
async fn a_wrong_key_is_no_secret_and_says_what_to_check() {
    let server = StandIn::start().unwrap();
    let agents = agents(&server);
    server.set_key("another");
    let error = agents.start(&request()).await.unwrap_err();
    assert!(matches!(error, AgentError::Unauthorized(_)), "{error}");
    assert!(error.to_string().contains("SESSION_API_KEY"), "{error}");
    assert!(!error.to_string().contains("session-key"), "{error}");
}

#[tokio::test]
async fn a_lost_answer_leaves_the_effect_unknown() {
    let server = StandIn::start().unwrap();
    let agents = agents(&server);
    server
        .server()
        .faults()
        .add(Fault::answer_lost().on("POST", "/api/conversations"));
    let error = agents.start(&request()).await.unwrap_err();
    assert!(matches!(error, AgentError::Unavailable(_)), "{error}");
    assert_eq!(
        server.attempts(ID),
        1,
        "an older server would start a second one"
    );
    let seen = agents.observe(&[ID.to_owned()]).await;
    assert!(matches!(seen[0], Observation::Seen(_)), "{seen:?}");
    assert_eq!(agents.start(&request()).await.unwrap(), started(true));
}

#[tokio::test]
async fn a_server_that_is_not_there_has_started_nothing() {
    let port = ClosedPort::take().unwrap();
    let connection = Connection::from_lookup(|name| {
        (name == "AGENT_SERVER_URL").then(|| port.base_url().to_owned())
    })
    .unwrap();
    let error = AgentServer::new(client(), connection)
        .start(&request())
        .await
        .unwrap_err();
    assert!(matches!(error, AgentError::Refused(_)), "{error}");
}

#[tokio::test]
async fn a_server_that_never_answers_costs_one_limit_for_each_call() {
    for path in ["/api/settings", "/api/conversations"] {
        let server = StandIn::start().unwrap();
        server
            .server()
            .faults()
            .add(Fault::hang().on("*", path).always());
        let policy = Policy {
            call_timeout: Duration::from_millis(50),
            ..Policy::default()
        };
        let agents = AgentServer::new(Client::new(policy).unwrap(), connection(&server));
        let error = agents.start(&request()).await.unwrap_err();
        let effect_unknown = matches!(error, AgentError::Unavailable(_));
        assert_eq!(effect_unknown, path == "/api/conversations", "{error}");
        let seen = agents.observe(&[ID.to_owned()]).await;
        assert!(!matches!(seen[0], Observation::Seen(_)), "{seen:?}");
    }
}
