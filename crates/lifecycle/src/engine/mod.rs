//! The poll engine: the order of steps that every automation shares. It performs what
//! [`crate::decide`] decides and asks a [`Policy`] for everything that is particular.
//!
//! Collect before select; write before act; every step can be repeated.

mod claim;
mod desk;
mod finish;
mod guards;
mod lease;
mod plan;
mod poll;
mod release;
mod settle;
mod start;
mod wait;

pub use claim::Claim;
pub use desk::Effect;
pub use lease::Lease;

use crate::policy::Policy;
use crate::ports::{Agents, Clock, Journal, Store, Workspaces};
use crate::report::TargetReport;
use desk::Desk;
use std::cell::{Cell, RefCell};

/// Everything that the engine touches outside itself.
pub trait World {
    /// Where the document lives.
    type Store: Store;
    /// Where conversations live.
    type Agents: Agents;
    /// Where workspaces live.
    type Workspaces: Workspaces;
    /// Time.
    type Clock: Clock;
    /// The human log.
    type Journal: Journal;

    /// The document's place.
    fn store(&self) -> &Self::Store;
    /// The agent server.
    fn agents(&self) -> &Self::Agents;
    /// The workspaces.
    fn workspaces(&self) -> &Self::Workspaces;
    /// The clock.
    fn clock(&self) -> &Self::Clock;
    /// The log.
    fn journal(&self) -> &Self::Journal;
}

/// A [`World`] made of references.
#[derive(Debug)]
pub struct Parts<'a, S, A, W, C, J> {
    /// The document's place.
    pub store: &'a S,
    /// The agent server.
    pub agents: &'a A,
    /// The workspaces.
    pub workspaces: &'a W,
    /// The clock.
    pub clock: &'a C,
    /// The log.
    pub journal: &'a J,
}

impl<S: Store, A: Agents, W: Workspaces, C: Clock, J: Journal> World for Parts<'_, S, A, W, C, J> {
    type Store = S;
    type Agents = A;
    type Workspaces = W;
    type Clock = C;
    type Journal = J;

    fn store(&self) -> &S {
        self.store
    }
    fn agents(&self) -> &A {
        self.agents
    }
    fn workspaces(&self) -> &W {
        self.workspaces
    }
    fn clock(&self) -> &C {
        self.clock
    }
    fn journal(&self) -> &J {
        self.journal
    }
}

/// What one run is allowed and called; shared by all its targets.
#[derive(Debug)]
pub struct Run {
    /// Id of this run, unique among all runs.
    pub run_id: String,
    /// Id of the automation, part of every conversation id.
    pub automation_id: String,
    /// New tasks in this run, over all targets.
    pub max_new: usize,
    /// Tasks at work at once, over all targets; 0 for no cap.
    pub max_active: usize,
    /// How long to stay for the conversations that this run started, in seconds.
    pub wait_seconds: f64,
    /// Only look.
    pub dry_run: bool,
    /// Tasks started so far.
    pub started: Cell<usize>,
    /// Tasks known to be at work.
    pub active: Cell<usize>,
    /// The agent server had no room: nothing more is tried in this run.
    pub agents_full: Cell<bool>,
}

impl Run {
    /// A run with default limits.
    pub fn new(run_id: impl Into<String>, automation_id: impl Into<String>) -> Self {
        Self {
            run_id: run_id.into(),
            automation_id: automation_id.into(),
            max_new: 10,
            max_active: 0,
            wait_seconds: 0.0,
            dry_run: false,
            started: Cell::new(0),
            active: Cell::new(0),
            agents_full: Cell::new(false),
        }
    }
}

/// Polls one target once.
pub async fn poll<X: World, P: Policy>(run: &Run, world: &X, policy: &P) -> TargetReport {
    let engine = Engine {
        run,
        world,
        policy,
        desk: Desk::new(world.store(), policy.schema(), policy.target()),
        report: RefCell::new(TargetReport::new(policy.target())),
    };
    engine.poll().await
}

/// One poll of one target.
pub(crate) struct Engine<'a, X: World, P> {
    run: &'a Run,
    world: &'a X,
    policy: &'a P,
    desk: Desk<'a, X::Store>,
    report: RefCell<TargetReport>,
}

impl<X: World, P: Policy> Engine<'_, X, P> {
    fn now(&self) -> f64 {
        self.world.clock().now()
    }

    fn note(&self, item: &str, text: &str) {
        self.world.journal().note(self.policy.target(), item, text);
    }

    fn warn(&self, item: &str, text: &str) {
        self.world.journal().warn(self.policy.target(), item, text);
        let text = if item.is_empty() {
            text.to_owned()
        } else {
            format!("{item}: {text}")
        };
        let mut report = self.report.borrow_mut();
        if !report.warnings.contains(&text) {
            report.warnings.push(text);
        }
    }
}
