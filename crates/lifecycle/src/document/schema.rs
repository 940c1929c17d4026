//! What each of the three documents must look like, said once as data.

use super::{DocumentError, Field, Status};
use serde_json::{Map, Value};

/// The kind of value that a field holds. `null` is allowed everywhere and counts as absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A text.
    Text,
    /// A number; whole or not, as the writer liked.
    Number,
    /// A list of texts.
    Texts,
    /// An object.
    Object,
}

impl Shape {
    fn fits(self, value: &Value) -> bool {
        match self {
            _ if value.is_null() => true,
            Self::Text => value.is_string(),
            Self::Number => value.is_number(),
            Self::Texts => value
                .as_array()
                .is_some_and(|l| l.iter().all(Value::is_string)),
            Self::Object => value.is_object(),
        }
    }

    /// How an error names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Number => "a number",
            Self::Texts => "a list of strings",
            Self::Object => "an object",
        }
    }
}

/// A schema of state documents.
#[derive(Debug, PartialEq, Eq)]
pub struct Schema {
    /// Name of the automation.
    pub automation: &'static str,
    /// The version that is written.
    pub version: u64,
    /// Name of the map of records.
    pub records: &'static str,
    /// Name of the field that holds the target's own name, if there is one.
    pub owner: Option<&'static str>,
    /// Statuses that records may have.
    pub statuses: &'static [Status],
    /// Top-level fields.
    pub top: &'static [(&'static str, Shape)],
    /// Fields of a record.
    pub record: &'static [(Field, Shape)],
}

/// Fields of a record that every schema has.
const CORE: &[(Field, Shape)] = &[
    (Field::Status, Shape::Text),
    (Field::ConversationId, Shape::Text),
    (Field::WorkspaceDir, Shape::Text),
    (Field::LastActivity, Shape::Number),
    (Field::CompletedAt, Shape::Number),
    (Field::ExpiredAfter, Shape::Number),
    (Field::LeaseOwner, Shape::Text),
    (Field::LeaseUntil, Shape::Number),
    (Field::Attempt, Shape::Number),
];

/// Fields at the top that every schema has.
const TOP: &[(&str, Shape)] = &[
    ("version", Shape::Number),
    ("updated_at", Shape::Number),
    ("written_by", Shape::Text),
    ("retries", Shape::Object),
];

/// The document of the news digest.
pub static NEWS: Schema = Schema {
    automation: "news-digest",
    version: 1,
    records: "tasks",
    owner: None,
    statuses: &[
        Status::Starting,
        Status::Active,
        Status::Completed,
        Status::Empty,
        Status::Failed,
        Status::Expired,
    ],
    top: &[
        ("last_checked", Shape::Number),
        ("last_funnel", Shape::Object),
        ("last_feed_errors", Shape::Texts),
        ("seen", Shape::Texts),
        ("last_digest", Shape::Object),
        ("tasks", Shape::Object),
    ],
    record: &[
        (Field::Period, Shape::Text),
        (Field::ConversationUrl, Shape::Text),
        (Field::ItemKeys, Shape::Texts),
        (Field::ItemCount, Shape::Number),
    ],
};

/// The document of the pull request reviewer.
pub static REVIEW: Schema = Schema {
    automation: "github-pr-reviewer",
    version: 3,
    records: "reviews",
    owner: Some("repo"),
    statuses: &[
        Status::Starting,
        Status::Active,
        Status::Closed,
        Status::Stale,
        Status::Expired,
    ],
    top: &[
        ("repo", Shape::Text),
        ("trigger_label", Shape::Text),
        ("reviews", Shape::Object),
        ("prs", Shape::Object),
    ],
    record: &[
        (Field::PrNumber, Shape::Number),
        (Field::HeadSha, Shape::Text),
        (Field::LabelEventId, Shape::Number),
        (Field::LabelEventCreatedAt, Shape::Text),
        (Field::HtmlUrl, Shape::Text),
        (Field::StaleReason, Shape::Text),
    ],
};

/// The document of the issue automation.
pub static ISSUE: Schema = Schema {
    automation: "gitlab-issue-to-mr",
    version: 1,
    records: "tasks",
    owner: Some("project"),
    statuses: &[
        Status::Starting,
        Status::Active,
        Status::IssueClosed,
        Status::Failed,
        Status::NoChanges,
        Status::Closed,
        Status::Expired,
    ],
    top: &[
        ("project", Shape::Text),
        ("trigger_label", Shape::Text),
        ("tasks", Shape::Object),
    ],
    record: &[
        (Field::IssueIid, Shape::Number),
        (Field::IssueTitle, Shape::Text),
        (Field::LabelEventId, Shape::Number),
        (Field::LabelEventCreatedAt, Shape::Text),
        (Field::WebUrl, Shape::Text),
        (Field::BaseBranch, Shape::Text),
        (Field::BaseSha, Shape::Text),
        (Field::Branch, Shape::Text),
        (Field::FinalizeAttempts, Shape::Number),
        (Field::MergeRequestUrl, Shape::Text),
        (Field::MergeRequestIid, Shape::Number),
        (Field::OpenedBy, Shape::Text),
        (Field::Error, Shape::Text),
    ],
};

impl Schema {
    /// All top-level fields.
    pub fn top_fields(&self) -> impl Iterator<Item = (&'static str, Shape)> {
        TOP.iter().chain(self.top).copied()
    }

    /// All fields of a record.
    pub fn record_fields(&self) -> impl Iterator<Item = (Field, Shape)> {
        CORE.iter().chain(self.record).copied()
    }

    /// Checks the fields of a document that are known here.
    pub(super) fn check(&self, fields: &Map<String, Value>) -> Result<(), DocumentError> {
        let found = fields.get("version").and_then(Value::as_f64).unwrap_or(0.0);
        if found > self.version as f64 {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "only shown; positive and saturating"
            )]
            let found = found.ceil() as u64;
            return Err(DocumentError::NewerVersion {
                found,
                known: self.version,
            });
        }
        for (name, shape) in self.top_fields() {
            check_field(fields, name, shape, "")?;
        }
        let Some(Value::Object(records)) = fields.get(self.records) else {
            return Ok(());
        };
        for (task, value) in records {
            let path = format!("{}.{task}", self.records);
            let Value::Object(record) = value else {
                return Err(unreadable(&path, Shape::Object, value));
            };
            for (field, shape) in self.record_fields() {
                check_field(record, field.name(), shape, &format!("{path}."))?;
            }
        }
        Ok(())
    }
}

fn check_field(
    fields: &Map<String, Value>,
    name: &str,
    shape: Shape,
    prefix: &str,
) -> Result<(), DocumentError> {
    match fields.get(name) {
        Some(value) if !shape.fits(value) => {
            Err(unreadable(&format!("{prefix}{name}"), shape, value))
        }
        _ => Ok(()),
    }
}

fn unreadable(path: &str, shape: Shape, found: &Value) -> DocumentError {
    let found = crate::text::cut_bytes(&found.to_string(), 40);
    let path = crate::text::cut_bytes(path, 120);
    DocumentError::Unreadable(format!("{path} should be {}, found {found}", shape.name()))
}
