//! Runs and the two calls that they make to the service: completion and phase.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::post;
use serde_json::{Value, json};

use crate::answer::{Refusal, bearer, header_text, json_answer, json_body};
use crate::calendar;
use crate::kv::now;

/// Fields that the completion callback may have.
const COMPLETION_FIELDS: &[&str] = &[
    "status",
    "run_id",
    "conversation_id",
    "error",
    "cost",
    "blocking_factor",
    "task_outcome",
];
/// A phase has at most this many characters.
const MAX_PHASE_CHARS: usize = 200;
/// How the watchdog's errors begin; a success reported later overrules them.
const WATCHDOG: &str = "Timed out: ";

/// Status of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStatus {
    /// Waiting to be dispatched.
    Pending,
    /// Under way.
    Running,
    /// Over, with success.
    Completed,
    /// Over, without.
    Failed,
    /// Ended by a person.
    Cancelled,
}

impl RunStatus {
    /// The status as the service spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Running => "RUNNING",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Cancelled => "CANCELLED",
        }
    }
}

/// One run and what it has reported.
#[derive(Debug, Clone)]
pub struct Run {
    /// The run's id.
    pub id: String,
    /// The automation it is a run of.
    pub automation: String,
    /// Where it stands.
    pub status: RunStatus,
    /// The error it failed with.
    pub error: Option<Value>,
    /// The conversation that its callback named.
    pub conversation: Option<String>,
    /// The phases it has reported, in order.
    pub phases: Vec<String>,
    /// The bodies of all completion callbacks that were well formed, the late ones included.
    pub callbacks: Vec<Value>,
    /// Seconds since the epoch.
    pub created_at: f64,
    /// Seconds since the epoch.
    pub completed_at: Option<f64>,
}

/// All runs of a service, and the keys that it accepts.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    keys: Vec<String>,
    runs: Vec<Run>,
}

impl Runs {
    pub(crate) fn new<'a>(keys: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            keys: keys.into_iter().map(str::to_owned).collect(),
            runs: Vec::new(),
        }
    }

    pub(crate) fn begin(&mut self, id: &str, automation: &str, status: RunStatus) {
        self.runs.retain(|run| run.id != id);
        self.runs.push(Run {
            id: id.to_owned(),
            automation: automation.to_owned(),
            status,
            error: None,
            conversation: None,
            phases: Vec::new(),
            callbacks: Vec::new(),
            created_at: now(),
            completed_at: None,
        });
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Run> {
        self.runs.iter().find(|run| run.id == id)
    }

    pub(crate) fn get_mut(&mut self, id: &str) -> Option<&mut Run> {
        self.runs.iter_mut().find(|run| run.id == id)
    }

    pub(crate) fn all(&self) -> &[Run] {
        &self.runs
    }

    pub(crate) fn end(&mut self, id: &str, status: RunStatus, error: Option<Value>) {
        if let Some(run) = self.get_mut(id) {
            run.status = status;
            run.error = error;
            run.completed_at = Some(now());
        }
    }

    fn authorized(&mut self, headers: &HeaderMap, id: &str) -> Result<&mut Run, Refusal> {
        let key = bearer(headers).or_else(|| header_text(headers, "x-session-api-key"));
        if !key.is_some_and(|key| self.keys.iter().any(|known| known == key)) {
            return Err(Refusal::new(401, "Invalid API key"));
        }
        self.get_mut(id)
            .ok_or_else(|| Refusal::new(404, "Run not found"))
    }
}

type Shared = Arc<Mutex<Runs>>;

pub(crate) fn router(runs: Shared) -> Router {
    Router::new()
        .route("/api/automation/v1/runs/{id}/complete", post(complete))
        .route("/api/automation/v1/runs/{id}/phase", post(phase))
        .with_state(runs)
}

async fn complete(
    State(runs): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refusal> {
    let mut runs = runs.lock().unwrap_or_else(PoisonError::into_inner);
    let run = runs.authorized(&headers, &id)?;
    let body = json_body(&headers, &body)?;
    only_fields(&body, COMPLETION_FIELDS)?;
    let status = match body["status"].as_str() {
        Some("COMPLETED") => RunStatus::Completed,
        Some("FAILED") => RunStatus::Failed,
        _ => return Err(invalid("status", "Input should be 'COMPLETED' or 'FAILED'")),
    };
    for field in ["run_id", "conversation_id"] {
        if !(body[field].is_null() || body[field].is_string()) {
            return Err(invalid(field, "Input should be a valid string"));
        }
    }
    run.callbacks.push(body.clone());
    let guessed = run.status == RunStatus::Failed
        && run
            .error
            .as_ref()
            .and_then(Value::as_str)
            .is_some_and(|e| e.starts_with(WATCHDOG));
    if run.status != RunStatus::Running && !(guessed && status == RunStatus::Completed) {
        return Err(over(run.status, "RUNNING"));
    }
    run.status = status;
    run.error = match status {
        RunStatus::Failed if body["error"].is_null() => {
            Some("Completion callback reported failure".into())
        }
        RunStatus::Failed => Some(body["error"].clone()),
        _ => None,
    };
    run.conversation = body["conversation_id"].as_str().map(str::to_owned);
    run.completed_at = Some(now());
    Ok(json_answer(200, &shown(run)))
}

async fn phase(
    State(runs): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refusal> {
    let mut runs = runs.lock().unwrap_or_else(PoisonError::into_inner);
    let run = runs.authorized(&headers, &id)?;
    let body = json_body(&headers, &body)?;
    only_fields(&body, &["phase"])?;
    let Some(text) = body["phase"].as_str() else {
        return Err(invalid("phase", "Input should be a valid string"));
    };
    let blanks = |c: char| c.is_whitespace() || c.is_control();
    let words: Vec<&str> = text.split(blanks).filter(|word| !word.is_empty()).collect();
    let text = words.join(" ");
    if text.is_empty() || text.chars().count() > MAX_PHASE_CHARS {
        return Err(invalid("phase", "String should have 1 to 200 characters"));
    }
    if !matches!(run.status, RunStatus::Pending | RunStatus::Running) {
        return Err(over(run.status, "PENDING or RUNNING"));
    }
    run.phases.push(text);
    Ok(json_answer(200, &shown(run)))
}

fn only_fields(body: &Value, known: &[&str]) -> Result<(), Refusal> {
    let Some(body) = body.as_object() else {
        return Err(invalid("body", "Input should be a valid dictionary"));
    };
    match body.keys().find(|field| !known.contains(&field.as_str())) {
        None => Ok(()),
        Some(field) => Err(invalid(field, "Extra inputs are not permitted")),
    }
}

fn invalid(field: &str, why: &str) -> Refusal {
    let problem = json!({"type": "value_error", "loc": ["body", field], "msg": why});
    Refusal::new(422, json!([problem]))
}

fn over(status: RunStatus, expected: &str) -> Refusal {
    Refusal::new(
        409,
        format!("Run is {}, expected {expected}", status.as_str()),
    )
}

/// A run as the service shows it.
pub(crate) fn shown(run: &Run) -> Value {
    let time = |epoch: f64| json!(calendar::milliseconds(epoch));
    json!({
        "id": run.id,
        "automation_id": run.automation,
        "status": run.status.as_str(),
        "trigger_source": "manual",
        "error_detail": run.error,
        "current_phase": run.phases.last(),
        "conversation_id": run.conversation,
        "timeout_at": null,
        "sandbox_id": null,
        "created_at": time(run.created_at),
        "started_at": (run.status != RunStatus::Pending).then(|| time(run.created_at)),
        "completed_at": run.completed_at.map(time),
    })
}
