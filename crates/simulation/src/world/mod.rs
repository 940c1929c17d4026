//! The world: what is true, as opposed to what anybody has been told.

mod agents;
mod calls;
mod deeds;
mod disk;
mod feeds;
mod git;
mod issues;
mod kv;
mod people;
mod pulls;
mod queue;
mod seeding;

pub(crate) use agents::{Conversation, Home, Server, Stage};
pub(crate) use calls::{Call, Fault, Service};
pub(crate) use disk::{Clone as Checkout, Disk, Folder};
pub(crate) use feeds::Newsroom;
pub(crate) use git::{Git, sha_of};
pub(crate) use issues::{Ticket, Tickets};
pub(crate) use kv::Keys;
pub(crate) use pulls::{Item, PullRequest, Pulls};
pub(crate) use queue::{Micros, Queue, SECOND, What};
pub(crate) use seeding::PRECIOUS;

use crate::mutation::Mutation;
use crate::plan::{Automation, Plan};
use crate::rng::Rng;
use crate::watch::Watch;
use lifecycle::document::{ISSUE, NEWS, REVIEW, Schema};
use serde_json::Value;
use std::collections::HashSet;

/// True time at the beginning of the world, seconds since the epoch: 2026-08-18T08:00:00Z.
pub(crate) const BEGINNING: f64 = 1_787_040_000.0;
/// The repository or the project.
pub(crate) const TARGET: &str = "acme/widget";
/// The label that asks for work.
pub(crate) const LABEL: &str = "openhands";
/// The automation's own account on the forge.
pub(crate) const BOT: &str = "bot";
/// The id of the automation.
pub(crate) const AUTOMATION_ID: &str = "a1";
/// Values that must never be seen anywhere.
pub(crate) const SECRETS: [&str; 2] = ["glpat-SECRET-forge-token", "SECRET-session-key"];

/// A run and its one poll.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) is_alive: bool,
    pub(crate) began: Micros,
    pub(crate) ended: Option<Micros>,
    pub(crate) is_dry: bool,
    /// Seconds by which its machine's clock differs from the others'.
    pub(crate) skew: f64,
    /// `WORKSPACE_BASE`.
    pub(crate) base: String,
    /// From when on its KV token is not accepted any more.
    pub(crate) token_until: Micros,
    /// It came to its end by itself.
    pub(crate) ended_well: bool,
    /// KV: when it last began to read, and how long it took from there to the last write.
    pub(crate) read_at: Micros,
    pub(crate) took: Micros,
    /// KV: what it last wrote and has not read back.
    pub(crate) last_written: Option<(String, Value)>,
}

/// Seconds that a run has by its own clock (`time_budget_seconds`).
pub(crate) const RUN_SECONDS: u64 = 480;
/// And how much later it is stopped from outside.
pub(crate) const STOP_SECONDS: u64 = 525;

/// How much of everything there was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events.
    pub events: u64,
    /// Polls that began.
    pub polls: u64,
    /// Polls that were killed.
    pub kills: u64,
    /// Calls that were refused.
    pub refused: u64,
    /// Calls that had their effect without an answer.
    pub lost: u64,
    /// Conditional writes that were overtaken although both had won.
    pub overtaken: u64,
    /// Conversations.
    pub conversations: u64,
    /// Tasks that reached a terminal status.
    pub ended: u64,
    /// Comments, notes, merge requests and digests.
    pub told: u64,
    /// Workspaces that were removed.
    pub removed: u64,
    /// Keys that were left behind by runs that died over each other.
    pub keys_left: u64,
    /// Triggers for which the document had no room in the end.
    pub no_room: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: &Self) {
        self.events += other.events;
        self.polls += other.polls;
        self.kills += other.kills;
        self.refused += other.refused;
        self.lost += other.lost;
        self.overtaken += other.overtaken;
        self.conversations += other.conversations;
        self.ended += other.ended;
        self.told += other.told;
        self.removed += other.removed;
        self.keys_left += other.keys_left;
        self.no_room += other.no_room;
    }
}

/// Everything.
pub(crate) struct World {
    pub(crate) now: Micros,
    pub(crate) plan: Plan,
    pub(crate) rng: Rng,
    pub(crate) queue: Queue,
    /// Lines of the schedule, if anybody wants to read it.
    pub(crate) schedule: Option<Vec<String>>,
    /// The faults have stopped.
    pub(crate) is_quiet: bool,
    /// Seconds by which the machines' clocks are ahead of true time.
    pub(crate) clock_offset: f64,
    pub(crate) disk_is_full: bool,
    pub(crate) runs: Vec<Run>,
    /// Calls that died with their run before they arrived.
    pub(crate) dropped_calls: HashSet<u64>,
    pub(crate) calls: u64,
    pub(crate) server: Server,
    pub(crate) pulls: Pulls,
    pub(crate) tickets: Tickets,
    pub(crate) git: Git,
    pub(crate) newsroom: Newsroom,
    pub(crate) disk: Disk,
    pub(crate) keys: Keys,
    pub(crate) file: Option<Value>,
    /// What a run takes for written, though it is not.
    pub(crate) file_pending: Option<(usize, Value)>,
    pub(crate) file_cache: Option<Value>,
    pub(crate) file_lock: Option<usize>,
    pub(crate) next_event_id: u64,
    pub(crate) watch: Watch,
    pub(crate) counts: Counts,
    pub(crate) violation: Option<String>,
}

impl World {
    pub(crate) fn new(plan: Plan, rng: Rng, with_schedule: bool) -> Self {
        let mut world = Self {
            now: 0,
            rng,
            queue: Queue::default(),
            schedule: with_schedule.then(Vec::new),
            is_quiet: false,
            clock_offset: 0.0,
            disk_is_full: false,
            runs: Vec::new(),
            dropped_calls: HashSet::new(),
            calls: 0,
            server: Server::default(),
            pulls: Pulls::default(),
            tickets: Tickets::default(),
            git: Git::default(),
            newsroom: Newsroom::default(),
            disk: Disk::default(),
            keys: Keys::default(),
            file: None,
            file_pending: None,
            file_cache: None,
            file_lock: None,
            next_event_id: 1000,
            watch: Watch::default(),
            counts: Counts::default(),
            violation: None,
            plan,
        };
        world.note(|w| format!("{:?}", w.plan));
        world.seed_everything();
        world
    }

    pub(crate) fn is_mutated(&self, mutation: Mutation) -> bool {
        self.plan.mutation == Some(mutation)
    }

    pub(crate) fn schema(&self) -> &'static Schema {
        match self.plan.automation {
            Automation::News => &NEWS,
            Automation::Review => &REVIEW,
            Automation::Issue => &ISSUE,
        }
    }

    pub(crate) fn target(&self) -> &'static str {
        match self.plan.automation {
            Automation::News => lifecycle::news::TARGET,
            Automation::Review | Automation::Issue => TARGET,
        }
    }

    /// Seconds since the epoch, truly.
    #[expect(clippy::cast_precision_loss, reason = "exact for some centuries")]
    pub(crate) fn true_time(&self) -> f64 {
        BEGINNING + self.now as f64 / 1e6
    }

    /// What a run's clock says.
    pub(crate) fn clock_of(&self, run: usize) -> f64 {
        self.true_time() + self.clock_offset + self.runs[run].skew
    }

    /// What the forge's clock says.
    pub(crate) fn forge_time(&self) -> f64 {
        self.true_time() + self.plan.forge_skew
    }

    /// The stored document.
    pub(crate) fn document(&self) -> Option<&Value> {
        if self.plan.ground == crate::plan::Ground::Files {
            self.file.as_ref()
        } else {
            self.keys.document()
        }
    }

    /// The record of a task in the stored document.
    pub(crate) fn stored_record(&self, task: &str) -> Option<&Value> {
        self.document()?.get(self.schema().records)?.get(task)
    }

    /// Lets something happen later.
    pub(crate) fn after(&mut self, pause: Micros, effect: impl FnOnce(&mut Self) + 'static) {
        let at = self.now + pause;
        self.queue.push(at, What::Happen(Box::new(effect)));
    }

    /// Writes a line of the schedule.
    pub(crate) fn note(&mut self, line: impl FnOnce(&Self) -> String) {
        if self.schedule.is_none() {
            return;
        }
        let at = self.now / 1000;
        let text = line(self);
        let line = format!("{:>9}.{:03}  {text}", at / 1000, at % 1000);
        if let Some(schedule) = &mut self.schedule {
            schedule.push(line);
        }
    }

    /// Remembers the first rule that was broken.
    pub(crate) fn broken(&mut self, rule: impl FnOnce() -> String) {
        if self.violation.is_none() {
            let rule = rule();
            self.note(|_| format!("BROKEN: {rule}"));
            self.violation = Some(rule);
        }
    }

    /// Whether no run is under way and nothing of one is.
    pub(crate) fn is_idle(&self) -> bool {
        self.runs.iter().all(|run| run.ended.is_some())
    }

    /// Kills a run: what it has sent may still arrive or not, what it holds of the machine is free.
    pub(crate) fn kill(&mut self, run: usize) {
        self.counts.kills += 1;
        for (call, is_local) in self.queue.under_way(run) {
            if is_local || self.rng.chance(500) {
                self.dropped_calls.insert(call);
            }
        }
        self.ended(run, true);
    }

    /// A run is over, one way or the other.
    pub(crate) fn ended(&mut self, run: usize, was_killed: bool) {
        self.runs[run].is_alive = false;
        self.runs[run].ended_well = !was_killed;
        self.runs[run].ended = Some(self.now);
        if self.file_lock == Some(run) {
            self.file_lock = None;
        }
        if self.plan.sandbox && !self.plan.keep_alive {
            // The service ends the sandbox when it hears of the end, or notices that it never will.
            let pause = if was_killed {
                self.rng.seconds(0, 300)
            } else {
                0
            };
            self.after(pause, move |w| w.end_sandbox(run));
        }
    }
}
