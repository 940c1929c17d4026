//! What the core needs of the world, as traits in the core's own words.
//!
//! Adapters implement these; the engine and the policies are generic over them, so that the
//! same code runs against real services and against the simulated world. Every call may be
//! repeated: an implementation either has its effect once or says how to find out. Futures need
//! not be `Send`: a run lives on one thread.

mod agents;
mod clock;
mod feeds;
mod issue_forge;
mod journal;
mod review_forge;
mod store;
mod workspaces;

pub use agents::{AgentError, Agents, Conversation, Observation, StartConversation, Started};
pub use clock::Clock;
pub use feeds::{FeedFailure, Feeds, Funnel, News, Story};
pub use issue_forge::{
    CloneFacts, CloneRequest, Clones, Identity, Issue, IssueForge, MergeRequest, MergeRequestDraft,
    Project, PushError, PushRequest, Pushed, Work,
};
pub use journal::{Journal, Silent};
pub use review_forge::{
    CheckoutError, CheckoutReport, Checkouts, Pull, PullDetails, ReviewForge, ReviewRef,
};
pub use store::{Change, Guard, Store, StoreError};
pub use workspaces::{WorkspaceError, Workspaces};

/// A label event: the moment the trigger label was put on an item. Its id is the idempotency key
/// of the work it asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelEvent {
    /// The forge's id of the event.
    pub id: u64,
    /// When it happened, as the forge wrote it (RFC 3339).
    pub created_at: String,
    /// Who applied the label: the forge's id of the account, if it still exists.
    pub actor_id: Option<u64>,
    /// Who applied the label, by name, if the account still exists.
    pub actor: Option<String>,
}

/// A list that is complete, with what had to be passed over.
///
/// A list that broke off half-way is an error, never a shorter list: nothing may be concluded
/// from what is missing in a part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing<T> {
    /// The items.
    pub items: Vec<T>,
    /// One line for each item that could not be read, naming it.
    pub warnings: Vec<String>,
    /// The name that the repository or project has now, if it was moved from the configured one.
    pub moved_to: Option<String>,
}

/// What a forge could not do.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum ForgeError {
    /// The token is wrong, expired or revoked (401).
    #[error("{call}: the token was not accepted ({detail}); set a valid one")]
    BadToken {
        /// Method and path.
        call: String,
        /// What the forge said.
        detail: String,
    },
    /// The token is valid but may not do this: no access, SSO or IP restriction, missing scope (403,
    /// or 404 where a forge hides what one may not see).
    #[error("{call}: not allowed ({detail})")]
    NoAccess {
        /// Method and path.
        call: String,
        /// What the forge said and what a person can change.
        detail: String,
    },
    /// The thing itself is not there (404, 410).
    #[error("{call}: not found ({detail})")]
    NotFound {
        /// Method and path.
        call: String,
        /// What the forge said.
        detail: String,
    },
    /// A rate limit that does not fit into this run. Nothing follows from it but waiting.
    #[error("{call}: rate limited{}", resets_at.map(|at| format!(" until {}", crate::moment::rfc3339(at))).unwrap_or_default())]
    Limited {
        /// Method and path.
        call: String,
        /// When calls are welcome again, seconds since the epoch, if the forge said so.
        resets_at: Option<f64>,
    },
    /// The request was understood and refused (400, 409, 422).
    #[error("{call}: refused with {status} ({detail})")]
    Refused {
        /// Method and path.
        call: String,
        /// The HTTP status.
        status: u16,
        /// What the forge said, cleaned and shortened.
        detail: String,
    },
    /// No usable answer: network, time limit, 5xx, a body that is not what was asked for. A write
    /// may have had its effect.
    #[error("{call}: no usable answer ({detail})")]
    Unavailable {
        /// Method and path.
        call: String,
        /// What happened.
        detail: String,
    },
}

impl ForgeError {
    /// Whether the forge asked us to slow down, so that nothing more should be asked in this run.
    pub fn is_limited(&self) -> bool {
        matches!(self, Self::Limited { .. })
    }
}
