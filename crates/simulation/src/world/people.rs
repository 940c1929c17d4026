//! What people do on the forge, to conversations, and to the news.

use super::{SECOND, World, sha_of};
use crate::plan::Automation;

impl World {
    /// Somebody does something.
    pub(crate) fn person_acts(&mut self) {
        if self.is_quiet {
            return;
        }
        if self.rng.chance(200) {
            // Another target's document moves the shared version.
            self.keys.version += 1;
            return;
        }
        if self.rng.chance(250) {
            self.person_meddles();
            return;
        }
        if self.plan.automation == Automation::News {
            self.newsroom.stories += self.rng.between(1, 3);
            self.note(|w| format!("news: {} stories now", w.newsroom.stories));
            return;
        }
        if self.plan.automation == Automation::Issue && self.rng.chance(200) {
            self.person_uses_git();
            return;
        }
        let number = self.rng.between(1, self.plan.items);
        match self.rng.below(8) {
            0 | 1 => self.put_label(number),
            2 => self.take_label(number),
            3 => {
                self.take_label(number);
                let pause = self.rng.seconds(0, 5);
                self.after(pause, move |w| w.put_label(number));
            }
            4 | 5 => self.push_commit(number),
            6 => self.close(number),
            _ => self.reopen(number),
        }
    }

    /// Somebody works on a branch or a merge request of ours.
    fn person_uses_git(&mut self) {
        let names: Vec<String> = self.git.branches.keys().cloned().collect();
        if names.is_empty() {
            return;
        }
        let branch = names[self.rng.index(names.len())].clone();
        let now = self.now;
        match self.rng.below(3) {
            0 => {
                let (head, _) = self.git.branches[&branch].clone();
                let sha = self.git.commit(&head, &format!("of a person at {now}"));
                self.git.advance(&branch, &sha, now);
                self.note(|_| format!("person: pushes to {branch}"));
            }
            1 => {
                self.git.branches.remove(&branch);
                self.note(|_| format!("person: deletes {branch}"));
            }
            _ => {
                let state = self.rng.pick(&["closed", "merged"]);
                for request in &mut self.git.merge_requests {
                    if request.source_branch == branch {
                        state.clone_into(&mut request.state);
                    }
                }
                self.note(|_| format!("person: the merge requests of {branch} are {state}"));
            }
        }
    }

    pub(crate) fn put_label(&mut self, number: u64) {
        self.next_event_id += 1;
        let (id, at, now) = (self.next_event_id, self.forge_time(), self.now);
        let allowed = !self.plan.checks_role || self.rng.chance(900);
        let Some(item) = self.item_mut(number) else {
            return;
        };
        if item.has_label {
            return;
        }
        item.has_label = true;
        item.is_allowed = allowed;
        item.event = Some((id, at));
        item.in_force_since = now;
        item.updated_at = at;
        self.watch.know_task(
            lifecycle::identity::label_task(number, id),
            self.plan.automation,
        );
        self.note(|_| format!("person: puts the label on {number} (event {id})"));
    }

    pub(crate) fn take_label(&mut self, number: u64) {
        let (at, now) = (self.forge_time(), self.now);
        if let Some(item) = self.item_mut(number).filter(|item| item.has_label) {
            item.has_label = false;
            item.disturbed = now;
            item.updated_at = at;
            self.note(|_| format!("person: takes the label off {number}"));
        }
    }

    fn push_commit(&mut self, number: u64) {
        let (at, now) = (self.forge_time(), self.now);
        let sha = sha_of(&format!("head of {number} at {now}"));
        if let Some(pull) = self.pulls.get_mut(number) {
            pull.head.clone_from(&sha);
            pull.item.disturbed = now;
            pull.touch(at);
            self.note(|_| format!("person: pushes {sha} to {number}"));
        } else {
            let main = self.tickets.main.clone();
            self.tickets.main = self.git.commit(&main, &sha);
            self.note(|_| "person: pushes to main".into());
        }
    }

    fn close(&mut self, number: u64) {
        let (at, now) = (self.forge_time(), self.now);
        if let Some(item) = self.item_mut(number).filter(|item| item.is_open) {
            item.is_open = false;
            item.disturbed = now;
            item.updated_at = at;
            self.note(|_| format!("person: closes {number}"));
        }
    }

    fn reopen(&mut self, number: u64) {
        let (at, now) = (self.forge_time(), self.now);
        if let Some(item) = self.item_mut(number).filter(|item| !item.is_open) {
            item.is_open = true;
            item.disturbed = now;
            item.in_force_since = now;
            item.updated_at = at;
            self.note(|_| format!("person: reopens {number}"));
        }
    }

    /// The machines' clock is set.
    pub(crate) fn move_clock(&mut self) {
        let by = self
            .rng
            .weighted(&[(40, (0, 600)), (40, (600, 10_800)), (20, (10_800, 100_000))]);
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let by = self.rng.between(by.0, by.1) as f64;
        let by = if self.rng.chance(500) { by } else { -by };
        // Never far from the truth for long: whoever sets a clock sets it right in the end.
        let offset = self.clock_offset + by;
        self.clock_offset = if offset.abs() > 100_000.0 {
            0.0
        } else {
            offset
        };
        self.note(|w| format!("the clock is set: {:+} s from true time", w.clock_offset));
    }

    /// Everything that people will do in the next minutes.
    pub(crate) fn plan_people(&mut self, within: u64) {
        let count = self.rng.between(0, self.plan.people);
        for _ in 0..count {
            let at = self.rng.between(0, within * SECOND);
            self.after(at, World::person_acts);
        }
    }
}
