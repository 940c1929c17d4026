//! What the project builds on, tried against the real services: the facts about agent server and
//! automation service that its code and its stand-ins rely on. When an update of the services
//! breaks one, this says which, before anything else fails for reasons that are hard to see.

mod automations;
mod conversations;
mod kv;
mod state_store;

use std::path::Path;

use testbed::scripted_llm::ScriptedLlm;

use super::error::E2eError;
use super::facts::Facts;
use super::services::{Options, RealServices};

/// Starts the services, tries every fact and stops them again; returns what was tried.
///
/// # Errors
/// As for [`check`], and whatever keeps the services from running.
pub(crate) fn run(python: &Path, logs: &Path) -> Result<Vec<String>, E2eError> {
    let mut services = RealServices::start(&Options::new(python, logs))?;
    let tried = check(&mut services)?;
    services.stop()?;
    Ok(tried)
}

/// Tries every fact, with conversations whose LLM plays a script, and returns what was tried.
///
/// # Errors
/// [`E2eError::Contract`] with every fact that does not hold; any other error when a service cannot
/// be talked to at all.
pub(crate) fn check(services: &mut RealServices) -> Result<Vec<String>, E2eError> {
    let mut facts = Facts::default();
    let llm = ScriptedLlm::start()?;
    conversations::check(services, &llm, &mut facts)?;
    let probe = services.create_probe("contract")?;
    kv::check(services, &probe, &mut facts)?;
    state_store::check(services, &mut facts)?;
    automations::check(services, &probe, &mut facts)?;
    facts
        .all_held()
        .map_err(|broken| E2eError::Contract { broken })
}
