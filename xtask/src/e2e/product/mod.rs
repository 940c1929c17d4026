//! The three automations, as built for debugging, against the real services: each run is started
//! with the environment of a real one, agents follow a script, forges and feeds are stand-ins.

pub(super) mod ends;
pub(super) mod issue;
pub(super) mod killed;
pub(super) mod news;
pub(super) mod overlap;
pub(super) mod review;
pub(super) mod sandbox;
mod subject;

use std::path::PathBuf;
use std::time::Duration;

use testbed::scripted_llm::ScriptedLlm;

use super::error::E2eError;
use super::services::{Options, RealServices};
use crate::error::TaskError;
use crate::process::{cargo, run, target_dir};

pub(super) use subject::{Ran, Subject};

/// How long a scripted conversation may take on a busy machine.
pub(super) const CONVERSATION_LIMIT: Duration = Duration::from_mins(1);
/// What a record is dated back by before it is collected: nothing is in its first 15 seconds.
pub(super) const A_MINUTE: f64 = 60.0;

/// Builds the binaries, for debugging.
pub(super) fn build() -> Result<(), TaskError> {
    run(&mut cargo(&["build", "--package", "cli", "--bins"]))
}

/// The services that several parts share, because starting them takes seconds, and the model that
/// all their agents ask.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(super) services: RealServices,
    pub(super) llm: ScriptedLlm,
}

impl Stage {
    /// Starts the services.
    pub(in crate::e2e) fn start(options: &Options) -> Result<Self, E2eError> {
        let services = RealServices::start(options)?;
        let llm = ScriptedLlm::start()?;
        services.use_llm(&llm.api_url())?;
        Ok(Self { services, llm })
    }

    /// Ends the services; fails if an agent asked for more than its script has.
    pub(crate) fn stop(self) -> Result<(), E2eError> {
        self.services.stop()?;
        Ok(self.llm.server().check()?)
    }

    /// The binary of this name.
    pub(in crate::e2e) fn program(name: &str) -> PathBuf {
        target_dir().join("debug").join(name)
    }
}

/// The text between two others; empty when they are not there.
pub(super) fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let rest = text.split_once(before).map_or("", |(_, rest)| rest);
    rest.split_once(after).map_or("", |(found, _)| found)
}
