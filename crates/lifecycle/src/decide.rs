//! What to do with a record: a pure function of the record, one look at its conversation, and the
//! time. The rules are those of the lifecycles in `docs/state/`.

use crate::document::{Field, Record};
use crate::ports::{Conversation, Observation};

/// Nothing is collected this soon after a start: a fresh conversation is idle for a moment.
pub const DEBOUNCE_SECONDS: f64 = 15.0;
/// A `starting` record older than this belongs to a poll that died.
pub const STALLED_CLAIM_SECONDS: f64 = 15.0 * 60.0;
/// A conversation that has not ended by then is given up.
pub const MAX_ACTIVE_SECONDS: f64 = 2.0 * 3600.0;
/// How long the right to finish a task lasts.
pub const LEASE_SECONDS: f64 = 15.0 * 60.0;
/// How long after an interrupt a conversation that neither runs nor says "paused" counts as
/// stopped.
const INTERRUPT_GRACE_SECONDS: f64 = 15.0 * 60.0;
/// A moment further in the future than this is no clock skew but nonsense, and counts as long ago.
const FUTURE_SECONDS: f64 = 24.0 * 3600.0;

/// Proof that the conversation of a workspace has stopped, or never was. Only decisions of this
/// crate make one, and only with one may a workspace be removed.
#[derive(Debug)]
pub struct Stopped(());

impl Stopped {
    /// The holder of a claim knows that its conversation was refused, so nothing can run.
    pub(crate) fn never_started(_claim: &crate::engine::Claim) -> Self {
        Self(())
    }
}

/// How the work of a task came to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ending {
    /// The conversation ended well.
    Done,
    /// The conversation ended with an error or was stuck.
    Failed(Conversation),
    /// The conversation was deleted.
    Gone,
    /// The conversation is on another server (sandbox mode): only the forge can tell a result.
    Elsewhere,
    /// The item seems closed or changed; the conversation may still run.
    Overtaken,
    /// No end within two hours; the conversation has been interrupted.
    Expired {
        /// Seconds that it took.
        after: f64,
    },
}

/// Why a record is left alone for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// Another poll is setting it up.
    Claiming,
    /// Started a moment ago.
    Settling,
    /// The conversation goes on.
    Working,
    /// The conversation waits for a person.
    Paused,
    /// The agent server could not say.
    ServerSilent,
    /// Another run holds the lease.
    Leased,
}

/// What to do with a record.
#[derive(Debug)]
pub enum Step {
    /// Nothing now.
    Leave(Waiting),
    /// Nothing ever again.
    Rest,
    /// A stalled claim whose conversation exists: it becomes active.
    Adopt,
    /// A stalled claim whose conversation does not exist: workspace and claim go.
    DropClaim(Stopped),
    /// Collect the result.
    Collect(Ending),
    /// Give up: interrupt the conversation first, if it is here.
    Expire {
        /// Seconds since the last activity.
        after: f64,
        /// Whether there is a conversation here to interrupt.
        interrupt: bool,
    },
    /// The task has ended and its conversation has stopped: the workspace goes.
    Release(Stopped),
    /// The task has ended long ago but its conversation runs on: stop it.
    Interrupt,
    /// The task has ended in another sandbox: forget the workspace if it is not here.
    ForgetIfAbsent,
    /// The task has ended and nothing is on disk, but its lease or guards are still there.
    Tidy,
}

/// Seconds since the last activity of a record, never negative.
pub fn age(record: &Record, now: f64) -> f64 {
    let age = now - record.last_activity();
    if age < -FUTURE_SECONDS {
        f64::INFINITY
    } else {
        age.max(0.0)
    }
}

/// Whether somebody else than `run_id` holds the lease of a record.
pub fn leased_to_other(record: &Record, run_id: &str, now: f64) -> bool {
    let until = record.seconds(Field::LeaseUntil).unwrap_or(0.0);
    let held = until > now && until < now + 2.0 * LEASE_SECONDS;
    held && record
        .text(Field::LeaseOwner)
        .is_some_and(|owner| owner != run_id)
}

/// Decides what to do with a record after one look at its conversation.
pub fn decide(record: &Record, seen: &Observation, sandbox: bool, run_id: &str, now: f64) -> Step {
    use crate::document::Status;
    if leased_to_other(record, run_id, now) {
        return Step::Leave(Waiting::Leased);
    }
    let age = age(record, now);
    match record.status() {
        Status::Starting if age < STALLED_CLAIM_SECONDS => Step::Leave(Waiting::Claiming),
        Status::Starting => stalled(seen, sandbox, age),
        Status::Active if age < DEBOUNCE_SECONDS => Step::Leave(Waiting::Settling),
        Status::Active => active(seen, sandbox, age),
        Status::Completed
        | Status::Empty
        | Status::Failed
        | Status::Expired
        | Status::Closed
        | Status::Stale
        | Status::IssueClosed
        | Status::NoChanges
        | Status::Unknown => ended(record, seen, sandbox, age),
    }
}

/// Whether an ended task's conversation has stopped, now that it has been interrupted and looked at
/// once more. What neither runs nor says "paused" after all that time counts as stopped: it never
/// began, or waits for a person who will find it given up.
pub(crate) fn stopped_by_interrupt(
    record: &Record,
    seen: &Observation,
    sandbox: bool,
    run_id: &str,
    now: f64,
) -> Option<Stopped> {
    let is_idle = matches!(
        seen,
        Observation::Seen(Conversation::IdleFresh | Conversation::WaitingForConfirmation)
    );
    let long_given_up = age(record, now) >= MAX_ACTIVE_SECONDS + INTERRUPT_GRACE_SECONDS;
    match decide(record, seen, sandbox, run_id, now) {
        Step::Release(stopped) => Some(stopped),
        Step::Interrupt if is_idle && long_given_up => Some(Stopped(())),
        _ => None,
    }
}

fn stalled(seen: &Observation, sandbox: bool, age: f64) -> Step {
    match seen {
        Observation::Seen(_) => Step::Adopt,
        Observation::Unavailable(_) => Step::Leave(Waiting::ServerSilent),
        Observation::Unknown if !sandbox => Step::DropClaim(Stopped(())),
        Observation::Unknown => elsewhere(age),
    }
}

fn elsewhere(age: f64) -> Step {
    if age < MAX_ACTIVE_SECONDS {
        Step::Collect(Ending::Elsewhere)
    } else {
        Step::Expire {
            after: age,
            interrupt: false,
        }
    }
}

fn active(seen: &Observation, sandbox: bool, age: f64) -> Step {
    let going_on = |waiting| {
        if age < MAX_ACTIVE_SECONDS {
            Step::Leave(waiting)
        } else {
            Step::Expire {
                after: age,
                interrupt: true,
            }
        }
    };
    match seen {
        Observation::Seen(conversation) => match conversation {
            Conversation::Finished | Conversation::IdleDone => Step::Collect(Ending::Done),
            Conversation::Error | Conversation::Stuck => {
                Step::Collect(Ending::Failed(*conversation))
            }
            Conversation::Paused | Conversation::WaitingForConfirmation => {
                going_on(Waiting::Paused)
            }
            Conversation::IdleFresh
            | Conversation::Running
            | Conversation::Deleting
            | Conversation::Other => going_on(Waiting::Working),
        },
        Observation::Unavailable(_) => Step::Leave(Waiting::ServerSilent),
        Observation::Unknown if !sandbox => Step::Collect(Ending::Gone),
        Observation::Unknown => elsewhere(age),
    }
}

fn ended(record: &Record, seen: &Observation, sandbox: bool, age: f64) -> Step {
    if record.workspace_dir().is_none() {
        let leftover = record.get(Field::LeaseOwner).is_some();
        return if leftover { Step::Tidy } else { Step::Rest };
    }
    if record.conversation_id().is_none() {
        return Step::Release(Stopped(()));
    }
    let given_up = record.status() == crate::document::Status::Expired || age >= MAX_ACTIVE_SECONDS;
    match seen {
        Observation::Seen(conversation) => match conversation {
            // Overtaken at once: it may look done before it has begun.
            Conversation::IdleDone if age < DEBOUNCE_SECONDS => Step::Leave(Waiting::Settling),
            Conversation::Finished
            | Conversation::IdleDone
            | Conversation::Error
            | Conversation::Stuck => Step::Release(Stopped(())),
            // A person may resume what a person has paused; what we interrupted is over.
            Conversation::Paused if given_up => Step::Release(Stopped(())),
            Conversation::Paused => Step::Leave(Waiting::Paused),
            Conversation::IdleFresh
            | Conversation::WaitingForConfirmation
            | Conversation::Running
            | Conversation::Other
                if given_up =>
            {
                Step::Interrupt
            }
            Conversation::IdleFresh
            | Conversation::WaitingForConfirmation
            | Conversation::Running
            | Conversation::Other
            | Conversation::Deleting => Step::Leave(Waiting::Working),
        },
        Observation::Unavailable(_) => Step::Leave(Waiting::ServerSilent),
        Observation::Unknown if !sandbox || age >= MAX_ACTIVE_SECONDS => Step::Release(Stopped(())),
        Observation::Unknown => Step::ForgetIfAbsent,
    }
}

#[cfg(test)]
mod tests;
