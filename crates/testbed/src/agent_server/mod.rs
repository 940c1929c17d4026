//! The agent server: settings, secrets, profiles and conversations that follow a script.
//!
//! Modelled on the published agent server (1.58). A conversation is created once per id, however
//! often it is asked for; it starts `idle`, and its [`Script`] says what becomes of it, at what
//! [`Pace`], and what the agent does in the workspace meanwhile ([`Deed`]). No model is involved.

mod deeds;
mod model;
mod routes;
mod script;
mod start_body;

use std::sync::{Arc, MutexGuard};

use serde_json::Value;

pub use deeds::{Deed, Visit};
pub use script::{Pace, Script, Status};

use crate::error::TestbedError;
use crate::server::StandIn;
use model::{Model, World};

/// The key that clients must send as `X-Session-API-Key`, unless another is set.
pub const SESSION_KEY: &str = "session-key";

/// What is known of a conversation.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// Its id, a UUID in lower case with dashes.
    pub id: String,
    /// Its status now.
    pub status: Status,
    /// The directory the agent works in.
    pub working_dir: String,
    /// The text of the initial message.
    pub prompt: String,
    /// The whole start body, secrets as they were sent.
    pub body: Value,
    /// What `agent_final_response` says; empty while there is none.
    pub response: String,
    /// Seconds since the epoch.
    pub created_at: f64,
    /// How often it has been looked at since its status last changed.
    pub looks: u32,
}

/// A running agent server.
#[derive(Debug)]
pub struct AgentServer {
    server: StandIn,
    world: Arc<World>,
}

impl AgentServer {
    /// Starts a server with an LLM, no secrets and no limits; new conversations follow
    /// [`Script::finishes`].
    ///
    /// # Errors
    /// [`TestbedError::Listen`] when no port can be had.
    pub fn start() -> Result<Self, TestbedError> {
        let world = Arc::new(World::default());
        let served = Arc::clone(&world);
        let server = StandIn::start("agent server", |_| routes::router(served))?;
        Ok(Self { server, world })
    }

    /// Log, faults, base URL.
    pub fn server(&self) -> &StandIn {
        &self.server
    }

    /// `http://127.0.0.1:PORT`, as `AGENT_SERVER_URL` holds it.
    pub fn base_url(&self) -> &str {
        self.server.base_url()
    }

    /// The key that clients must send.
    pub fn key(&self) -> String {
        self.lock().key.clone()
    }

    /// Changes the key; clients with the old one get 401.
    pub fn set_key(&self, key: &str) {
        key.clone_into(&mut self.lock().key);
    }

    /// Adds a secret or changes its value.
    pub fn set_secret(&self, name: &str, value: &str) {
        self.lock()
            .secrets
            .insert(name.to_owned(), value.to_owned());
    }

    /// Takes a secret away.
    pub fn remove_secret(&self, name: &str) {
        self.lock().secrets.remove(name);
    }

    /// The `agent_settings.llm` block.
    pub fn set_llm(&self, llm: Value) {
        self.lock().llm = llm;
    }

    /// The `agent_settings.mcp_config` block.
    pub fn set_mcp_config(&self, config: Value) {
        self.lock().mcp_config = config;
    }

    /// Adds an LLM profile.
    pub fn set_profile(&self, name: &str, llm: Value) {
        self.lock().profiles.insert(name.to_owned(), llm);
    }

    /// Takes an LLM profile away.
    pub fn remove_profile(&self, name: &str) {
        self.lock().profiles.remove(name);
    }

    /// How many conversations may be idle or running at once; `None` = no limit.
    pub fn set_capacity(&self, capacity: Option<usize>) {
        self.lock().capacity = capacity;
    }

    /// Whether `conversation_id` is heeded; older servers choose an id themselves.
    pub fn set_heeds_ids(&self, heeds: bool) {
        self.lock().heeds_ids = heeds;
    }

    /// Whether a working directory that exists and is no repository gets a `git init`, as the
    /// real server does. Off by default.
    pub fn set_git_init(&self, git_init: bool) {
        self.lock().git_init = git_init;
    }

    /// What conversations follow from now on when nothing more particular was said.
    pub fn set_script(&self, script: Script) {
        self.lock().script = script;
    }

    /// What the next new conversation follows; several queue up.
    pub fn next_script(&self, script: Script) {
        self.lock().queue.push_back(script);
    }

    /// What conversations follow whose prompt contains `part`; goes before the queue.
    pub fn script_for(&self, part: &str, script: Script) {
        self.lock().by_prompt.push((part.to_owned(), script));
    }

    /// How many conversations have been created, the deleted ones included.
    pub fn created(&self) -> usize {
        self.lock().created.len()
    }

    /// The ids of all conversations ever created, oldest first.
    pub fn created_ids(&self) -> Vec<String> {
        self.lock().created.clone()
    }

    /// How often a conversation with this id was asked for, refused attempts included.
    pub fn attempts(&self, id: &str) -> usize {
        self.lock().attempts.get(id).copied().unwrap_or(0)
    }

    /// A conversation that exists.
    pub fn conversation(&self, id: &str) -> Option<Conversation> {
        self.lock().snapshot(id)
    }

    /// All conversations that exist, oldest first.
    pub fn conversations(&self) -> Vec<Conversation> {
        let model = self.lock();
        model
            .created
            .iter()
            .filter_map(|id| model.snapshot(id))
            .collect()
    }

    /// Takes the conversation one step further in its script, deeds included; `false` when there
    /// is no further step or no such conversation.
    pub fn advance(&self, id: &str) -> bool {
        self.world.advance(id)
    }

    /// Follows the script to its end, deeds included.
    pub fn run_to_end(&self, id: &str) {
        while self.world.advance(id) {}
    }

    /// Sets a status outside of the script, which then no longer applies; no deeds are done.
    pub fn set_status(&self, id: &str, status: Status) {
        self.lock().set_status(id, status);
    }

    /// Sets what `agent_final_response` says.
    pub fn set_response(&self, id: &str, response: &str) {
        self.lock().set_response(id, response);
    }

    /// Deletes a conversation, as a person does in the web interface; `false` when unknown.
    pub fn delete(&self, id: &str) -> bool {
        self.lock().conversations.remove(id).is_some()
    }

    /// Deletes all conversations, as happens to a sandbox at its end.
    pub fn delete_all(&self) {
        self.lock().conversations.clear();
    }

    /// The final check: nothing unexpected was asked and every deed could be done.
    ///
    /// # Errors
    /// [`TestbedError::Unexpected`] or [`TestbedError::Deeds`] list what was not right.
    pub fn check(&self) -> Result<(), TestbedError> {
        self.server.check()?;
        let failures = self.lock().failed_deeds.clone();
        if failures.is_empty() {
            Ok(())
        } else {
            Err(TestbedError::Deeds { failures })
        }
    }

    fn lock(&self) -> MutexGuard<'_, Model> {
        self.world.lock()
    }
}

#[cfg(test)]
mod tests;
