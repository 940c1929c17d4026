//! Where a play takes place: the services around a run, and the run itself.

use crate::console::{block, say};
use crate::error::TaskError;
use crate::process::target_dir;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;
use testbed::agent_server::AgentServer;
use testbed::callback::{Callbacks, RunSetup, Scratch};
use testbed::kv::{Behaviour, KvStore};

/// Seconds by which the record of a running task is dated back: nothing is collected in the first
/// 15 seconds, and nobody should have to wait for that here.
const DATED_BACK: f64 = 60.0;

/// The services around the runs of one automation.
pub(super) struct Stage {
    pub(super) agent: AgentServer,
    kv: KvStore,
    callbacks: Callbacks,
    scratch: Scratch,
    binary: PathBuf,
}

impl Stage {
    pub(super) fn new(automation: &str) -> Result<Self, TaskError> {
        Ok(Self {
            agent: AgentServer::start().map_err(TaskError::found)?,
            // As on every self-hosted installation: conditional writes that are not exclusive.
            kv: KvStore::start(Behaviour::LikeSqlite).map_err(TaskError::found)?,
            callbacks: Callbacks::start().map_err(TaskError::found)?,
            scratch: Scratch::new().map_err(TaskError::found)?,
            binary: target_dir().join("debug").join(automation),
        })
    }

    fn setup(&self) -> RunSetup<'_> {
        RunSetup::local(&self.agent, &self.scratch)
            .kv(&self.kv)
            .callbacks(&self.callbacks)
    }

    /// Runs the binary once, as the automation service would, and shows what it prints.
    pub(super) fn run(&self, title: &str, config: &Value) -> Result<(), TaskError> {
        say(&format!("\n-- {title}"));
        let run = self.setup().prepare().map_err(TaskError::found)?;
        let path = run.directory.join("config.json");
        let text = serde_json::to_string_pretty(config).unwrap_or_default();
        std::fs::write(&path, text).map_err(|error| TaskError::file(&path, error))?;
        let mut command = Command::new(&self.binary);
        command
            .current_dir(&run.directory)
            .env_clear()
            .envs(&run.variables);
        for name in ["PATH", "HOME"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        let output = command
            .output()
            .map_err(|error| TaskError::file(&self.binary, error))?;
        block(&String::from_utf8_lossy(&output.stdout));
        block(&String::from_utf8_lossy(&output.stderr));
        let _ = std::fs::remove_file(&path);
        let told = self.callbacks.run(&run.id);
        let status = told.as_ref().map_or("none", |run| run.status.as_str());
        say(&format!("   exit: {}, callback: {status}", output.status));
        if output.status.success() && status == "COMPLETED" {
            Ok(())
        } else {
            Err(TaskError::found(format!("{title}: the run failed")))
        }
    }

    /// Shows the state document.
    pub(super) fn show_document(&self, when: &str, key: &str) {
        say(&format!("\n   state document `{key}` {when}:"));
        match self.kv.value(self.setup().automation_id(), key) {
            Some(value) => block(&serde_json::to_string_pretty(&value).unwrap_or_default()),
            None => block("(there is none yet)"),
        }
    }

    /// Dates the records of running tasks back.
    pub(super) fn let_time_pass(&self, key: &str, records: &str) {
        let setup = self.setup();
        let automation = setup.automation_id();
        let Some(mut document) = self.kv.value(automation, key) else {
            return;
        };
        if let Some(records) = document.get_mut(records).and_then(Value::as_object_mut) {
            for record in records.values_mut() {
                let at = record["last_activity"].as_f64().unwrap_or_default();
                record["last_activity"] = json!(at - DATED_BACK);
            }
        }
        self.kv.put(automation, key, &document);
        say("\n   (a minute passes: records are dated back)");
    }

    /// The status of the only task.
    pub(super) fn expect_status(
        &self,
        key: &str,
        records: &str,
        wanted: &str,
    ) -> Result<(), TaskError> {
        let document = self
            .kv
            .value(self.setup().automation_id(), key)
            .unwrap_or_default();
        let statuses: Vec<&str> = document[records]
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(_, record)| record["status"].as_str())
            .collect();
        if statuses == [wanted] {
            Ok(())
        } else {
            Err(TaskError::found(format!(
                "expected one task that is {wanted}, found {statuses:?}"
            )))
        }
    }

    /// Nothing may be left: no workspace, no key beside the document.
    pub(super) fn expect_clean(&self, folder: &str, key: &str) -> Result<(), TaskError> {
        let left: Vec<String> = self
            .scratch
            .files()
            .map_err(TaskError::found)?
            .into_iter()
            .filter(|path| path.contains(folder) && path.split('/').count() > 4)
            .collect();
        let guards: Vec<String> = self
            .kv
            .keys(self.setup().automation_id())
            .into_iter()
            .filter(|other| other != key && !other.starts_with("cache:"))
            .collect();
        if left.is_empty() && guards.is_empty() && self.agent.created() == 1 {
            say("\n   one conversation; workspace removed; no claim or lease left behind");
            return Ok(());
        }
        Err(TaskError::found(format!(
            "left behind: files {left:?}, keys {guards:?}, conversations {}",
            self.agent.created()
        )))
    }
}
