//! The names of record fields, each once.

/// A field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    missing_docs,
    reason = "the schema documents under docs/state/ explain every field"
)]
pub enum Field {
    Status,
    ConversationId,
    ConversationUrl,
    WorkspaceDir,
    LastActivity,
    CompletedAt,
    ExpiredAfter,
    LeaseOwner,
    LeaseUntil,
    OpenedBy,
    Attempt,
    LabelEventId,
    LabelEventCreatedAt,
    PrNumber,
    HeadSha,
    HtmlUrl,
    StaleReason,
    IssueIid,
    IssueTitle,
    WebUrl,
    BaseBranch,
    BaseSha,
    Branch,
    FinalizeAttempts,
    MergeRequestUrl,
    MergeRequestIid,
    Error,
    Period,
    ItemKeys,
    ItemCount,
}

impl Field {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::ConversationId => "conversation_id",
            Self::ConversationUrl => "conversation_url",
            Self::WorkspaceDir => "workspace_dir",
            Self::LastActivity => "last_activity",
            Self::CompletedAt => "completed_at",
            Self::ExpiredAfter => "expired_after",
            Self::LeaseOwner => "lease_owner",
            Self::LeaseUntil => "lease_until",
            Self::OpenedBy => "opened_by",
            Self::Attempt => "attempt",
            Self::LabelEventId => "trigger_label_event_id",
            Self::LabelEventCreatedAt => "trigger_label_event_created_at",
            Self::PrNumber => "pr_number",
            Self::HeadSha => "head_sha",
            Self::HtmlUrl => "html_url",
            Self::StaleReason => "stale_reason",
            Self::IssueIid => "issue_iid",
            Self::IssueTitle => "issue_title",
            Self::WebUrl => "web_url",
            Self::BaseBranch => "base_branch",
            Self::BaseSha => "base_sha",
            Self::Branch => "branch",
            Self::FinalizeAttempts => "finalize_attempts",
            Self::MergeRequestUrl => "merge_request_url",
            Self::MergeRequestIid => "merge_request_iid",
            Self::Error => "error",
            Self::Period => "period",
            Self::ItemKeys => "item_keys",
            Self::ItemCount => "item_count",
        }
    }
}
