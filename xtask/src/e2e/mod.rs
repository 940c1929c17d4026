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

#![allow(
    dead_code,
    unused_imports,
    reason = "the checks that use it come and go, what it offers stays whole"
)]

mod agent;
mod automations;
pub(crate) mod contract;
mod error;
mod guard;
pub(crate) mod install;
mod keys;
mod kv;
mod process;
mod recipes;
mod run_environment;
mod services;
mod token;

use std::path::Path;
use std::time::Instant;

use crate::console::{block, heading, say};
use crate::error::TaskError;
use crate::process::{root, target_dir};

pub(crate) use automations::{NewAutomation, Run};
pub(crate) use error::E2eError;
pub(crate) use run_environment::RunEnvironment;
pub(crate) use services::{Options, RealServices};

/// A part of the end-to-end tests: its name, what it shows, and the tests. A part gets the Python
/// that the services are installed for and a directory for their logs, and says what it saw.
type Part = (
    &'static str,
    &'static str,
    fn(&Path, &Path) -> Result<Vec<String>, E2eError>,
);

const PARTS: &[Part] = &[(
    "contract",
    "what the project builds on holds for the real services",
    contract::run,
)];

/// Runs the parts with these names, or all of them, against the real services. Logs are kept in
/// `e2e/PART` below the target directory.
///
/// # Errors
/// [`TaskError::CannotRunHere`] without a Python that the services run on; else the first failure.
pub(crate) fn run(names: &[String]) -> Result<(), TaskError> {
    if let Some(name) = names
        .iter()
        .find(|name| PARTS.iter().all(|part| part.0 != *name))
    {
        let known: Vec<&str> = PARTS.iter().map(|part| part.0).collect();
        return Err(TaskError::found(format!(
            "e2e has no part {name}: it has {}",
            known.join(", ")
        )));
    }
    let python = match install::ensure_installed(&root()) {
        Err(error @ E2eError::NoPython) => return Err(TaskError::CannotRunHere(error.to_string())),
        installed => installed.map_err(TaskError::found)?,
    };
    for (name, shows, part) in PARTS {
        if !names.is_empty() && !names.iter().any(|wanted| wanted == name) {
            continue;
        }
        heading(&format!("e2e {name}: {shows}"));
        let since = Instant::now();
        let logs = target_dir().join("e2e").join(name);
        let seen = part(&python, &logs).map_err(TaskError::found)?;
        block(&seen.join("\n"));
        let seconds = since.elapsed().as_secs();
        say(&format!(
            "e2e {name}: {} facts in {seconds} s; logs in {}",
            seen.len(),
            logs.display()
        ));
    }
    Ok(())
}
