//! One automation under test: its runs one by one or several at once, and what they left behind.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Barrier;
use std::thread;

use lifecycle::document::Schema;
use serde_json::Value;

use super::Stage;
use crate::e2e::automations::Run;
use crate::e2e::documents::only_record;
use crate::e2e::error::E2eError;
use crate::e2e::facts::Facts;
use crate::e2e::files::files_below;
use crate::e2e::run_environment::RunEnvironment;

/// An automation on the real automation service whose runs a test starts itself.
pub(in crate::e2e) struct Subject<'a> {
    stage: &'a Stage,
    schema: &'static Schema,
    key: String,
    config: Value,
    id: String,
    /// What its runs are given in place of what the service gives them; `None` is nothing.
    variables: RefCell<Vec<(&'static str, Option<String>)>>,
    /// The directories of all its runs.
    directories: RefCell<Vec<PathBuf>>,
}

/// A run that has ended.
pub(in crate::e2e) struct Ran {
    /// Its exit code; `None` when it was killed.
    exit: Option<i32>,
    /// The report that it printed.
    pub(in crate::e2e) report: Value,
    log: String,
    /// What the run history says.
    history: Run,
    /// Its working directory.
    pub(in crate::e2e) directory: PathBuf,
}

impl<'a> Subject<'a> {
    /// A fresh automation of the kind that `schema` names, with this configuration. Its only
    /// document is to be found under `key`.
    pub(in crate::e2e) fn new(
        stage: &'a Stage,
        schema: &'static Schema,
        key: &str,
        config: Value,
    ) -> Result<Self, E2eError> {
        // Not the usual name of a deployed one: that may be on the same service.
        let name = format!("probe of {}", schema.automation);
        Ok(Self {
            stage,
            schema,
            key: key.to_owned(),
            config,
            id: stage.services.create_probe(&name)?,
            variables: RefCell::default(),
            directories: RefCell::default(),
        })
    }

    /// Gives its runs another value of a variable, or none, as a service with other settings would.
    pub(in crate::e2e) fn with_variable(self, name: &'static str, value: Option<&str>) -> Self {
        self.set_variable(name, value);
        self
    }

    /// The same for the runs from now on.
    pub(in crate::e2e) fn set_variable(&self, name: &'static str, value: Option<&str>) {
        let mut variables = self.variables.borrow_mut();
        variables.push((name, value.map(str::to_owned)));
    }

    /// Runs it to its end.
    pub(in crate::e2e) fn run(&self) -> Result<Ran, E2eError> {
        let run = self.stage.services.open_run(&self.id)?;
        let output = self.command(&run)?.output();
        self.ran(&run, &output.map_err(E2eError::io("run the automation"))?)
    }

    /// Runs it so many times at one moment.
    pub(in crate::e2e) fn run_at_once(&self, count: usize) -> Result<Vec<Ran>, E2eError> {
        let runs = self.stage.services.open_runs(&self.id, count)?;
        let commands: Result<Vec<Command>, E2eError> =
            runs.iter().map(|run| self.command(run)).collect();
        let start = Barrier::new(count);
        let outputs: Vec<_> = thread::scope(|scope| {
            let waiting: Vec<_> = commands?
                .into_iter()
                .map(|mut command| {
                    let start = &start;
                    scope.spawn(move || {
                        start.wait();
                        command.output()
                    })
                })
                .collect();
            let ended = waiting.into_iter().filter_map(|thread| thread.join().ok());
            Ok::<_, E2eError>(ended.collect())
        })?;
        runs.iter()
            .zip(outputs)
            .map(|(run, output)| self.ran(run, &output.map_err(E2eError::io("run it"))?))
            .collect()
    }

    /// Starts it; the caller ends it.
    pub(in crate::e2e) fn start(&self) -> Result<Child, E2eError> {
        let run = self.stage.services.open_run(&self.id)?;
        let child = self.command(&run)?.spawn();
        child.map_err(E2eError::io("start the automation"))
    }

    /// The command line of a run, with its configuration in place.
    fn command(&self, run: &RunEnvironment) -> Result<Command, E2eError> {
        self.directories.borrow_mut().push(run.directory.clone());
        let config = run.directory.join("config.json");
        fs::write(&config, self.config.to_string())
            .map_err(E2eError::io(format!("write {}", config.display())))?;
        let mut command = Command::new(Stage::program(self.schema.automation));
        command
            .arg("--json")
            .current_dir(&run.directory)
            .env_clear()
            .envs(run.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for (name, value) in self.variables.borrow().iter() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        Ok(command)
    }

    fn ran(&self, run: &RunEnvironment, output: &Output) -> Result<Ran, E2eError> {
        let history = self.stage.services.runs(&self.id)?;
        let found = history.into_iter().find(|found| found.id == run.run_id);
        Ok(Ran {
            exit: output.status.code(),
            report: serde_json::from_slice(&output.stdout).unwrap_or_default(),
            log: String::from_utf8_lossy(&output.stderr).into_owned(),
            history: found.ok_or_else(|| E2eError::Run {
                run: run.run_id.clone(),
                automation: self.id.clone(),
                why: "is not in the history".to_owned(),
                output: String::new(),
            })?,
            directory: run.directory.clone(),
        })
    }

    /// Its document in the KV store, which has to be one that the schema allows.
    pub(in crate::e2e) fn document(&self) -> Result<Value, E2eError> {
        let services = &self.stage.services;
        services.document(&self.id, &self.key, self.schema)
    }

    /// The only record in its document, with its task key.
    pub(in crate::e2e) fn record(&self) -> Result<(String, Value), E2eError> {
        only_record(&self.document()?, self.schema.records)
    }

    /// Lets time pass: everything that it remembers happened so many seconds earlier.
    pub(in crate::e2e) fn date_back(&self, seconds: f64) -> Result<(), E2eError> {
        self.stage.services.date_back(&self.id, seconds)
    }

    /// Waits for the conversation of the only record to end.
    pub(in crate::e2e) fn wait_for_agent(&self) -> Result<String, E2eError> {
        let (_, record) = self.record()?;
        let id = record["conversation_id"].as_str().unwrap_or_default();
        let services = &self.stage.services;
        services.wait_for_conversation(id, super::CONVERSATION_LIMIT)
    }

    /// The conversation of the only record, as the agent server shows it.
    pub(in crate::e2e) fn conversation(&self) -> Result<Value, E2eError> {
        let (_, record) = self.record()?;
        let id = record["conversation_id"].as_str().unwrap_or_default();
        Ok(self.stage.services.conversation(id)?.unwrap_or_default())
    }

    /// Ids of the conversations that work in directories of its runs.
    pub(in crate::e2e) fn conversations(&self) -> Result<Vec<String>, E2eError> {
        let directories = self.directories.borrow();
        self.stage.services.conversations_below(&directories)
    }

    /// Checks that the task has ended with this status and that nothing is left: no workspace, no
    /// claim or lease, and that there was one conversation.
    pub(in crate::e2e) fn ended(&self, facts: &mut Facts, status: &str) -> Result<(), E2eError> {
        self.remembers(facts, status)?;
        let name = self.schema.automation;
        let conversations = self.conversations()?;
        facts.check(
            &format!("{name}: there was exactly one conversation"),
            conversations.len() == 1,
            &conversations.join(", "),
        );
        facts.none(
            &format!("{name}: no workspace is left, in whichever run's directory it was"),
            &self.workspaces()?,
        );
        Ok(())
    }

    /// The part of [`Self::ended`] that is the same wherever conversations and workspaces were.
    pub(in crate::e2e) fn remembers(
        &self,
        facts: &mut Facts,
        status: &str,
    ) -> Result<(), E2eError> {
        let name = self.schema.automation;
        let document = self.document()?;
        let (_, record) = only_record(&document, self.schema.records)?;
        facts.check(
            &format!("{name}: its document in the KV store has one record, which is {status}"),
            record["status"] == status
                && (record["completed_at"].is_number() || record["expired_after"].is_number())
                && record.get("workspace_dir").is_none(),
            &document.to_string(),
        );
        let keys = self
            .stage
            .services
            .guard_keys(&self.id, &[self.key.as_str()])?;
        facts.none(
            &format!("{name}: no claim or lease is left in the KV store"),
            &keys,
        );
        Ok(())
    }

    /// The workspaces in the directories of its runs.
    fn workspaces(&self) -> Result<Vec<String>, E2eError> {
        let own = ["probe", "environment", "config.json"];
        let mut left = Vec::new();
        for directory in self.directories.borrow().iter() {
            left.extend(files_below(directory)?);
        }
        left.retain(|path| !own.iter().any(|name| path.ends_with(&format!("/{name}"))));
        Ok(left)
    }
}

impl Ran {
    /// Whether the run ended well: exit code, report, callback, and a phase in the history.
    pub(in crate::e2e) fn ended_well(&self) -> bool {
        self.exit == Some(0)
            && self.report["status"] == "completed"
            && self.history.status == "COMPLETED"
            && !self.history.phases.is_empty()
    }

    /// Checks that the run ended well and had nothing to warn about.
    pub(in crate::e2e) fn check(&self, facts: &mut Facts, what: &str) {
        let warnings = &self.report["targets"][0]["warnings"];
        facts.check(
            &format!("{what}: no warning, COMPLETED by its callback, a phase in the history"),
            self.ended_well() && warnings.as_array().is_some_and(Vec::is_empty),
            &self.to_string(),
        );
    }

    /// How many tasks it started and finished.
    pub(in crate::e2e) fn counts(&self) -> (usize, usize) {
        let count = |list: &str| {
            let targets = self.report["targets"].as_array();
            let lists = targets.into_iter().flatten().map(|target| &target[list]);
            lists.filter_map(Value::as_array).map(Vec::len).sum()
        };
        (count("started"), count("finished"))
    }

    /// Checks what the callback named as the run's conversation.
    pub(in crate::e2e) fn names_conversation(&self, facts: &mut Facts, id: &Value) {
        facts.check(
            "… and its callback names the conversation",
            self.history.conversation_id.as_deref() == id.as_str() && id.is_string(),
            &format!("{:?}, not {id}", self.history.conversation_id),
        );
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "exit {:?}, {:?}, report {}, log:\n{}",
            self.exit, self.history, self.report, self.log
        )
    }
}
