//! One record: what is known of one task. The core that all schemas share, as a view over the JSON.

use super::{Field, Status};
use serde_json::{Map, Value};

/// The record of a task. Fields that this version does not know are kept as they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    fields: Map<String, Value>,
}

impl Record {
    /// A record from its JSON fields, which the schema has checked.
    pub fn from_fields(fields: Map<String, Value>) -> Self {
        Self { fields }
    }

    /// A record from a JSON value; `None` when it is no object.
    pub fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Object(fields) => Some(Self { fields }),
            _ => None,
        }
    }

    /// Its JSON fields.
    pub fn into_fields(self) -> Map<String, Value> {
        self.fields
    }

    /// Its JSON.
    pub fn to_value(&self) -> Value {
        Value::Object(self.fields.clone())
    }

    /// A field; JSON `null` counts as absent.
    pub fn get(&self, field: Field) -> Option<&Value> {
        self.fields
            .get(field.name())
            .filter(|value| !value.is_null())
    }

    /// A text field.
    pub fn text(&self, field: Field) -> Option<&str> {
        self.get(field)?.as_str()
    }

    /// A numeric field: a moment in seconds since the epoch, or a duration in seconds.
    pub fn seconds(&self, field: Field) -> Option<f64> {
        self.get(field)?.as_f64()
    }

    /// A counting field, however the number was written (`3`, `3.0`).
    pub fn count(&self, field: Field) -> Option<u64> {
        let value = self.get(field)?;
        value.as_u64().or_else(|| {
            let number = value.as_f64()?;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "checked to be a whole number in range"
            )]
            (number >= 0.0 && number <= 2f64.powi(53) && number.fract() == 0.0)
                .then_some(number as u64)
        })
    }

    /// Sets a field.
    pub fn set(&mut self, field: Field, value: impl Into<Value>) -> &mut Self {
        self.fields.insert(field.name().into(), value.into());
        self
    }

    /// Sets a field to a text of at most `max` bytes, cut at a character.
    pub fn set_text(&mut self, field: Field, text: &str, max: usize) -> &mut Self {
        self.set(field, crate::text::cut_bytes(text, max))
    }

    /// Removes a field.
    pub fn unset(&mut self, field: Field) -> &mut Self {
        self.fields.remove(field.name());
        self
    }

    /// Keeps only the named fields.
    pub fn keep_only(&mut self, fields: &[Field]) -> &mut Self {
        self.fields
            .retain(|name, _| fields.iter().any(|field| field.name() == name));
        self
    }

    /// Where the task stands.
    pub fn status(&self) -> Status {
        self.text(Field::Status)
            .map_or(Status::Unknown, Status::from_name)
    }

    /// Sets where the task stands.
    pub fn set_status(&mut self, status: Status) -> &mut Self {
        self.set(Field::Status, status.name())
    }

    /// The conversation that does the work.
    pub fn conversation_id(&self) -> Option<&str> {
        self.text(Field::ConversationId).filter(|id| !id.is_empty())
    }

    /// The directory that waits to be removed.
    pub fn workspace_dir(&self) -> Option<&str> {
        self.text(Field::WorkspaceDir).filter(|dir| !dir.is_empty())
    }

    /// Seconds since the epoch; 0 when it is missing, so that such a record counts as very old.
    pub fn last_activity(&self) -> f64 {
        self.seconds(Field::LastActivity).unwrap_or(0.0)
    }
}
