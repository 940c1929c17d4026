//! Secrets by name, and where the server is.

use agent_server::{Connection, ConnectionError};
use lifecycle::ports::{AgentError, Agents};
use testbed::agent_server::AgentServer as StandIn;
use testbed::faults::Fault;

use crate::agents;

#[tokio::test]
async fn a_secret_is_its_text_or_not_set() {
    let server = StandIn::start().unwrap();
    server.set_secret("GITLAB_TOKEN", "glpat-x\n");
    server.set_secret("EMPTY", "");
    let agents = agents(&server);
    let value = agents.secret("GITLAB_TOKEN").await.unwrap().unwrap();
    assert_eq!(value.expose(), "glpat-x");
    for name in ["EMPTY", "GONE", "no such name", "../settings"] {
        assert_eq!(agents.secret(name).await.unwrap(), None, "{name}");
    }
    server
        .server()
        .faults()
        .add(Fault::status(500).on("GET", "secrets"));
    let error = agents.secret("GITLAB_TOKEN").await.unwrap_err();
    assert!(matches!(error, AgentError::Unavailable(_)), "{error}");
    server.set_key("another");
    let error = agents.secret("GITLAB_TOKEN").await.unwrap_err();
    assert!(matches!(error, AgentError::Unauthorized(_)), "{error}");
}

#[test]
fn variables_of_local_and_sandbox_mode() {
    let from = |pairs: &'static [(&str, &str)]| {
        Connection::from_lookup(|name| {
            pairs
                .iter()
                .find(|(have, _)| *have == name)
                .map(|(_, value)| (*value).to_owned())
        })
    };
    assert_eq!(from(&[]).unwrap_err(), ConnectionError::NoAddress);
    assert_eq!(
        from(&[("AGENT_SERVER_URL", " ")]).unwrap_err(),
        ConnectionError::NoAddress
    );
    for bad in [
        &[("AGENT_SERVER_URL", "localhost:8000")],
        &[("AGENT_SERVER_URL", "file:///x")],
    ] {
        assert_eq!(from(bad).unwrap_err(), ConnectionError::BadAddress);
    }
    let local = from(&[
        ("AGENT_SERVER_URL", "http://h:8000/"),
        ("SESSION_API_KEY", "a"),
        ("OH_SESSION_API_KEYS_0", "b"),
        ("AUTOMATION_MODEL", ""),
    ])
    .unwrap();
    assert_eq!(local.session_key.unwrap().expose(), "a");
    assert_eq!((local.sandbox, local.model_profile), (false, None));
    let sandbox = from(&[
        ("AGENT_SERVER_URL", "https://h/prefix"),
        ("OH_SESSION_API_KEYS_0", "b"),
        ("SANDBOX_ID", "s"),
        ("AUTOMATION_MODEL", "fast"),
    ])
    .unwrap();
    assert_eq!(sandbox.session_key.as_ref().unwrap().expose(), "b");
    assert_eq!(
        (sandbox.sandbox, sandbox.model_profile.as_deref()),
        (true, Some("fast"))
    );
    let agents = agent_server::AgentServer::new(crate::client(), sandbox);
    assert!(agents.is_sandbox());
}
