//! Safeguards that can be switched off, one at a time, to see that their absence is noticed.
//!
//! Nothing in the engine or in the policies knows of this. Each mutation makes a port of the world
//! behave as if the safeguard were not there: a guard that everybody wins, a marker that is never
//! found, a server that chooses its own ids.

use crate::plan::{Automation, Ground, Plan};
use crate::rng::Rng;

/// A safeguard that is switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Conditional writes succeed whatever the version is, and a file's lock is no lock.
    CompareAndSwap,
    /// Everybody who creates a guard is told that it is theirs.
    GuardExclusivity,
    /// The agent server ignores the id that was chosen.
    DeterministicId,
    /// A stalled claim counts as one without a conversation.
    Adoption,
    /// Nobody sees the lease of anybody else.
    Lease,
    /// A mark that was posted is never found.
    Marker,
    /// A fresh conversation looks done for longer than it is left alone.
    Debounce,
    /// Ended records may be dropped while their trigger is in force.
    PruneGuard,
    /// Every directory counts as one of ours.
    RootCheck,
    /// An interrupt stops nothing, and says that it did.
    Interrupt,
    /// What was written is not really read back, so that an overtaken write goes unnoticed, and is
    /// not applied again at the end of the poll either.
    ReadBack,
    /// Two tasks may get one directory.
    Collision,
    /// A write is acknowledged before it is durable.
    RecordFirst,
    /// Only a 404 of the agent server is certain, but everything counts as one.
    Certainty,
}

impl Mutation {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::CompareAndSwap,
        Self::GuardExclusivity,
        Self::DeterministicId,
        Self::Adoption,
        Self::Lease,
        Self::Marker,
        Self::Debounce,
        Self::PruneGuard,
        Self::RootCheck,
        Self::Interrupt,
        Self::ReadBack,
        Self::Collision,
        Self::RecordFirst,
        Self::Certainty,
    ];

    /// Its name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::CompareAndSwap => "compare-and-swap",
            Self::GuardExclusivity => "guard-exclusivity",
            Self::DeterministicId => "deterministic-id",
            Self::Adoption => "adoption",
            Self::Lease => "lease",
            Self::Marker => "marker",
            Self::Debounce => "debounce",
            Self::PruneGuard => "prune-guard",
            Self::RootCheck => "root-check",
            Self::Interrupt => "interrupt",
            Self::ReadBack => "read-back",
            Self::Collision => "collision",
            Self::RecordFirst => "record-first",
            Self::Certainty => "certainty",
        }
    }

    /// The mutation of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// The ground on which the safeguard matters; all else stays as the seed has it.
    pub(crate) fn ground(self, plan: &Plan, rng: &mut Rng) -> Plan {
        let plan = plan.clone();
        let local = Plan {
            sandbox: false,
            keep_alive: false,
            ..plan.clone()
        };
        match self {
            Self::CompareAndSwap => Plan {
                ground: rng.pick(&[Ground::Files, Ground::Strict]),
                ..local
            },
            Self::GuardExclusivity | Self::ReadBack => Plan {
                ground: Ground::Overlapping,
                polls: 8,
                apart: 4_000,
                // A service that is slower than measured, so that the other safeguards do not hide
                // that this one is missing.
                gap: 300_000,
                ..plan
            },
            Self::RecordFirst => Plan {
                ground: Ground::Files,
                ..local
            },
            Self::PruneGuard => Plan {
                targets: 20,
                history: 12,
                ..plan
            },
            Self::Collision => Plan {
                automation: Automation::Review,
                checks_role: false,
                ..local
            },
            Self::RootCheck => Plan {
                legacy: true,
                ..plan
            },
            Self::DeterministicId
            | Self::Adoption
            | Self::Lease
            | Self::Marker
            | Self::Debounce
            | Self::Interrupt
            | Self::Certainty => local,
        }
    }
}
