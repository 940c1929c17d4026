//! The automation service's side: upload, create, dispatch, and how a run went.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::error::E2eError;
use super::services::{RealServices, expect_ok, text_at};

/// An automation to be created. Its schedule never comes in a test: it runs when dispatched.
#[derive(Debug, Clone)]
pub(crate) struct NewAutomation {
    /// Its name.
    pub(crate) name: String,
    /// What [`RealServices::upload`] returned, or an `https` URL.
    pub(crate) tarball_path: String,
    /// A relative command without shell metacharacters.
    pub(crate) entrypoint: String,
    /// Seconds that a run may take.
    pub(crate) timeout: u32,
}

impl NewAutomation {
    /// An automation whose runs may take two minutes.
    pub(crate) fn new(name: &str, tarball_path: &str, entrypoint: &str) -> Self {
        Self {
            name: name.to_owned(),
            tarball_path: tarball_path.to_owned(),
            entrypoint: entrypoint.to_owned(),
            timeout: 120,
        }
    }
}

/// A run as the history shows it.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    /// Its id.
    pub(crate) id: String,
    /// `PENDING`, `RUNNING`, `COMPLETED`, `FAILED`, `SKIPPED` or `CANCELLED`.
    pub(crate) status: String,
    /// The phases that were seen while it was watched, in order. One that came and went between two
    /// looks is missing; the last one is always there.
    pub(crate) phases: Vec<String>,
    /// What a failed run gave as its reason.
    pub(crate) error: Option<String>,
    /// The conversation that its callback named.
    pub(crate) conversation_id: Option<String>,
    /// The command on the agent server, for its output.
    command_id: Option<String>,
}

impl Run {
    fn from_json(run: &Value) -> Self {
        let text = |field: &str| run[field].as_str().map(str::to_owned);
        Self {
            id: text("id").unwrap_or_default(),
            status: text("status").unwrap_or_default(),
            phases: text("current_phase").into_iter().collect(),
            error: text("error_detail"),
            conversation_id: text("conversation_id"),
            command_id: text("bash_command_id"),
        }
    }

    fn is_over(&self) -> bool {
        !matches!(self.status.as_str(), "PENDING" | "RUNNING")
    }
}

impl RealServices {
    /// Uploads an archive and returns its `tarball_path`. The name is a plain word.
    pub(crate) fn upload(&self, name: &str, archive: Vec<u8>) -> Result<String, E2eError> {
        let what = "POST /v1/uploads";
        let call = self
            .automation_call("POST", &format!("/v1/uploads?name={name}"))
            .body("application/gzip", archive);
        text_at(what, &expect_ok(what, &call)?.json(), "/tarball_path")
    }

    /// Creates an automation and returns its id.
    pub(crate) fn create_automation(&self, new: &NewAutomation) -> Result<String, E2eError> {
        let what = "POST /v1";
        let body = json!({
            "name": new.name,
            "trigger": {"type": "cron", "schedule": "0 0 1 1 *", "timezone": "UTC"},
            "tarball_path": new.tarball_path,
            "entrypoint": new.entrypoint,
            "timeout": new.timeout,
        });
        let call = self.automation_call("POST", "/v1").json(&body);
        text_at(what, &expect_ok(what, &call)?.json(), "/id")
    }

    /// All automations, as the service lists them.
    pub(crate) fn automations(&self) -> Result<Vec<Value>, E2eError> {
        let answer = expect_ok("GET /v1", &self.automation_call("GET", "/v1"))?.json();
        Ok(answer["automations"]
            .as_array()
            .cloned()
            .unwrap_or_default())
    }

    /// Asks for a run now and returns its id. It starts within a second or so.
    pub(crate) fn dispatch(&self, automation_id: &str) -> Result<String, E2eError> {
        let path = format!("/v1/{automation_id}/dispatch");
        let what = format!("POST {path}");
        let answer = expect_ok(&what, &self.automation_call("POST", &path))?;
        text_at(&what, &answer.json(), "/id")
    }

    /// The run history of an automation, newest first.
    pub(crate) fn runs(&self, automation_id: &str) -> Result<Vec<Run>, E2eError> {
        let path = format!("/v1/{automation_id}/runs");
        let answer = expect_ok(&format!("GET {path}"), &self.automation_call("GET", &path))?.json();
        let runs = answer["runs"].as_array().cloned().unwrap_or_default();
        Ok(runs.iter().map(Run::from_json).collect())
    }

    /// Waits until a run is over and returns it, however it ended.
    ///
    /// # Errors
    /// [`E2eError::Run`], with what the run printed, when it takes longer than `limit`, or when its
    /// process has ended and no callback came.
    pub(crate) fn wait_for_run(
        &self,
        automation_id: &str,
        run_id: &str,
        limit: Duration,
    ) -> Result<Run, E2eError> {
        let since = Instant::now();
        let mut phases: Vec<String> = Vec::new();
        let mut ended_without_callback: Option<Instant> = None;
        loop {
            let runs = self.runs(automation_id)?;
            let run = runs.into_iter().find(|run| run.id == run_id);
            let failed = |why: String| E2eError::Run {
                run: run_id.to_owned(),
                automation: automation_id.to_owned(),
                why,
                output: run
                    .as_ref()
                    .map(|run| self.run_output(run))
                    .unwrap_or_default(),
            };
            let Some(found) = &run else {
                return Err(failed("is not in the history".to_owned()));
            };
            for phase in &found.phases {
                if phases.last() != Some(phase) {
                    phases.push(phase.clone());
                }
            }
            if found.is_over() {
                return Ok(Run {
                    phases,
                    ..found.clone()
                });
            }
            // A look at the history may fall between the process's end and its callback's arrival.
            if self.exit_code(found).is_some() {
                let ended = ended_without_callback.get_or_insert_with(Instant::now);
                if ended.elapsed() > Duration::from_secs(1) {
                    return Err(failed("ended without a callback".to_owned()));
                }
            }
            if since.elapsed() > limit {
                let status = &found.status;
                return Err(failed(format!("is {status} after {} s", limit.as_secs())));
            }
            sleep(Duration::from_millis(50));
        }
    }

    /// What a run printed so far: its stdout, then its stderr. Empty before it starts.
    pub(crate) fn run_output(&self, run: &Run) -> String {
        let events = self.command_events(run);
        let all = |stream: &str| -> String {
            let parts = events.iter().filter_map(|event| event[stream].as_str());
            parts.collect()
        };
        let (out, errors) = (all("stdout"), all("stderr"));
        match run_ending(&events) {
            Some(code) => format!("{out}{errors}[exit code {code}]"),
            None => format!("{out}{errors}"),
        }
    }

    /// The exit code of a run's process once it has ended.
    pub(crate) fn exit_code(&self, run: &Run) -> Option<i64> {
        run_ending(&self.command_events(run))
    }

    /// The output events of a run's command in order; none when they cannot be had.
    fn command_events(&self, run: &Run) -> Vec<Value> {
        let Some(id) = &run.command_id else {
            return Vec::new();
        };
        let mut events = Vec::new();
        let mut page = String::new();
        loop {
            let path = format!("/api/bash/bash_events/search?command_id__eq={id}{page}");
            let Ok(answer) = expect_ok("GET the output", &self.agent_call("GET", &path)) else {
                return events;
            };
            let mut answer = answer.json();
            if let Value::Array(mut items) = answer["items"].take() {
                events.append(&mut items);
            }
            match answer["next_page_id"].as_str() {
                Some(next) => page = format!("&page_id={next}"),
                None => return events,
            }
        }
    }
}

fn run_ending(events: &[Value]) -> Option<i64> {
    events.iter().find_map(|event| event["exit_code"].as_i64())
}
