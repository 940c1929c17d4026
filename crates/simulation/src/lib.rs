//! Simulation of the automations: the real engine, the real policies and the real client of the
//! key store against a world in memory, under a seeded scheduler that breaks what may break.
//!
//! `simulation --seeds N [--from S]` runs it; `--schedule` prints what happened, `--mutation NAME`
//! switches a safeguard off.
//!
//! A seed settles everything: what there is at first, when runs begin and how they overlap, at
//! which point of which call one is killed, which answers are lost, late or errors, what people and
//! agents do meanwhile. Rules are looked at while things happen, and once more when
//! the faults have stopped and everything has come to rest. A seed that breaks a rule is run again
//! with its schedule written down.
//!
//! # What the world takes for granted
//!
//! Each assumption follows from the architecture or from the contracts of the services.
//!
//! - A run ends, or is stopped, after 525 seconds: its time (`time_budget_seconds`) and one call
//!   that hangs. A lease and a claim last 15 minutes, longer than any run: rules 2, 3 and 11.
//! - A call has its effect before its caller gives it up. What a killed run has sent arrives within
//!   40 seconds or never. Both are far below 15 minutes.
//! - The clocks of machines that work at the same time differ by seconds; that of the forge by up to
//!   20. Somebody may set the machines' clock, by a day and more, but between runs and not within
//!   the first 20 seconds after one: within a run, 15 minutes must be 15 minutes.
//! - The agent server keeps its promise that one id is one conversation, in local mode over all
//!   runs, in sandbox mode within one. In its first 15 seconds a queued conversation may look done;
//!   after that, the evidence of work is right.
//! - What was interrupted runs again only if a person wants it to; once it is `paused`, or two hours
//!   have passed, its workspace may go (rule 7).
//! - Creating a key with `nx` is exclusive. Where conditional writes are not, check and write lie at
//!   most 20 ms apart.
//! - The forge shows a comment, a review, a merge request or a branch as soon as it is there, but for
//!   a merge request of a branch that is younger than 1.5 seconds (400).
//! - A conversation that a person deletes while only a claim knows of it cannot be told from one that
//!   never was; its task may get another (rule 2).
//! - A review that an earlier task's agent publishes late, after the label was applied again on the
//!   same commit, counts for the later task: nothing tells the two apart.
//! - A key of a task may be left behind where two runs died over it, or where its trigger went while
//!   a run died over it. It costs some bytes; the report counts them.
//! - A trigger whose record was dropped while it was not in force may begin anew (rule 6).
//!
//! ```
//! use simulation::{Options, run};
//!
//! let report = run(0..3, &Options::default());
//! assert!(report.failures.is_empty(), "{report}");
//! ```

#![allow(
    clippy::needless_pass_by_value,
    clippy::trivially_copy_pass_by_ref,
    clippy::redundant_closure_for_method_calls,
    reason = "what the world is handed it keeps, and its paths are long"
)]

mod command;
mod mutation;
mod plan;
mod ports;
mod report;
mod rng;
mod scheduler;
mod seed;
mod watch;
mod world;

pub use command::cli;
pub use mutation::Mutation;
pub use plan::{Automation, Ground};
pub use report::{Failure, Report};
pub use world::Counts;

use std::ops::Range;

/// What is simulated.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Only this automation; otherwise the seed chooses.
    pub automation: Option<Automation>,
    /// A safeguard that is switched off, on the ground where it matters.
    pub mutation: Option<Mutation>,
    /// The safeguard is left on, only its ground is chosen: then no seed may fail.
    pub only_ground: bool,
    /// Whether to stop at the first seed that breaks a rule.
    pub first_only: bool,
    /// Whether to write down the schedules of all seeds, not only of those that fail.
    pub schedules: bool,
}

/// Runs all seeds of a range. The same seed and options give the same schedule, always.
pub fn run(seeds: Range<u64>, options: &Options) -> Report {
    let mut report = Report::default();
    for seed in seeds {
        let outcome = seed::run_seed(seed, *options, options.schedules);
        report.seeds += 1;
        report.counts.add(&outcome.counts);
        if options.schedules {
            report.schedules.push((seed, outcome.schedule));
        }
        let Some(violation) = outcome.violation else {
            continue;
        };
        let again = seed::run_seed(seed, *options, true);
        report.failures.push(Failure {
            seed,
            violation,
            schedule: again.schedule,
        });
        if options.first_only {
            break;
        }
    }
    report
}
