//! What the service refuses in the fields of an automation, with the words it uses.

use serde_json::Value;

/// Fields that creating an automation knows.
const CREATE_FIELDS: &[&str] = &[
    "agent_profile_id",
    "name",
    "description",
    "model",
    "trigger",
    "observability_associations",
    "tags",
    "tarball_path",
    "setup_script_path",
    "entrypoint",
    "timeout",
    "keep_alive",
    "enabled",
    "state",
    "template",
];
/// Fields that only changing one knows.
const UPDATE_FIELDS: &[&str] = &["plugin", "prompt", "repos"];
/// Seconds a run may take at most.
pub(super) const MAX_TIMEOUT: i64 = 1_800;

/// A field and what is wrong with it.
pub(super) type Problem = (String, String);

/// What is wrong with a body that creates an automation; empty when nothing is.
pub(super) fn create(body: &Value) -> Vec<Problem> {
    let mut problems = fields(body, |field| CREATE_FIELDS.contains(&field));
    for field in ["name", "trigger", "tarball_path", "entrypoint"] {
        if body[field].is_null() {
            problems.push((field.to_owned(), "Field required".to_owned()));
        }
    }
    problems
}

/// What is wrong with a body that changes an automation.
pub(super) fn update(body: &Value) -> Vec<Problem> {
    fields(body, |field| {
        CREATE_FIELDS.contains(&field) || UPDATE_FIELDS.contains(&field)
    })
}

fn fields(body: &Value, known: impl Fn(&str) -> bool) -> Vec<Problem> {
    let Some(body) = body.as_object() else {
        return vec![(
            "body".to_owned(),
            "Input should be a valid dictionary".to_owned(),
        )];
    };
    let mut problems = Vec::new();
    for (field, value) in body {
        let problem = if known(field) {
            wrong(field, value)
        } else {
            Some("Extra inputs are not permitted".to_owned())
        };
        problems.extend(problem.map(|why| (field.clone(), why)));
    }
    problems
}

/// What is wrong with one field; null stands for "not given".
fn wrong(field: &str, value: &Value) -> Option<String> {
    if value.is_null() {
        return None;
    }
    match field {
        "name" => {
            let chars = value.as_str().map_or(0, |name| name.chars().count());
            (!(1..=500).contains(&chars)).then(|| "String should have 1 to 500 characters".into())
        }
        "trigger" => trigger(value),
        "tarball_path" => {
            let schemes = ["s3://", "gs://", "http://", "https://", "oh-internal://"];
            let path = value.as_str().unwrap_or_default();
            let known = schemes.iter().any(|scheme| path.starts_with(scheme));
            (!known)
                .then(|| "tarball_path must start with s3://, gs://, http://, or https://".into())
        }
        "entrypoint" | "setup_script_path" => command(field, value.as_str().unwrap_or_default()),
        "timeout" => match value.as_i64() {
            Some(1..=MAX_TIMEOUT) => None,
            Some(..=0) => Some("timeout must be a positive number".to_owned()),
            Some(_) => Some(format!(
                "timeout must not exceed {MAX_TIMEOUT} seconds (30 minutes)"
            )),
            None => Some("Input should be a valid integer".to_owned()),
        },
        "keep_alive" | "enabled" => {
            (!value.is_boolean()).then(|| "Input should be a valid boolean".to_owned())
        }
        _ => None,
    }
}

fn trigger(value: &Value) -> Option<String> {
    if value["type"] != "cron" {
        return (value["type"] != "event").then(|| "Input should be 'cron' or 'event'".to_owned());
    }
    let schedule = value["schedule"].as_str().unwrap_or_default();
    let parts: Vec<&str> = schedule.split_whitespace().collect();
    let plain = |part: &&str| {
        part.chars()
            .all(|c| c.is_ascii_alphanumeric() || "*,-/?#".contains(c))
    };
    if parts.len() != 5 || !parts.iter().all(plain) {
        return Some(format!("Invalid cron schedule: {schedule}"));
    }
    let zone = value["timezone"].as_str().unwrap_or("UTC");
    let known = zone == "UTC" || zone.contains('/') && !zone.contains(' ');
    (!known).then(|| format!("Invalid timezone: {zone}"))
}

fn command(field: &str, text: &str) -> Option<String> {
    if text.trim().is_empty() {
        return Some(format!("{field} must not be blank"));
    }
    if text.starts_with('/') {
        return Some(format!(
            "{field} must be a relative path, not an absolute path"
        ));
    }
    if text.split('/').any(|part| part == "..") {
        return Some(format!("{field} must not contain path traversal (..)"));
    }
    let meta = |c: char| ";&|`$(){}<>!\\\n\r".contains(c);
    text.contains(meta)
        .then(|| format!("{field} must not contain shell metacharacters (;&|`$(){{}}<>!\\\\)"))
}
