//! Reads the body that starts a conversation, as strictly as the server does where it matters.

use serde_json::Value;

/// Tools that the server has without anything being registered.
const TOOLS: &[&str] = &[
    "terminal",
    "file_editor",
    "task_tracker",
    "browser_tool_set",
    "grep",
    "glob",
];

/// A start body that passed.
#[derive(Debug, Clone)]
pub(super) struct Start {
    /// In lower case with dashes.
    pub(super) id: Option<String>,
    pub(super) working_dir: String,
    pub(super) prompt: String,
    pub(super) body: Value,
    /// Why the agent cannot begin, which the server finds out when the conversation exists: the
    /// answer is a 500 and the conversation stays idle.
    pub(super) stillborn: Option<String>,
    /// There is no initial message, so nothing runs until one comes.
    pub(super) silent: bool,
}

/// What is wrong with a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Flaw {
    /// 422: the field and why.
    Invalid(&'static str, String),
    /// 500: the server stumbles over it.
    Stumble(String),
}

/// The body as a start, or what is wrong with it.
pub(super) fn read(body: Value) -> Result<Start, Flaw> {
    let wrong = |field, why: &str| Err(Flaw::Invalid(field, why.to_owned()));
    let id = match &body["conversation_id"] {
        Value::Null => None,
        Value::String(text) => match uuid(text) {
            Some(id) => Some(id),
            None => return wrong("conversation_id", "Input should be a valid UUID"),
        },
        _ => return wrong("conversation_id", "UUID input should be a string"),
    };
    let Some(working_dir) = body["workspace"]["working_dir"].as_str().map(str::to_owned) else {
        let missing = "missing 1 required keyword-only argument: 'working_dir'";
        return Err(Flaw::Stumble(missing.to_owned()));
    };
    if !working_dir.starts_with('/') {
        return wrong("workspace.working_dir", "an absolute path is expected");
    }
    let agent = &body["agent"];
    if !agent.is_object() {
        return wrong("agent", "Field required");
    }
    if agent["kind"].as_str().unwrap_or("Agent") != "Agent" {
        return wrong("agent.kind", "Unknown kind");
    }
    if !agent["llm"]["model"].is_string() {
        return wrong("agent.llm.model", "Field required");
    }
    let mut tools = agent["tools"].as_array().into_iter().flatten();
    let unknown = tools.find_map(|tool| {
        let name = tool["name"].as_str().unwrap_or_default();
        (!TOOLS.contains(&name)).then(|| format!("ToolDefinition '{name}' is not registered"))
    });
    let mut prompt = String::new();
    if !body["initial_message"].is_null() {
        let Some(parts) = body["initial_message"]["content"].as_array() else {
            return wrong("initial_message.content", "Input should be a valid list");
        };
        for part in parts {
            let Some(text) = part["text"].as_str() else {
                return wrong("initial_message.content.text", "Field required");
            };
            prompt.push_str(text);
        }
    }
    for (_, secret) in body["secrets"].as_object().into_iter().flatten() {
        let complete = match secret["kind"].as_str() {
            Some("LookupSecret") => secret["url"].is_string(),
            Some("StaticSecret") => secret["value"].is_string(),
            _ => secret.is_string(),
        };
        if !complete {
            return wrong(
                "secrets",
                "neither a LookupSecret with a url nor a StaticSecret",
            );
        }
    }
    let silent = body["initial_message"].is_null();
    Ok(Start {
        id,
        working_dir,
        prompt,
        body,
        stillborn: unknown,
        silent,
    })
}

/// The UUID in lower case with dashes; accepts it without dashes as the server does.
pub(super) fn uuid(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    let dashes_fit = match text.len() {
        32 => true,
        36 => [8, 13, 18, 23]
            .iter()
            .all(|&at| text.as_bytes()[at] == b'-'),
        _ => false,
    };
    if !dashes_fit || digits.len() != 32 || !digits.chars().all(|c| c.is_ascii_hexdigit()) {
        return None;
    }
    let d = digits.to_ascii_lowercase();
    Some(format!(
        "{}-{}-{}-{}-{}",
        &d[..8],
        &d[8..12],
        &d[12..16],
        &d[16..20],
        &d[20..]
    ))
}
