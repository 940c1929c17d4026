//! The state of the service: uploads, automations, and what becomes of dispatched runs.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::calendar;
use crate::callback::RunStatus;
use crate::kv::now;

/// A run that is to be carried out.
#[derive(Debug, Clone)]
pub struct Dispatch {
    /// The run's id.
    pub run: String,
    /// The automation as the service shows it.
    pub automation: Value,
    /// The archive's bytes; `None` when it is at an address elsewhere.
    pub archive: Option<Vec<u8>>,
}

pub(super) type CarryOut = Arc<dyn Fn(&Dispatch) + Send + Sync>;

/// What a dispatched run does: each look at the list of runs brings it one stage further, from
/// `PENDING` over its phases to its end.
#[derive(Debug, Clone)]
pub struct Course {
    /// The phases, one look each.
    pub phases: Vec<String>,
    /// The status at the end.
    pub end: RunStatus,
    /// The error at the end.
    pub error: Option<String>,
}

impl Course {
    /// Runs through these phases and completes.
    pub fn completes(phases: &[&str]) -> Self {
        let phases = phases.iter().map(|&phase| phase.to_owned()).collect();
        Self {
            phases,
            end: RunStatus::Completed,
            error: None,
        }
    }

    /// Fails with this error after these phases.
    pub fn fails(phases: &[&str], error: &str) -> Self {
        let end = RunStatus::Failed;
        Self {
            end,
            error: Some(error.to_owned()),
            ..Self::completes(phases)
        }
    }

    /// Stays `RUNNING` for ever.
    pub fn never_ends() -> Self {
        Self {
            end: RunStatus::Running,
            ..Self::completes(&[])
        }
    }
}

pub(super) struct Model {
    pub(super) ready: bool,
    pub(super) kv_store: bool,
    pub(super) preflight: bool,
    pub(super) accounts: bool,
    pub(super) course: Course,
    pub(super) carry_out: Option<CarryOut>,
    pub(super) automations: Vec<Value>,
    pub(super) uploads: BTreeMap<String, Upload>,
    /// Automation id to the names of what it keeps in the KV store.
    pub(super) keys: BTreeMap<String, Vec<String>>,
    /// Run id to the stages that are still ahead of it.
    pub(super) ahead: BTreeMap<String, Vec<Stage>>,
    ids: u64,
}

/// One upload.
pub(super) struct Upload {
    pub(super) name: String,
    /// `None` when it was too large to be kept.
    pub(super) bytes: Option<Vec<u8>>,
    pub(super) size: usize,
}

/// One step of a scripted run.
pub(super) enum Stage {
    Phase(String),
    End(RunStatus, Option<String>),
}

impl Default for Model {
    fn default() -> Self {
        Self {
            ready: true,
            kv_store: true,
            preflight: true,
            accounts: false,
            course: Course::completes(&["working"]),
            carry_out: None,
            automations: Vec::new(),
            uploads: BTreeMap::new(),
            keys: BTreeMap::new(),
            ahead: BTreeMap::new(),
            ids: 0,
        }
    }
}

impl Model {
    /// A fresh id: a UUID of version 4 in form, whose first digits tell what it is of.
    pub(super) fn id(&mut self, kind: &str) -> String {
        self.ids += 1;
        format!("{kind}-0000-4000-8000-{:012x}", self.ids)
    }

    pub(super) fn upload(&self, id_or_path: &str) -> Option<&[u8]> {
        let id = id_or_path.rsplit('/').next()?;
        self.uploads.get(id)?.bytes.as_deref()
    }

    pub(super) fn automation(&self, id: &str) -> Option<&Value> {
        self.automations
            .iter()
            .find(|automation| automation["id"] == id)
    }

    pub(super) fn automation_mut(&mut self, id: &str) -> Option<&mut Value> {
        self.automations
            .iter_mut()
            .find(|automation| automation["id"] == id)
    }

    /// Adds an automation with these fields over the defaults of the service.
    pub(super) fn add(&mut self, name: &str, fields: &Value) -> String {
        let id = self.id("a0000000");
        let time = calendar::milliseconds(now());
        let mut automation = json!({
            "id": id,
            "user_id": "00000000-0000-4000-8000-000000000001",
            "org_id": "00000000-0000-4000-8000-000000000002",
            "model": null,
            "name": name,
            "description": null,
            "prompt": null,
            "preset_metadata": null,
            "trigger": {"type": "cron", "schedule": "0 7 * * *", "timezone": "UTC"},
            "tags": [],
            "tarball_path": "https://example.com/automation.tar.gz",
            "setup_script_path": null,
            "entrypoint": "python3 main.py",
            "timeout": 600,
            "keep_alive": null,
            "enabled": true,
            "state": "ACTIVE",
            "disabled_reason": null,
            "last_triggered_at": null,
            "created_at": time,
            "updated_at": time,
        });
        for (field, value) in fields.as_object().into_iter().flatten() {
            automation[field] = value.clone();
        }
        self.automations.push(automation);
        id
    }

    /// The stages of a run that has just been dispatched.
    pub(super) fn plan(&mut self, run: &str) {
        let phases = self.course.phases.iter().cloned().map(Stage::Phase);
        let end = Stage::End(self.course.end, self.course.error.clone());
        let mut stages: Vec<Stage> = phases.chain([end]).collect();
        stages.reverse();
        self.ahead.insert(run.to_owned(), stages);
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("automations", &self.automations)
            .finish_non_exhaustive()
    }
}
