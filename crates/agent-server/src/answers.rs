//! The answers of the agent server's API, read into our words.

use http_client::{HttpError, Response};
use lifecycle::ports::{AgentError, Conversation};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::evidence::Used;

/// An answer that has to be an object: a list does not pass for one whose members come in order.
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Map::<String, Value>::deserialize(deserializer)?;
        T::deserialize(Value::Object(members))
            .map(Self)
            .map_err(D::Error::custom)
    }
}

/// A conversation as the server shows it, as far as it concerns us. Members of another type than
/// expected count as absent.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Shown {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    execution_status: Value,
    #[serde(default)]
    last_user_message_id: Value,
    #[serde(default)]
    leaf_event_id: Value,
    #[serde(default)]
    stats: Used,
}

/// How a conversation looks by what the server shows of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Clear(Conversation),
    /// Idle, and only the final response can tell before or after the work.
    IdleUnclear,
}

impl Shown {
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_str()
    }

    /// Whether this is the conversation with that id; servers write it with dashes or without.
    pub(crate) fn is(&self, id: &str) -> bool {
        let digits = |id: &str| -> String {
            id.chars()
                .filter(|c| *c != '-')
                .map(|c| c.to_ascii_lowercase())
                .collect()
        };
        self.id().is_none_or(|own| digits(own) == digits(id))
    }

    pub(crate) fn look(&self) -> Look {
        Look::Clear(match self.execution_status.as_str().unwrap_or_default() {
            "idle" if self.has_worked() => Conversation::IdleDone,
            "idle" => return Look::IdleUnclear,
            "running" => Conversation::Running,
            "paused" => Conversation::Paused,
            "waiting_for_confirmation" => Conversation::WaitingForConfirmation,
            "finished" => Conversation::Finished,
            "error" => Conversation::Error,
            "stuck" => Conversation::Stuck,
            "deleting" => Conversation::Deleting,
            _ => Conversation::Other,
        })
    }

    fn has_worked(&self) -> bool {
        let message = self.last_user_message_id.as_str();
        let newest = self.leaf_event_id.as_str();
        self.stats.0 && message.is_some() && newest.is_some() && message != newest
    }
}

/// `GET /api/settings`.
#[derive(Debug, Deserialize)]
pub(crate) struct Settings {
    #[serde(default)]
    pub(crate) agent_settings: AgentSettings,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct AgentSettings {
    #[serde(default)]
    pub(crate) llm: Map<String, Value>,
    #[serde(default)]
    pub(crate) mcp_config: Value,
}

/// `GET /api/profiles/{name}`.
#[derive(Debug, Deserialize)]
pub(crate) struct Profile {
    #[serde(default)]
    pub(crate) config: Map<String, Value>,
}

/// `GET /api/settings/secrets`.
#[derive(Debug, Deserialize)]
pub(crate) struct SecretList {
    #[serde(default)]
    pub(crate) secrets: Vec<SecretName>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct SecretName {
    #[serde(default)]
    pub(crate) name: String,
}

/// `GET …/agent_final_response`.
#[derive(Debug, Deserialize)]
pub(crate) struct FinalResponse {
    #[serde(default)]
    pub(crate) response: Option<String>,
}

/// What a status means that is not the one hoped for. `effect`: whether the call was to change
/// something.
pub(crate) fn refusal(response: &Response, effect: bool) -> AgentError {
    let detail = response.status_error().to_string();
    match response.status {
        401 | 403 => AgentError::Unauthorized(detail),
        429 => AgentError::Full(full_detail(response)),
        408 | 500.. => AgentError::Unavailable(detail),
        // A success without a usable body, or a redirect that was not followed.
        200..=399 if effect => AgentError::Unavailable(detail),
        _ => AgentError::Refused(detail),
    }
}

/// A call that ended without an answer. When it is certain that nothing was sent, or it was only
/// to read, nothing was started.
pub(crate) fn no_answer(error: &HttpError) -> AgentError {
    if error.is_effect_unknown() {
        AgentError::Unavailable(error.to_string())
    } else {
        AgentError::Refused(error.to_string())
    }
}

/// A limit in numbers, where the server gives them.
fn full_detail(response: &Response) -> String {
    let numbers = response.json::<Value>().ok().and_then(|body| {
        let detail = &body["detail"];
        Some(format!(
            "{} of {} are running",
            detail["current"].as_u64()?,
            detail["limit"].as_u64()?
        ))
    });
    numbers.unwrap_or_else(|| format!("status 429: {}", response.snippet()))
}

#[cfg(test)]
mod tests;
