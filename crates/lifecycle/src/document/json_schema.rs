//! The schemas of the three documents as JSON Schema (draft 2020-12), for editors and for other
//! programs. They are made of the tables in [`super::schema`] and say what this program accepts when
//! it reads; what the fields mean is in `docs/state/`.

use super::{Field, Schema, Shape};
use serde_json::{Map, Value, json};

/// The JSON Schema of a document.
pub fn json_schema(schema: &Schema) -> Value {
    let mut properties = Map::new();
    for (name, shape) in schema.top_fields() {
        properties.insert(name.into(), of_shape(shape));
    }
    // A newer version is refused; an older one has the same shape with fewer fields.
    properties.insert(
        "version".into(),
        json!({"type": ["number", "null"], "maximum": schema.version}),
    );
    properties.insert(
        schema.records.into(),
        json!({"type": ["object", "null"], "additionalProperties": {"$ref": "#/$defs/record"}}),
    );
    let mut fields = Map::new();
    for (field, shape) in schema.record_fields() {
        fields.insert(field.name().into(), of_shape(shape));
    }
    let statuses: Vec<&str> = schema.statuses.iter().map(|status| status.name()).collect();
    fields.insert(
        Field::Status.name().into(),
        // A status that is not known is kept, and its record is never acted on.
        json!({"type": ["string", "null"], "examples": statuses}),
    );
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("State document of {}, version {}", schema.automation, schema.version),
        "description": format!(
            "What {0} accepts when it reads a state document. Null counts as absent, and fields \
             that are not named here are kept. docs/state/{0}.md says what the fields mean.",
            schema.automation
        ),
        "type": "object",
        "properties": properties,
        "$defs": {"record": {"type": "object", "properties": fields}},
    })
}

fn of_shape(shape: Shape) -> Value {
    match shape {
        Shape::Text => json!({"type": ["string", "null"]}),
        Shape::Number => json!({"type": ["number", "null"]}),
        Shape::Texts => json!({"type": ["array", "null"], "items": {"type": "string"}}),
        Shape::Object => json!({"type": ["object", "null"]}),
    }
}

#[cfg(test)]
mod tests;
