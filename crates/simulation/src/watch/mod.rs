//! The rules, as far as they can be seen to be broken: what is watched while it happens.
//!
//! The first rule that is broken is remembered in [`World::violation`] and ends the seed.

mod document;
mod rest;

use crate::plan::Automation;
use crate::world::{AUTOMATION_ID, BEGINNING, SECRETS, Stage, TARGET, World};
use lifecycle::identity::{self, Kind};
use lifecycle::moment;
use lifecycle::ports::StartConversation;
use std::collections::{BTreeMap, BTreeSet};

/// What has been seen so far.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Tasks by the conversation id that they must have.
    tasks: BTreeMap<String, String>,
    /// Tasks that had a conversation, and whether it was deleted while its claim was the only trace
    /// of it.
    started: BTreeMap<String, Started>,
    /// Tasks whose record was seen in another state than `starting`.
    recorded: BTreeSet<String>,
    /// Tasks whose record was dropped while their trigger was not in force: they may begin anew.
    forgotten: BTreeSet<String>,
    /// Tasks that have ended, as far as any document said.
    ended: BTreeSet<String>,
    /// Acknowledgements and results, by their mark.
    told: BTreeMap<String, u32>,
    merge_requests: BTreeMap<String, u64>,
    digests: BTreeMap<String, u32>,
    /// News: the stories on each day's list.
    lists: BTreeMap<String, Vec<String>>,
    /// Triggers for which the document has no room, as the last run said.
    pub(crate) skipped_for_room: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Started {
    may_again: bool,
}

impl Watch {
    /// A trigger exists.
    pub(crate) fn know_task(&mut self, task: String, automation: Automation) {
        let target = if automation == Automation::News {
            lifecycle::news::TARGET
        } else {
            TARGET
        };
        let id = identity::conversation_id(AUTOMATION_ID, target, &task);
        self.tasks.insert(id, task);
    }

    /// The task whose result mark is in a text.
    pub(crate) fn task_marked_in(&self, text: &str) -> Option<String> {
        let mut tasks = self.tasks.values();
        tasks
            .find(|task| text.contains(&identity::marker(task, Kind::Result)))
            .cloned()
    }

    /// The task that must have a conversation of this id.
    pub(crate) fn task_of(&self, id: &str) -> Option<String> {
        self.tasks.get(id).cloned()
    }

    /// It was over before the first run.
    pub(crate) fn ended_before(&mut self, task: &str) {
        self.started_before(task);
        self.ended.insert(task.to_owned());
    }

    /// It had a conversation before the first run.
    pub(crate) fn started_before(&mut self, task: &str) {
        self.started.insert(task.to_owned(), Started::default());
        self.recorded.insert(task.to_owned());
    }
}

impl World {
    /// Days are triggers, too.
    pub(crate) fn know_days(&mut self) {
        for day in 0..16_u32 {
            let at = BEGINNING + (f64::from(day) - 6.0) * 86_400.0;
            let task = identity::day_task(&moment::day(at));
            self.watch.know_task(task, Automation::News);
        }
    }

    /// No secret in any text.
    pub(crate) fn check_text(&mut self, what: &str, text: &str) {
        if SECRETS.iter().any(|secret| text.contains(secret)) {
            self.broken(|| format!("there is a secret in {what}: {text}"));
        }
    }

    /// At most one conversation per trigger.
    pub(crate) fn watch_start(&mut self, run: usize, asked: &StartConversation) {
        let Some(task) = self.watch.task_of(&asked.conversation_id) else {
            let id = asked.conversation_id.clone();
            self.broken(|| format!("conversation {id} is not that of any trigger"));
            return;
        };
        let home = self.home_of(run);
        let dir = asked.working_dir.trim_end_matches('/').to_owned();
        if !self.disk.folders.contains_key(&(home, dir.clone())) {
            self.broken(|| format!("{task} starts in {dir}, which is not there"));
        }
        let mut others = self.server.conversations.iter();
        if others.any(|one| one.home == home && one.dir == dir && one.could_run()) {
            self.broken(|| format!("{task} starts in {dir}, where another one works"));
        }
        let allowed = identity::parse_label_task(&task)
            .and_then(|(number, _)| self.item(number))
            .is_none_or(|item| item.is_allowed || item.task_in_force().as_ref() != Some(&task));
        if !allowed {
            self.broken(|| format!("{task} starts for somebody who may not trigger it"));
        }
        let known = self.watch.started.get(&task).copied();
        let forgotten = self.watch.forgotten.remove(&task);
        if known.is_some_and(|started| !started.may_again) && !forgotten {
            self.broken(|| format!("{task} gets a second conversation"));
        } else if known.is_some() {
            // What the one that nobody knows of has opened is found by nobody either.
            self.watch.merge_requests.remove(&task);
        }
        self.watch.started.insert(task, Started::default());
    }

    /// A conversation was deleted. While only a claim knows of it, nobody can tell that from one
    /// that never was: the task may get another.
    pub(crate) fn watch_deletion(&mut self, task: &str) {
        let status = self
            .stored_record(task)
            .and_then(|record| record.get("status")?.as_str());
        let is_only_claimed = status.is_none_or(|status| status == "starting");
        if is_only_claimed && !self.watch.recorded.contains(task) {
            self.watch
                .started
                .insert(task.to_owned(), Started { may_again: true });
        }
    }

    /// At most one acknowledgement and one result.
    pub(crate) fn watch_comment(&mut self, number: u64, body: &str) {
        let tasks: Vec<String> = self.watch.tasks.values().cloned().collect();
        for task in tasks {
            if identity::parse_label_task(&task).is_none_or(|(of, _)| of != number) {
                continue;
            }
            for kind in [Kind::Acknowledgement, Kind::Result] {
                let mark = identity::marker(&task, kind);
                if !body.contains(&mark) {
                    continue;
                }
                let count = self.watch.told.entry(mark).or_default();
                *count += 1;
                if *count > 1 {
                    let text = format!("{task} has a second comment of kind {kind:?}");
                    self.broken(|| text);
                }
                if kind == Kind::Result && self.has_published_review(&task) {
                    self.broken(|| format!("{task} has a published review and a comment"));
                }
            }
        }
    }

    /// Whether the commit that a task is about has its review.
    fn has_published_review(&self, task: &str) -> bool {
        let head = self
            .stored_record(task)
            .and_then(|record| record.get("head_sha")?.as_str());
        identity::parse_label_task(task)
            .and_then(|(number, _)| self.pulls.get(number))
            .is_some_and(|pull| {
                let mut reviews = pull.reviews.iter();
                reviews.any(|(of, _, by)| by == task && Some(of.as_str()) == head)
            })
    }

    /// At most one merge request.
    pub(crate) fn watch_merge_request(&mut self, task: Option<&str>, iid: u64) {
        let Some(task) = task.map(str::to_owned) else {
            return;
        };
        if let Some(first) = self.watch.merge_requests.insert(task.clone(), iid) {
            self.broken(|| format!("{task} has merge requests {first} and {iid}"));
        }
    }

    /// At most one digest, and of a conversation that has ended.
    pub(crate) fn watch_digest(&mut self, period: &str) {
        let count = self.watch.digests.entry(period.to_owned()).or_default();
        *count += 1;
        if *count > 1 {
            self.broken(|| format!("the digest of {period} is printed twice"));
        }
        self.counts.told += 1;
        let task = identity::day_task(period);
        if self.is_at_work_for(&task) {
            self.broken(|| format!("the digest of {period} is printed before its end"));
        }
    }

    fn is_at_work_for(&self, task: &str) -> bool {
        self.server
            .conversations
            .iter()
            .any(|one| one.task.as_deref() == Some(task) && one.stage == Stage::Running)
    }
}
