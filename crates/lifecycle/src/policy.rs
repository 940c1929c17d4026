//! What an automation adds to the engine: where triggers come from, how a workspace is prepared, and
//! what a result means. The engine holds no policy; a policy holds no order of steps.

use crate::decide::Ending;
use crate::document::{Document, Field, Record, Schema, Status};
use crate::engine::{Claim, Effect, Lease, World};
use crate::error::TargetError;
use crate::ports::{ForgeError, Funnel, PushError, Story, WorkspaceError};
use crate::report::SkipReason;
use serde_json::Value;
use std::collections::HashSet;
use std::rc::Rc;

/// A reason to start work.
#[derive(Clone, Debug)]
pub struct Trigger<T> {
    /// Task key.
    pub task: String,
    /// Number of the item, or the day, for people.
    pub item: String,
    /// When it was triggered (seconds since the epoch) and the event's id: oldest first.
    pub order: (f64, u64),
    /// The fields of the claim that the policy knows.
    pub record: Record,
    /// Names of the workspace below the automation's folder.
    pub workspace: Vec<String>,
    /// What the policy wants to remember until the start.
    pub payload: T,
}

/// What a look at the world gave.
pub struct Discovery<T> {
    /// Items that carry the trigger.
    pub discovered: usize,
    /// New work.
    pub triggers: Vec<Trigger<T>>,
    /// Items that are not worked on: number, reason, detail.
    pub skipped: Vec<(String, SkipReason, String)>,
    /// Task keys whose trigger is in force; `None` when that is not known, so that none is dropped.
    pub in_force: Option<HashSet<String>>,
    /// What the document should remember of this look. Idempotent.
    pub effects: Vec<Effect>,
    /// What to remember for speed only, in place of what was remembered.
    pub cache: Option<Value>,
    /// What deserves attention.
    pub warnings: Vec<String>,
    /// News: what each selection stage left.
    pub funnel: Option<Funnel>,
    /// News: feeds that failed.
    pub feed_errors: Option<Vec<String>>,
    /// News: the stories that would be told.
    pub shortlist: Option<Vec<Story>>,
}

impl<T> Default for Discovery<T> {
    fn default() -> Self {
        Self {
            discovered: 0,
            triggers: Vec::new(),
            skipped: Vec::new(),
            in_force: None,
            effects: Vec::new(),
            cache: None,
            warnings: Vec::new(),
            funnel: None,
            feed_errors: None,
            shortlist: None,
        }
    }
}

/// A workspace that is ready, and what to say to the agent.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    /// The first message of the conversation.
    pub prompt: String,
    /// Fields that the record gets when the conversation has started.
    pub fields: Vec<(Field, Value)>,
    /// What deserves a line in the log, such as links that were left out.
    pub note: String,
}

/// Why a start did not get as far as a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum SetupError {
    /// The item is not to be worked on after all; no failure. The claim is dropped.
    Skip(SkipReason, String),
    /// It failed; the claim is dropped and a later poll tries again.
    Failed(String),
}

/// What came of looking after a task whose conversation has ended (or that was overtaken).
pub enum Finish {
    /// The task has reached a terminal status.
    Ended {
        /// The status.
        status: Status,
        /// Fields of the record to set.
        fields: Vec<(Field, Value)>,
        /// Fields of the record to remove.
        drop: Vec<Field>,
        /// What else the document learns, idempotent.
        effect: Option<Effect>,
        /// One line for the log.
        note: String,
        /// News: the digest, to be printed once it is recorded.
        digest: Option<(String, String)>,
    },
    /// Nothing can or need be done in this poll.
    NotYet(String),
    /// An attempt failed; it counts.
    Failed(String),
}

impl Finish {
    /// A terminal status with some fields and a line for the log.
    pub fn ended(status: Status, fields: Vec<(Field, Value)>, note: impl Into<String>) -> Self {
        Self::Ended {
            status,
            fields,
            drop: Vec::new(),
            effect: None,
            note: note.into(),
            digest: None,
        }
    }
}

/// A forge that is slow or silent costs nothing but time; a refusal counts as an attempt.
impl From<ForgeError> for Finish {
    fn from(error: ForgeError) -> Self {
        match error {
            ForgeError::Limited { .. }
            | ForgeError::Unavailable { .. }
            | ForgeError::BadToken { .. } => Self::NotYet(error.to_string()),
            ForgeError::NoAccess { .. }
            | ForgeError::NotFound { .. }
            | ForgeError::Refused { .. } => Self::Failed(error.to_string()),
        }
    }
}

/// Likewise for git.
impl From<PushError> for Finish {
    fn from(error: PushError) -> Self {
        match error {
            PushError::Unavailable(_) => Self::NotYet(error.to_string()),
            PushError::Taken(_) | PushError::Refused(_) | PushError::Clone(_) => {
                Self::Failed(error.to_string())
            }
        }
    }
}

/// A rate limit is no failure of the task: it is only not its time.
impl From<ForgeError> for SetupError {
    fn from(error: ForgeError) -> Self {
        if error.is_limited() {
            Self::Skip(SkipReason::RateLimited, error.to_string())
        } else {
            Self::Failed(error.to_string())
        }
    }
}

impl From<WorkspaceError> for SetupError {
    fn from(error: WorkspaceError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// The task that is being finished.
pub struct Finishing<'a> {
    /// Task key.
    pub task: &'a str,
    /// Its record, lease included.
    pub record: &'a Record,
    /// How its work ended.
    pub ending: Ending,
    /// The right to finish it.
    pub lease: &'a Lease,
    /// Attempts that failed before this one.
    pub attempts: u64,
}

/// When a label was applied, seconds since the epoch by the forge's own clock: whatever was posted,
/// published or opened for it is younger. Our own clock may have been wrong, and set since.
pub(crate) fn triggered_at(record: &Record) -> f64 {
    record
        .text(Field::LabelEventCreatedAt)
        .and_then(crate::moment::parse_rfc3339)
        .unwrap_or_else(|| record.last_activity() - crate::decide::STALLED_CLAIM_SECONDS)
}

/// Forgets failed attempts of triggers that are no longer in force.
pub(crate) fn forget_retries(in_force: HashSet<String>) -> Effect {
    Rc::new(move |document: &mut Document| {
        for task in document.retry_tasks() {
            if !in_force.contains(&task) && !document.has_record(&task) {
                document.remove_retry(&task);
            }
        }
    })
}

/// One automation, for one target.
pub trait Policy {
    /// What [`survey`](Self::survey) learns.
    type Survey;
    /// What a trigger carries.
    type Payload;

    /// The schema of its documents.
    fn schema(&self) -> &'static Schema;

    /// The target, as configured.
    fn target(&self) -> &str;

    /// Asks the world what does not depend on the document; it goes out together with loading it.
    fn survey(&self) -> impl Future<Output = Result<Self::Survey, TargetError>>;

    /// Whether an active task seems overtaken: its item closed, gone or changed. It is looked at
    /// once more under a lease before anything follows from it.
    fn suspect(&self, survey: &Self::Survey, record: &Record) -> impl Future<Output = bool>;

    /// Finds triggers that have no record yet.
    fn discover<X: World>(
        &self,
        world: &X,
        survey: &Self::Survey,
        document: &Document,
    ) -> impl Future<Output = Result<Discovery<Self::Payload>, TargetError>>;

    /// A last look at a trigger before it is claimed, for it may be old news by now.
    fn confirm<X: World>(
        &self,
        world: &X,
        trigger: &mut Trigger<Self::Payload>,
        document: &Document,
    ) -> impl Future<Output = Result<(), SetupError>>;

    /// Prepares the workspace of a claim.
    fn prepare<X: World>(
        &self,
        world: &X,
        claim: &Claim,
        trigger: &Trigger<Self::Payload>,
        document: &Document,
    ) -> impl Future<Output = Result<Prepared, SetupError>>;

    /// Tells people that work has started, once. A failure is told but stops nothing.
    fn acknowledge<X: World>(
        &self,
        world: &X,
        task: &str,
        record: &Record,
    ) -> impl Future<Output = Result<(), String>>;

    /// Collects a result and tells people, once.
    fn finish<X: World>(
        &self,
        world: &X,
        finishing: &Finishing<'_>,
    ) -> impl Future<Output = Finish>;

    /// Ends a task whose finishing failed too often.
    fn give_up<X: World>(
        &self,
        world: &X,
        finishing: &Finishing<'_>,
        error: &str,
    ) -> impl Future<Output = Finish>;

    /// Keeps the document's own lists within their caps. Idempotent.
    fn tidy(&self, document: &mut Document);
}
