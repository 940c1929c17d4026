//! The agent server's side: which LLM agents talk to, secrets, conversations.

use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::error::E2eError;
use super::services::{RealServices, expect_ok, text_at};

impl RealServices {
    /// Makes every conversation talk to this OpenAI-compatible endpoint; `base_url` ends in `/v1`.
    pub(crate) fn use_llm(&self, base_url: &str) -> Result<(), E2eError> {
        let llm = json!({"model": "openai/scripted", "base_url": base_url, "api_key": "scripted"});
        let change = json!({"agent_settings_diff": {"llm": llm}});
        let call = self.agent_call("PATCH", "/api/settings").json(&change);
        expect_ok("PATCH /api/settings", &call).map(drop)
    }

    /// Stores an LLM profile that asks for a model of its own at this endpoint.
    pub(crate) fn save_profile(
        &self,
        name: &str,
        model: &str,
        base_url: &str,
    ) -> Result<(), E2eError> {
        let llm = json!({"model": model, "base_url": base_url, "api_key": "scripted"});
        let path = format!("/api/profiles/{name}");
        let call = self.agent_call("POST", &path).json(&json!({"llm": llm}));
        expect_ok(&format!("POST {path}"), &call).map(drop)
    }

    /// Sets the MCP servers of the installation; `null` for a name takes one away.
    pub(crate) fn set_mcp_servers(&self, servers: &Value) -> Result<(), E2eError> {
        let change = json!({"agent_settings_diff": {"mcp_config": servers}});
        let call = self.agent_call("PATCH", "/api/settings").json(&change);
        expect_ok("PATCH /api/settings", &call).map(drop)
    }

    /// Stores a secret under a name, as people do in the settings.
    pub(crate) fn set_secret(&self, name: &str, value: &str) -> Result<(), E2eError> {
        let body = json!({"name": name, "value": value});
        let call = self.agent_call("PUT", "/api/settings/secrets").json(&body);
        expect_ok("PUT /api/settings/secrets", &call).map(drop)
    }

    /// The LLM block of the settings with its key, as a start request carries it.
    pub(crate) fn llm(&self) -> Result<Value, E2eError> {
        let what = "GET /api/settings";
        let call = self
            .agent_call("GET", "/api/settings")
            .header("x-expose-secrets", "plaintext");
        let mut settings = expect_ok(what, &call)?.json();
        Ok(settings["agent_settings"]["llm"].take())
    }

    /// All conversations of the server, newest first (at most a hundred).
    pub(crate) fn conversations(&self) -> Result<Vec<Value>, E2eError> {
        let what = "GET /api/conversations/search";
        let mut page = expect_ok(
            what,
            &self.agent_call("GET", "/api/conversations/search?limit=100"),
        )?
        .json();
        match page["items"].take() {
            Value::Array(items) => Ok(items),
            _ => Err(E2eError::Shape {
                call: what.to_owned(),
                missing: "items".to_owned(),
                body: page.to_string(),
            }),
        }
    }

    /// Ids of the conversations that work below one of these directories.
    pub(crate) fn conversations_below(
        &self,
        directories: &[PathBuf],
    ) -> Result<Vec<String>, E2eError> {
        let all = self.conversations()?;
        let below = all.iter().filter(|one| {
            let directory = one["workspace"]["working_dir"].as_str();
            let directory = Path::new(directory.unwrap_or_default());
            directories.iter().any(|run| directory.starts_with(run))
        });
        let id = |one: &Value| one["id"].as_str().unwrap_or_default().to_owned();
        Ok(below.map(id).collect())
    }

    /// Starts a conversation, as an automation does: under this id, in this directory, with this
    /// first message and this secret.
    pub(crate) fn start_conversation(
        &self,
        id: &str,
        directory: &Path,
        prompt: &str,
        secret: &str,
    ) -> Result<(), E2eError> {
        let body = json!({
            "conversation_id": id,
            "workspace": {"working_dir": directory},
            "agent": {
                "kind": "Agent", "llm": self.llm()?,
                "tools": [{"name": "terminal"}, {"name": "file_editor"}],
            },
            "initial_message": {"content": [{"text": prompt}]},
            "secrets": {secret: {
                "kind": "LookupSecret",
                "url": format!("/api/settings/secrets/{secret}"),
                "headers": {"X-Session-API-Key": self.session_key()},
            }},
        });
        let call = self.agent_call("POST", "/api/conversations").json(&body);
        expect_ok("POST /api/conversations", &call).map(drop)
    }

    /// One conversation; `None` when the server does not know it.
    pub(crate) fn conversation(&self, id: &str) -> Result<Option<Value>, E2eError> {
        let path = format!("/api/conversations/{id}");
        let call = self.agent_call("GET", &path);
        match call.send()?.status {
            404 => Ok(None),
            _ => Ok(Some(expect_ok(&format!("GET {path}"), &call)?.json())),
        }
    }

    /// Interrupts a conversation, as a person does in the user interface.
    pub(crate) fn interrupt(&self, id: &str) -> Result<(), E2eError> {
        let path = format!("/api/conversations/{id}/interrupt");
        expect_ok(&format!("POST {path}"), &self.agent_call("POST", &path)).map(drop)
    }

    /// Deletes a conversation, as a person does in the user interface.
    pub(crate) fn delete_conversation(&self, id: &str) -> Result<(), E2eError> {
        let path = format!("/api/conversations/{id}");
        expect_ok(&format!("DELETE {path}"), &self.agent_call("DELETE", &path)).map(drop)
    }

    /// Waits until a conversation has ended (`finished`, `error`, `stuck`, `paused`) and says how.
    pub(crate) fn wait_for_conversation(
        &self,
        id: &str,
        limit: Duration,
    ) -> Result<String, E2eError> {
        let since = Instant::now();
        loop {
            let found = self.conversation(id)?.unwrap_or_default();
            let status = text_at("the conversation", &found, "/execution_status")?;
            if matches!(status.as_str(), "finished" | "error" | "stuck" | "paused") {
                return Ok(status);
            }
            if since.elapsed() > limit {
                return Err(E2eError::ConversationUnfinished {
                    id: id.to_owned(),
                    status,
                    seconds: limit.as_secs(),
                });
            }
            sleep(Duration::from_millis(50));
        }
    }
}
