//! State documents: one JSON object per target, the source of truth across runs.
//!
//! The three schemas (`docs/state/`) share one shape: a version, the target's own name, a map of
//! records by task key, and fields of their own. A [`Document`] is a view over the JSON itself,
//! so whatever a newer or older program wrote beside the fields known here survives unchanged.
//! What the fields must look like is said once, in [`Schema`], which also checks a document when it is
//! read.

mod field;
mod json_schema;
mod record;
mod retries;
mod schema;
pub mod size;
mod status;
#[cfg(test)]
mod tests;

pub use field::Field;
pub use json_schema::json_schema;
pub use record::Record;
pub use retries::Retry;
pub use schema::{ISSUE, NEWS, REVIEW, Schema, Shape};
pub use status::Status;

use serde_json::{Map, Value};

/// Why a stored document cannot be used.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum DocumentError {
    /// It is not the JSON that its schema asks for: cut off, empty, or a field of a wrong type.
    #[error("the state document does not parse: {0}")]
    Unreadable(String),
    /// A newer program wrote it. It is left untouched.
    #[error(
        "the state document has version {found}, this program knows up to {known}; use a newer release"
    )]
    NewerVersion {
        /// The version it states.
        found: u64,
        /// The newest version known here.
        known: u64,
    },
}

/// The state of one target.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    schema: &'static Schema,
    fields: Map<String, Value>,
}

impl Document {
    /// The document of a target that was never polled.
    pub fn empty(schema: &'static Schema, target: &str) -> Self {
        let mut fields = Map::new();
        fields.insert("version".into(), schema.version.into());
        fields.insert(schema.records.into(), Map::new().into());
        if let Some(owner) = schema.owner {
            fields.insert(owner.into(), target.into());
        }
        Self { schema, fields }
    }

    /// Reads a document from JSON text, at most a few hundred KiB of it.
    ///
    /// # Errors
    /// [`DocumentError`], with the path of the first field that is wrong.
    pub fn parse(schema: &'static Schema, text: &[u8]) -> Result<Self, DocumentError> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let value = serde_json::from_slice(text)
            .map_err(|error| DocumentError::Unreadable(error.to_string()))?;
        Self::from_value(schema, value)
    }

    /// Reads a document from a JSON value.
    ///
    /// # Errors
    /// [`DocumentError`], with the path of the first field that is wrong.
    pub fn from_value(schema: &'static Schema, value: Value) -> Result<Self, DocumentError> {
        let Value::Object(mut fields) = value else {
            return Err(DocumentError::Unreadable("not a JSON object".into()));
        };
        schema.check(&fields)?;
        // Documents of older versions have the same shape with fewer fields (the schema says so);
        // from here on they are of the current version.
        fields.insert("version".into(), schema.version.into());
        if !fields.get(schema.records).is_some_and(Value::is_object) {
            fields.insert(schema.records.into(), Map::new().into());
        }
        Ok(Self { schema, fields })
    }

    /// Whether it follows its schema, so that it can be read again.
    ///
    /// # Errors
    /// [`DocumentError::Unreadable`] with the field that does not.
    pub fn check(&self) -> Result<(), DocumentError> {
        self.schema.check(&self.fields)
    }

    /// The document as JSON.
    pub fn to_value(&self) -> Value {
        Value::Object(self.fields.clone())
    }

    /// The document as JSON text, the form that is written to files.
    pub fn to_text(&self) -> String {
        // A map of JSON values always serializes.
        serde_json::to_string_pretty(&self.fields).unwrap_or_default()
    }

    /// The schema it follows.
    pub fn schema(&self) -> &'static Schema {
        self.schema
    }

    /// The target that the document says it belongs to; `None` when its schema names none or the field is missing.
    pub fn owner(&self) -> Option<&str> {
        self.fields.get(self.schema.owner?)?.as_str()
    }

    /// A top-level field; JSON `null` counts as absent.
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.fields.get(field).filter(|value| !value.is_null())
    }

    /// Sets a top-level field and tells whether that changed anything.
    pub fn set(&mut self, field: &str, value: impl Into<Value>) -> bool {
        let value = value.into();
        if self.fields.get(field) == Some(&value) {
            return false;
        }
        self.fields.insert(field.into(), value);
        true
    }

    /// Removes a top-level field and tells whether it was there.
    pub fn unset(&mut self, field: &str) -> bool {
        self.fields.remove(field).is_some()
    }

    /// All records by task key, in the order of their keys.
    pub fn records(&self) -> impl Iterator<Item = (&str, Record)> {
        self.record_map()
            .into_iter()
            .flatten()
            .filter_map(|(task, value)| {
                let fields = value.as_object()?.clone();
                Some((task.as_str(), Record::from_fields(fields)))
            })
    }

    /// The record of a task.
    pub fn record(&self, task: &str) -> Option<Record> {
        let fields = self.record_map()?.get(task)?.as_object()?;
        Some(Record::from_fields(fields.clone()))
    }

    /// Whether a task has a record.
    pub fn has_record(&self, task: &str) -> bool {
        self.record_map()
            .is_some_and(|records| records.contains_key(task))
    }

    /// Writes the record of a task and tells whether that changed anything.
    pub fn put_record(&mut self, task: &str, record: Record) -> bool {
        let value = Value::Object(record.into_fields());
        self.record_map_mut()
            .is_some_and(|records| records.insert(task.into(), value.clone()) != Some(value))
    }

    /// Removes the record of a task and tells whether it was there.
    pub fn remove_record(&mut self, task: &str) -> bool {
        self.record_map_mut()
            .is_some_and(|records| records.remove(task).is_some())
    }

    fn record_map(&self) -> Option<&Map<String, Value>> {
        self.fields.get(self.schema.records)?.as_object()
    }

    fn record_map_mut(&mut self) -> Option<&mut Map<String, Value>> {
        self.fields.get_mut(self.schema.records)?.as_object_mut()
    }
}
