//! The closed list of reasons, and the statuses of records, in sentences.

use lifecycle::document::Status;
use lifecycle::report::SkipReason;

/// Why nothing would be started, and what would change that. `ask_again` says how work is asked for
/// once more.
pub(super) fn why(reason: SkipReason, ask_again: &str) -> String {
    let text = match reason {
        SkipReason::AlreadyTracked => {
            return format!(
                "It has a record already, and one trigger starts work once. {ask_again}"
            );
        }
        SkipReason::NoLabelEvent => {
            "It carries the label, but no event says when that was applied, so it cannot be told \
             from work that was done. Take the label off and put it on again."
        }
        SkipReason::LostLabel => "It lost the label a moment ago.",
        SkipReason::NoLongerOpen => "It was closed or merged a moment ago.",
        SkipReason::HeadMoved => "Its head moves right now. The run after that takes the new head.",
        SkipReason::Draft => {
            "It is a draft, and `review_drafts` is false. Mark it as ready for review."
        }
        SkipReason::NotAllowed => {
            "Who applied the label may not ask for work here. Somebody with the role that \
             `trigger_role` names can take the label off and put it on again."
        }
        SkipReason::CapReached => {
            "As many are started in one run as `max_new_per_run` allows. Those that were labelled \
             first come first; a later run takes it."
        }
        SkipReason::MaxActive => {
            "As many are at work as `max_active` allows. It is taken when one of them has ended."
        }
        SkipReason::BackingOff => "An earlier attempt failed, and the next one is not due yet.",
        SkipReason::ClaimedElsewhere => "Another run has claimed it and sets it up.",
        SkipReason::NoRoom => {
            "The state document has no room for another record: too much is at work or waits for \
             cleaning up. `status` shows it."
        }
        SkipReason::AgentServerFull => {
            "The agent server has no room for another conversation. A later run tries again."
        }
        SkipReason::OutOfTime => "The run's time is used up before its turn. A later run takes it.",
        SkipReason::RateLimited => "The forge asked to slow down. A later run tries again.",
        SkipReason::NothingNew => {
            "No story is new, so the day stays open: later runs look again, and the day is taken \
             when there is something to tell."
        }
        SkipReason::SetupFailed => "Setting it up failed. A later run tries again.",
    };
    text.to_owned()
}

/// What the status of a record means.
pub(super) fn meaning(status: Status) -> &'static str {
    match status {
        Status::Starting => "claimed; workspace and conversation are being set up",
        Status::Active => "a conversation is at work on it, or waits to be collected",
        Status::Completed => "a digest was written and printed",
        Status::Empty => "the conversation ended without a digest; its stories stay new",
        Status::Failed => "the conversation failed, or its result could not be handed in",
        Status::Expired => "there was no end within two hours, so it was given up",
        Status::Closed => "its result was handled",
        Status::Stale => "the head moved before the review was collected",
        Status::IssueClosed => "the issue was closed meanwhile",
        Status::NoChanges => "the agent left nothing to push",
        Status::Unknown => "a status that this version does not know; the record is left alone",
    }
}
