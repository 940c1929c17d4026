//! What conversations rest on: LLM, profile, secrets.

use agent_server::Connection;
use lifecycle::ports::{AgentError, Agents};
use serde_json::{Value, json};
use testbed::agent_server::AgentServer as StandIn;
use testbed::faults::Fault;

use crate::{ID, agents, agents_with, connection, fixture, request};

fn body(server: &StandIn) -> Value {
    server.conversation(ID).unwrap().body
}

#[tokio::test]
async fn the_profile_of_the_run_is_used() {
    let server = StandIn::start().unwrap();
    let profile = fixture("agent-server/profile.json")["config"].clone();
    server.set_profile("fast", profile.clone());
    let connection = Connection {
        model_profile: Some("fast".to_owned()),
        ..connection(&server)
    };
    let (agents, warnings) = agents_with(connection);
    agents.start(&request()).await.unwrap();
    assert_eq!(body(&server)["agent"]["llm"], profile, "with its key");
    assert!(warnings.borrow().is_empty());
}

#[tokio::test]
async fn a_profile_that_is_gone_falls_back_to_the_default() {
    for name in ["renamed", "not/a name?"] {
        let server = StandIn::start().unwrap();
        let connection = Connection {
            model_profile: Some(name.to_owned()),
            ..connection(&server)
        };
        let (agents, warnings) = agents_with(connection);
        agents.start(&request()).await.unwrap();
        assert_eq!(body(&server)["agent"]["llm"]["model"], "openai/scripted");
        assert_eq!(warnings.borrow().len(), 1);
        assert!(warnings.borrow()[0].contains(name), "{warnings:?}");
    }
}

#[tokio::test]
async fn secrets_that_are_not_there_are_left_out_with_a_warning() {
    let server = StandIn::start().unwrap();
    server.set_secret("GITLAB_TOKEN", "value");
    let connection = Connection {
        secret_names: vec!["GITLAB_TOKEN".to_owned(), "GONE".to_owned()],
        ..connection(&server)
    };
    let (agents, warnings) = agents_with(connection);
    agents.start(&request()).await.unwrap();
    let body = body(&server);
    let names: Vec<&String> = body["secrets"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["GITLAB_TOKEN"]);
    assert_eq!(
        server.conversation(ID).unwrap().body["mcp_config"],
        Value::Null
    );
    assert_eq!(warnings.borrow().len(), 1);
    assert!(warnings.borrow()[0].contains("GONE") && !warnings.borrow()[0].contains("GITLAB"));
}

#[tokio::test]
async fn without_a_model_nothing_is_started() {
    for llm in [json!({}), json!({"model": ""}), json!({"model": null})] {
        let server = StandIn::start().unwrap();
        server.set_llm(llm);
        let error = agents(&server).start(&request()).await.unwrap_err();
        assert!(error.to_string().contains("no LLM model"), "{error}");
        assert!(matches!(error, AgentError::Refused(_)), "{error}");
    }
}

#[tokio::test]
async fn settings_that_are_not_the_json_expected() {
    let case = fixture("network/answers-that-are-not-the-json-expected.json");
    for answer in case["answers"].as_array().unwrap() {
        let server = StandIn::start().unwrap();
        let status = u16::try_from(answer["status"].as_u64().unwrap()).unwrap();
        let kind = answer["content_type"].as_str().unwrap_or("text/plain");
        let text = answer["body"].as_str().unwrap_or_default();
        server.server().faults().add(
            Fault::status(status)
                .body(kind, text)
                .on("GET", "/api/settings"),
        );
        // Settings without an LLM are no better than none.
        let error = agents(&server).start(&request()).await.unwrap_err();
        assert!(matches!(error, AgentError::Refused(_)), "{error}");
        if !answer["error"].is_null() {
            let words = error.to_string();
            for part in [
                "agent server",
                "GET /api/settings",
                &format!("status {status}"),
                text,
            ] {
                assert!(words.contains(part), "{part}: {words}");
            }
        }
        assert_eq!(server.created(), 0);
    }
}

#[tokio::test]
async fn settings_are_asked_again_after_a_failure() {
    let server = StandIn::start().unwrap();
    server
        .server()
        .faults()
        .add(Fault::status(500).on("GET", "/api/settings"));
    let agents = agents(&server);
    assert!(matches!(
        agents.start(&request()).await,
        Err(AgentError::Refused(_))
    ));
    agents.start(&request()).await.unwrap();
}
