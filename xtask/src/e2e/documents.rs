//! The state documents of an automation in the real KV store, and what else it keeps there.

use lifecycle::document::{Document, Schema};
use serde_json::{Value, json};

use super::error::E2eError;
use super::services::RealServices;

/// What begins the keys of a cache, whose loss costs nothing and which may stay.
const CACHE: &str = "cache:";
/// The moments in a document, a claim or a lease that decide what is due.
const MOMENTS: [&str; 4] = ["last_activity", "lease_until", "until", "next_try"];

impl RealServices {
    /// The state document under a key, which has to be one that its schema allows.
    pub(super) fn document(
        &self,
        automation_id: &str,
        key: &str,
        schema: &'static Schema,
    ) -> Result<Value, E2eError> {
        let shape = |missing: String, body: String| E2eError::Shape {
            call: format!("GET /v1/kv/{key}"),
            missing,
            body,
        };
        let value = self
            .kv_get(automation_id, key)?
            .ok_or_else(|| shape("document".to_owned(), String::new()))?;
        match Document::from_value(schema, value.clone()) {
            Ok(_) => Ok(value),
            Err(error) => Err(shape(error.to_string(), value.to_string())),
        }
    }

    /// Lets time pass for an automation: everything that it remembers happened so many seconds
    /// earlier.
    pub(super) fn date_back(&self, automation_id: &str, seconds: f64) -> Result<(), E2eError> {
        for key in self.kv_keys(automation_id)? {
            if let Some(mut value) = self.kv_get(automation_id, &key)? {
                move_back(&mut value, seconds);
                self.kv_put(automation_id, &key, &value)?;
            }
        }
        Ok(())
    }

    /// The keys of an automation beside its documents: claims and leases that were left behind.
    pub(super) fn guard_keys(
        &self,
        automation_id: &str,
        documents: &[&str],
    ) -> Result<Vec<String>, E2eError> {
        let mut keys = self.kv_keys(automation_id)?;
        keys.retain(|key| !documents.contains(&key.as_str()) && !key.starts_with(CACHE));
        Ok(keys)
    }
}

/// The records of a document with their task keys.
pub(super) fn records(document: &Value, records: &str) -> Vec<(String, Value)> {
    let all = document[records].as_object().into_iter().flatten();
    all.map(|(task, record)| (task.clone(), record.clone()))
        .collect()
}

/// The only record of a document, with its task key.
pub(super) fn only_record(document: &Value, name: &str) -> Result<(String, Value), E2eError> {
    let mut all = records(document, name);
    match (all.pop(), all.is_empty()) {
        (Some(only), true) => Ok(only),
        _ => Err(E2eError::Shape {
            call: "GET of the state document".to_owned(),
            missing: format!("single one of its {name}"),
            body: document.to_string(),
        }),
    }
}

/// Moves the moments in a document, a claim or a lease so many seconds back.
pub(super) fn move_back(value: &mut Value, seconds: f64) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field.as_f64().filter(|_| MOMENTS.contains(&name.as_str())) {
                    Some(moment) => *field = json!(moment - seconds),
                    None => move_back(field, seconds),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| move_back(item, seconds)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_move_and_nothing_else() {
        let mut value = json!({
            "updated_at": 100.0,
            "tasks": {"a": {"last_activity": 100.5, "lease_until": 1000, "completed_at": 100.0}},
            "list": [{"until": 100.0}],
        });
        move_back(&mut value, 60.0);
        let moved = json!({
            "updated_at": 100.0,
            "tasks": {"a": {"last_activity": 40.5, "lease_until": 940.0, "completed_at": 100.0}},
            "list": [{"until": 40.0}],
        });
        assert_eq!(value, moved);
    }

    #[test]
    fn the_only_record_is_the_only_one() {
        let one = json!({"tasks": {"a": {"status": "active"}}});
        assert_eq!(only_record(&one, "tasks").unwrap().0, "a");
        assert!(only_record(&json!({"tasks": {}}), "tasks").is_err());
        assert!(only_record(&json!({"tasks": {"a": {}, "b": {}}}), "tasks").is_err());
    }
}
