//! A world in memory: a store, an agent server, workspaces, a clock and a journal, with a log of
//! everything that was done to them, in order.

mod agents;
pub mod feeds;
mod git;
pub mod github;
pub mod gitlab;
pub mod scenes;
mod store;
mod workspaces;

pub use agents::{FakeAgents, LOST};
pub use store::FakeStore;
pub use workspaces::FakeWorkspaces;

use lifecycle::document::{Document, Record, Schema};
use lifecycle::engine::{self, Run};
use lifecycle::policy::Policy;
use lifecycle::ports::{Clock, Journal};
use lifecycle::report::{SkipReason, TargetReport};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;

/// 2026-08-18T09:12:00Z.
pub const NOW: f64 = 1_787_044_320.0;
pub const MINUTE: f64 = 60.0;
pub const HOUR: f64 = 3600.0;
pub const AUTOMATION: &str = "automation-1";

/// What was done, in order.
#[derive(Clone, Debug, Default)]
pub struct Log(Rc<RefCell<Vec<String>>>);

impl Log {
    pub fn add(&self, deed: impl Into<String>) {
        self.0.borrow_mut().push(deed.into());
    }

    pub fn all(&self) -> Vec<String> {
        self.0.borrow().clone()
    }

    /// The deeds that begin with a word.
    pub fn of(&self, start: &str) -> Vec<String> {
        self.all()
            .into_iter()
            .filter(|deed| deed.starts_with(start))
            .collect()
    }

    pub fn clear(&self) {
        self.0.borrow_mut().clear();
    }
}

pub struct World {
    pub store: FakeStore,
    pub agents: FakeAgents,
    pub workspaces: FakeWorkspaces,
    pub clock: FakeClock,
    pub journal: FakeJournal,
    pub log: Log,
}

impl World {
    pub fn new(schema: &'static Schema, target: &str) -> Self {
        let log = Log::default();
        Self {
            store: FakeStore::new(schema, target, log.clone()),
            agents: FakeAgents::new(log.clone()),
            workspaces: FakeWorkspaces::new(log.clone()),
            clock: FakeClock {
                now: Rc::new(Cell::new(NOW)),
                left: Cell::new(480.0),
            },
            journal: FakeJournal::default(),
            log,
        }
    }

    /// Polls as a run of its own, at the time that it is.
    pub async fn poll<P: Policy>(&self, run_id: &str, policy: &P) -> TargetReport {
        self.poll_as(&run(run_id), policy).await
    }

    pub async fn poll_as<P: Policy>(&self, run: &Run, policy: &P) -> TargetReport {
        engine::poll(run, self, policy).await
    }

    pub fn pass(&self, seconds: f64) {
        self.clock.now.set(self.clock.now.get() + seconds);
    }

    pub fn document(&self) -> Document {
        self.store.document.borrow().clone()
    }

    pub fn record(&self, task: &str) -> Record {
        self.document()
            .record(task)
            .unwrap_or_else(|| panic!("{task} has no record"))
    }

    /// The status of a task, or `none`.
    pub fn status(&self, task: &str) -> &'static str {
        self.document()
            .record(task)
            .map_or("none", |record| record.status().name())
    }

    /// The conversation of a task.
    pub fn conversation(&self, task: &str) -> String {
        self.record(task).conversation_id().unwrap().to_owned()
    }
}

impl engine::World for World {
    type Store = FakeStore;
    type Agents = FakeAgents;
    type Workspaces = FakeWorkspaces;
    type Clock = FakeClock;
    type Journal = FakeJournal;

    fn store(&self) -> &FakeStore {
        &self.store
    }
    fn agents(&self) -> &FakeAgents {
        &self.agents
    }
    fn workspaces(&self) -> &FakeWorkspaces {
        &self.workspaces
    }
    fn clock(&self) -> &FakeClock {
        &self.clock
    }
    fn journal(&self) -> &FakeJournal {
        &self.journal
    }
}

pub fn run(run_id: &str) -> Run {
    Run::new(run_id, AUTOMATION)
}

/// A fixture of the project as JSON.
#[expect(clippy::disallowed_methods, reason = "fixtures are files")]
pub fn fixture(path: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
        .join(path);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Lets whoever else is polled go on.
pub async fn others() {
    tokio::task::yield_now().await;
}

/// Why an item was not worked on.
pub fn reason(report: &TargetReport, item: &str) -> Option<SkipReason> {
    let skipped = report.skipped.iter().find(|skipped| skipped.item == item);
    skipped.map(|skipped| skipped.reason)
}

/// The tasks that a poll started.
pub fn started(report: &TargetReport) -> Vec<&str> {
    report
        .started
        .iter()
        .map(|started| started.task.as_str())
        .collect()
}

/// The tasks that a poll brought to their end, with their status.
pub fn finished(report: &TargetReport) -> Vec<(&str, &str)> {
    report
        .finished
        .iter()
        .map(|done| (done.task.as_str(), done.status))
        .collect()
}

pub struct FakeClock {
    pub now: Rc<Cell<f64>>,
    pub left: Cell<f64>,
}

impl Clock for FakeClock {
    fn now(&self) -> f64 {
        self.now.get()
    }

    fn time_left(&self) -> f64 {
        self.left.get()
    }

    async fn sleep(&self, seconds: f64) {
        self.now.set(self.now.get() + seconds);
        self.left.set(self.left.get() - seconds);
        others().await;
    }
}

#[derive(Default)]
pub struct FakeJournal {
    pub notes: RefCell<Vec<String>>,
    pub warnings: RefCell<Vec<String>>,
    pub digests: RefCell<Vec<(String, String)>>,
}

impl Journal for FakeJournal {
    fn note(&self, _target: &str, item: &str, text: &str) {
        self.notes.borrow_mut().push(format!("{item}: {text}"));
    }

    fn warn(&self, _target: &str, item: &str, text: &str) {
        self.warnings.borrow_mut().push(format!("{item}: {text}"));
    }

    fn digest(&self, period: &str, text: &str) {
        self.digests.borrow_mut().push((period.into(), text.into()));
    }
}
