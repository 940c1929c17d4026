//! The agent servers: conversations as they are, and what their agents do.

use super::{BOT, LABEL, Micros, SECOND, World};
use crate::mutation::Mutation;
use crate::plan::Automation;
use lifecycle::ports::{Conversation as Look, MergeRequestDraft, StartConversation, Started};

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
    head: String,
    pub(crate) born: Micros,
    pub(crate) stage: Stage,
    /// We have stopped it: it goes on only if a person wants it to.
    pub(crate) is_halted: bool,
    pub(crate) words: String,
    /// News: the digest is written.
    pub(crate) has_delivered: bool,
    /// What it delivers, and how it ends.
    deed: Deed,
    end: Look,
    work: Micros,
    /// Plans made before a pause are void after it.
    turn: u32,
}

/// What an agent brings about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Nothing,
    /// News: `digest.md`. Reviews: a published review. Issues: commits.
    Work,
    /// Issues: changes that are not committed.
    Leftovers,
    /// Issues: the branch is pushed, too.
    Pushed,
    /// Issues: and the merge request opened.
    Opened,
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
            turn: 0,
        });
        if queue == 0 {
            self.conversation_runs(index);
        } else {
            self.after(queue, move |w| w.conversation_runs(index));
        }
    }

    fn conversation_runs(&mut self, index: usize) {
        let conversation = &mut self.server.conversations[index];
        if conversation.stage != Stage::Queued || conversation.is_halted {
            return;
        }
        conversation.stage = Stage::Running;
        self.plan_work(index);
    }

    fn plan_work(&mut self, index: usize) {
        let conversation = &mut self.server.conversations[index];
        conversation.turn += 1;
        let (turn, work) = (conversation.turn, conversation.work);
        // The work is done some time before the end of the conversation.
        let done = work - work / 10;
        let id = conversation.id.clone();
        self.note(|_| format!("           conversation {id} runs"));
        self.after(done, move |w| {
            if w.is_at_work(index, turn) {
                w.conversation_delivers(index);
            }
        });
        self.after(work, move |w| {
            if w.is_at_work(index, turn) {
                w.conversation_ends(index);
            }
        });
    }

    fn is_at_work(&self, index: usize, turn: u32) -> bool {
        let conversation = &self.server.conversations[index];
        conversation.stage == Stage::Running && conversation.turn == turn
    }

    fn conversation_ends(&mut self, index: usize) {
        let conversation = &mut self.server.conversations[index];
        conversation.stage = match conversation.end {
            Look::WaitingForConfirmation => Stage::Waiting,
            end => Stage::Ended(end),
        };
        let (id, stage) = (conversation.id.clone(), conversation.stage);
        self.note(|_| format!("           conversation {id} is {stage:?}"));
    }

    fn conversation_delivers(&mut self, index: usize) {
        let conversation = self.server.conversations[index].clone();
        let deed = conversation.deed;
        if deed == Deed::Nothing {
            return;
        }
        let place = (conversation.home, conversation.dir.clone());
        let Some(folder) = self.disk.folders.get_mut(&place) else {
            let (id, dir) = (conversation.id.clone(), conversation.dir);
            self.broken(|| format!("conversation {id} works in {dir}, which is gone"));
            return;
        };
        self.server.conversations[index].deed = Deed::Nothing;
        self.server.conversations[index].has_delivered = true;
        match self.plan.automation {
            Automation::News => {
                let text = format!("Digest of {}", conversation.id);
                folder.files.insert("digest.md".into(), text);
            }
            Automation::Review => self.agent_publishes(&conversation),
            Automation::Issue => {
                let Some(mut clone) = folder.clone.clone() else {
                    return;
                };
                if deed == Deed::Leftovers {
                    clone.has_leftovers = true;
                } else {
                    clone.tip = self.git.commit(&clone.tip, &conversation.id);
                }
                let (branch, tip) = (clone.branch.clone(), clone.tip.clone());
                if let Some(folder) = self.disk.folders.get_mut(&place) {
                    folder.clone = Some(clone);
                }
                let now = self.now;
                let pushes = matches!(deed, Deed::Pushed | Deed::Opened);
                if pushes && self.git.advance(&branch, &tip, now) && deed == Deed::Opened {
                    self.after(3 * SECOND, move |w| w.agent_opens(index, &branch));
                }
            }
        }
    }

    fn agent_publishes(&mut self, conversation: &Conversation) {
        let Some(task) = conversation.task.clone() else {
            return;
        };
        let number = lifecycle::identity::parse_label_task(&task).map(|(number, _)| number);
        let at = self.forge_time();
        if let Some(pull) = number.and_then(|number| self.pulls.get_mut(number)) {
            pull.reviews.push((conversation.head.clone(), at, task));
            pull.touch(at);
            let id = conversation.id.clone();
            self.note(|_| format!("           conversation {id} publishes its review"));
        }
    }

    fn agent_opens(&mut self, index: usize, branch: &str) {
        let conversation = self.server.conversations[index].clone();
        if conversation.stage != Stage::Running {
            return;
        }
        let draft = MergeRequestDraft {
            source_branch: branch.to_owned(),
            target_branch: "main".into(),
            title: "Draft: from the agent".into(),
            description: format!("By {LABEL}"),
        };
        let opened = self.open_merge_request(&draft, BOT, conversation.task);
        let id = conversation.id;
        self.note(|_| format!("           conversation {id} opens {opened:?}"));
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

    /// A person does something with a conversation.
    pub(crate) fn person_meddles(&mut self) {
        if self.server.conversations.is_empty() {
            return;
        }
        let index = self.rng.index(self.server.conversations.len());
        let what = self.rng.below(4);
        let conversation = &mut self.server.conversations[index];
        let id = conversation.id.clone();
        match (what, conversation.stage) {
            (0, stage) if stage != Stage::Gone => {
                conversation.stage = Stage::Deleting;
                self.note(|_| format!("person: deletes conversation {id}"));
                let pause = self.rng.seconds(0, 2);
                self.after(pause, move |w| w.gone(index));
            }
            (1, Stage::Running) => {
                conversation.stage = Stage::Paused;
                self.note(|_| format!("person: pauses conversation {id}"));
            }
            (2, Stage::Paused) if !conversation.is_halted => {
                conversation.stage = Stage::Running;
                self.note(|_| format!("person: resumes conversation {id}"));
                self.plan_work(index);
            }
            (3, Stage::Waiting) => {
                conversation.stage = Stage::Running;
                conversation.end = Look::Finished;
                self.note(|_| format!("person: confirms conversation {id}"));
                self.plan_work(index);
            }
            _ => {}
        }
    }

    fn gone(&mut self, index: usize) {
        let conversation = &mut self.server.conversations[index];
        conversation.stage = Stage::Gone;
        if let Some(task) = conversation.task.clone() {
            self.watch_deletion(&task);
        }
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
