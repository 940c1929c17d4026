//! The real services on loopback: agent server and automation service as child processes
//! with a scripted LLM, for `cargo xtask e2e`. What they are expected to do is written down in
//! [`contract`], which tries it against them; everything else here starts, drives and stops them.
//!
//! ```ignore
//! let python = install::ensure_installed(&project_root)?;
//! let services = RealServices::start(&Options::new(&python, &project_root.join("target/e2e/news")))?;
//! services.use_llm(&llm_base_url)?;
//! let tarball = services.upload("news-digest", archive)?;
//! let id = services.create_automation(&NewAutomation::new("news", &tarball, "./news-digest"))?;
//! let run = services.wait_for_run(&id, &services.dispatch(&id)?, Duration::from_secs(60))?;
//! ```

#![allow(dead_code, reason = "the part that deploys uses the rest")]

mod agent;
mod automations;
mod contract;
mod documents;
mod error;
mod facts;
mod guard;
mod install;
mod keys;
mod kv;
mod process;
mod product;
mod recipes;
mod run_environment;
mod services;
mod token;

use std::path::Path;
use std::time::Instant;

use crate::console::{block, heading, say};
use crate::error::TaskError;
use crate::process::{root, target_dir};
use error::E2eError;
use product::{Stage, issue, news, overlap, review};

/// A part of the end-to-end tests.
struct Part {
    /// Its name, for the command line.
    name: &'static str,
    /// What it shows.
    shows: &'static str,
    tests: Tests,
}

/// The tests of a part say what they saw, fact by fact.
enum Tests {
    /// With services of their own: the Python that these are installed for, a directory for logs.
    Alone(fn(&Path, &Path) -> Result<Vec<String>, E2eError>),
    /// On services that all such parts share, which are started for the first of them.
    Shared(fn(&mut Stage) -> Result<Vec<String>, E2eError>),
}

const PARTS: &[Part] = &[
    Part {
        name: "contract",
        shows: "what the project builds on holds for the real services",
        tests: Tests::Alone(contract::run),
    },
    Part {
        name: "news",
        shows: "a day goes from nothing to completed",
        tests: Tests::Shared(news::run),
    },
    Part {
        name: "review",
        shows: "a label becomes one review that the agent publishes",
        tests: Tests::Shared(review::run),
    },
    Part {
        name: "issue",
        shows: "a label becomes a merge request, opened by the automation or by the agent",
        tests: Tests::Shared(issue::run),
    },
    Part {
        name: "overlap",
        shows: "eight processes at once start and finish once, and a killed one is made good",
        tests: Tests::Shared(overlap::run),
    },
];

/// Runs the parts with these names, or all of them, against the real services. Logs are kept in
/// `e2e` below the target directory.
///
/// # Errors
/// [`TaskError::CannotRunHere`] without a Python that the services run on; else the first failure.
pub(crate) fn run(names: &[String]) -> Result<(), TaskError> {
    if let Some(name) = names
        .iter()
        .find(|name| PARTS.iter().all(|part| part.name != *name))
    {
        let known: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        return Err(TaskError::found(format!(
            "e2e has no part {name}: it has {}",
            known.join(", ")
        )));
    }
    let python = match install::ensure_installed(&root()) {
        Err(error @ E2eError::NoPython) => return Err(TaskError::CannotRunHere(error.to_string())),
        installed => installed.map_err(TaskError::found)?,
    };
    let logs = target_dir().join("e2e");
    let mut stage = None;
    for part in PARTS {
        let name = part.name;
        if !names.is_empty() && !names.iter().any(|wanted| wanted == name) {
            continue;
        }
        heading(&format!("e2e {name}: {}", part.shows));
        let since = Instant::now();
        let seen = match part.tests {
            Tests::Alone(tests) => tests(&python, &logs.join(name)),
            Tests::Shared(tests) => on_stage(&mut stage, &python, &logs, tests),
        };
        let seen = seen.map_err(TaskError::found)?;
        block(&seen.join("\n"));
        let (facts, seconds) = (seen.len(), since.elapsed().as_secs());
        say(&format!("e2e {name}: {facts} facts in {seconds} s"));
    }
    say(&format!(
        "\nthe logs of the services are in {}",
        logs.display()
    ));
    match stage {
        Some(stage) => stage.stop().map_err(TaskError::found),
        None => Ok(()),
    }
}

/// Runs a part on the shared services, which are started if they are not there yet.
fn on_stage(
    stage: &mut Option<Stage>,
    python: &Path,
    logs: &Path,
    tests: fn(&mut Stage) -> Result<Vec<String>, E2eError>,
) -> Result<Vec<String>, E2eError> {
    match stage {
        Some(stage) => tests(stage),
        None => tests(stage.insert(Stage::start(python, &logs.join("shared"))?)),
    }
}
