//! The project's own tasks. Workflows only call these, so everything can be tried on any machine.

mod bench;
mod ci;
mod claims;
mod console;
mod coverage;
mod dev;
mod e2e;
mod error;
mod errors;
mod fuzz;
mod kills;
mod package;
mod process;
mod schema;
mod sources;
mod supply;
mod tidy;

use clap::{Parser, Subcommand};
use error::TaskError;
use std::process::ExitCode;

/// The project's own tasks
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run all three automations end to end on embedded stand-ins and show what happens
    Dev {
        /// Only these: news-digest, github-pr-reviewer, gitlab-issue-to-mr
        automations: Vec<String>,
    },
    /// Run all tests
    Test {
        /// Passed on to cargo test
        #[arg(last = true)]
        rest: Vec<String>,
    },
    /// Run every check: format, lints, tests, docs, drift, package size, real services
    Ci {
        /// Leave out the tests (they have just been run)
        #[arg(long)]
        skip_tests: bool,
        /// Only the checks of this name (may be repeated)
        #[arg(long)]
        only: Vec<String>,
    },
    /// Build the deployable archives and check their size
    Package {
        /// Only these: news-digest, github-pr-reviewer, gitlab-issue-to-mr
        automations: Vec<String>,
        /// For this target instead of this machine, such as aarch64-unknown-linux-gnu
        #[arg(long)]
        target: Option<String>,
    },
    /// Write the JSON Schemas of the state documents
    Schema {
        /// Only check that the committed ones are up to date
        #[arg(long)]
        check: bool,
    },
    /// Measure what runs cost, on stand-ins with latency
    Bench,
    /// Run the fuzz targets for a while each: `[--seconds N] [--seed N] [--replay FILE] [TARGET…]`
    Fuzz {
        /// Passed on to the runner
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Kill runs at many moments and let later ones finish: each automation, store and signal
    Kills {
        /// Moments in each cell
        #[arg(long, default_value_t = 50)]
        moments: usize,
    },
    /// Run engine and policies in a simulated world, one seed after the other
    Simulate {
        /// How many seeds
        #[arg(long, default_value_t = 10_000)]
        seeds: u64,
        /// The first seed
        #[arg(long, default_value_t = 0)]
        from: u64,
    },
    /// Measure how many lines of the core the tests run, and compare with what its READMEs say
    Coverage,
    /// Check licences, banned crates and sources of the dependencies
    Supply,
    /// Check names, module heads and file lengths
    Tidy,
    /// Run against the real services (needs Python 3.12 or newer)
    E2e {
        /// Only these parts
        parts: Vec<String>,
    },
}

fn main() -> ExitCode {
    let task = Arguments::parse().task;
    let done = match task {
        Task::Dev { automations } => dev::run(&automations),
        Task::Test { rest } => ci::tests(&rest),
        Task::Ci { skip_tests, only } => ci::run(skip_tests, &only),
        Task::Package {
            automations,
            target,
        } => package::run_for(&automations, target.as_deref()),
        Task::Schema { check } => schema::run(check),
        Task::Bench => bench::run(),
        Task::Fuzz { arguments } => fuzz::run(&arguments),
        Task::Kills { moments } => kills::run(moments),
        Task::Simulate { seeds, from } => ci::simulate(seeds, from),
        Task::Coverage => coverage::run(),
        Task::Supply => supply::run(),
        Task::Tidy => tidy::run(),
        Task::E2e { parts } => e2e::run(&parts),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(TaskError::CannotRunHere(why)) => {
            console::say(&format!("CANNOT RUN HERE: {why}"));
            ExitCode::from(77)
        }
        Err(error) => {
            console::say(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}
