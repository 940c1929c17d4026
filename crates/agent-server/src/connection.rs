//! Where the agent server is and what a run may ask of it. The names of the variables are those
//! that the automation service sets.

use http_client::{Secret, Url};

/// What is wrong with the variables of the agent server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConnectionError {
    /// `AGENT_SERVER_URL` is absent or empty.
    #[error(
        "AGENT_SERVER_URL is not set; the automation service sets it, and for a run by hand it is the address of the agent server, such as http://127.0.0.1:8000"
    )]
    NoAddress,
    /// `AGENT_SERVER_URL` is no http address.
    #[error("AGENT_SERVER_URL is no http or https address")]
    BadAddress,
}

/// How the agent server is reached, and what conversations are given.
#[derive(Debug, Clone)]
pub struct Connection {
    /// Base address; a path before `/api` is kept.
    pub base_url: Url,
    /// Sent as `X-Session-API-Key`.
    pub session_key: Option<Secret>,
    /// Whether the run has an agent server of its own that goes when the run ends: a conversation
    /// that is not there is then elsewhere, not deleted.
    pub sandbox: bool,
    /// Where people look at conversations, without the path `/conversations`.
    pub web_url: String,
    /// Name of the LLM profile to use; the default LLM of the settings otherwise.
    pub model_profile: Option<String>,
    /// Names of the secrets that conversations may look up. Those that the server does not have
    /// are left out, with a warning.
    pub secret_names: Vec<String>,
    /// Whether conversations get the MCP servers of the settings.
    pub forward_mcp_servers: bool,
}

impl Connection {
    /// Reads `AGENT_SERVER_URL`, `SESSION_API_KEY` (else `OH_SESSION_API_KEYS_0`), `SANDBOX_ID` and
    /// `AUTOMATION_MODEL`. Conversations get no secrets and no MCP servers until the caller says
    /// so; people find them at the agent server itself unless `web_url` is set.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ConnectionError> {
        let get = |name: &str| {
            lookup(name)
                .map(|value| value.trim().to_owned())
                .filter(|value| !value.is_empty())
        };
        let address = get("AGENT_SERVER_URL").ok_or(ConnectionError::NoAddress)?;
        let base_url = Url::parse(&address)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
            .ok_or(ConnectionError::BadAddress)?;
        Ok(Self {
            base_url,
            session_key: get("SESSION_API_KEY")
                .or_else(|| get("OH_SESSION_API_KEYS_0"))
                .map(Secret::new),
            sandbox: get("SANDBOX_ID").is_some(),
            web_url: address,
            model_profile: get("AUTOMATION_MODEL"),
            secret_names: Vec::new(),
            forward_mcp_servers: false,
        })
    }
}
