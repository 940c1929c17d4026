//! The committed schemas are those of the tables, and accept what this program accepts.

use super::*;
use crate::document::{Document, ISSUE, NEWS, REVIEW};
use crate::fixtures;

const SCHEMAS: [&Schema; 3] = [&NEWS, &REVIEW, &ISSUE];

#[test]
fn the_committed_schemas_are_up_to_date() {
    for schema in SCHEMAS {
        let path = format!("docs/state/{}.schema.json", schema.automation);
        assert_eq!(
            fixtures::text(&path),
            format!("{:#}\n", json_schema(schema)),
            "{path} is out of date: run `cargo xtask schema`"
        );
    }
}

#[test]
fn every_document_that_is_read_follows_its_schema() {
    for schema in SCHEMAS {
        let json_schema = json_schema(schema);
        for path in fixtures::files(&format!("fixtures/state/{}", schema.automation)) {
            let document = fixtures::json(&path);
            assert_eq!(
                violation(&json_schema, &json_schema, &document),
                None,
                "{path}"
            );
        }
    }
}

#[test]
fn the_schema_refuses_what_is_refused_when_reading() {
    let damaged = fixtures::files("fixtures/state/damaged");
    let newer = fixtures::files("fixtures/state/newer");
    let refused = fixtures::files("fixtures/schemas/refused");
    let mut tried = 0;
    for path in damaged.iter().chain(&newer).chain(&refused) {
        let schema = SCHEMAS
            .into_iter()
            .find(|schema| path.contains(schema.automation))
            .unwrap_or(&NEWS);
        // Some are no JSON at all, which is not for a schema to say.
        let Ok(value) = serde_json::from_slice::<Value>(&fixtures::bytes(path)) else {
            continue;
        };
        tried += 1;
        let json_schema = json_schema(schema);
        assert!(
            violation(&json_schema, &json_schema, &value).is_some(),
            "{path}"
        );
        assert!(Document::from_value(schema, value).is_err(), "{path}");
    }
    assert!(tried >= 10);
}

#[test]
fn the_pages_about_state_explain_every_field_and_status() {
    for schema in SCHEMAS {
        let page = fixtures::text(&format!("docs/state/{}.md", schema.automation));
        let records = schema.record_fields().map(|(field, _)| field.name());
        let top = schema.top_fields().map(|(name, _)| name);
        let statuses = schema.statuses.iter().map(|status| status.name());
        for name in top.chain(records).chain(statuses) {
            assert!(
                page.contains(&format!("`{name}`")),
                "docs/state/{}.md does not mention `{name}`",
                schema.automation
            );
        }
    }
}

/// The first place where a value does not follow a schema, of the few words of JSON Schema that
/// are in use here.
fn violation(root: &Value, schema: &Value, value: &Value) -> Option<String> {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(reference.strip_prefix('#')?)?;
        return violation(root, target, value);
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        _ => panic!("a schema without a type: {schema}"),
    };
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    if !types.contains(&found) {
        return Some(format!("{value} is no {types:?}"));
    }
    if let (Some(most), Some(number)) = (schema.get("maximum"), value.as_f64())
        && number > most.as_f64()?
    {
        return Some(format!("{number} is more than {most}"));
    }
    let within =
        |part: Option<&Value>, value: &Value| part.and_then(|part| violation(root, part, value));
    match value {
        Value::Array(items) => items
            .iter()
            .find_map(|item| within(schema.get("items"), item)),
        Value::Object(members) => members.iter().find_map(|(name, member)| {
            let named = schema.get("properties").and_then(|all| all.get(name));
            let part = named.or(schema.get("additionalProperties"));
            within(part, member).map(|what| format!("{name}: {what}"))
        }),
        _ => None,
    }
}
