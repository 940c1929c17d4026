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

/// Starts the services, tries every fact, with conversations whose LLM plays a script, and stops
/// them again.
///
/// # Errors
/// When a service does not run or cannot be talked to at all.
pub(super) fn run(python: &Path, logs: &Path, facts: &mut Facts) -> Result<(), E2eError> {
    let mut services = RealServices::start(&Options::new(python, logs))?;
    let llm = ScriptedLlm::start()?;
    conversations::check(&mut services, &llm, facts)?;
    let probe = services.create_probe("contract")?;
    kv::check(&services, &probe, facts)?;
    state_store::check(&services, facts)?;
    automations::check(&mut services, &probe, facts)?;
    services.stop()
}
