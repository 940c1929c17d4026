//! The client: sends the calls, judges the answers.

use futures_util::future::join_all;
use http_client::{Client, HttpError, Response, Secret};
use lifecycle::ports::{AgentError, Agents, Conversation, Observation, StartConversation, Started};
use tokio::sync::OnceCell;

use crate::answers::{FinalResponse, Look, Object, Shown, no_answer, refusal};
use crate::connection::Connection;
use crate::grounds::Grounds;

/// Ids that one batch may name.
const MAX_BATCH: usize = 99;

/// Where warnings go: single lines without secrets.
type Warn = Box<dyn Fn(&str)>;

/// What conversations of a run would get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Readiness {
    /// Name of the LLM model.
    pub model: String,
    /// Names of the secrets that they may look up.
    pub secret_names: Vec<String>,
    /// What is configured and not there: a profile, secrets.
    pub warnings: Vec<String>,
}

/// Client of one agent server. Calls go out together where they are independent.
pub struct AgentServer {
    client: Client,
    connection: Connection,
    grounds: OnceCell<Grounds>,
    warn: Warn,
}

impl AgentServer {
    /// A client that keeps its warnings to itself.
    pub fn new(client: Client, connection: Connection) -> Self {
        Self {
            client,
            connection,
            grounds: OnceCell::new(),
            warn: Box::new(|_| {}),
        }
    }

    /// Sends warnings (a profile that is gone, a secret that is not there) to `warn`.
    #[must_use]
    pub fn on_warning(mut self, warn: impl Fn(&str) + 'static) -> Self {
        self.warn = Box::new(warn);
        self
    }

    /// The value of a secret of the agent server, `None` when it is not set or empty.
    pub async fn secret(&self, name: &str) -> Result<Option<Secret>, AgentError> {
        let response = self.read(self.connection.secret(name)).await?;
        match response.status {
            // 422: no name that a secret could have, so none is set.
            404 | 422 => Ok(None),
            200 => {
                let value = String::from_utf8(response.body).map_err(|_| {
                    AgentError::Refused(format!("the secret {name} is no text in UTF-8"))
                })?;
                Ok(Some(Secret::new(value)).filter(|secret| !secret.is_empty()))
            }
            _ => Err(refusal(&response, false)),
        }
    }

    /// What a conversation would be started with, asked as a start would ask it, and told to people.
    /// Nothing is started.
    pub async fn readiness(&self) -> Result<Readiness, AgentError> {
        let (grounds, warnings) = Grounds::read(&self.client, &self.connection).await?;
        Ok(Readiness {
            model: grounds.model().to_owned(),
            secret_names: grounds.secret_names,
            warnings,
        })
    }

    async fn grounds(&self) -> Result<&Grounds, AgentError> {
        self.grounds
            .get_or_try_init(async || {
                let (grounds, warnings) = Grounds::read(&self.client, &self.connection).await?;
                for warning in warnings {
                    (self.warn)(&warning);
                }
                Ok(grounds)
            })
            .await
    }

    /// A call that changes nothing.
    async fn read(&self, request: http_client::Request) -> Result<Response, AgentError> {
        self.client
            .send(request)
            .await
            .map_err(|error| AgentError::Unavailable(error.to_string()))
    }

    async fn observe_batch(&self, ids: &[&String]) -> Vec<Observation> {
        if let [id] = ids {
            return vec![self.observe_one(id).await];
        }
        let unavailable =
            |error: &HttpError| vec![Observation::Unavailable(error.to_string()); ids.len()];
        let response = match self.client.send(self.connection.batch(ids)).await {
            Ok(response) => response,
            // Long conversations have long statistics; alone each of them may fit.
            Err(HttpError::TooLarge { .. }) => return self.observe_singly(ids).await,
            Err(error) => return unavailable(&error),
        };
        match response.status {
            200 => {}
            // One id that the server does not like spoils the batch; a server without a batch
            // call has single ones.
            400 | 404 | 405 | 422 => return self.observe_singly(ids).await,
            _ => return unavailable(&response.status_error()),
        }
        let shown = match response.json::<Vec<Option<Object<Shown>>>>() {
            Ok(shown) if shown.len() == ids.len() => shown,
            Ok(_) => return self.observe_singly(ids).await,
            Err(error) => return unavailable(&error),
        };
        join_all(ids.iter().zip(shown).map(async |(id, shown)| match shown {
            Some(Object(shown)) if shown.is(id) => self.judge(id, &shown).await,
            Some(_) => self.observe_one(id).await,
            None => Observation::Unknown,
        }))
        .await
    }

    async fn observe_singly(&self, ids: &[&String]) -> Vec<Observation> {
        join_all(ids.iter().map(|id| self.observe_one(id))).await
    }

    async fn observe_one(&self, id: &str) -> Observation {
        let response = match self.client.send(self.connection.conversation(id)).await {
            Ok(response) => response,
            Err(error) => return Observation::Unavailable(error.to_string()),
        };
        match response.status {
            404 | 422 => Observation::Unknown,
            200 => match response.json::<Object<Shown>>() {
                Ok(Object(shown)) => self.judge(id, &shown).await,
                Err(error) => Observation::Unavailable(error.to_string()),
            },
            _ => Observation::Unavailable(response.status_error().to_string()),
        }
    }

    async fn judge(&self, id: &str, shown: &Shown) -> Observation {
        Observation::Seen(match shown.look() {
            Look::Clear(conversation) => conversation,
            // When it cannot be asked, it counts as fresh: nothing is lost by waiting.
            Look::IdleUnclear => match self.final_response(id).await {
                Ok(words) if !words.trim().is_empty() => Conversation::IdleDone,
                _ => Conversation::IdleFresh,
            },
        })
    }
}

impl Agents for AgentServer {
    async fn start(&self, request: &StartConversation) -> Result<Started, AgentError> {
        let grounds = self.grounds().await?;
        let call = self
            .connection
            .start(request, grounds)
            .map_err(|error| no_answer(&error))?;
        let response = self
            .client
            .send(call)
            .await
            .map_err(|error| no_answer(&error))?;
        if !matches!(response.status, 200 | 201) {
            return Err(refusal(&response, true));
        }
        let Object(shown) = response
            .json::<Object<Shown>>()
            .map_err(|error| AgentError::Unavailable(error.to_string()))?;
        match shown.id() {
            Some(id) if !id.is_empty() => Ok(Started {
                conversation_id: id.to_owned(),
                existed: response.status == 200,
            }),
            _ => Err(AgentError::Unavailable(
                response
                    .body_error("it names no conversation id")
                    .to_string(),
            )),
        }
    }

    async fn observe(&self, ids: &[String]) -> Vec<Observation> {
        // An id that is no UUID would spoil a batch: those of old records are asked for alone.
        let (fit, odd): (Vec<&String>, Vec<&String>) = ids.iter().partition(|id| is_uuid(id));
        let mut batches: Vec<&[&String]> = fit.chunks(MAX_BATCH).collect();
        batches.extend(odd.chunks(1));
        let seen = join_all(batches.iter().map(|batch| self.observe_batch(batch))).await;
        let mut seen: Vec<(&String, Observation)> = batches
            .iter()
            .flat_map(|batch| batch.iter().copied())
            .zip(seen.concat())
            .collect();
        ids.iter()
            .map(|id| {
                // Each is there exactly once for each time it was asked for.
                seen.iter()
                    .position(|(of, _)| of == &id)
                    .map_or(Observation::Unknown, |at| seen.swap_remove(at).1)
            })
            .collect()
    }

    async fn final_response(&self, conversation_id: &str) -> Result<String, AgentError> {
        let response = self
            .read(self.connection.final_response(conversation_id))
            .await?;
        match response.status {
            200 => response
                .json::<Object<FinalResponse>>()
                .map(|Object(answer)| answer.response.unwrap_or_default())
                .map_err(|error| AgentError::Unavailable(error.to_string())),
            404 | 422 => Ok(String::new()),
            _ => Err(refusal(&response, false)),
        }
    }

    async fn interrupt(&self, conversation_id: &str) -> Result<(), AgentError> {
        let call = self.connection.interrupt(conversation_id);
        let response = self
            .client
            .send(call)
            .await
            .map_err(|error| no_answer(&error))?;
        match response.status {
            200..300 | 404 | 422 => Ok(()),
            _ => Err(refusal(&response, true)),
        }
    }

    fn is_sandbox(&self) -> bool {
        self.connection.sandbox
    }

    fn conversation_url(&self, conversation_id: &str) -> String {
        format!(
            "{}/conversations/{conversation_id}",
            self.connection.web_url.trim_end_matches('/')
        )
    }
}

/// Whether the server takes it for a UUID: 32 hexadecimal digits, with the usual dashes or without.
fn is_uuid(id: &str) -> bool {
    let dashes_fit = match id.len() {
        32 => !id.contains('-'),
        36 => id
            .char_indices()
            .all(|(at, c)| (c == '-') == matches!(at, 8 | 13 | 18 | 23)),
        _ => false,
    };
    dashes_fit && id.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
}
