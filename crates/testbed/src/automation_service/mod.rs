//! The automation service, as far as deploying needs it: uploads, automations, dispatches, runs,
//! capabilities and preflight.
//!
//! Modelled on the published service (1.26), whose refusals it repeats: an archive over 1,048,576
//! bytes, unknown fields, a shell in the entrypoint, an upload that is not there. A dispatched run
//! goes its scripted way or is really carried out by the test ([`AutomationService::on_dispatch`]);
//! callbacks and phases of runs are received as by [`Callbacks`](crate::callback::Callbacks).

mod check;
mod dispatches;
mod model;
mod preflight;
mod routes;
mod uploads;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

pub use model::{Course, Dispatch};

use crate::callback::{CALLBACK_KEY, OPENHANDS_KEY, Run, RunStatus, Runs, run_routes};
use crate::error::TestbedError;
use crate::server::StandIn;
use model::{Model, Upload};

/// The API key of the person who deploys; sent as a bearer or as `X-Session-API-Key`.
pub const API_KEY: &str = "deploy-key";

/// An uploaded archive is at most this many bytes.
pub const MAX_UPLOAD_BYTES: usize = 1_048_576;

/// A running automation service.
#[derive(Debug)]
pub struct AutomationService {
    server: StandIn,
    model: Arc<Mutex<Model>>,
    runs: Arc<Mutex<Runs>>,
}

impl AutomationService {
    /// Starts a service without automations; dispatched runs complete ([`Course::completes`]).
    ///
    /// # Errors
    /// [`TestbedError::Listen`] when no port can be had.
    pub fn start() -> Result<Self, TestbedError> {
        let runs = Arc::new(Mutex::new(Runs::new([
            API_KEY,
            CALLBACK_KEY,
            OPENHANDS_KEY,
        ])));
        let model = Arc::new(Mutex::new(Model::default()));
        let state = routes::Shared {
            model: Arc::clone(&model),
            runs: Arc::clone(&runs),
        };
        let server = StandIn::start("automation service", |_| {
            routes::router(state.clone()).merge(run_routes(Arc::clone(&state.runs)))
        })?;
        Ok(Self {
            server,
            model,
            runs,
        })
    }

    /// Log, faults, base URL and the final check.
    pub fn server(&self) -> &StandIn {
        &self.server
    }

    /// What `--host` is given.
    pub fn host(&self) -> &str {
        self.server.base_url()
    }

    /// What `AUTOMATION_API_URL` holds: ends in `/api/automation`.
    pub fn api_url(&self) -> String {
        self.server.url("/api/automation")
    }

    /// Whether the service has a KV secret, as its capabilities tell.
    pub fn set_kv_store(&self, available: bool) {
        self.lock().kv_store = available;
    }

    /// Whether the service is ready for new work, as its capabilities tell.
    pub fn set_ready(&self, ready: bool) {
        self.lock().ready = ready;
    }

    /// Whether the service knows `capabilities` and `validate`; older ones answer 404.
    pub fn set_preflight(&self, known: bool) {
        self.lock().preflight = known;
    }

    /// Whether the host is that of a cloud deployment, which knows accounts.
    pub fn set_accounts(&self, known: bool) {
        self.lock().accounts = known;
    }

    /// What dispatched runs do from now on.
    pub fn set_course(&self, course: Course) {
        self.lock().course = course;
    }

    /// Carries dispatched runs out for real: the closure is called on a thread of its own with
    /// the archive and may start a process, whose callback ends the run. It replaces the course.
    pub fn on_dispatch(&self, carry_out: impl Fn(&Dispatch) + Send + Sync + 'static) {
        self.lock().carry_out = Some(Arc::new(carry_out));
    }

    /// All automations that exist, oldest first, as the service shows them.
    pub fn automations(&self) -> Vec<Value> {
        self.lock().automations.clone()
    }

    /// An automation as the service shows it.
    pub fn automation(&self, id: &str) -> Option<Value> {
        self.lock().automation(id).cloned()
    }

    /// Creates an automation as if somebody had: `fields` go over an active daily one with a
    /// Python entrypoint. Gives its id.
    pub fn add_automation(&self, name: &str, fields: &Value) -> String {
        self.lock().add(name, fields)
    }

    /// The bytes of an uploaded archive, by upload id or `tarball_path`.
    pub fn upload(&self, id_or_path: &str) -> Option<Vec<u8>> {
        self.lock().upload(id_or_path).map(<[u8]>::to_vec)
    }

    /// Keeps an archive as if it had been uploaded, of any size. Gives its `tarball_path`.
    pub fn add_upload(&self, name: &str, bytes: Vec<u8>) -> String {
        let mut model = self.lock();
        let id = model.id("b0000000");
        let (name, size) = (name.to_owned(), bytes.len());
        let bytes = Some(bytes);
        model
            .uploads
            .insert(id.clone(), Upload { name, bytes, size });
        format!("oh-internal://uploads/{id}")
    }

    /// What an automation keeps in the KV store, by name.
    pub fn set_keys(&self, automation: &str, keys: &[&str]) {
        let keys = keys.iter().map(|&key| key.to_owned()).collect();
        self.lock().keys.insert(automation.to_owned(), keys);
    }

    /// Begins a run as if the schedule had come. Gives its id.
    pub fn add_run(&self, automation: &str, status: RunStatus) -> String {
        let run = self.lock().id("c0000000");
        self.lock_runs().begin(&run, automation, status);
        run
    }

    /// How many uploads are kept.
    pub fn uploads(&self) -> usize {
        self.lock().uploads.len()
    }

    /// Runs of all automations, in the order of dispatch.
    pub fn runs(&self) -> Vec<Run> {
        self.lock_runs().all().to_vec()
    }

    /// Ends a run from outside.
    pub fn end_run(&self, run: &str, status: RunStatus, error: &str) {
        self.lock_runs().end(run, status, Some(error.into()));
    }

    fn lock(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
