//! What receives a run's completion callback and its phases, and what a run is given to start with.
//!
//! The receiver is strict like the published automation service (1.26): fields it does not know are
//! refused with 422, and once a run is over everything is a 409. [`RunSetup`] makes the
//! environment of a run for both kinds of deployment.

mod environment;
mod runs;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use environment::{Prepared, RunSetup, Scratch};
pub use runs::{Run, RunStatus};
pub(crate) use runs::{Runs, router as run_routes, shown as shown_run};

use crate::error::TestbedError;
use crate::server::StandIn;

/// The bearer that local runs send: `AUTOMATION_CALLBACK_API_KEY`.
pub const CALLBACK_KEY: &str = "callback-key";

/// The bearer that runs in a sandbox send: `OPENHANDS_API_KEY`.
pub const OPENHANDS_KEY: &str = "openhands-key";

/// A running receiver of callbacks and phases.
#[derive(Debug)]
pub struct Callbacks {
    server: StandIn,
    runs: Arc<Mutex<Runs>>,
}

impl Callbacks {
    /// Starts a receiver that knows of no run yet.
    ///
    /// # Errors
    /// [`TestbedError::Listen`] when no port can be had.
    pub fn start() -> Result<Self, TestbedError> {
        let runs = Arc::new(Mutex::new(Runs::new([CALLBACK_KEY, OPENHANDS_KEY])));
        let served = Arc::clone(&runs);
        let server = StandIn::start("callback receiver", |_| runs::router(served))?;
        Ok(Self { server, runs })
    }

    /// Log, faults, base URL and the final check.
    pub fn server(&self) -> &StandIn {
        &self.server
    }

    /// What `AUTOMATION_API_URL` would hold if this were the whole service.
    pub fn api_url(&self) -> String {
        self.server.url("/api/automation")
    }

    /// `AUTOMATION_CALLBACK_URL` of a run.
    pub fn callback_url(&self, run: &str) -> String {
        format!("{}/v1/runs/{run}/complete", self.api_url())
    }

    /// `AUTOMATION_PHASE_URL` of a run.
    pub fn phase_url(&self, run: &str) -> String {
        format!("{}/v1/runs/{run}/phase", self.api_url())
    }

    /// Begins a run, which is then `RUNNING`.
    pub fn begin(&self, run: &str, automation: &str) {
        self.lock().begin(run, automation, RunStatus::Running);
    }

    /// Ends a run from outside: cancelled, or failed by the watchdog.
    pub fn end(&self, run: &str, status: RunStatus, error: &str) {
        self.lock().end(run, status, Some(error.into()));
    }

    /// What is known of a run.
    pub fn run(&self, run: &str) -> Option<Run> {
        self.lock().get(run).cloned()
    }

    /// All runs, in the order in which they began.
    pub fn runs(&self) -> Vec<Run> {
        self.lock().all().to_vec()
    }

    fn lock(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
