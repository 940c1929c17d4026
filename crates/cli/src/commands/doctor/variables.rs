//! The environment variables: which are there, and what it means that others are not. Values are
//! never shown.

use super::finding::{Finding, Findings};
use crate::environment::Environment;
use crate::run::Automation;
use serde_json::Value;
use url::Url;

const CHECK: &str = "environment";

pub(super) fn check(
    environment: &Environment,
    automation: Automation,
    findings: &mut Findings<'_>,
) {
    let all = variables(environment, automation);
    let names = |present: bool| {
        let some = all.iter().filter(|variable| variable.is_set == present);
        some.map(|variable| variable.name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let set = names(true);
    findings.add(Finding::ok(
        CHECK,
        format!("set: {}", if set.is_empty() { "none" } else { &set }),
    ));
    for variable in all.iter().filter(|variable| !variable.is_set) {
        findings.add(Finding::ok(
            CHECK,
            format!("not set: {} ({})", variable.name, variable.without),
        ));
    }
    odd(environment, findings);
}

struct Variable {
    name: &'static str,
    is_set: bool,
    /// What holds when it is not set.
    without: &'static str,
}

fn variables(environment: &Environment, automation: Automation) -> Vec<Variable> {
    let variable = |name, is_set, without| Variable {
        name,
        is_set,
        without,
    };
    let network = &environment.network;
    let mut all = vec![
        variable(
            "AGENT_SERVER_URL",
            environment.agent_server_url.is_some(),
            "only dry runs are possible here",
        ),
        variable(
            "SESSION_API_KEY",
            environment.session_api_key.is_some(),
            "the agent server is asked without a key",
        ),
        variable(
            "AUTOMATION_API_URL",
            environment.automation_api_url.is_some(),
            "documents are files",
        ),
        variable(
            "AUTOMATION_KV_TOKEN",
            environment.kv_token.is_some(),
            "documents are files",
        ),
        variable(
            "AUTOMATION_EVENT_PAYLOAD or AUTOMATION_ID",
            environment.automation_id().is_some(),
            "the automation id is \"default\"",
        ),
        variable(
            "AUTOMATION_CALLBACK_URL",
            environment.callback_url.is_some(),
            "nobody is told when a run has ended",
        ),
        variable(
            "AUTOMATION_MODEL",
            environment.model.is_some(),
            "conversations use the default LLM",
        ),
        variable(
            "WORKSPACE_BASE",
            environment.workspace_base.is_some(),
            "workspaces have their usual place",
        ),
    ];
    match automation {
        Automation::News => {}
        Automation::Review => all.push(variable(
            "GITHUB_PERSONAL_ACCESS_TOKEN",
            environment.github_token.is_some(),
            "the secret of the agent server is used",
        )),
        Automation::Issue => all.push(variable(
            "GITLAB_TOKEN",
            environment.gitlab_token.is_some(),
            "the secret of the agent server is used",
        )),
    }
    // Of these only presence means anything.
    let proxies = [
        &network.http_proxy,
        &network.https_proxy,
        &network.all_proxy,
    ];
    let present = [
        ("SANDBOX_ID", environment.is_sandbox()),
        ("OPENHANDS_URL", environment.openhands_url.is_some()),
        (
            "HTTP_PROXY, HTTPS_PROXY or ALL_PROXY",
            proxies.iter().any(|proxy| proxy.is_some()),
        ),
        ("NO_PROXY", network.no_proxy.is_some()),
        ("SSL_CERT_FILE", network.cert_file.is_some()),
        ("SSL_CERT_DIR", !network.cert_dirs.is_empty()),
    ];
    all.extend(
        present
            .into_iter()
            .filter(|(_, is_set)| *is_set)
            .map(|(name, is_set)| variable(name, is_set, "")),
    );
    all
}

/// What is set and cannot be right.
fn odd(environment: &Environment, findings: &mut Findings<'_>) {
    let is_address = |text: &String| Url::parse(text).is_ok_and(|url| url.has_host());
    let addresses = [
        ("AGENT_SERVER_URL", &environment.agent_server_url),
        ("AUTOMATION_API_URL", &environment.automation_api_url),
        ("AUTOMATION_CALLBACK_URL", &environment.callback_url),
        ("AUTOMATION_PHASE_URL", &environment.phase_url),
        ("OPENHANDS_URL", &environment.openhands_url),
    ];
    for (name, value) in addresses {
        if value.as_ref().is_some_and(|text| !is_address(text)) {
            let advice = "Give a whole address, with http:// or https://.";
            findings.add(Finding::failed(
                CHECK,
                format!("{name} is no address"),
                advice,
            ));
        }
    }
    let payload = environment.event_payload.as_deref();
    if payload.is_some_and(|text| serde_json::from_str::<Value>(text).is_err()) {
        findings.add(Finding::warning(
            CHECK,
            "AUTOMATION_EVENT_PAYLOAD is no JSON",
            "The automation service sets it; by hand, set AUTOMATION_ID in its place.",
        ));
    }
    let files = environment.network.cert_file.iter();
    for path in files.chain(&environment.network.cert_dirs) {
        if !path.exists() {
            findings.add(Finding::failed(
                CHECK,
                format!("the certificates at {} are not there", path.display()),
                "Correct SSL_CERT_FILE or SSL_CERT_DIR.",
            ));
        }
    }
    if environment.kv_token.is_some() && environment.automation_api_url.is_none() {
        findings.add(Finding::warning(
            CHECK,
            "AUTOMATION_KV_TOKEN is set, but AUTOMATION_API_URL is not, so documents are files",
            "Set both or neither.",
        ));
    }
}
