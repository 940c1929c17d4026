//! The agent servers: conversations as they are, and what their agents do.

use super::deeds::Deed;
use super::{Micros, SECOND, World};
use crate::mutation::Mutation;
use crate::plan::Automation;
use lifecycle::ports::{Conversation as Look, StartConversation, Started};

/// Which machine: the one that stays, or the sandbox of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Home {
    Local,
    Sandbox(usize),
}

/// Where a conversation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Queued,
    Running,
    Paused,
    Waiting,
    Ended(Look),
    Deleting,
    Gone,
}

/// A conversation.
#[derive(Clone, Debug)]
pub(crate) struct Conversation {
    pub(crate) id: String,
    pub(crate) task: Option<String>,
    pub(crate) home: Home,
    pub(crate) dir: String,
    /// Reviews: the commit that it was told to review.
    pub(super) head: String,
    pub(crate) born: Micros,
    pub(crate) stage: Stage,
    /// We have stopped it: it goes on only if a person wants it to.
    pub(crate) is_halted: bool,
    pub(crate) words: String,
    /// News: the digest is written.
    pub(crate) has_delivered: bool,
    /// What it delivers, and how it ends.
    pub(super) deed: Deed,
    pub(super) end: Look,
    pub(super) work: Micros,
    /// With the interrupt switched off: it says that it is paused, and goes on.
    pub(super) pretends: bool,
    /// Plans made before a pause are void after it.
    pub(super) turn: u32,
}

/// All conversations of all servers.
#[derive(Debug, Default)]
pub(crate) struct Server {
    pub(crate) conversations: Vec<Conversation>,
}

impl Conversation {
    /// Whether its agent may still do something.
    pub(crate) fn could_run(&self) -> bool {
        match self.stage {
            Stage::Queued | Stage::Paused | Stage::Waiting => !self.is_halted,
            Stage::Running | Stage::Deleting => true,
            Stage::Ended(_) | Stage::Gone => false,
        }
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.stage == Stage::Paused
    }

    fn exists(&self) -> bool {
        self.stage != Stage::Gone
    }
}

/// The commit that a prompt asks to review; empty for other prompts.
fn told_commit(prompt: &str) -> String {
    let first = prompt.lines().next().unwrap_or_default();
    first
        .split_once(" at commit ")
        .map_or("", |(_, head)| head)
        .to_owned()
}

impl World {
    /// A conversation that exists, by its id, on the server of a run.
    pub(crate) fn conversation(&self, run: usize, id: &str) -> Option<usize> {
        let home = self.home_of(run);
        self.server
            .conversations
            .iter()
            .position(|one| one.id == id && one.home == home && one.exists())
    }

    pub(crate) fn start_conversation(&mut self, run: usize, asked: &StartConversation) -> Started {
        let ignores_ids = self.is_mutated(Mutation::DeterministicId);
        if !ignores_ids && self.conversation(run, &asked.conversation_id).is_some() {
            return Started {
                conversation_id: asked.conversation_id.clone(),
                existed: true,
            };
        }
        let id = if ignores_ids {
            format!("own-{}", self.server.conversations.len())
        } else {
            asked.conversation_id.clone()
        };
        self.check_text("a prompt", &asked.prompt);
        self.watch_start(run, asked);
        let task = self.watch.task_of(&asked.conversation_id);
        let home = self.home_of(run);
        let head = told_commit(&asked.prompt);
        let dir = asked.working_dir.trim_end_matches('/').to_owned();
        self.plant_conversation(id.clone(), task, home, dir, head);
        Started {
            conversation_id: id,
            existed: false,
        }
    }

    /// A conversation comes into being, and its future is settled.
    pub(crate) fn plant_conversation(
        &mut self,
        id: String,
        task: Option<String>,
        home: Home,
        dir: String,
        head: String,
    ) {
        let queue = self
            .rng
            .weighted(&[(70, (0, 3)), (25, (20, 120)), (5, (600, 3000))]);
        let mut queue = self.rng.seconds(queue.0, queue.1);
        if self.runs.is_empty() {
            // It began long before the first run.
            queue = 0;
        }
        let work = self.rng.weighted(&[
            (60, (20, 300)),
            (25, (300, 3000)),
            (10, (3000, 9000)),
            (5, (1_000_000, 1_000_000)),
        ]);
        let work = self.rng.seconds(work.0, work.1);
        let end = self.rng.weighted(&[
            (60, Look::Finished),
            (15, Look::IdleDone),
            (12, Look::Error),
            (6, Look::Stuck),
            (7, Look::WaitingForConfirmation),
        ]);
        let deed = match self.plan.automation {
            Automation::Issue => self.rng.weighted(&[
                (15, Deed::Nothing),
                (25, Deed::Work),
                (20, Deed::Leftovers),
                (15, Deed::Pushed),
                (25, Deed::Opened),
            ]),
            _ => self.rng.weighted(&[(40, Deed::Nothing), (60, Deed::Work)]),
        };
        let words = if self.rng.chance(800) {
            format!("words of {id}")
        } else {
            String::new()
        };
        self.counts.conversations += 1;
        let index = self.server.conversations.len();
        self.note(|_| format!("           conversation {id} exists: {deed:?}, then {end:?}"));
        self.server.conversations.push(Conversation {
            id,
            task,
            home,
            dir,
            head,
            born: self.now,
            stage: Stage::Queued,
            is_halted: false,
            words,
            has_delivered: false,
            deed,
            end,
            work,
            pretends: false,
            turn: 0,
        });
        if queue == 0 {
            self.conversation_runs(index);
        } else {
            self.after(queue, move |w| w.conversation_runs(index));
        }
    }

    /// How a conversation looks to a run.
    pub(crate) fn look_at(&mut self, run: usize, id: &str) -> Option<Look> {
        let index = self.conversation(run, id)?;
        let is_stalled = self.server.conversations[index]
            .task
            .as_deref()
            .and_then(|task| self.stored_record(task)?.get("status")?.as_str())
            == Some("starting");
        if is_stalled && self.is_mutated(Mutation::Adoption) {
            return None;
        }
        let early = if self.is_mutated(Mutation::Debounce) {
            600
        } else {
            // For this long the server's evidence of work may come from its own housekeeping: 15
            // seconds by any clock that a run may have.
            11
        };
        let conversation = &self.server.conversations[index];
        let is_young = self.now < conversation.born + early * SECOND;
        Some(match conversation.stage {
            Stage::Queued | Stage::Running | Stage::Waiting if conversation.pretends => {
                Look::Paused
            }
            Stage::Queued if is_young && self.rng.chance(300) => Look::IdleDone,
            Stage::Queued => Look::IdleFresh,
            Stage::Running => Look::Running,
            Stage::Paused => Look::Paused,
            Stage::Waiting => Look::WaitingForConfirmation,
            Stage::Ended(end) => end,
            Stage::Deleting | Stage::Gone => Look::Deleting,
        })
    }

    pub(crate) fn interrupt(&mut self, run: usize, id: &str) {
        let Some(index) = self.conversation(run, id) else {
            return;
        };
        if self.is_mutated(Mutation::Interrupt) {
            self.server.conversations[index].pretends = true;
            return;
        }
        let stays_idle = self.rng.chance(500);
        let conversation = &mut self.server.conversations[index];
        match conversation.stage {
            // What has not begun is taken from the queue, whatever it says of itself.
            Stage::Queued if stays_idle => conversation.is_halted = true,
            Stage::Queued | Stage::Running | Stage::Waiting | Stage::Paused => {
                conversation.is_halted = true;
                conversation.stage = Stage::Paused;
            }
            Stage::Ended(_) | Stage::Deleting | Stage::Gone => {}
        }
        let (id, stage) = (conversation.id.clone(), conversation.stage);
        self.note(|_| format!("           conversation {id} is {stage:?} after an interrupt"));
    }

    /// A sandbox goes, and with it its conversations and its disk.
    pub(crate) fn end_sandbox(&mut self, run: usize) {
        let home = Home::Sandbox(run);
        self.note(|_| format!("           the sandbox of run {run} is gone"));
        for conversation in &mut self.server.conversations {
            if conversation.home == home {
                conversation.stage = Stage::Gone;
            }
        }
        self.disk.folders.retain(|(on, _), _| *on != home);
    }
}
