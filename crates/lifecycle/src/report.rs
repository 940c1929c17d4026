//! What a run says about itself, as data. The JSON of `--json` is made of this.

use crate::ports::{Funnel, Story};
use serde::Serialize;

/// Why an item that carries the trigger was not worked on. The list is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// Its label event (or its day) has a record already.
    AlreadyTracked,
    /// It carries the label, but no event says when that was applied.
    NoLabelEvent,
    /// It lost the label between listing and start.
    LostLabel,
    /// It was closed or merged between listing and start.
    NoLongerOpen,
    /// Its head moved between listing and start; the next poll takes the new head.
    HeadMoved,
    /// It is a draft, and drafts are not reviewed.
    Draft,
    /// Who applied the label may not trigger work.
    NotAllowed,
    /// As many were started in this run as the configuration allows (`max_new_per_run`).
    CapReached,
    /// As many are at work as the configuration allows (`max_active`).
    MaxActive,
    /// An earlier attempt failed; the next one is not due yet.
    BackingOff,
    /// Another run has claimed it.
    ClaimedElsewhere,
    /// The state document has no room for another record.
    NoRoom,
    /// The agent server has no room for another conversation.
    AgentServerFull,
    /// The run's time is used up.
    OutOfTime,
    /// The forge asked to slow down.
    RateLimited,
    /// No story is new.
    NothingNew,
    /// Setting it up failed; the text says why.
    SetupFailed,
}

/// A task that was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StartedTask {
    /// Task key.
    pub task: String,
    /// Id of its conversation.
    pub conversation_id: String,
}

/// A task that came to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FinishedTask {
    /// Task key.
    pub task: String,
    /// Its status now.
    pub status: &'static str,
}

/// An item that was not worked on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkippedItem {
    /// Number of the item, or the day.
    pub item: String,
    /// Why.
    pub reason: SkipReason,
    /// More about it, for people; empty when the reason says all.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// What happened to one target.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TargetReport {
    /// The target.
    pub target: String,
    /// `ok` or `failed`.
    pub status: &'static str,
    /// Why it failed.
    pub error: Option<String>,
    /// Items that carry the trigger.
    pub discovered: usize,
    /// Tasks that were started (in a dry run: that would be).
    pub started: Vec<StartedTask>,
    /// Tasks that came to their end.
    pub finished: Vec<FinishedTask>,
    /// Items that were not worked on.
    pub skipped: Vec<SkippedItem>,
    /// Tasks at work when the poll ended.
    pub in_flight: usize,
    /// Workspaces that were removed.
    pub released: usize,
    /// What deserves attention.
    pub warnings: Vec<String>,
    /// News: what each selection stage left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub funnel: Option<Funnel>,
    /// News: feeds that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feed_errors: Option<Vec<String>>,
    /// News, dry run: the stories that would be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortlist: Option<Vec<ShortlistEntry>>,
    /// Dry run: what would be done with tasks that are tracked already.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub planned: Vec<PlannedStep>,
}

/// What a dry run would do with a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedStep {
    /// Task key.
    pub task: String,
    /// In words.
    pub step: String,
}

/// A story as a dry run shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShortlistEntry {
    /// Title.
    pub title: String,
    /// Link.
    pub link: String,
    /// When it was published, RFC 3339 in UTC.
    pub published: Option<String>,
    /// Title of the feed.
    pub source: String,
    /// Fingerprints.
    pub fingerprints: Vec<String>,
}

impl From<&Story> for ShortlistEntry {
    fn from(story: &Story) -> Self {
        Self {
            title: story.title.clone(),
            link: story.link.clone(),
            published: story.published.map(crate::moment::rfc3339),
            source: story.source.clone(),
            fingerprints: story.keys.clone(),
        }
    }
}

impl TargetReport {
    /// A report with nothing in it yet.
    pub fn new(target: &str) -> Self {
        Self {
            target: target.to_owned(),
            status: "ok",
            ..Self::default()
        }
    }

    /// Notes an item that is not worked on.
    pub fn skip(&mut self, item: &str, reason: SkipReason, detail: impl Into<String>) {
        self.skipped.push(SkippedItem {
            item: item.to_owned(),
            reason,
            detail: detail.into(),
        });
    }

    /// Whether the target failed.
    pub fn failed(&self) -> bool {
        self.error.is_some()
    }
}

#[cfg(test)]
mod tests;
