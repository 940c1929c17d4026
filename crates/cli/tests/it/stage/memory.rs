//! What runs remember: documents and exclusive keys, with the means to let time pass over them.

use super::{Automation, Stage};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// Members that hold a moment which decides on what is done.
const MOMENTS: &[&str] = &["last_activity", "lease_until", "until", "next_try"];

impl Stage {
    fn key_of(&self, target: &str) -> String {
        match self.automation {
            Automation::News => "state".to_owned(),
            Automation::Review | Automation::Issue => {
                format!("state:{}", target.replace('/', "__"))
            }
        }
    }

    /// The file that holds the document of a target.
    pub fn file_of(&self, target: &str) -> PathBuf {
        let id = self.setup().automation_id().to_owned();
        let target = target.replace('/', "__");
        let name = match self.automation {
            Automation::News => format!("news_digest_{id}.json"),
            Automation::Review => format!("github_pr_reviewer_label_event_{id}_{target}.json"),
            Automation::Issue => format!("gitlab_issue_to_mr_{id}_{target}.json"),
        };
        self.scratch.state_dir().join(name)
    }

    /// The document; null when there is none yet.
    pub fn document(&self) -> Value {
        self.document_of(&self.target)
    }

    pub fn document_of(&self, target: &str) -> Value {
        let found = match &self.kv {
            Some(kv) => kv.value(self.setup().automation_id(), &self.key_of(target)),
            None => std::fs::read(self.file_of(target))
                .ok()
                .map(|bytes| serde_json::from_slice(&bytes).unwrap()),
        };
        found.unwrap_or_default()
    }

    /// Puts a document in place, as if another run had written it.
    pub fn put_document(&self, document: &Value) {
        if let Some(kv) = &self.kv {
            let key = self.key_of(&self.target);
            kv.put(self.setup().automation_id(), &key, document);
        } else {
            let path = self.file_of(&self.target);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, document.to_string()).unwrap();
        }
    }

    /// Changes the document.
    pub fn edit(&self, change: impl FnOnce(&mut Value)) {
        let mut document = self.document();
        change(&mut document);
        self.put_document(&document);
    }

    /// Its records by task.
    pub fn records(&self) -> Map<String, Value> {
        self.records_of(&self.target)
    }

    pub fn records_of(&self, target: &str) -> Map<String, Value> {
        let document = self.document_of(target);
        let records = document[self.automation.records()].as_object();
        records.cloned().unwrap_or_default()
    }

    /// The only record.
    #[track_caller]
    pub fn record(&self) -> Value {
        let records = self.records();
        assert_eq!(records.len(), 1, "{records:?}");
        records.into_values().next().unwrap()
    }

    /// The statuses of all records, in the order of their tasks.
    pub fn statuses(&self) -> Vec<String> {
        let records = self.records();
        let status = |record: &Value| record["status"].as_str().unwrap_or_default().to_owned();
        records.values().map(status).collect()
    }

    /// Claims and leases that are held.
    pub fn guards(&self) -> Vec<String> {
        let Some(kv) = &self.kv else {
            return Vec::new();
        };
        let mut keys = kv.keys(self.setup().automation_id());
        keys.retain(|key| key.starts_with("guard:"));
        keys
    }

    /// Dates back everything that is remembered.
    pub fn let_time_pass(&self, seconds: f64) {
        let Some(kv) = &self.kv else {
            let Ok(files) = std::fs::read_dir(self.scratch.state_dir()) else {
                return;
            };
            for path in files.map(|file| file.unwrap().path()) {
                let is_document = path.extension().is_some_and(|ending| ending == "json");
                if is_document && path.is_file() {
                    let mut value: Value =
                        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
                    date_back(&mut value, seconds);
                    std::fs::write(&path, value.to_string()).unwrap();
                }
            }
            return;
        };
        let id = self.setup().automation_id().to_owned();
        for key in kv.keys(&id) {
            if !key.starts_with("cache:") {
                let mut value = kv.value(&id, &key).unwrap();
                date_back(&mut value, seconds);
                kv.put(&id, &key, &value);
            }
        }
    }

    /// A secret is in nothing that is remembered.
    pub fn never_remembered(&self, secret: &str) {
        if let Some(kv) = &self.kv {
            for write in kv.history() {
                let text = format!("{} {:?}", write.key, write.value);
                assert!(!text.contains(secret), "{text}");
            }
        }
        if let Ok(files) = std::fs::read_dir(self.scratch.state_dir()) {
            for path in files.map(|file| file.unwrap().path()) {
                let text = std::fs::read(&path).unwrap_or_default();
                let text = String::from_utf8_lossy(&text);
                assert!(!text.contains(secret), "{}", path.display());
            }
        }
    }
}

fn date_back(value: &mut Value, seconds: f64) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member.as_f64() {
                    Some(moment) if MOMENTS.contains(&name.as_str()) && moment > 0.0 => {
                        *member = (moment - seconds).into();
                    }
                    _ => date_back(member, seconds),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| date_back(item, seconds)),
        _ => {}
    }
}
