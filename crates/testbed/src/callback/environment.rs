//! What a run is given: its environment variables and its directory, as the automation service
//! prepares them in local mode and in a sandbox.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{CALLBACK_KEY, Callbacks, OPENHANDS_KEY};
use crate::agent_server::AgentServer;
use crate::error::TestbedError;
use crate::kv::KvStore;

/// A temporary root with the service's layout: `{root}/automation-runs/{run_id}`, and
/// `{root}/automation-state` where runs without a KV store keep their documents. Removed when
/// dropped.
#[derive(Debug)]
pub struct Scratch {
    root: TempDir,
}

impl Scratch {
    /// Makes an empty root.
    ///
    /// # Errors
    /// [`TestbedError::Scratch`] when the directory cannot be made.
    pub fn new() -> Result<Self, TestbedError> {
        let root =
            TempDir::with_prefix("automations-").map_err(|source| TestbedError::Scratch {
                path: std::env::temp_dir().display().to_string(),
                source,
            })?;
        Ok(Self { root })
    }

    /// The root.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// `{root}/automation-state`, made or not.
    pub fn state_dir(&self) -> PathBuf {
        self.root().join("automation-state")
    }

    /// `{root}/automation-runs/{run}`, which is made if need be.
    ///
    /// # Errors
    /// [`TestbedError::Scratch`] when the directory cannot be made.
    pub fn run_dir(&self, run: &str) -> Result<PathBuf, TestbedError> {
        let path = self.root().join("automation-runs").join(run);
        std::fs::create_dir_all(&path).map_err(|source| TestbedError::Scratch {
            path: path.display().to_string(),
            source,
        })?;
        Ok(path)
    }

    /// Every path below the root, relative and sorted: what is left on disk.
    ///
    /// # Errors
    /// [`TestbedError::Scratch`] when a directory cannot be read.
    pub fn files(&self) -> Result<Vec<String>, TestbedError> {
        let mut found = Vec::new();
        let mut folders = vec![self.root().to_owned()];
        while let Some(folder) = folders.pop() {
            let failed = |source| TestbedError::Scratch {
                path: folder.display().to_string(),
                source,
            };
            for entry in std::fs::read_dir(&folder).map_err(failed)? {
                let path = entry.map_err(failed)?.path();
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path.clone());
                }
                let relative = path.strip_prefix(self.root()).unwrap_or(&path);
                found.push(relative.display().to_string());
            }
        }
        found.sort();
        Ok(found)
    }
}

/// A run that is ready to be started.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The run's id.
    pub id: String,
    /// The directory the process starts in: the unpacked archive.
    pub directory: PathBuf,
    /// The variables that the service sets. Nothing else is to be inherited but `PATH` and `HOME`.
    pub variables: BTreeMap<String, String>,
}

/// How runs of one automation are prepared.
///
/// ```
/// use testbed::agent_server::AgentServer;
/// use testbed::callback::{Callbacks, RunSetup, Scratch};
/// use testbed::kv::{Behaviour, KvStore};
///
/// let (agent, callbacks) = (AgentServer::start()?, Callbacks::start()?);
/// let (kv, scratch) = (KvStore::start(Behaviour::Strict)?, Scratch::new()?);
/// let setup = RunSetup::local(&agent, &scratch).kv(&kv).callbacks(&callbacks);
/// let run = setup.prepare()?;
/// assert_eq!(run.variables["WORKSPACE_BASE"], run.directory.display().to_string());
/// # Ok::<(), testbed::TestbedError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RunSetup<'a> {
    agent: &'a AgentServer,
    scratch: &'a Scratch,
    kv: Option<&'a KvStore>,
    callbacks: Option<&'a Callbacks>,
    automation: String,
    name: String,
    sandbox: bool,
    older: bool,
    model: Option<String>,
    event: BTreeMap<String, Value>,
    more: BTreeMap<String, Option<String>>,
}

/// The automation whose runs are prepared unless another is named.
const AUTOMATION: &str = "5f6a0a3e-6f0e-4c55-9d1e-0a4a1a7c1d11";

/// Numbers the runs of this process, so that every run has an id of its own.
static RUNS: AtomicU64 = AtomicU64::new(1);

impl<'a> RunSetup<'a> {
    /// Local mode: one agent server for all runs, a directory for each. Without
    /// [`kv`](Self::kv) there is no KV token, so documents are files.
    pub fn local(agent: &'a AgentServer, scratch: &'a Scratch) -> Self {
        Self {
            agent,
            scratch,
            kv: None,
            callbacks: None,
            automation: AUTOMATION.to_owned(),
            name: "Nightly automation".to_owned(),
            sandbox: false,
            older: false,
            model: None,
            event: BTreeMap::new(),
            more: BTreeMap::new(),
        }
    }

    /// Sandbox mode: `agent` is the sandbox's own server and is to be thrown away with its
    /// conversations when the run is over. `WORKSPACE_BASE` is not set, so a test that writes
    /// below it sets it with [`set`](Self::set).
    pub fn sandbox(agent: &'a AgentServer, scratch: &'a Scratch) -> Self {
        Self {
            sandbox: true,
            ..Self::local(agent, scratch)
        }
    }

    /// Gives runs a KV store.
    #[must_use]
    pub fn kv(mut self, kv: &'a KvStore) -> Self {
        self.kv = Some(kv);
        self
    }

    /// Gives runs somewhere to report to.
    #[must_use]
    pub fn callbacks(mut self, callbacks: &'a Callbacks) -> Self {
        self.callbacks = Some(callbacks);
        self
    }

    /// Names the automation.
    #[must_use]
    pub fn automation(mut self, id: &str, name: &str) -> Self {
        id.clone_into(&mut self.automation);
        name.clone_into(&mut self.name);
        self
    }

    /// Names the LLM profile that runs should use.
    #[must_use]
    pub fn model(mut self, profile: &str) -> Self {
        self.model = Some(profile.to_owned());
        self
    }

    /// An older service: no phase URL, and the automation's id only in the event payload.
    #[must_use]
    pub fn older_service(mut self) -> Self {
        self.older = true;
        self
    }

    /// Adds a member to the event payload.
    #[must_use]
    pub fn event(mut self, name: &str, value: Value) -> Self {
        self.event.insert(name.to_owned(), value);
        self
    }

    /// Sets a variable over what the service would set.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.more.insert(name.to_owned(), Some(value.to_owned()));
        self
    }

    /// Takes a variable away that the service would set.
    #[must_use]
    pub fn unset(mut self, name: &str) -> Self {
        self.more.insert(name.to_owned(), None);
        self
    }

    /// The automation's id, which is also the KV namespace.
    pub fn automation_id(&self) -> &str {
        &self.automation
    }

    /// Prepares the next run with an id of its own: its directory is made and it is `RUNNING`.
    ///
    /// # Errors
    /// [`TestbedError::Scratch`] when the directory cannot be made.
    pub fn prepare(&self) -> Result<Prepared, TestbedError> {
        let number = RUNS.fetch_add(1, Ordering::Relaxed);
        self.prepare_as(&format!("7d3f1c00-52b4-4e0a-8a11-{number:012x}"))
    }

    /// Prepares a run with this id.
    ///
    /// # Errors
    /// [`TestbedError::Scratch`] when the directory cannot be made.
    pub fn prepare_as(&self, id: &str) -> Result<Prepared, TestbedError> {
        let directory = self.scratch.run_dir(id)?;
        let mut variables = self.server_variables(&directory);
        let mut set = |name: &str, value: &str| variables.insert(name.to_owned(), value.to_owned());
        set("AUTOMATION_RUN_ID", id);
        let mut event = self.event.clone();
        event.insert("automation_id".to_owned(), json!(self.automation));
        event.insert("automation_name".to_owned(), json!(self.name));
        event
            .entry("trigger".to_owned())
            .or_insert_with(|| json!("cron"));
        set("AUTOMATION_EVENT_PAYLOAD", &json!(event).to_string());
        if !self.older {
            set("AUTOMATION_ID", &self.automation);
            set("AUTOMATION_NAME", &self.name);
            set("AUTOMATION_TRIGGER_TYPE", "cron");
        }
        if let Some(model) = &self.model {
            set("AUTOMATION_MODEL", model);
        }
        if let Some(callbacks) = self.callbacks {
            callbacks.begin(id, &self.automation);
            set("AUTOMATION_CALLBACK_URL", &callbacks.callback_url(id));
            if !self.older {
                set("AUTOMATION_PHASE_URL", &callbacks.phase_url(id));
            }
            set("AUTOMATION_API_URL", &callbacks.api_url());
            if !self.sandbox {
                set("AUTOMATION_CALLBACK_API_KEY", CALLBACK_KEY);
            }
        }
        if let Some(kv) = self.kv {
            set("AUTOMATION_API_URL", &kv.api_url());
            set("AUTOMATION_KV_TOKEN", &kv.token(&self.automation));
        }
        for (name, value) in &self.more {
            match value {
                Some(value) => variables.insert(name.clone(), value.clone()),
                None => variables.remove(name),
            };
        }
        Ok(Prepared {
            id: id.to_owned(),
            directory,
            variables,
        })
    }

    fn server_variables(&self, directory: &Path) -> BTreeMap<String, String> {
        let mut variables = BTreeMap::from([
            (
                "AGENT_SERVER_URL".to_owned(),
                self.agent.base_url().to_owned(),
            ),
            ("SESSION_API_KEY".to_owned(), self.agent.key()),
        ]);
        if self.sandbox {
            variables.insert("SANDBOX_ID".to_owned(), "sandbox-1".to_owned());
            variables.insert("OPENHANDS_API_KEY".to_owned(), OPENHANDS_KEY.to_owned());
        } else {
            let base = directory.display().to_string();
            variables.insert("WORKSPACE_BASE".to_owned(), base);
        }
        variables
    }
}
