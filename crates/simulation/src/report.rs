//! What came of a simulation.

use crate::world::Counts;
use std::fmt;

/// A seed that broke a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The seed.
    pub seed: u64,
    /// The rule that was broken, and how.
    pub violation: String,
    /// What happened, one line each: seconds since the beginning, and what.
    pub schedule: Vec<String>,
}

/// What came of all seeds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Seeds that were run.
    pub seeds: u64,
    /// How much of everything there was.
    pub counts: Counts,
    /// Seeds that broke a rule.
    pub failures: Vec<Failure>,
    /// Schedules of all seeds, if they were asked for.
    pub schedules: Vec<(u64, Vec<String>)>,
}

/// Schedules that are shown in full.
const SHOWN: usize = 1;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in self.failures.iter().take(SHOWN) {
            writeln!(f, "schedule of seed {}:", failure.seed)?;
            for line in &failure.schedule {
                writeln!(f, "{line}")?;
            }
        }
        for failure in &self.failures {
            writeln!(f, "seed {}: {}", failure.seed, failure.violation)?;
        }
        let counts = &self.counts;
        writeln!(
            f,
            "{} seeds, {} failed; {} events, {} polls ({} killed), {} calls refused, {} answers lost, \
             {} writes overtaken, {} conversations, {} tasks ended, {} told, {} workspaces removed, \
             {} triggers without room, {} keys left",
            self.seeds,
            self.failures.len(),
            counts.events,
            counts.polls,
            counts.kills,
            counts.refused,
            counts.lost,
            counts.overtaken,
            counts.conversations,
            counts.ended,
            counts.told,
            counts.removed,
            counts.no_room,
            counts.keys_left
        )
    }
}
