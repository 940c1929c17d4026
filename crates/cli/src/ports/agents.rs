//! The agent server, or none: a dry run may do without.
//!
//! What an agent says at the end may be posted for all to read. An agent that a stranger has persuaded
//! may say what it was trusted with, so our secrets are taken out here.

use crate::console::Console;
use agent_server::AgentServer;
use lifecycle::ports::{AgentError, Agents, Observation, StartConversation, Started};

/// The agent server of a run, if it has one.
pub struct AgentsPort {
    server: Option<AgentServer>,
    sandbox: bool,
    /// Knows the secrets of the run.
    console: Console,
}

impl AgentsPort {
    /// The port for a server, or for none. What `console` hides is in nothing that agents say.
    pub fn new(server: Option<AgentServer>, sandbox: bool, console: Console) -> Self {
        Self {
            server,
            sandbox,
            console,
        }
    }

    fn missing() -> AgentError {
        AgentError::Unavailable("AGENT_SERVER_URL is not set".into())
    }
}

impl Agents for AgentsPort {
    async fn start(&self, request: &StartConversation) -> Result<Started, AgentError> {
        match &self.server {
            Some(server) => server.start(request).await,
            None => Err(Self::missing()),
        }
    }

    async fn observe(&self, ids: &[String]) -> Vec<Observation> {
        match &self.server {
            Some(server) => server.observe(ids).await,
            None => vec![Observation::Unavailable("AGENT_SERVER_URL is not set".into()); ids.len()],
        }
    }

    async fn final_response(&self, conversation_id: &str) -> Result<String, AgentError> {
        match &self.server {
            Some(server) => {
                let said = server.final_response(conversation_id).await?;
                Ok(self.console.without_secrets(&said))
            }
            None => Err(Self::missing()),
        }
    }

    async fn interrupt(&self, conversation_id: &str) -> Result<(), AgentError> {
        match &self.server {
            Some(server) => server.interrupt(conversation_id).await,
            None => Err(Self::missing()),
        }
    }

    fn is_sandbox(&self) -> bool {
        self.sandbox
    }

    fn conversation_url(&self, conversation_id: &str) -> String {
        match &self.server {
            Some(server) => server.conversation_url(conversation_id),
            None => format!("conversation {conversation_id}"),
        }
    }
}
