//! Checks JSON against the small part of JSON Schema that API descriptions use: `type`, `required`,
//! `properties`, `items`, `enum`, `nullable`, `anyOf`, `oneOf`, `allOf` and local `$ref`. Members
//! it does not know (formats, texts) are passed over. The rule for
//! `nullable` is that of API descriptions in version 3.0, the others are those of JSON Schema.
//!
//! The schemas themselves are distilled from what the forges publish; each file under
//! `fixtures/github/openapi/` and `fixtures/gitlab/openapi/` names its source.

use std::fmt;

use serde_json::{Map, Value};

#[cfg(test)]
mod tests;

/// How many `$ref` and combinations may nest before a schema counts as endless.
const MAX_DEPTH: usize = 96;

/// A document with named schemas under its member `schemas`.
///
/// ```
/// let schemas = testbed::schema::Schemas::parse(
///     r#"{"schemas": {"label": {"type": "object", "required": ["name"],
///                               "properties": {"name": {"type": "string"}}}}}"#,
/// )?;
/// assert!(schemas.check("label", &serde_json::json!({"name": "bug"})).is_empty());
/// assert_eq!(schemas.check("label", &serde_json::json!({"name": 1}))[0].path, "name");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Schemas {
    root: Value,
}

/// One place where a value is not what its schema says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Where in the value, as `head.repo.id` or `labels[2].name`; empty for the value itself.
    pub path: String,
    /// What was expected there and what was found.
    pub problem: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() {
            "the value"
        } else {
            &self.path
        };
        write!(f, "{place}: {}", self.problem)
    }
}

/// Whether members that no schema mentions are taken as mistakes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknown {
    Allowed,
    Refused,
}

impl Schemas {
    /// Reads a document. Fails if it is not JSON.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        Ok(Self {
            root: serde_json::from_str(text)?,
        })
    }

    /// What GitHub publishes about the calls made here.
    pub fn github() -> Self {
        Self::built_in(include_str!(
            "../../../fixtures/github/openapi/schemas.json"
        ))
    }

    /// What GitLab documents about the calls made here.
    pub fn gitlab() -> Self {
        Self::built_in(include_str!(
            "../../../fixtures/gitlab/openapi/schemas.json"
        ))
    }

    /// A file of our own; its test sees to it that it parses.
    fn built_in(text: &str) -> Self {
        Self {
            root: serde_json::from_str(text).unwrap_or_default(),
        }
    }

    /// The names of all schemas.
    pub fn names(&self) -> Vec<&str> {
        self.root["schemas"]
            .as_object()
            .map(|schemas| schemas.keys().map(String::as_str).collect())
            .unwrap_or_default()
    }

    /// Everything in `value` that differs from the schema `name`; empty when it fits. Members that
    /// the schema does not mention are fine: answers may always grow.
    pub fn check(&self, name: &str, value: &Value) -> Vec<Mismatch> {
        self.start(name, value, Unknown::Allowed)
    }

    /// Like [`Schemas::check`], and members that the schema does not mention are mismatches: for
    /// requests, where an unknown member means that it has no effect.
    pub fn check_closed(&self, name: &str, value: &Value) -> Vec<Mismatch> {
        self.start(name, value, Unknown::Refused)
    }

    /// Like [`Schemas::check`] for a list, whose items all have the schema `name`.
    pub fn check_items(&self, name: &str, value: &Value) -> Vec<Mismatch> {
        let Some(items) = value.as_array() else {
            return vec![mismatch(
                "",
                format!("expected an array, found {}", kind(value)),
            )];
        };
        let prefixed = |(index, item)| {
            self.check(name, item)
                .into_iter()
                .map(move |found| Mismatch {
                    path: join(&format!("[{index}]"), &found.path),
                    ..found
                })
        };
        items.iter().enumerate().flat_map(prefixed).collect()
    }

    fn start(&self, name: &str, value: &Value, unknown: Unknown) -> Vec<Mismatch> {
        let Some(schema) = self.root["schemas"].get(name) else {
            return vec![mismatch("", format!("there is no schema named {name}"))];
        };
        let mut found = Vec::new();
        Walk {
            schemas: self,
            unknown,
        }
        .value(schema, value, "", MAX_DEPTH, &mut found);
        found
    }

    /// What a local reference such as `#/schemas/simple-user` names. Names are taken as they are:
    /// they hold no `/` and no `~`.
    fn resolve(&self, reference: &str) -> Option<&Value> {
        let path = reference.strip_prefix('#')?;
        path.split('/')
            .skip(1)
            .try_fold(&self.root, |node, part| node.get(part))
    }
}

/// One run over a value.
struct Walk<'a> {
    schemas: &'a Schemas,
    unknown: Unknown,
}

impl Walk<'_> {
    fn value(
        &self,
        schema: &Value,
        value: &Value,
        path: &str,
        depth: usize,
        out: &mut Vec<Mismatch>,
    ) {
        if depth == 0 {
            out.push(mismatch(
                path,
                "the schema refers to itself without end".into(),
            ));
            return;
        }
        if value.is_null() && schema["nullable"] == true {
            return;
        }
        if let Some(reference) = schema["$ref"].as_str() {
            match self.schemas.resolve(reference) {
                Some(target) => self.value(target, value, path, depth - 1, out),
                None => out.push(mismatch(path, format!("nothing is at {reference}"))),
            }
            return;
        }
        self.combined(schema, value, path, depth, out);
        if !type_fits(&schema["type"], value) {
            let problem = format!("expected {}, found {}", schema["type"], kind(value));
            out.push(mismatch(path, problem));
            return;
        }
        if let Some(allowed) = schema["enum"].as_array()
            && !allowed.contains(value)
        {
            let problem = format!("{value} is not one of {}", schema["enum"]);
            out.push(mismatch(path, problem));
        }
        match value {
            Value::Object(members) => self.object(schema, members, path, depth, out),
            Value::Array(items) if schema.get("items").is_some() => {
                for (index, item) in items.iter().enumerate() {
                    let at = format!("{path}[{index}]");
                    self.value(&schema["items"], item, &at, depth - 1, out);
                }
            }
            _ => {}
        }
    }

    fn object(
        &self,
        schema: &Value,
        members: &Map<String, Value>,
        path: &str,
        depth: usize,
        out: &mut Vec<Mismatch>,
    ) {
        for name in schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            if !members.contains_key(name) {
                out.push(mismatch(
                    &join(path, name),
                    "is required and missing".into(),
                ));
            }
        }
        let Some(properties) = schema["properties"].as_object() else {
            return;
        };
        for (name, member) in members {
            match properties.get(name) {
                Some(inner) => self.value(inner, member, &join(path, name), depth - 1, out),
                None if self.unknown == Unknown::Refused => {
                    out.push(mismatch(
                        &join(path, name),
                        "is not part of the schema".into(),
                    ));
                }
                None => {}
            }
        }
    }

    /// `allOf`, `anyOf` and `oneOf`. When no branch fits, the problems of the closest one are told.
    fn combined(
        &self,
        schema: &Value,
        value: &Value,
        path: &str,
        depth: usize,
        out: &mut Vec<Mismatch>,
    ) {
        let branches = |key: &str| -> Vec<Vec<Mismatch>> {
            let branch = |inner| {
                let mut found = Vec::new();
                self.value(inner, value, path, depth - 1, &mut found);
                found
            };
            schema[key]
                .as_array()
                .into_iter()
                .flatten()
                .map(branch)
                .collect()
        };
        out.extend(branches("allOf").into_iter().flatten());
        for key in ["anyOf", "oneOf"] {
            let results = branches(key);
            let fitting = results.iter().filter(|found| found.is_empty()).count();
            if key == "oneOf" && fitting > 1 {
                out.push(mismatch(
                    path,
                    format!("fits {fitting} schemas where one is allowed"),
                ));
            } else if fitting == 0 {
                out.extend(results.into_iter().min_by_key(Vec::len).unwrap_or_default());
            }
        }
    }
}

fn mismatch(path: &str, problem: String) -> Mismatch {
    Mismatch {
        path: path.to_owned(),
        problem,
    }
}

/// A member after a path.
fn join(path: &str, name: &str) -> String {
    match (path, name) {
        ("", name) => name.to_owned(),
        (path, "") => path.to_owned(),
        (path, name) => format!("{path}.{name}"),
    }
}

/// Whether a value has the type; a missing `type` allows every value, a list any of its types.
fn type_fits(declared: &Value, value: &Value) -> bool {
    match declared {
        Value::String(name) => match name.as_str() {
            "integer" => value.is_i64() || value.is_u64(),
            name => kind(value) == name,
        },
        Value::Array(names) => names.iter().any(|name| type_fits(name, value)),
        _ => true,
    }
}

/// The JSON Schema name of a value's type.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
