//! What people are told about the conversations that a run would start.

use agent_server::{AgentServer, Connection, Readiness};
use lifecycle::ports::AgentError;
use serde_json::json;
use testbed::agent_server::AgentServer as StandIn;

use crate::{agents, client, connection};

#[tokio::test]
async fn model_and_secrets_are_told_and_nothing_is_started() {
    let server = StandIn::start().unwrap();
    server.set_profile("fast", json!({"model": "acme/fast", "api_key": "hidden"}));
    server.set_secret("GITLAB_TOKEN", "value");
    let connection = Connection {
        model_profile: Some("fast".to_owned()),
        secret_names: vec!["GITLAB_TOKEN".to_owned(), "OTHER".to_owned()],
        ..connection(&server)
    };
    let ready = AgentServer::new(client(), connection)
        .readiness()
        .await
        .unwrap();
    let expected = Readiness {
        model: "acme/fast".to_owned(),
        secret_names: vec!["GITLAB_TOKEN".to_owned()],
        warnings: vec![
            "the agent server has no secret named OTHER; conversations go without".to_owned(),
        ],
    };
    assert_eq!(ready, expected);
    assert_eq!(server.created(), 0);
    server.check().unwrap();
}

#[tokio::test]
async fn settings_without_a_model_are_refused() {
    let server = StandIn::start().unwrap();
    server.set_llm(json!({}));
    let error = agents(&server).readiness().await.unwrap_err();
    let expected =
        AgentError::Refused("its settings name no LLM model; choose one there".to_owned());
    assert_eq!(error, expected);
}
