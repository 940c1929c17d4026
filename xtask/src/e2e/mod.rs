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

mod agent;
mod automations;
mod contract;
mod deploy;
mod documents;
mod error;
mod facts;
mod files;
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
use facts::Facts;
use product::{Stage, ends, issue, news, overlap, review, sandbox};
use services::Options;

/// A part of the end-to-end tests.
struct Part {
    /// Its name, for the command line.
    name: &'static str,
    /// What it shows.
    shows: &'static str,
    tests: Tests,
}

/// The tests of a part, which say fact by fact what they saw.
enum Tests {
    /// With services of their own: the Python that these are installed for, a directory for logs.
    Alone(fn(&Path, &Path, &mut Facts) -> Result<(), E2eError>),
    /// On services that all such parts share, which are started for the first of them.
    Shared(fn(&mut Stage, &mut Facts) -> Result<(), E2eError>),
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
        name: "ends",
        shows: "what an agent gets, and the ends of a conversation that are not good ones",
        tests: Tests::Shared(ends::run),
    },
    Part {
        name: "overlap",
        shows: "eight processes at once start and finish once, and a killed one is made good",
        tests: Tests::Shared(overlap::run),
    },
    Part {
        name: "sandbox",
        shows: "with a server for each run, a run finishes its work, and an interrupted one is made good",
        tests: Tests::Alone(sandbox::run),
    },
    Part {
        name: "deploy",
        shows: "packaged, deployed with one command, dispatched: from nothing to done",
        tests: Tests::Shared(deploy::run),
    },
    Part {
        name: "files",
        shows: "without a KV store, deployed runs keep their state in files",
        tests: Tests::Alone(deploy::without_kv::run),
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
    product::build()?;
    let logs = target_dir().join("e2e");
    let mut stage = None;
    for part in PARTS {
        let name = part.name;
        if !names.is_empty() && !names.iter().any(|wanted| wanted == name) {
            continue;
        }
        heading(&format!("e2e {name}: {}", part.shows));
        let since = Instant::now();
        let mut facts = Facts::default();
        let ended = match part.tests {
            Tests::Alone(tests) => tests(&python, &logs.join(name), &mut facts),
            Tests::Shared(tests) => on_stage(&mut stage, &python, &logs, &mut facts, tests),
        };
        block(&facts.held().join("\n"));
        let (held, seconds) = (facts.held().len(), since.elapsed().as_secs());
        say(&format!("e2e {name}: {held} facts in {seconds} s"));
        let mut wrong = facts.broken().to_vec();
        wrong.extend(ended.err().map(|error| error.to_string()));
        if !wrong.is_empty() {
            say(&format!(
                "the logs of the services are in {}",
                logs.display()
            ));
            let wrong = wrong.join("\n  ");
            return Err(TaskError::found(format!("e2e {name} failed:\n  {wrong}")));
        }
    }
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
    facts: &mut Facts,
    tests: fn(&mut Stage, &mut Facts) -> Result<(), E2eError>,
) -> Result<(), E2eError> {
    match stage {
        Some(stage) => tests(stage, facts),
        None => tests(
            stage.insert(Stage::start(&Options::new(python, &logs.join("shared")))?),
            facts,
        ),
    }
}
