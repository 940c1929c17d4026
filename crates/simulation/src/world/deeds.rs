//! What agents do while they work, and what people do with conversations.

use super::agents::Conversation;
use super::{BOT, LABEL, SECOND, Stage, World};
use crate::plan::Automation;
use lifecycle::ports::{Conversation as Look, MergeRequestDraft};

/// What an agent brings about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
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

impl World {
    pub(super) fn conversation_runs(&mut self, index: usize) {
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
        let opened = self.open_merge_request(&draft, BOT, conversation.task.as_deref());
        let id = conversation.id;
        self.note(|_| format!("           conversation {id} opens {opened:?}"));
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
}
