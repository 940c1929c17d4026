//! What the automation service answers, as values. Fields that are not used here are not read, and
//! what an older service leaves out counts as absent.

use http_client::{Response, redact};
use lifecycle::text::{cut_chars, one_line};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Characters of a message that are shown.
const SHOWN: usize = 400;

/// What the deployment can do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Capabilities {
    /// Whether it takes work at all.
    #[serde(default)]
    pub(crate) ready: bool,
    /// The longest timeout of a run, in seconds.
    pub(crate) max_automation_timeout_seconds: Option<u64>,
    /// Names of what it has; empty when it does not say.
    #[serde(default)]
    pub(crate) features: Vec<String>,
}

impl Capabilities {
    /// Whether it lacks something of this name, as far as it says what it has.
    pub(crate) fn lacks(&self, feature: &str) -> bool {
        !self.features.is_empty() && !self.features.iter().any(|have| have == feature)
    }
}

/// An automation.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(crate) struct Automation {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) name: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) entrypoint: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) tarball_path: String,
    #[serde(default)]
    pub(crate) trigger: Value,
    pub(crate) timeout: Option<u64>,
    pub(crate) keep_alive: Option<bool>,
    pub(crate) enabled: Option<bool>,
    pub(crate) state: Option<String>,
    pub(crate) disabled_reason: Option<String>,
    pub(crate) last_triggered_at: Option<String>,
    pub(crate) preset_metadata: Option<Value>,
    pub(crate) plugin_spec: Option<Value>,
}

impl Automation {
    /// Its schedule; another trigger by its kind.
    pub(crate) fn schedule(&self) -> &str {
        let text = |field: &str| self.trigger.get(field).and_then(Value::as_str);
        text("schedule").or_else(|| text("type")).unwrap_or("-")
    }

    /// Its time zone; `UTC` is the service's default.
    pub(crate) fn timezone(&self) -> &str {
        let zone = self.trigger.get("timezone").and_then(Value::as_str);
        zone.unwrap_or("UTC")
    }

    /// Whether it runs by the clock.
    pub(crate) fn is_scheduled(&self) -> bool {
        self.trigger.get("schedule").is_some_and(Value::is_string)
    }

    /// What the service generates its archive from, so that no other may take its place.
    pub(crate) fn generated_from(&self) -> Option<&str> {
        if self
            .plugin_spec
            .as_ref()
            .is_some_and(|spec| !spec.is_null())
        {
            return Some("plugin");
        }
        self.preset_metadata.as_ref()?.get("preset_type")?.as_str()
    }

    /// Whether it is switched on.
    pub(crate) fn is_active(&self) -> bool {
        match (&self.state, self.enabled) {
            (Some(state), _) => state == "ACTIVE",
            (None, enabled) => enabled.unwrap_or(true),
        }
    }

    /// The id of its archive, if it was uploaded.
    pub(crate) fn upload_id(&self) -> Option<&str> {
        self.tarball_path.strip_prefix("oh-internal://uploads/")
    }
}

/// An uploaded archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Upload {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) status: String,
    pub(crate) error_message: Option<String>,
    /// `None` when the service could not keep it.
    pub(crate) tarball_path: Option<String>,
}

/// A run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(crate) struct Run {
    pub(crate) id: String,
    /// `PENDING`, `RUNNING`, `COMPLETED`, `FAILED`, `SKIPPED` or `CANCELLED`.
    #[serde(default)]
    pub(crate) status: String,
    pub(crate) current_phase: Option<String>,
    pub(crate) error_detail: Option<String>,
    pub(crate) conversation_id: Option<String>,
    /// What started it: the schedule, a person, an event.
    pub(crate) trigger_source: Option<String>,
    pub(crate) created_at: Option<String>,
    pub(crate) started_at: Option<String>,
    pub(crate) completed_at: Option<String>,
    /// Its command on the agent server, for its output.
    pub(crate) bash_command_id: Option<String>,
}

impl Run {
    /// Whether it is still to come or under way.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.status.as_str(), "PENDING" | "RUNNING")
    }

    /// Whether it ended well.
    pub(crate) fn is_completed(&self) -> bool {
        self.status == "COMPLETED"
    }
}

/// One page of automations.
#[derive(Debug, Deserialize)]
pub(super) struct AutomationPage {
    pub(super) automations: Vec<Automation>,
    #[serde(default)]
    pub(super) total: usize,
}

/// One page of runs.
#[derive(Debug, Deserialize)]
pub(super) struct RunPage {
    pub(super) runs: Vec<Run>,
}

/// One page of keys.
#[derive(Debug, Deserialize)]
pub(super) struct KeyPage {
    pub(super) keys: Vec<String>,
    #[serde(default)]
    pub(super) total: usize,
}

/// Whether a draft would be taken.
#[derive(Debug, Deserialize)]
pub(super) struct Verdict {
    valid: bool,
    #[serde(default)]
    errors: Vec<Problem>,
}

impl Verdict {
    /// What is wrong; empty when nothing is.
    pub(super) fn in_words(self) -> Vec<String> {
        if self.valid {
            return Vec::new();
        }
        let list: Vec<String> = self.errors.iter().map(Problem::in_words).collect();
        if list.is_empty() {
            return vec!["the service does not say why".to_owned()];
        }
        list
    }
}

#[derive(Clone, Debug, Deserialize)]
struct Problem {
    field: Option<String>,
    #[serde(default)]
    message: String,
}

impl Problem {
    fn in_words(&self) -> String {
        let message = shown(self.message.trim_start_matches("Value error, "));
        match self.field.as_deref() {
            Some(field) if !field.is_empty() => format!("{field}: {message}"),
            _ => message,
        }
    }
}

/// What a refusal says is wrong.
#[derive(Debug)]
pub(super) struct Problems(Vec<Problem>);

impl Problems {
    /// Whether one of them is about a field.
    pub(super) fn names(&self, field: &str) -> bool {
        let mut fields = self.0.iter().filter_map(|problem| problem.field.as_deref());
        fields.any(|named| named.split('.').any(|part| part == field))
    }

    pub(super) fn in_words(&self) -> String {
        let list: Vec<String> = self.0.iter().map(Problem::in_words).collect();
        list.join("; ")
    }
}

/// Reads the body of a refusal: `{"detail": text}`, or a list with the place of each problem.
pub(super) fn problems(body: &[u8]) -> Problems {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    let one = |message: &str| Problem {
        field: None,
        message: message.to_owned(),
    };
    let list = match &value["detail"] {
        Value::Array(items) => items.iter().map(placed).collect(),
        Value::String(text) => vec![one(text)],
        Value::Null => vec![one(&String::from_utf8_lossy(body))],
        other => vec![one(&other.to_string())],
    };
    Problems(list)
}

fn placed(item: &Value) -> Problem {
    let places = item["loc"].as_array().into_iter().flatten();
    let names: Vec<String> = places
        .map(|place| {
            place
                .as_str()
                .map_or_else(|| place.to_string(), str::to_owned)
        })
        .filter(|place| !matches!(place.as_str(), "body" | "query" | "path" | "cron"))
        .collect();
    Problem {
        field: Some(names.join(".")),
        message: item["msg"].as_str().unwrap_or("invalid").to_owned(),
    }
}

/// Whether this is what the service says of its health.
pub(super) fn is_health(body: &[u8]) -> bool {
    serde_json::from_slice(body).is_ok_and(|value: Value| value["status"].is_string())
}

/// Whether this is an account of the application.
pub(super) fn is_account(body: &[u8]) -> bool {
    serde_json::from_slice(body)
        .is_ok_and(|value: Value| value["id"].is_string() && value["org_id"].is_string())
}

/// An answer that is not the expected one, in a few words.
pub(super) fn in_words(answer: &Response) -> String {
    let kind = answer.headers.get("content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind.is_empty() {
        return format!("status {}", answer.status);
    }
    format!("status {} and {}", answer.status, shown(kind))
}

fn shown(text: &str) -> String {
    cut_chars(&one_line(&redact(text, &[])), SHOWN)
}

/// `null` as the default.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
