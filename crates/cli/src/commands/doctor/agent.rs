//! The agent server: there, the key accepted, the secrets set, an LLM chosen.

use super::finding::{Finding, Findings};
use super::{Patient, clocks};
use crate::commands::configured::Configured;
use crate::config::Shared;
use crate::run::wiring;
use crate::run::{Automation, RunError};
use agent_server::{AgentServer, Connection};
use http_client::Secret;
use lifecycle::ports::AgentError;

/// Checks it, and returns the forge's token, from wherever a run would take it.
pub(super) async fn check(patient: &Patient<'_>, findings: &mut Findings<'_>) -> Option<Secret> {
    let environment = &patient.session.environment;
    let name = patient.automation.token_secret();
    let own = match patient.automation {
        Automation::News => None,
        Automation::Review => environment.github_token.clone(),
        Automation::Issue => environment.gitlab_token.clone(),
    };
    let held = match connection(patient) {
        Ok(Some(connection)) => ask(patient, connection, name, findings).await,
        Ok(None) => {
            findings.add(Finding::failed(
                "agent server",
                "AGENT_SERVER_URL is not set, so nothing can be started here",
                "The automation service sets it. By hand, give the address of an agent server, \
                 such as http://127.0.0.1:8000. Dry runs go without.",
            ));
            None
        }
        Err(error) => {
            findings.add(Finding::failed(
                "agent server",
                error.to_string(),
                "Correct it.",
            ));
            None
        }
    };
    let name = name?;
    let from = if held.is_some() {
        "the agent server"
    } else {
        "the environment"
    };
    let token = held.or(own);
    if let Some(token) = &token {
        patient.session.console.hide(token);
        findings.add(Finding::ok("token", format!("{name} from {from}")));
    } else {
        findings.add(Finding::failed(
            "token",
            format!("{name} is not set"),
            "Add it to the secrets of the agent server, or to the environment.",
        ));
    }
    token
}

fn connection(patient: &Patient<'_>) -> Result<Option<Connection>, RunError> {
    // Whatever the configuration says: the server can be asked without it.
    let nothing = Shared {
        openhands_url: None,
        agent_secret_names: Vec::new(),
        forward_mcp_servers: false,
        time_budget_seconds: 0.0,
        wait_seconds: 0.0,
        max_new_per_run: 0,
        max_active: 0,
    };
    let shared = patient.configured.map_or(&nothing, Configured::shared);
    wiring::connection(&patient.session.environment, shared, true)
}

/// Asks the server, and returns the secret of this name.
async fn ask(
    patient: &Patient<'_>,
    connection: Connection,
    name: Option<&str>,
    findings: &mut Findings<'_>,
) -> Option<Secret> {
    const CHECK: &str = "agent server";
    let address = connection.base_url.clone();
    let mut alive = address.clone();
    if let Ok(mut segments) = alive.path_segments_mut() {
        segments.pop_if_empty().push("alive");
    }
    if let Err(error) = clocks::check(patient, CHECK, alive, findings).await {
        let advice = "Start it, or correct AGENT_SERVER_URL. Where a proxy is set, NO_PROXY says \
                      what is reached without one.";
        findings.add(Finding::failed(CHECK, error.to_string(), advice));
        return None;
    }
    let server = AgentServer::new(patient.client.clone(), connection);
    // A secret that needs the key like any other; news has no token of its own.
    let held = match server.secret(name.unwrap_or("OPENHANDS_URL")).await {
        Ok(held) => held,
        Err(error) => {
            let advice = match &error {
                AgentError::Unauthorized(_) => {
                    "Set SESSION_API_KEY to a key of the server (OH_SESSION_API_KEYS_0 there)."
                }
                AgentError::Full(_) | AgentError::Refused(_) | AgentError::Unavailable(_) => {
                    "Look at the server's log, and at its address in AGENT_SERVER_URL."
                }
            };
            findings.add(Finding::failed(CHECK, error.to_string(), advice));
            return None;
        }
    };
    findings.add(Finding::ok(
        CHECK,
        format!("{address} answers and accepts the key"),
    ));
    conversations(&server, findings).await;
    held.filter(|_| name.is_some())
}

/// What conversations would be started with.
async fn conversations(server: &AgentServer, findings: &mut Findings<'_>) {
    match server.readiness().await {
        Ok(ready) => {
            findings.add(Finding::ok("LLM", ready.model));
            if !ready.secret_names.is_empty() {
                let names = ready.secret_names.join(", ");
                findings.add(Finding::ok(
                    "secrets",
                    format!("conversations may use {names}"),
                ));
            }
            for warning in ready.warnings {
                let advice = "Add it to the agent server, or change the configuration \
                              (agent_secret_names, AUTOMATION_MODEL).";
                findings.add(Finding::warning("conversations", warning, advice));
            }
        }
        Err(error) => {
            let advice = "Choose a model in the settings of the agent server.";
            findings.add(Finding::failed("LLM", error.to_string(), advice));
        }
    }
}
