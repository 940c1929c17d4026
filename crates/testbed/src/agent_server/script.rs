//! What becomes of a conversation: its statuses, the pace at which they change, the deeds of its
//! agent and the agent's last words.

use super::deeds::{Deed, Visit};

/// `execution_status` of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Not started yet, or waiting for the next message.
    Idle,
    /// The agent is at work.
    Running,
    /// Interrupted or paused.
    Paused,
    /// The agent wants to be allowed something.
    WaitingForConfirmation,
    /// The agent has said that it is done.
    Finished,
    /// It broke off.
    Error,
    /// It went round in circles.
    Stuck,
    /// It is being deleted.
    Deleting,
}

impl Status {
    /// The status as the server spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::WaitingForConfirmation => "waiting_for_confirmation",
            Self::Finished => "finished",
            Self::Error => "error",
            Self::Stuck => "stuck",
            Self::Deleting => "deleting",
        }
    }

    pub(super) fn is_end(self) -> bool {
        matches!(self, Self::Finished | Self::Error | Self::Stuck)
    }

    /// Whether a conversation in this status takes up run capacity.
    pub(super) fn takes_room(self) -> bool {
        matches!(self, Self::Idle | Self::Running)
    }
}

/// When a conversation goes on to the next status of its script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// After it has been looked at this often, alone or in a batch.
    Looks(u32),
    /// When the test says so: [`AgentServer::advance`](super::AgentServer::advance).
    Told,
    /// After this many milliseconds of real time.
    Millis(u64),
}

/// What becomes of a conversation.
///
/// ```
/// use testbed::agent_server::{Pace, Script, Status};
///
/// let script = Script::of([Status::Idle, Status::Running, Status::Stuck])
///     .pace(Pace::Looks(2))
///     .response("I could not find the file.");
/// ```
#[derive(Debug, Clone)]
pub struct Script {
    pub(super) statuses: Vec<Status>,
    pub(super) pace: Pace,
    pub(super) response: String,
    pub(super) on_start: Vec<Deed>,
    pub(super) on_finish: Vec<Deed>,
}

impl Script {
    /// These statuses in this order, the first one at once, the last one for good; one look each.
    /// Without any it stays idle.
    pub fn of(statuses: impl IntoIterator<Item = Status>) -> Self {
        let mut statuses: Vec<Status> = statuses.into_iter().collect();
        if statuses.is_empty() {
            statuses.push(Status::Idle);
        }
        Self {
            statuses,
            pace: Pace::Looks(1),
            response: String::new(),
            on_start: Vec::new(),
            on_finish: Vec::new(),
        }
    }

    /// Idle, running, finished, one look each; the agent answers "Done.".
    pub fn finishes() -> Self {
        Self::of([Status::Idle, Status::Running, Status::Finished]).response("Done.")
    }

    /// Idle, running, error, one look each.
    pub fn fails() -> Self {
        Self::of([Status::Idle, Status::Running, Status::Error])
    }

    /// Idle, then running for ever.
    pub fn never_ends() -> Self {
        Self::of([Status::Idle, Status::Running])
    }

    /// Sets the pace.
    #[must_use]
    pub fn pace(mut self, pace: Pace) -> Self {
        self.pace = pace;
        self
    }

    /// Sets what `agent_final_response` says once the conversation has ended.
    #[must_use]
    pub fn response(mut self, text: &str) -> Self {
        text.clone_into(&mut self.response);
        self
    }

    /// Adds a deed for when the conversation begins to run.
    #[must_use]
    pub fn on_start(mut self, deed: Deed) -> Self {
        self.on_start.push(deed);
        self
    }

    /// Adds a deed for just before the conversation is seen to have ended.
    #[must_use]
    pub fn on_finish(mut self, deed: Deed) -> Self {
        self.on_finish.push(deed);
        self
    }

    /// Adds a file that the agent writes before it ends; the path is relative to the workspace.
    #[must_use]
    pub fn writes(self, path: &str, text: &str) -> Self {
        self.on_finish(Deed::write(path, text))
    }

    /// Adds a git command that the agent runs in the workspace before it ends.
    #[must_use]
    pub fn git(self, arguments: &[&str]) -> Self {
        self.on_finish(Deed::git(arguments))
    }

    /// Adds a deed of the test's own before the end.
    #[must_use]
    pub fn does(self, deed: impl Fn(&Visit) -> Result<(), String> + Send + Sync + 'static) -> Self {
        self.on_finish(Deed::visit(deed))
    }
}
