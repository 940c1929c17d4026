//! What every conversation of a run rests on: its LLM, its MCP servers, its secrets. Read when the
//! first conversation is started, and once a run.

use futures_util::future::OptionFuture;
use http_client::{Client, HttpError, Response};
use lifecycle::ports::AgentError;
use serde_json::{Map, Value};

use crate::answers::{self, Profile, SecretList, Settings};
use crate::connection::Connection;

/// What conversations are started with. Holds the key of the LLM: no `Debug`.
pub(crate) struct Grounds {
    pub(crate) llm: Map<String, Value>,
    /// `None` unless they are to be forwarded and there are any.
    pub(crate) mcp_config: Option<Value>,
    /// Those of the allow-list that exist.
    pub(crate) secret_names: Vec<String>,
}

impl Grounds {
    /// Asks the server. Nothing has been started when this fails, so it never fails with
    /// [`AgentError::Unavailable`], which means the opposite. The texts are warnings.
    pub(crate) async fn read(
        client: &Client,
        connection: &Connection,
    ) -> Result<(Self, Vec<String>), AgentError> {
        let profile = connection
            .model_profile
            .as_ref()
            .map(|name| client.send(connection.profile(name)));
        let list =
            (!connection.secret_names.is_empty()).then(|| client.send(connection.secret_list()));
        let (settings, profile, list) = futures_util::join!(
            client.send(connection.settings()),
            OptionFuture::from(profile),
            OptionFuture::from(list),
        );
        let mut warnings = Vec::new();
        let settings = read::<Settings>(&answered(settings)?)?.agent_settings;
        let llm = match profile {
            Some(profile) => chosen(connection, &answered(profile)?, &mut warnings)?,
            None => None,
        };
        let llm = llm.unwrap_or(settings.llm);
        if model_of(&llm).is_empty() {
            return Err(AgentError::Refused(
                "its settings name no LLM model; choose one there".to_owned(),
            ));
        }
        let secret_names = match list {
            Some(list) => existing(
                connection,
                &read::<SecretList>(&answered(list)?)?,
                &mut warnings,
            ),
            None => Vec::new(),
        };
        let has_servers = settings
            .mcp_config
            .as_object()
            .is_some_and(|servers| !servers.is_empty());
        let mcp_config =
            (connection.forward_mcp_servers && has_servers).then_some(settings.mcp_config);
        Ok((
            Self {
                llm,
                mcp_config,
                secret_names,
            },
            warnings,
        ))
    }

    /// Name of the LLM model.
    pub(crate) fn model(&self) -> &str {
        model_of(&self.llm)
    }
}

fn model_of(llm: &Map<String, Value>) -> &str {
    llm.get("model").and_then(Value::as_str).unwrap_or_default()
}

/// The LLM of the profile, or none when the server does not know the profile any more.
fn chosen(
    connection: &Connection,
    answer: &Response,
    warnings: &mut Vec<String>,
) -> Result<Option<Map<String, Value>>, AgentError> {
    if matches!(answer.status, 404 | 422) {
        warnings.push(format!(
            "the agent server has no LLM profile named {:?} (AUTOMATION_MODEL), renamed or deleted; the default LLM is used",
            connection.model_profile.as_deref().unwrap_or_default(),
        ));
        return Ok(None);
    }
    read::<Profile>(answer).map(|profile| Some(profile.config))
}

fn existing(connection: &Connection, list: &SecretList, warnings: &mut Vec<String>) -> Vec<String> {
    let (there, missing): (Vec<_>, Vec<_>) = connection
        .secret_names
        .iter()
        .cloned()
        .partition(|name| list.secrets.iter().any(|secret| secret.name == *name));
    if !missing.is_empty() {
        warnings.push(format!(
            "the agent server has no secret named {}; conversations go without",
            missing.join(", "),
        ));
    }
    there
}

fn answered(result: Result<Response, HttpError>) -> Result<Response, AgentError> {
    result.map_err(|error| AgentError::Refused(error.to_string()))
}

fn read<T: serde::de::DeserializeOwned>(response: &Response) -> Result<T, AgentError> {
    match response.status {
        200..300 => response
            .json()
            .map_err(|error| AgentError::Refused(error.to_string())),
        _ => Err(match answers::refusal(response, false) {
            AgentError::Unavailable(detail) | AgentError::Full(detail) => {
                AgentError::Refused(detail)
            }
            other => other,
        }),
    }
}
