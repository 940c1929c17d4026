//! A place to try the commands in: folders, a configuration, an agent server.

use crate::process::Process;
use serde_json::Value;
use std::path::PathBuf;
use testbed::agent_server::AgentServer;
use testbed::callback::Scratch;

/// The id of the automation.
pub(crate) const ID: &str = "a1";

/// Folders as the automation service lays them out, with a configuration.
pub(crate) struct Place {
    pub(crate) scratch: Scratch,
    pub(crate) agent: AgentServer,
    pub(crate) config: PathBuf,
}

impl Place {
    pub(crate) fn new(config: &Value) -> Self {
        let scratch = Scratch::new().unwrap();
        scratch.run_dir("run-1").unwrap();
        let path = scratch.root().join("config.json");
        std::fs::write(&path, serde_json::to_string_pretty(config).unwrap()).unwrap();
        Self {
            scratch,
            agent: AgentServer::start().unwrap(),
            config: path,
        }
    }

    /// `WORKSPACE_BASE`.
    pub(crate) fn base(&self) -> PathBuf {
        self.scratch.root().join("automation-runs/run-1")
    }

    /// Puts a state document in place.
    pub(crate) fn document(&self, name: &str, document: &Value) -> PathBuf {
        std::fs::create_dir_all(self.scratch.state_dir()).unwrap();
        let path = self.scratch.state_dir().join(name);
        std::fs::write(&path, serde_json::to_string_pretty(document).unwrap()).unwrap();
        path
    }

    /// A command of the binary for people in the environment of a run.
    pub(crate) fn command(&self, arguments: &[&str]) -> Process {
        Process::people(arguments)
            .current_dir(self.scratch.root())
            .env("HOME", self.scratch.root())
            .env("WORKSPACE_BASE", self.base())
            .env("AUTOMATION_ID", ID)
            .env("AGENT_SERVER_URL", self.agent.base_url())
            .env("SESSION_API_KEY", self.agent.key())
    }

    /// A text without what differs from run to run.
    pub(crate) fn plain(&self, text: &str) -> String {
        let root = self.scratch.root().display().to_string();
        text.replace(&root, "ROOT")
            .replace(self.agent.base_url(), "AGENT_SERVER")
    }
}

/// Seconds since the epoch.
pub(crate) fn now() -> f64 {
    cli::clock::system_now()
}
