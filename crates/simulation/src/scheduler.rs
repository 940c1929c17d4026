//! The scheduler: takes one event after the other, and lets runs go on, be killed, or end.

use crate::mutation::Mutation;
use crate::plan::{Automation, Ground};
use crate::ports::{Files, Link, Mutated, Tampered, open};
use crate::world::{
    AUTOMATION_ID, LABEL, Micros, Run as WorldRun, SECOND, STOP_SECONDS, TARGET, What, World,
};
use lifecycle::engine::{Parts, Run, poll};
use lifecycle::issue::{IssuePolicy, IssueSettings, MergeRequestMode};
use lifecycle::news::{Interests, NewsPolicy};
use lifecycle::policy::Policy;
use lifecycle::ports::Store;
use lifecycle::report::TargetReport;
use lifecycle::review::{ReviewPolicy, ReviewSettings};
use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

type Task = Pin<Box<dyn Future<Output = TargetReport>>>;

/// Everything that goes on.
pub(crate) struct Scheduler {
    pub(crate) world: Rc<RefCell<World>>,
    tasks: Vec<Option<Task>>,
    /// What the run that ended last reported.
    pub(crate) last_report: Option<TargetReport>,
}

impl Scheduler {
    pub(crate) fn new(world: World) -> Self {
        Self {
            world: Rc::new(RefCell::new(world)),
            tasks: Vec::new(),
            last_report: None,
        }
    }

    /// Plans a run that begins after a pause.
    pub(crate) fn plan_run(&mut self, pause: Micros) {
        let mut world = self.world.borrow_mut();
        let run = world.runs.len();
        let at = world.now + pause;
        let base = world.base_for(run);
        let troubled = !world.is_quiet;
        let trouble = world.plan.trouble;
        let loses_token = troubled && world.rng.chance(trouble.token);
        let token_until = if loses_token {
            at + world.rng.seconds(0, 20)
        } else {
            Micros::MAX
        };
        let is_dry = troubled && world.rng.chance(40);
        let skew = world.rng.pick(&[0.0, 0.0, 0.0, 1.5, -1.5]);
        world.runs.push(WorldRun {
            is_alive: false,
            began: at,
            ended: None,
            is_dry,
            skew,
            base,
            token_until,
            ended_well: false,
            read_at: 0,
            took: 0,
            last_written: None,
        });
        world.queue.push(at, What::Begin { poll: run });
        let stop = at + STOP_SECONDS * SECOND;
        world.queue.push(stop, What::Stop { poll: run });
        self.tasks.push(None);
    }

    /// Goes on until no run is under way.
    pub(crate) fn run_to_idle(&mut self) {
        while !self.is_over() && !self.world.borrow().is_idle() {
            if !self.step() {
                return;
            }
        }
    }

    /// Lets time pass.
    pub(crate) fn pass(&mut self, pause: Micros) {
        let until = self.world.borrow().now + pause;
        loop {
            let next = self.world.borrow().queue.next_at();
            if self.is_over() || next.is_none_or(|next| next > until) {
                break;
            }
            self.step();
        }
        let mut world = self.world.borrow_mut();
        world.now = world.now.max(until);
    }

    /// Whether a rule was broken.
    pub(crate) fn is_over(&self) -> bool {
        self.world.borrow().violation.is_some()
    }

    fn step(&mut self) -> bool {
        let event = self.world.borrow_mut().queue.pop();
        let Some(event) = event else { return false };
        {
            let mut world = self.world.borrow_mut();
            world.now = world.now.max(event.at);
            world.counts.events += 1;
        }
        match event.what {
            What::Begin { poll } => self.begin(poll),
            What::Wake { poll, waker } => {
                if self.world.borrow().runs[poll].is_alive && !self.is_killed_now(poll) {
                    waker.wake();
                    self.go_on(poll);
                }
            }
            What::Arrive {
                poll, call, effect, ..
            } => {
                let is_alive = self.world.borrow().runs[poll].is_alive;
                let dies = is_alive && self.is_killed_now(poll);
                let mut world = self.world.borrow_mut();
                let is_dropped = world.dropped_calls.remove(&call) || dies && world.rng.chance(500);
                if !is_dropped {
                    effect(&mut world);
                }
            }
            What::Happen(effect) => effect(&mut self.world.borrow_mut()),
            What::Stop { poll } => {
                if self.world.borrow().runs[poll].is_alive {
                    self.kill(poll, "was stopped: its time is up");
                }
            }
        }
        true
    }

    /// Whether a run dies at this point.
    fn is_killed_now(&mut self, run: usize) -> bool {
        let dies = {
            let mut world = self.world.borrow_mut();
            let often = world.plan.trouble.kill;
            !world.is_quiet && world.rng.chance(often)
        };
        if dies {
            self.kill(run, "is killed");
        }
        dies
    }

    fn kill(&mut self, run: usize, how: &str) {
        self.tasks[run] = None;
        let mut world = self.world.borrow_mut();
        world.note(|_| format!("run {run} {how}"));
        world.kill(run);
    }

    fn begin(&mut self, run: usize) {
        {
            let mut world = self.world.borrow_mut();
            world.counts.polls += 1;
            let began = world.now;
            let entry = &mut world.runs[run];
            entry.is_alive = true;
            entry.began = began;
            world.note(|w| {
                let entry = &w.runs[run];
                let dry = if entry.is_dry { ", dry" } else { "" };
                format!("run {run} begins in {}{dry}", entry.base)
            });
        }
        let link = Link {
            world: self.world.clone(),
            run,
        };
        self.tasks[run] = Some(Box::pin(one_poll(link)));
        self.go_on(run);
    }

    fn go_on(&mut self, run: usize) {
        let Some(task) = &mut self.tasks[run] else {
            return;
        };
        let mut context = Context::from_waker(Waker::noop());
        if let Poll::Ready(report) = task.as_mut().poll(&mut context) {
            self.tasks[run] = None;
            let mut world = self.world.borrow_mut();
            for warning in report.warnings.iter().chain(&report.error) {
                world.check_text("the report", warning);
            }
            world.note(|_| format!("run {run} ends: {} {:?}", report.status, report.error));
            world.ended(run, false);
            self.last_report = Some(report);
        }
    }
}

async fn one_poll(link: Link) -> TargetReport {
    let ground = link.world.borrow().plan.ground;
    match ground {
        Ground::Files => with_store(&link, Files::new(link.clone())).await,
        Ground::Strict | Ground::Overlapping => with_store(&link, open(&link)).await,
    }
}

async fn with_store<S: Store>(link: &Link, store: S) -> TargetReport {
    let plan = link.world.borrow().plan.clone();
    match plan.automation {
        Automation::News => {
            let policy = NewsPolicy {
                feeds: link,
                interests: Interests::default(),
            };
            with_policy(link, store, policy).await
        }
        Automation::Review => {
            let settings = ReviewSettings {
                repo: TARGET.into(),
                trigger_label: LABEL.into(),
                api_url: "https://forge.example/api".into(),
                token_secret: "TOKEN".into(),
                review_drafts: true,
                ..ReviewSettings::default()
            };
            let policy = ReviewPolicy {
                forge: link,
                checkouts: link,
                settings: &settings,
            };
            with_policy(link, store, policy).await
        }
        Automation::Issue => {
            let settings = IssueSettings {
                project: TARGET.into(),
                trigger_label: LABEL.into(),
                branch_prefix: "openhands/issue".into(),
                mode: MergeRequestMode::Draft,
                trigger_level: plan.checks_role.then_some(20),
                keep_failed_work: plan.keep_failed_work,
                api_url: "https://forge.example/api".into(),
                token_secret: "TOKEN".into(),
            };
            let policy = IssuePolicy {
                forge: link,
                clones: link,
                settings: &settings,
            };
            with_policy(link, store, policy).await
        }
    }
}

async fn with_policy<S: Store, P: Policy>(link: &Link, store: S, policy: P) -> TargetReport {
    let mut run = Run::new(format!("run-{}", link.run), AUTOMATION_ID);
    let forgets = {
        let world = link.world.borrow();
        run.max_new = world.plan.max_new;
        run.max_active = world.plan.max_active;
        run.wait_seconds = world.plan.wait_seconds;
        run.dry_run = world.runs[link.run].is_dry;
        world.is_mutated(Mutation::PruneGuard)
    };
    let store = Mutated {
        store,
        link: link.clone(),
    };
    let policy = Tampered {
        policy,
        forgets_what_is_in_force: forgets,
    };
    let parts = Parts {
        store: &store,
        agents: link,
        workspaces: link,
        clock: link,
        journal: link,
    };
    poll(&run, &parts, &policy).await
}
