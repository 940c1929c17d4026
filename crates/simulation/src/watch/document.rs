//! What must be true of a document, looked at whenever one is written.

use crate::plan::Ground;
use crate::world::World;
use lifecycle::document::{Document, Status, size};
use lifecycle::identity;
use serde_json::{Map, Value};

/// What an ended record keeps at least; one with no more has been cut for want of room.
const IDENTIFYING: [&str; 11] = [
    "status",
    "pr_number",
    "issue_iid",
    "trigger_label_event_id",
    "completed_at",
    "lease_owner",
    "lease_until",
    "attempt",
    "conversation_id",
    "workspace_dir",
    "last_activity",
];

impl World {
    /// A document was written.
    pub(crate) fn check_document(&mut self, run: usize, before: Option<&Value>, after: &Value) {
        let text = after.to_string();
        self.check_text("the document", &text);
        if let Err(error) = Document::parse(self.schema(), text.as_bytes()) {
            self.broken(|| format!("the document does not parse: {error}"));
        }
        let (size, budget) = (size::wire_size(after), self.plan.budget());
        // Who wrote it and when are not the engine's, and small.
        if size > budget + 160 {
            self.broken(|| format!("the document has {size} bytes, {budget} are allowed"));
        }
        if before.is_some_and(|before| before.get("x_future") != after.get("x_future")) {
            self.broken(|| "an unknown field of the document was lost".into());
        }
        let empty = Map::new();
        let records = self.schema().records;
        let all = |value: Option<&Value>| -> Map<String, Value> {
            let map = value.and_then(|value| value.get(records)?.as_object());
            map.unwrap_or(&empty).clone()
        };
        let (old, new) = (all(before), all(Some(after)));
        for (task, record) in &new {
            self.check_record(task, old.get(task), record);
        }
        for (task, record) in old.iter().filter(|(task, _)| !new.contains_key(*task)) {
            self.check_loss(run, task, record);
        }
        self.check_seen(before, after, &new);
    }

    fn check_record(&mut self, task: &str, old: Option<&Value>, new: &Value) {
        let status = |record: &Value| {
            Status::from_name(record.get("status").and_then(Value::as_str).unwrap_or(""))
        };
        let was_noted = old.is_some_and(|old| old.get("x_note").is_some());
        let fields = new.as_object().map(Map::keys);
        let is_cut = fields
            .into_iter()
            .flatten()
            .all(|name| IDENTIFYING.contains(&name.as_str()));
        if was_noted && new.get("x_note").is_none() && !is_cut {
            self.broken(|| format!("an unknown field of the record of {task} was lost"));
        }
        if let Some(keys) = new.get("item_keys").and_then(Value::as_array) {
            let keys = keys.iter().filter_map(Value::as_str).map(str::to_owned);
            self.watch.lists.insert(task.to_owned(), keys.collect());
        }
        let now = status(new);
        if now != Status::Starting {
            self.watch.recorded.insert(task.to_owned());
        }
        let is_over = !now.is_live();
        let before = old.map(status);
        let exclusive = self.plan.ground != Ground::Overlapping;
        if exclusive && before.is_some_and(|before| !before.is_live() && before != now) {
            self.broken(|| format!("{task} was over ({before:?}) and is {now:?} now"));
        }
        if is_over && self.watch.ended.insert(task.to_owned()) {
            self.counts.ended += 1;
            self.check_ending(task, now);
        }
    }

    /// Some endings say something that must be true.
    fn check_ending(&mut self, task: &str, status: Status) {
        if status == Status::NoChanges && self.had_work(task) {
            self.broken(|| format!("{task} ends with no changes, but there was work"));
        }
    }

    fn had_work(&self, task: &str) -> bool {
        self.server
            .conversations
            .iter()
            .filter(|one| one.task.as_deref() == Some(task))
            .filter_map(|one| self.disk.folders.get(&(one.home, one.dir.clone())))
            .filter_map(|folder| folder.clone.as_ref())
            .any(|clone| clone.has_leftovers || clone.tip != clone.base)
    }

    /// A record is gone from the document.
    fn check_loss(&mut self, run: usize, task: &str, record: &Value) {
        let status = record.get("status").and_then(Value::as_str).unwrap_or("");
        if status == "starting" {
            return;
        }
        if self.was_in_force_throughout(run, task) {
            if self.plan.ground != Ground::Overlapping {
                self.broken(|| format!("the record of {task} ({status}) was lost"));
            }
        } else {
            self.watch.forgotten.insert(task.to_owned());
            self.watch.ended.remove(task);
            self.watch.recorded.remove(task);
        }
    }

    /// Whether a trigger has been in force for as long as a run lasts, so that the run knows it.
    fn was_in_force_throughout(&self, run: usize, task: &str) -> bool {
        if task.starts_with("news:") {
            let newest = self.clock_of(run);
            return *task > *identity::day_task(&lifecycle::moment::day(newest - 12.0 * 86_400.0));
        }
        let began = self.runs.get(run).map_or(0, |run| run.began);
        identity::parse_label_task(task)
            .and_then(|(number, _)| self.item(number))
            .is_some_and(|item| {
                item.task_in_force().as_deref() == Some(task) && item.in_force_since <= began
            })
    }

    /// News: what counts as told grows only by the stories of a digest that was finished.
    fn check_seen(&mut self, before: Option<&Value>, after: &Value, records: &Map<String, Value>) {
        let list = |value: Option<&Value>| -> Vec<String> {
            let keys = value.and_then(|value| value.get("seen")?.as_array());
            let keys = keys.into_iter().flatten().filter_map(Value::as_str);
            keys.map(str::to_owned).collect()
        };
        let old = list(before);
        let new = list(Some(after));
        for key in new.iter().filter(|key| !old.contains(key)) {
            let told = self.watch.lists.iter().any(|(task, keys)| {
                let status = records.get(task).and_then(|r| r.get("status")?.as_str());
                keys.contains(key) && status == Some("completed") && self.was_delivered(task)
            });
            if !told {
                self.broken(|| format!("the story {key} counts as told, but no digest told it"));
            }
        }
    }

    fn was_delivered(&self, task: &str) -> bool {
        self.server.conversations.iter().any(|one| {
            let is_it = one.task.as_deref() == Some(task);
            is_it && (one.has_delivered || !one.words.is_empty())
        })
    }
}
