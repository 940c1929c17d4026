//! What a deployment came to, for people and as JSON.

use super::arguments::Order;
use super::follow::{Followed, ending};
use super::mode::Mode;
use crate::automation_service::{Automation as Deployed, Run};
use crate::commands::doctor::Finding;
use crate::commands::plain::harmless;
use crate::console::Console;
use serde::Serialize;

/// Everything about a deployment. Times are in seconds.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    /// `created`, `updated` or `checked`.
    pub(super) status: &'static str,
    pub(super) automation: &'static str,
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) host: String,
    pub(super) mode: Mode,
    pub(super) schedule: String,
    pub(super) timezone: String,
    pub(super) timeout: u64,
    pub(super) keep_alive: Option<bool>,
    pub(super) archive: ArchiveReport,
    /// Where the configuration comes from.
    pub(super) config: String,
    pub(super) targets: Vec<String>,
    pub(super) checks: Vec<Finding>,
    /// What was there before an update: with it, one can go back.
    pub(super) replaced: Option<Replaced>,
    /// Names of the documents in the KV store that an update takes over.
    pub(super) documents: Vec<String>,
    pub(super) warnings: Vec<String>,
    pub(super) run: Option<RunReport>,
}

/// The archive.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ArchiveReport {
    /// The file or the address that it comes from.
    pub(super) source: String,
    /// Its size with the configuration in it.
    pub(super) bytes: usize,
    /// Where the service has it.
    pub(super) tarball_path: Option<String>,
}

/// The fields of an automation that an update changes, as they were.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Replaced {
    pub(super) tarball_path: String,
    pub(super) entrypoint: String,
    pub(super) timeout: Option<u64>,
    pub(super) keep_alive: Option<bool>,
}

impl From<&Deployed> for Replaced {
    fn from(before: &Deployed) -> Self {
        Self {
            tarball_path: before.tarball_path.clone(),
            entrypoint: before.entrypoint.clone(),
            timeout: before.timeout,
            keep_alive: before.keep_alive,
        }
    }
}

/// A run that was dispatched and followed, or that is in the history.
#[derive(Clone, Debug, Serialize)]
pub(super) struct RunReport {
    pub(super) id: String,
    pub(super) status: String,
    pub(super) trigger: Option<String>,
    pub(super) phases: Vec<String>,
    pub(super) error: Option<String>,
    pub(super) conversation_id: Option<String>,
    pub(super) created_at: Option<String>,
    pub(super) started_at: Option<String>,
    pub(super) completed_at: Option<String>,
}

impl From<&Run> for RunReport {
    fn from(run: &Run) -> Self {
        Self {
            id: run.id.clone(),
            status: run.status.clone(),
            trigger: run.trigger_source.clone(),
            phases: run.current_phase.iter().cloned().collect(),
            error: run.error_detail.clone(),
            conversation_id: run.conversation_id.clone(),
            created_at: run.created_at.clone(),
            started_at: run.started_at.clone(),
            completed_at: run.completed_at.clone(),
        }
    }
}

impl From<&Followed> for RunReport {
    fn from(followed: &Followed) -> Self {
        Self {
            phases: followed.phases.clone(),
            ..Self::from(&followed.run)
        }
    }
}

impl Report {
    /// What was made, or would be.
    pub(super) fn tell_made(&self, console: &Console) {
        let (done, id) = match (self.status, &self.id) {
            ("created", Some(id)) => ("Created", format!(" ({id})")),
            ("updated", Some(id)) => ("Updated", format!(" ({id})")),
            (_, Some(id)) => ("Would update", format!(" ({id})")),
            (_, None) => ("Would create", String::new()),
        };
        let keep = match self.keep_alive {
            Some(true) => ", the sandbox stays",
            Some(false) => ", the sandbox goes with the run",
            None => "",
        };
        let mode = match self.mode {
            Mode::Local => "one agent server for all runs",
            Mode::Sandbox => "a sandbox for each run",
        };
        let archive = &self.archive;
        let schedule = format!("{} ({})", self.schedule, self.timezone);
        let mut lines = vec![
            format!(
                "{done} {}: {}{id}",
                self.automation,
                harmless(&self.name, 200)
            ),
            format!("  at        {} ({mode})", self.host),
            format!("  schedule  {}", harmless(&schedule, 200)),
            format!("  timeout   {} s{keep}", self.timeout),
            format!(
                "  config    {}: {}",
                self.config,
                harmless(&self.targets.join(", "), 600)
            ),
            format!("  archive   {}, {} bytes", archive.source, archive.bytes),
        ];
        if let Some(path) = &archive.tarball_path {
            lines.push(format!("            {path}"));
        }
        if !self.documents.is_empty() {
            let names = harmless(&self.documents.join(", "), 400);
            lines.push(format!("  state     stays: {names}"));
        }
        if let Some(before) = &self.replaced {
            let now = if self.status == "updated" {
                "before"
            } else {
                "now"
            };
            lines.push(format!(
                "  {now:<8}  `{}` from {}",
                harmless(&before.entrypoint, 200),
                harmless(&before.tarball_path, 300)
            ));
        }
        console.output(&lines.join("\n"));
    }

    /// Where to look from here.
    pub(super) fn tell_where(&self, order: &Order, console: &Console) {
        let Some(id) = &self.id else { return };
        let program = "openhands-automations deploy";
        // Only what is not in the environment anyway.
        let host = if order.place.host.is_some() {
            format!(" --host {}", self.host)
        } else {
            String::new()
        };
        if self.status == "checked" {
            return;
        }
        console.output(&format!(
            "Look at it with:\n  {program} runs {id}{host}\n  {program} logs {id}{host}"
        ));
    }
}

/// The end of a run that was followed.
pub(super) fn tell_run(followed: &Followed, console: &Console) {
    let run = &followed.run;
    let mut text = format!("Run {} {}", run.id, ending(run));
    if let Some(conversation) = &run.conversation_id {
        text.push_str(&format!("\n  conversation {}", harmless(conversation, 100)));
    }
    console.output(&text);
}
