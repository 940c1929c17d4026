//! What must be true when no run is under way, and when everything has come to rest.

use crate::plan::{Automation, Ground};
use crate::world::{Home, World};
use lifecycle::document::Status;
use lifecycle::identity::{self, Kind};
use serde_json::{Map, Value};

impl World {
    fn records(&self) -> Map<String, Value> {
        let records = self.schema().records;
        let map = self
            .document()
            .and_then(|document| document.get(records)?.as_object());
        map.cloned().unwrap_or_default()
    }

    /// Triggers that are in force now.
    fn tasks_in_force(&self) -> Vec<String> {
        let allowed = self.items().filter(|item| item.is_allowed);
        allowed
            .filter_map(crate::world::Item::task_in_force)
            .collect()
    }

    /// Between two bursts: no record is lost while its trigger is in force.
    pub(crate) fn check_at_rest(&mut self) {
        let records = self.records();
        for task in self.tasks_in_force() {
            let is_known = records.contains_key(&task);
            let has_guard = self.keys.guards().any(|(name, _)| is_guard_of(name, &task));
            let was_there = self.watch.recorded.contains(&task);
            if was_there && !is_known && !has_guard {
                self.broken(|| format!("the record of {task} is lost"));
            }
        }
    }

    /// Why the world is not at rest yet; `None` when it is.
    pub(crate) fn unrest(&self) -> Option<String> {
        let records = self.records();
        for (task, record) in &records {
            let status = record.get("status").and_then(Value::as_str).unwrap_or("");
            if Status::from_name(status).is_live() {
                return Some(format!("{task} is still {status}"));
            }
            let is_outside =
                record.get("workspace_dir").and_then(Value::as_str) == Some(crate::world::PRECIOUS);
            if record.get("workspace_dir").is_some() && !is_outside {
                return Some(format!("{task} still has a workspace"));
            }
            if record.get("lease_owner").is_some() && !is_outside {
                return Some(format!("{task} still has a lease"));
            }
        }
        for task in self.tasks_in_force() {
            if !records.contains_key(&task) && !self.watch.skipped_for_room.contains(&task) {
                return Some(format!("{task} is in force and was not begun"));
            }
        }
        for ((home, dir), folder) in &self.disk.folders {
            // A sandbox that stays is not ours to clean.
            if *home == Home::Local && !self.plan.sandbox && !folder.is_precious {
                return Some(format!("the workspace {dir} is left behind"));
            }
        }
        // Who dies over a key that another has died over may leave one: it costs some bytes.
        let died_once = self.counts.kills <= 1 && self.counts.refused + self.counts.lost == 0;
        for (name, _) in self.keys.guards() {
            // Nobody looks for the key of a trigger that came and went while a run died over it.
            let is_orphan = !records.keys().any(|task| is_guard_of(name, task));
            if died_once && !is_orphan {
                return Some(format!("the key {name} is left behind"));
            }
        }
        if self.plan.automation == Automation::News {
            return self.news_unrest(&records);
        }
        None
    }

    fn news_unrest(&self, records: &Map<String, Value>) -> Option<String> {
        let now = self.true_time() + self.clock_offset;
        let today = identity::day_task(&lifecycle::moment::day(now));
        let seen = self.seen();
        if !records.contains_key(&today)
            && self.has_news(&seen)
            && !self.watch.skipped_for_room.contains(&today)
        {
            return Some(format!("{today} was not begun"));
        }
        for (task, record) in records {
            let keys = self.watch.list_of(task);
            let is_told = record.get("status").and_then(Value::as_str) == Some("completed");
            if is_told && !keys.iter().all(|key| seen.contains(key)) {
                return Some(format!(
                    "{task} is told, but its stories are not remembered"
                ));
            }
        }
        None
    }

    fn seen(&self) -> Vec<String> {
        let seen = self
            .document()
            .and_then(|document| document.get("seen")?.as_array());
        let seen = seen.into_iter().flatten().filter_map(Value::as_str);
        seen.map(str::to_owned).collect()
    }

    /// At the very end: what was found is told, unless finishing it failed or somebody was in the
    /// way.
    pub(crate) fn check_told(&mut self) {
        let records = self.records();
        for task in self.tasks_in_force() {
            let Some(record) = records.get(&task) else {
                continue;
            };
            let status = record.get("status").and_then(Value::as_str).unwrap_or("");
            let gave_up = record.get("error").is_some();
            let is_told = self.watch.is_told(&task)
                || self.has_review(&task, record)
                || self.watch.has_merge_request(&task);
            let must_tell = match self.plan.automation {
                Automation::News => false,
                Automation::Review => status == "closed",
                Automation::Issue => {
                    ["closed", "no-changes", "failed", "expired"].contains(&status)
                }
            };
            let was_here_before = !self.watch.was_claimed(&task);
            if must_tell && !gave_up && !is_told && !was_here_before && !self.was_disturbed(&task) {
                self.broken(|| format!("{task} is {status}, and nobody was told"));
            }
        }
        if self.plan.ground == Ground::Files && self.file_lock.is_some() {
            self.broken(|| "a lock is left behind".into());
        }
    }

    /// A review of its commit since it was triggered. That of an earlier task on the same commit
    /// counts, if it was published late: nothing tells them apart.
    fn has_review(&self, task: &str, record: &Value) -> bool {
        let head = record.get("head_sha").and_then(Value::as_str);
        let is_it = |pull: &crate::world::PullRequest| {
            let since = pull.item.event.map_or(0.0, |(_, at)| at);
            let mut reviews = pull.reviews.iter();
            // A record that was cut for want of room names no commit.
            let is_head = |of: &str| head.is_none_or(|head| of == head);
            reviews.any(|(of, at, _)| is_head(of) && *at >= since)
        };
        identity::parse_label_task(task)
            .and_then(|(number, _)| self.pulls.get(number))
            .is_some_and(is_it)
    }

    fn was_disturbed(&self, task: &str) -> bool {
        identity::parse_label_task(task)
            .and_then(|(number, _)| self.item(number))
            .is_none_or(|item| item.disturbed >= item.in_force_since)
    }
}

/// Whether a guard is one of a task.
fn is_guard_of(name: &str, task: &str) -> bool {
    name.contains(&format!(":{task}:"))
}

impl super::Watch {
    fn list_of(&self, task: &str) -> &[String] {
        self.lists.get(task).map_or(&[], Vec::as_slice)
    }

    fn is_told(&self, task: &str) -> bool {
        self.told
            .contains_key(&identity::marker(task, Kind::Result))
    }

    fn has_merge_request(&self, task: &str) -> bool {
        self.merge_requests.contains_key(task)
    }

    fn was_claimed(&self, task: &str) -> bool {
        self.started.contains_key(task)
    }
}
