//! Every environment variable that the binaries read, each once. Nothing else reads the
//! environment.

#[cfg(test)]
mod tests;

use http_client::{NetworkEnv, Secret};
use std::path::PathBuf;

/// The environment of a run, as values. Empty variables count as absent.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `AGENT_SERVER_URL`: base address of the agent server; in a sandbox without it,
    /// `http://localhost` at `AGENT_SERVER_PORT` or 60000.
    pub agent_server_url: Option<String>,
    /// `SESSION_API_KEY`, else `OH_SESSION_API_KEYS_0`: its key.
    pub session_api_key: Option<Secret>,
    /// `AUTOMATION_API_URL`: base address of the automation service, ends in `/api/automation`.
    pub automation_api_url: Option<String>,
    /// `AUTOMATION_KV_TOKEN`: bearer token of the KV store; absent means files.
    pub kv_token: Option<Secret>,
    /// `AUTOMATION_CALLBACK_URL`: where the run reports its completion.
    pub callback_url: Option<String>,
    /// `AUTOMATION_CALLBACK_API_KEY`: bearer token of the callback.
    pub callback_api_key: Option<Secret>,
    /// `AUTOMATION_PHASE_URL`: where the run reports progress.
    pub phase_url: Option<String>,
    /// `AUTOMATION_RUN_ID`: id of the run.
    pub run_id: Option<String>,
    /// `AUTOMATION_EVENT_PAYLOAD`: JSON with `automation_id`.
    pub event_payload: Option<String>,
    /// `AUTOMATION_ID`: id of the automation, on newer services.
    pub automation_id: Option<String>,
    /// `AUTOMATION_MODEL`: name of the LLM profile to use.
    pub model: Option<String>,
    /// `SANDBOX_ID`: set in sandbox mode only.
    pub sandbox_id: Option<String>,
    /// `OPENHANDS_API_KEY`: set in sandbox mode; also the key for deploying.
    pub openhands_api_key: Option<Secret>,
    /// `OPENHANDS_AUTOMATION_API_KEY`: the key for deploying, if it is another.
    pub automation_api_key: Option<Secret>,
    /// `OPENHANDS_URL`: where people look at conversations.
    pub openhands_url: Option<String>,
    /// `OPENHANDS_HOST`: the installation to deploy to.
    pub openhands_host: Option<String>,
    /// `WORKSPACE_BASE`: where workspaces are made.
    pub workspace_base: Option<PathBuf>,
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// `PATH`, to find git.
    pub path: Option<String>,
    /// `AUTOMATION_CONFIG`: path of the configuration.
    pub config: Option<PathBuf>,
    /// `GITHUB_PERSONAL_ACCESS_TOKEN`: used when the agent server has no secret of that name.
    pub github_token: Option<Secret>,
    /// `GITLAB_TOKEN`: used when the agent server has no secret of that name.
    pub gitlab_token: Option<Secret>,
    /// `NO_COLOR`: plain output.
    pub no_color: bool,
    /// Proxies and certificate authorities.
    pub network: NetworkEnv,
}

impl Environment {
    /// Reads the environment of this process.
    pub fn of_process() -> Self {
        #[allow(
            clippy::disallowed_methods,
            reason = "the one place that reads the environment"
        )]
        Self::from_lookup(|name| std::env::var(name).ok())
    }

    /// Reads an environment that is given as a function.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let get = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        let secret = |name: &str| get(name).map(|value| Secret::new(value.trim().to_owned()));
        Self {
            agent_server_url: get("AGENT_SERVER_URL").or_else(|| {
                // A sandbox has its agent server beside it, and the variable may be missing.
                get("SANDBOX_ID")?;
                let port = get("AGENT_SERVER_PORT").unwrap_or_else(|| "60000".into());
                Some(format!("http://localhost:{port}"))
            }),
            session_api_key: secret("SESSION_API_KEY").or_else(|| secret("OH_SESSION_API_KEYS_0")),
            automation_api_url: get("AUTOMATION_API_URL"),
            kv_token: secret("AUTOMATION_KV_TOKEN"),
            callback_url: get("AUTOMATION_CALLBACK_URL"),
            callback_api_key: secret("AUTOMATION_CALLBACK_API_KEY"),
            phase_url: get("AUTOMATION_PHASE_URL"),
            run_id: get("AUTOMATION_RUN_ID"),
            event_payload: get("AUTOMATION_EVENT_PAYLOAD"),
            automation_id: get("AUTOMATION_ID"),
            model: get("AUTOMATION_MODEL"),
            sandbox_id: get("SANDBOX_ID"),
            openhands_api_key: secret("OPENHANDS_API_KEY"),
            automation_api_key: secret("OPENHANDS_AUTOMATION_API_KEY"),
            openhands_url: get("OPENHANDS_URL"),
            openhands_host: get("OPENHANDS_HOST"),
            workspace_base: get("WORKSPACE_BASE").map(PathBuf::from),
            home: get("HOME").map(PathBuf::from),
            path: get("PATH"),
            config: get("AUTOMATION_CONFIG").map(PathBuf::from),
            github_token: secret("GITHUB_PERSONAL_ACCESS_TOKEN"),
            gitlab_token: secret("GITLAB_TOKEN"),
            no_color: get("NO_COLOR").is_some(),
            network: NetworkEnv::from_lookup(&lookup),
        }
    }

    /// All secrets in it: none of them may ever be shown.
    pub fn secrets(&self) -> impl Iterator<Item = &Secret> {
        [
            &self.session_api_key,
            &self.kv_token,
            &self.callback_api_key,
            &self.openhands_api_key,
            &self.automation_api_key,
            &self.github_token,
            &self.gitlab_token,
        ]
        .into_iter()
        .flatten()
    }

    /// The id of the automation: what the payload says, else `AUTOMATION_ID`.
    pub fn automation_id(&self) -> Option<String> {
        let payload = self.event_payload.as_deref();
        let value: Option<serde_json::Value> =
            payload.and_then(|text| serde_json::from_str(text).ok());
        value
            .and_then(|value| value.get("automation_id")?.as_str().map(str::to_owned))
            .filter(|id| !id.is_empty())
            .or_else(|| self.automation_id.clone())
    }

    /// Whether the run has a sandbox of its own, which ends with it.
    pub fn is_sandbox(&self) -> bool {
        self.sandbox_id.is_some()
    }
}
