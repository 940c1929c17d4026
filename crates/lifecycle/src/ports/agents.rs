//! The agent server: where conversations are started, watched and stopped.

/// A conversation to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartConversation {
    /// The id that we chose (a UUID): asking twice with the same id starts nothing twice.
    pub conversation_id: String,
    /// Absolute path of the workspace.
    pub working_dir: String,
    /// The first message.
    pub prompt: String,
}

/// A conversation that exists now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// The server's id of it. Older servers choose their own, so this is the truth.
    pub conversation_id: String,
    /// Whether it was there before (somebody started it already).
    pub existed: bool,
}

/// How a conversation looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversation {
    /// Idle and nothing shows that the agent has worked: it may still be queued.
    IdleFresh,
    /// Idle after the agent has worked or answered.
    IdleDone,
    /// The agent is at work.
    Running,
    /// Stopped by a person or by our interrupt.
    Paused,
    /// Waits for a person.
    WaitingForConfirmation,
    /// Ended well.
    Finished,
    /// Ended with an error.
    Error,
    /// The agent went in circles and was stopped.
    Stuck,
    /// Being deleted.
    Deleting,
    /// A status that this version does not know; treated as still at work.
    Other,
}

/// What one look at a conversation gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// It is there.
    Seen(Conversation),
    /// This server does not know it (404, or `null` in a batch).
    Unknown,
    /// The server could not say.
    Unavailable(String),
}

/// What the agent server could not do.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum AgentError {
    /// No room for another conversation (429): try at the next poll.
    #[error(
        "the agent server has no room for another conversation ({0}); the next poll tries again"
    )]
    Full(String),
    /// The key was not accepted (401, 403).
    #[error("the agent server did not accept the session key ({0}); check SESSION_API_KEY")]
    Unauthorized(String),
    /// The request was refused and nothing was started (other 4xx).
    #[error("the agent server refused: {0}")]
    Refused(String),
    /// No usable answer; the effect is unknown.
    #[error("no usable answer from the agent server: {0}")]
    Unavailable(String),
}

/// Client of the agent server.
pub trait Agents {
    /// Starts a conversation, or finds it if its id is taken.
    fn start(
        &self,
        request: &StartConversation,
    ) -> impl Future<Output = Result<Started, AgentError>>;

    /// Looks at conversations; the answer has one observation per id, in order.
    fn observe(&self, ids: &[String]) -> impl Future<Output = Vec<Observation>>;

    /// The agent's last words; empty when there are none.
    fn final_response(
        &self,
        conversation_id: &str,
    ) -> impl Future<Output = Result<String, AgentError>>;

    /// Stops a running agent at once. Unknown conversations count as stopped.
    fn interrupt(&self, conversation_id: &str) -> impl Future<Output = Result<(), AgentError>>;

    /// Whether conversations live elsewhere than here (sandbox mode): then "unknown" does not
    /// mean "deleted".
    fn is_sandbox(&self) -> bool;

    /// Where a person can look at a conversation.
    fn conversation_url(&self, conversation_id: &str) -> String;
}
