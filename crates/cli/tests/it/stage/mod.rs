//! Where runs take place: the services around one automation, its runs as real processes, and
//! what they leave behind. The scenes are in [`scenes`], what is remembered in [`memory`].

pub mod memory;
pub mod process;
pub mod scenes;

use process::{Process, Ran};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use testbed::StandIn;
use testbed::agent_server::{AgentServer, SESSION_KEY, Status};
use testbed::call::Call;
use testbed::callback::{Callbacks, RunSetup, Scratch};
use testbed::kv::{Behaviour, KvStore};

/// Longer than a claim may stall and a lease may last.
pub const A_WHILE: f64 = 16.0 * 60.0;
/// Longer than the moment after a start in which nothing is collected.
pub const A_MINUTE: f64 = 60.0;
/// Longer than a conversation may take.
pub const TOO_LONG: f64 = 2.0 * 3600.0 + 60.0;

/// Scenes at once: most of their time they wait for each other's processes.
const AT_ONCE: usize = 4;

/// Does the same with many things, a few at a time.
pub fn a_few_at_a_time<T: Sync>(all: &[T], act: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    act(one);
                }
            });
        }
    });
}

/// Where documents are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// The KV store, with conditional writes that are exclusive.
    Strict,
    /// The KV store as on SQLite, where two conditional writers may both win.
    LikeSqlite,
    /// Local files.
    Files,
}

impl Backend {
    pub const ALL: [Self; 3] = [Self::Strict, Self::LikeSqlite, Self::Files];
}

/// Which automation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Automation {
    News,
    Review,
    Issue,
}

impl Automation {
    pub fn binary(self) -> &'static str {
        match self {
            Self::News => env!("CARGO_BIN_EXE_news-digest"),
            Self::Review => env!("CARGO_BIN_EXE_github-pr-reviewer"),
            Self::Issue => env!("CARGO_BIN_EXE_gitlab-issue-to-mr"),
        }
    }

    /// The folder of its workspaces.
    pub fn folder(self) -> &'static str {
        match self {
            Self::News => "news-digest",
            Self::Review => "repositories",
            Self::Issue => "issue-to-mr",
        }
    }

    /// The member of its document that holds the records.
    pub fn records(self) -> &'static str {
        match self {
            Self::News | Self::Issue => "tasks",
            Self::Review => "reviews",
        }
    }
}

/// The services around the runs of one automation.
pub struct Stage {
    pub automation: Automation,
    pub agent: AgentServer,
    pub callbacks: Callbacks,
    pub kv: Option<KvStore>,
    pub scratch: Scratch,
    /// What `config.json` beside the process holds.
    pub config: Value,
    /// Whether it is; else `AUTOMATION_CONFIG` says where it is.
    pub config_beside: bool,
    /// The target whose document counts.
    pub target: String,
    /// Whether each run has a sandbox of its own, with this directory as its base.
    pub sandbox: Option<PathBuf>,
    /// Variables over those of the service; `None` takes one away.
    pub variables: Vec<(String, Option<String>)>,
    /// Home and output of the processes.
    pub aside: tempfile::TempDir,
}

impl Stage {
    pub fn new(automation: Automation, backend: Backend, target: &str, config: Value) -> Self {
        let kv = match backend {
            Backend::Strict => Some(Behaviour::Strict),
            Backend::LikeSqlite => Some(Behaviour::LikeSqlite),
            Backend::Files => None,
        };
        Self {
            automation,
            agent: AgentServer::start().unwrap(),
            callbacks: Callbacks::start().unwrap(),
            kv: kv.map(|behaviour| KvStore::start(behaviour).unwrap()),
            scratch: Scratch::new().unwrap(),
            config,
            config_beside: true,
            target: target.to_owned(),
            sandbox: None,
            variables: Vec::new(),
            aside: tempfile::tempdir().unwrap(),
        }
    }

    pub fn set(&mut self, name: &str, value: &str) {
        self.variables
            .push((name.to_owned(), Some(value.to_owned())));
    }

    pub fn setup(&self) -> RunSetup<'_> {
        let mut setup = match &self.sandbox {
            None => RunSetup::local(&self.agent, &self.scratch),
            Some(base) => RunSetup::sandbox(&self.agent, &self.scratch)
                .set("WORKSPACE_BASE", &base.display().to_string()),
        };
        setup = setup.callbacks(&self.callbacks);
        if let Some(kv) = &self.kv {
            setup = setup.kv(kv);
        }
        for (name, value) in &self.variables {
            setup = match value {
                Some(value) => setup.set(name, value),
                None => setup.unset(name),
            };
        }
        setup
    }

    /// Starts a run and does not wait for it.
    pub fn begin(&self) -> Process {
        Process::start(self, &["--json"])
    }

    /// One run from start to end.
    pub fn run(&self) -> Ran {
        self.begin().end(self)
    }

    /// All conversations go on to the end of their scripts.
    pub fn agents_finish(&self) {
        for conversation in self.agent.conversations() {
            self.agent.run_to_end(&conversation.id);
        }
    }

    /// Starts a conversation with this id in this directory, as a run of long ago did.
    pub fn converse(&self, id: &str, dir: &str) {
        let body = json!({
            "conversation_id": id,
            "workspace": {"working_dir": dir},
            "agent": {"kind": "Agent", "llm": {"model": "m", "usage_id": "agent"}, "tools": []},
            "initial_message": {"content": [{"text": "Go on."}]},
        });
        let url = format!("{}/api/conversations", self.agent.base_url());
        let call = Call::post(&url, &body).header("x-session-api-key", SESSION_KEY);
        let answer = call.send().unwrap();
        assert!(matches!(answer.status, 200 | 201), "{}", answer.text());
    }

    /// The id of the only conversation that was ever started.
    pub fn only_conversation(&self) -> String {
        let ids = self.agent.created_ids();
        assert_eq!(ids.len(), 1, "{ids:?}");
        ids[0].clone()
    }

    /// All conversations get this status, outside of any script.
    pub fn set_status(&self, status: Status) {
        for id in self.agent.created_ids() {
            self.agent.set_status(&id, status);
        }
    }

    /// Everything below the directories of runs but what the service puts there.
    pub fn left_on_disk(&self) -> Vec<String> {
        let folder = self.automation.folder();
        let is_left = |path: &String| {
            let mut parts = path.split('/');
            match (parts.next(), parts.next(), parts.next(), parts.next()) {
                (Some("automation-runs"), Some(_), Some(name), rest) => {
                    rest.is_some() || (name != "config.json" && name != folder)
                }
                (Some("automation-runs" | "automation-state"), ..) => false,
                (Some(base), Some(name), rest, _) if base.starts_with("sandbox") => {
                    rest.is_some() || name != folder
                }
                (Some(base), None, ..) => !base.starts_with("sandbox"),
                _ => true,
            }
        };
        let files = self.scratch.files().unwrap();
        files.into_iter().filter(is_left).collect()
    }

    /// Whether there is nothing to do any more: every record has ended, nothing is on disk, no
    /// claim and no lease is left. The reason if not.
    pub fn is_quiet(&self) -> Result<(), String> {
        let records = self.records();
        if records.is_empty() {
            return Err("nothing is recorded".to_owned());
        }
        for (task, record) in &records {
            let status = record["status"].as_str().unwrap_or_default();
            if matches!(status, "starting" | "active" | "") {
                return Err(format!("{task} is {status:?}"));
            }
            for field in ["workspace_dir", "lease_owner", "lease_until"] {
                if !record[field].is_null() {
                    return Err(format!("{task} has {field}: {record}"));
                }
            }
        }
        let guards = self.guards();
        if !guards.is_empty() {
            return Err(format!("keys are left: {guards:?}"));
        }
        let left = self.left_on_disk();
        if !left.is_empty() {
            return Err(format!("left on disk: {left:?}"));
        }
        Ok(())
    }

    pub fn assert_quiet(&self) {
        if let Err(why) = self.is_quiet() {
            panic!("{why}\n{:#}", self.document());
        }
    }

    /// The stand-ins of every stage.
    pub fn services(&self) -> Vec<&StandIn> {
        let mut services = vec![self.agent.server(), self.callbacks.server()];
        services.extend(self.kv.as_ref().map(KvStore::server));
        services
    }

    /// Nobody was asked what nobody expected.
    pub fn check(&self) {
        self.agent.check().unwrap();
        self.callbacks.server().check().unwrap();
        if let Some(kv) = &self.kv {
            kv.server().check().unwrap();
        }
    }
}
