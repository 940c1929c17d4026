//! `cargo xtask bench`: what a run costs, on the stand-ins with latency.
//!
//! The machines that this runs on are small and noisy: figures of one sitting may be compared with
//! each other, not with those of another. Requests are exact; they are what a change is judged by.

mod measure;
mod scenarios;

use crate::console::{heading, say};
use crate::error::TaskError;
use crate::process::{cargo, run as run_command};
use measure::Figures;

/// Builds release binaries and measures all scenarios.
pub(crate) fn run() -> Result<(), TaskError> {
    run_command(&mut cargo(&[
        "build",
        "--quiet",
        "--release",
        "--package",
        "cli",
        "--bins",
    ]))?;
    heading("bench (best of three, release build)");
    say(&format!(
        "{:<58} {:>9} {:>9} {:>9} {:>12}",
        "scenario", "ms", "MiB", "requests", "connections"
    ));
    for (name, scenario) in scenarios::ALL {
        let Figures {
            milliseconds,
            peak_kib,
            requests,
            connections,
        } = scenario()?;
        say(&format!(
            "{name:<58} {milliseconds:>9} {:>9.1} {requests:>9} {connections:>12}",
            peak_kib as f64 / 1024.0
        ));
    }
    Ok(())
}
