//! The statuses of records, of all three schemas.

/// Where a task stands. Which statuses a schema knows is in [`super::Schema::statuses`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Claimed; the workspace and the conversation are being set up.
    Starting,
    /// The conversation is running or waits to be collected.
    Active,
    /// News: a digest was produced and printed.
    Completed,
    /// News: the conversation stopped without writing anything.
    Empty,
    /// News and issues: the conversation failed, or finishing was given up.
    Failed,
    /// No end within two hours.
    Expired,
    /// Reviews and issues: the result was handled.
    Closed,
    /// Reviews: the head moved before the review was collected.
    Stale,
    /// Issues: the issue was closed meanwhile.
    IssueClosed,
    /// Issues: the agent left nothing to push.
    NoChanges,
    /// A status that this version does not know. Such a record is kept and never acted on, except
    /// that its workspace is released.
    Unknown,
}

impl Status {
    const NAMES: [(Self, &str); 10] = [
        (Self::Starting, "starting"),
        (Self::Active, "active"),
        (Self::Completed, "completed"),
        (Self::Empty, "empty"),
        (Self::Failed, "failed"),
        (Self::Expired, "expired"),
        (Self::Closed, "closed"),
        (Self::Stale, "stale"),
        (Self::IssueClosed, "issue-closed"),
        (Self::NoChanges, "no-changes"),
    ];

    /// The status of that name.
    pub fn from_name(name: &str) -> Self {
        Self::NAMES
            .iter()
            .find(|(_, n)| *n == name)
            .map_or(Self::Unknown, |(status, _)| *status)
    }

    /// Its name in documents.
    pub fn name(self) -> &'static str {
        Self::NAMES
            .iter()
            .find(|(s, _)| *s == self)
            .map_or("unknown", |(_, name)| name)
    }

    /// Whether work may still be going on.
    pub fn is_live(self) -> bool {
        matches!(self, Self::Starting | Self::Active)
    }
}
