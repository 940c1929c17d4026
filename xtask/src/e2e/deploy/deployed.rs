//! One deployed automation: its runs, its document, what it left on the disk.

use std::time::Duration;

use lifecycle::document::{ISSUE, NEWS, REVIEW, Schema};
use serde_json::{Value, json};

use crate::e2e::automations::Run;
use crate::e2e::documents::records;
use crate::e2e::error::E2eError;
use crate::e2e::facts::Facts;
use crate::e2e::files::files_below;
use crate::e2e::product::CONVERSATION_LIMIT;
use crate::e2e::services::RealServices;

/// How long a dispatched run may take on a busy machine.
const RUN_LIMIT: Duration = Duration::from_mins(2);

/// A deployed automation with one target.
pub(super) struct Deployed {
    pub(super) id: String,
    pub(super) schema: &'static Schema,
    /// The key of its document.
    pub(super) key: String,
}

impl Deployed {
    /// The automation with this id, which `deploy` was given this configuration for.
    pub(super) fn new(name: &str, id: &str, config: &Value) -> Self {
        let of = |list: &str| {
            let target = config[list][0].as_str().unwrap_or_default();
            format!("state:{}", target.replace('/', "__"))
        };
        let (schema, key) = match name {
            "news-digest" => (&NEWS, "state".to_owned()),
            "github-pr-reviewer" => (&REVIEW, of("repos")),
            _ => (&ISSUE, of("projects")),
        };
        Self {
            id: id.to_owned(),
            schema,
            key,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        self.schema.automation
    }

    /// Dispatches it so many times at one moment and waits until all runs are over.
    pub(super) fn dispatch(
        &self,
        services: &RealServices,
        times: usize,
    ) -> Result<Vec<Run>, E2eError> {
        let runs = self.begin(services, times)?;
        self.finish(services, &runs)
    }

    /// Dispatches it so many times at one moment.
    pub(super) fn begin(
        &self,
        services: &RealServices,
        times: usize,
    ) -> Result<Vec<String>, E2eError> {
        (0..times).map(|_| services.dispatch(&self.id)).collect()
    }

    /// Waits until these runs are over.
    pub(super) fn finish(
        &self,
        services: &RealServices,
        runs: &[String],
    ) -> Result<Vec<Run>, E2eError> {
        let over = |run: &String| services.wait_for_run(&self.id, run, RUN_LIMIT);
        runs.iter().map(over).collect()
    }

    /// Checks that runs ended well, as the run history shows it.
    pub(super) fn check_runs(
        &self,
        services: &RealServices,
        runs: &[Run],
        what: &str,
        facts: &mut Facts,
    ) {
        let well = |run: &Run| run.status == "COMPLETED" && !run.phases.is_empty();
        let shown = |run: &Run| format!("{run:?}:\n{}", services.run_output(run));
        facts.check(
            &format!(
                "{}, {what}: COMPLETED, with a phase, in the run history",
                self.name()
            ),
            runs.iter().all(well),
            &runs.iter().map(shown).collect::<Vec<_>>().join("\n"),
        );
    }

    pub(super) fn document(&self, services: &RealServices) -> Result<Value, E2eError> {
        services.document(&self.id, &self.key, self.schema)
    }

    /// The conversations that its records name, those that are active first waited for.
    pub(super) fn wait_for_agents(&self, services: &RealServices) -> Result<(), E2eError> {
        for (_, record) in records(&self.document(services)?, self.schema.records) {
            if record["status"] == "active" {
                let id = record["conversation_id"].as_str().unwrap_or_default();
                services.wait_for_conversation(id, CONVERSATION_LIMIT)?;
            }
        }
        Ok(())
    }

    /// Checks that all its tasks, so many, have this status, that each had one conversation, and
    /// that nothing is left.
    pub(super) fn check_end(
        &self,
        services: &RealServices,
        (tasks, status): (usize, &str),
        facts: &mut Facts,
    ) -> Result<(), E2eError> {
        let name = self.name();
        let document = self.document(services)?;
        let all = records(&document, self.schema.records);
        let ended = |record: &Value| {
            record["status"] == json!(status) && record.get("workspace_dir").is_none()
        };
        facts.check(
            &format!("{name}: its document holds {tasks} task(s), which are {status}"),
            all.len() == tasks && all.iter().all(|(_, record)| ended(record)),
            &document.to_string(),
        );
        let conversations = self.conversations(services)?;
        facts.check(
            &format!("{name}: one conversation for each trigger"),
            conversations.len() == tasks,
            &conversations.join(", "),
        );
        let keys = services.guard_keys(&self.id, &[self.key.as_str()])?;
        facts.none(
            &format!("{name}: no claim or lease is left in the KV store"),
            &keys,
        );
        facts.none(
            &format!("{name}: no workspace is left on the disk"),
            &self.workspaces(services)?,
        );
        Ok(())
    }

    /// Ids of the conversations that work in directories of its runs.
    pub(super) fn conversations(&self, services: &RealServices) -> Result<Vec<String>, E2eError> {
        let runs = services.runs(&self.id)?;
        let directories: Vec<_> = runs
            .iter()
            .map(|run| services.run_directory(&run.id))
            .collect();
        services.conversations_below(&directories)
    }

    /// The files in the workspaces of its runs.
    pub(super) fn workspaces(&self, services: &RealServices) -> Result<Vec<String>, E2eError> {
        let area = match self.name() {
            "github-pr-reviewer" => "repositories",
            "gitlab-issue-to-mr" => "issue-to-mr",
            name => name,
        };
        let mut left = Vec::new();
        for run in services.runs(&self.id)? {
            left.extend(files_below(&services.run_directory(&run.id).join(area))?);
        }
        Ok(left)
    }
}
