//! What is there before the first run.

use super::pulls::Item;
use super::{BEGINNING, Folder, Home, PullRequest, TARGET, Ticket, World, sha_of};
use crate::plan::{Automation, Ground};
use lifecycle::document::Document;
use lifecycle::identity;
use serde_json::{Value, json};

/// A directory that a hand-edited record names, and that is nobody's business.
pub(crate) const PRECIOUS: &str = "/home/user/thesis";

impl World {
    pub(crate) fn seed_everything(&mut self) {
        self.seed_items();
        let slot = state_store::Slot::new(self.schema(), Some(super::AUTOMATION_ID), self.target());
        self.keys.document_key = slot.kv_key();
        self.disk.folders.insert(
            (Home::Local, PRECIOUS.into()),
            Folder {
                is_precious: true,
                ..Folder::default()
            },
        );
        if self.plan.legacy || self.plan.history > 0 {
            let document = self.old_document();
            match self.plan.ground {
                Ground::Files => self.file = Some(document),
                Ground::Strict | Ground::Overlapping => {
                    let key = self.keys.document_key.clone();
                    self.keys.values.insert(key, document);
                    self.keys.version = 7;
                }
            }
        }
    }

    fn seed_items(&mut self) {
        self.newsroom.stories = self.rng.between(0, 4);
        for number in 1..=self.plan.items {
            match self.plan.automation {
                Automation::News => {}
                Automation::Review => self.pulls.all.push(PullRequest {
                    item: Item::new(number),
                    head: sha_of(&format!("first head of {number}")),
                    reviews: Vec::new(),
                }),
                Automation::Issue => self.tickets.all.push(Ticket {
                    item: Item::new(number),
                }),
            }
            if self.rng.chance(850) {
                self.put_label(number);
            }
        }
        self.tickets.main = self.git.commit("", "the first commit");
        if self.plan.automation == Automation::Issue && self.rng.chance(300) {
            // Somebody else's work has the name that ours would have.
            let sha = self.git.commit("", "other work");
            self.git.advance("openhands/issue-1", &sha, 0);
        }
    }

    /// What an older program, or a newer one, has left.
    fn old_document(&mut self) -> Value {
        let mut value = Document::empty(self.schema(), self.target()).to_value();
        value["x_future"] = json!({"kept": ["as", "it", 15]});
        value["updated_at"] = json!(BEGINNING - 86_400.0);
        let records = self.schema().records;
        let mut put = |task: &str, record: Value| value[records][task] = record;
        for number in 0..self.plan.history {
            let (task, record) = self.old_record(number);
            put(&task, record);
        }
        if self.plan.legacy {
            for (task, record) in self.legacy_records() {
                put(&task, record);
            }
        }
        value
    }

    /// An ended record of long ago. Those of the reviewer are of items that are closed now.
    fn old_record(&self, number: u64) -> (String, Value) {
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let at = BEGINNING - 86_400.0 * (20 + self.plan.history - number) as f64;
        match self.plan.automation {
            Automation::News => {
                let day = lifecycle::moment::day(at);
                let record = json!({"period": day, "status": "completed", "item_count": 3,
                    "last_activity": at, "completed_at": at + 60.0,
                    "conversation_id": format!("old-{number}"),
                    "conversation_url": format!("https://app.example/conversations/old-{number}")});
                (identity::day_task(&day), record)
            }
            Automation::Review => {
                let record = json!({"pr_number": 100 + number, "head_sha": sha_of("old"),
                    "trigger_label_event_id": number + 1, "status": "closed",
                    "trigger_label_event_created_at": lifecycle::moment::rfc3339(at),
                    "html_url": format!("https://forge.example/pull/{number}"),
                    "conversation_id": format!("old-{number}"), "last_activity": at});
                (identity::label_task(100 + number, number + 1), record)
            }
            Automation::Issue => {
                let record = json!({"issue_iid": 100 + number, "issue_title": "An old issue",
                    "trigger_label_event_id": number + 1, "status": "closed", "branch": "old",
                    "base_branch": "main", "base_sha": sha_of("old"),
                    "trigger_label_event_created_at": lifecycle::moment::rfc3339(at),
                    "web_url": format!("https://forge.example/issues/{number}"),
                    "conversation_id": format!("old-{number}"), "last_activity": at});
                (identity::label_task(100 + number, number + 1), record)
            }
        }
    }

    /// Records of an older program that stand in the middle of something.
    fn legacy_records(&mut self) -> Vec<(String, Value)> {
        let mut records = Vec::new();
        let at = BEGINNING - 600.0;
        if self.plan.automation == Automation::News {
            let day = lifecycle::moment::day(BEGINNING - 86_400.0);
            let dir = format!("{}/news-digest/{day}", self.old_base());
            self.plant_old(&identity::day_task(&day), &dir, "");
            let record = json!({"period": day, "status": "active", "conversation_id": "conv_old",
                "workspace_dir": dir, "item_keys": ["00000000aaaa9999"], "item_count": 1,
                "last_activity": at, "x_note": "kept"});
            records.push((identity::day_task(&day), record));
            let day = lifecycle::moment::day(BEGINNING - 2.0 * 86_400.0);
            let record = json!({"period": day, "status": "failed", "last_activity": at,
                "workspace_dir": PRECIOUS});
            records.push((identity::day_task(&day), record));
            return records;
        }
        let Some((number, event)) = self
            .items()
            .find_map(|item| Some((item.number, item.event?.0)))
        else {
            return records;
        };
        let task = identity::label_task(number, event);
        let mut record = json!({"trigger_label_event_id": event, "last_activity": at,
            "trigger_label_event_created_at": lifecycle::moment::rfc3339(BEGINNING)});
        let review = self.plan.automation == Automation::Review;
        record[if review { "pr_number" } else { "issue_iid" }] = json!(number);
        if review {
            record["head_sha"] = json!(self.pulls.all[0].head);
        }
        let target = TARGET.replace('/', "__");
        match self.rng.below(3) {
            // Its work was done: it must never be done again.
            0 => {
                record["status"] = json!("closed");
                record["x_note"] = json!("kept");
                self.watch.ended_before(&task);
            }
            // Its conversation goes on, in the directory of an earlier run.
            1 => {
                let dir = format!("{}/{}/{target}/old-{number}", self.old_base(), self.area());
                let head = record["head_sha"].as_str().unwrap_or_default().to_owned();
                self.plant_old(&task, &dir, &head);
                record["status"] = json!("active");
                record["conversation_id"] = json!("conv_old");
                record["workspace_dir"] = json!(dir);
                record["x_note"] = json!("kept");
            }
            // The run that claimed it died; older programs name no conversation in a claim.
            _ => record["status"] = json!("starting"),
        }
        records.push((task, record));
        let mut outside = json!({"status": "closed", "last_activity": at,
            "workspace_dir": PRECIOUS});
        outside[if review { "pr_number" } else { "issue_iid" }] = json!(900);
        records.push((identity::label_task(900, 3), outside));
        records
    }

    /// `WORKSPACE_BASE` of an earlier run.
    fn old_base(&self) -> &'static str {
        if self.plan.sandbox {
            "/workspace"
        } else {
            "/home/user/workspaces/automation-runs/run-old"
        }
    }

    fn plant_old(&mut self, task: &str, dir: &str, head: &str) {
        let (task, dir) = (task.to_owned(), dir.to_owned());
        let folder = Folder::default();
        self.disk.folders.insert((Home::Local, dir.clone()), folder);
        self.watch.know_task(task.clone(), self.plan.automation);
        self.watch.started_before(&task);
        self.plant_conversation(
            "conv_old".into(),
            Some(task),
            Home::Local,
            dir,
            head.to_owned(),
        );
    }
}
