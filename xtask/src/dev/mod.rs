//! `cargo xtask dev`: all three automations, end to end, on stand-ins, without any account.
//!
//! Each play starts the real binary as the automation service would, twice: the first run starts
//! the work, the second collects it. What is shown is what the binary prints, what the services
//! around it saw, and the state document before and after.

mod issue;
mod news;
mod review;
mod stage;

use crate::console::{heading, say};
use crate::error::TaskError;
use crate::process::{cargo, run as run_command};

type Play = (&'static str, fn() -> Result<(), TaskError>);

const PLAYS: &[Play] = &[
    ("news-digest", news::play),
    ("github-pr-reviewer", review::play),
    ("gitlab-issue-to-mr", issue::play),
];

/// Builds the binaries and runs the plays.
pub(crate) fn run(automations: &[String]) -> Result<(), TaskError> {
    for name in automations {
        if !PLAYS.iter().any(|(known, _)| known == name) {
            let known: Vec<&str> = PLAYS.iter().map(|(known, _)| *known).collect();
            return Err(TaskError::found(format!(
                "{name} is no automation; there are {}",
                known.join(", ")
            )));
        }
    }
    run_command(&mut cargo(&["build", "--package", "cli", "--bins"]))?;
    for (name, play) in PLAYS {
        if automations.is_empty() || automations.iter().any(|wanted| wanted == name) {
            heading(name);
            play()?;
        }
    }
    say("\nEverything worked. To use one of them for real, see the README.");
    Ok(())
}
