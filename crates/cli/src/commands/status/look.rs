//! Reads the documents of an automation, for [`super::status`] and for whoever else shows them.

use crate::commands::configured::Configured;
use crate::commands::error::CommandError;
use crate::commands::session::Session;
use crate::run::wiring::Wiring;
use futures_util::future::join_all;
use lifecycle::decide::age;
use lifecycle::document::{Document, Field, NEWS, Record};
use lifecycle::ports::{Agents, Store};
use serde::Serialize;
use serde_json::Value;
use state_store::{Entry, EntryKind, StateStore};
use std::path::Path;
use workspace_fs::WorkspaceError;

/// What one automation remembers.
#[derive(Debug, Serialize)]
pub(super) struct AutomationStatus {
    pub(super) automation: &'static str,
    pub(super) automation_id: String,
    pub(super) targets: Vec<TargetStatus>,
}

/// What is remembered of one target.
#[derive(Debug, Serialize)]
pub(super) struct TargetStatus {
    pub(super) target: String,
    /// Where the document is, or would be.
    pub(super) place: String,
    /// Why it cannot be read.
    pub(super) error: Option<String>,
    /// Whether there is a document.
    pub(super) found: bool,
    /// Its size in bytes, and what it may have.
    pub(super) bytes: usize,
    pub(super) budget: usize,
    /// When it was written last, seconds since the epoch.
    pub(super) updated_at: Option<f64>,
    pub(super) tasks: Vec<TaskStatus>,
    pub(super) retries: Vec<RetryStatus>,
    /// News only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) news: Option<NewsStatus>,
    /// What a person should know of how it was found.
    pub(super) notes: Vec<String>,
}

/// One task.
#[derive(Debug, Serialize)]
pub(super) struct TaskStatus {
    pub(super) task: String,
    pub(super) status: String,
    /// Seconds since its last activity; `None` when that is nonsense.
    pub(super) age_seconds: Option<f64>,
    pub(super) conversation_id: Option<String>,
    pub(super) conversation_url: Option<String>,
    pub(super) workspace_dir: Option<String>,
    /// `on disk`, `gone`, `not ours` or why nobody can say; `None` without a workspace.
    pub(super) workspace: Option<String>,
}

/// A task that failed and is tried again.
#[derive(Debug, Serialize)]
pub(super) struct RetryStatus {
    pub(super) task: String,
    pub(super) attempts: u64,
    /// Seconds since the epoch.
    pub(super) next_try: f64,
    pub(super) last_error: String,
}

/// What only the news digest remembers.
#[derive(Debug, Serialize)]
pub(super) struct NewsStatus {
    pub(super) last_checked: Option<f64>,
    pub(super) last_funnel: Option<Value>,
    pub(super) last_feed_errors: Vec<String>,
    pub(super) seen: usize,
    pub(super) last_digest: Option<String>,
}

/// Reads all documents of a configuration.
pub(super) async fn look_at(
    session: &Session,
    configured: &Configured,
) -> Result<AutomationStatus, CommandError> {
    let wiring = session.wiring(configured).await?;
    let names = configured.targets();
    let targets = names
        .iter()
        .map(|target| target_status(session, &wiring, configured, target, names.len()));
    Ok(AutomationStatus {
        automation: configured.automation().name(),
        automation_id: wiring.run.automation_id.clone(),
        targets: join_all(targets).await,
    })
}

async fn target_status(
    session: &Session,
    wiring: &Wiring<'_>,
    configured: &Configured,
    target: &str,
    count: usize,
) -> TargetStatus {
    let mut status = TargetStatus {
        target: target.to_owned(),
        place: String::new(),
        error: None,
        found: false,
        bytes: 0,
        budget: 0,
        updated_at: None,
        tasks: Vec::new(),
        retries: Vec::new(),
        news: None,
        notes: Vec::new(),
    };
    let store = match wiring.store(configured.schema(), target, count) {
        Ok(store) => store,
        Err(error) => {
            status.error = Some(error.to_string());
            return status;
        }
    };
    status.place = store.place();
    status.budget = store.budget();
    let (raw, loaded) = futures_util::join!(store.read_raw(), store.load());
    status.notes = store.take_notes();
    status
        .notes
        .extend(others(wiring, configured, target, &store));
    match loaded {
        Err(error) => status.error = Some(error.to_string()),
        Ok(document) => {
            // An older document that is adopted is there under another name.
            let raw = raw.ok().flatten();
            status.found = raw.is_some() || document.records().next().is_some();
            status.bytes = raw.map_or(0, |raw| raw.len());
            status.updated_at = document.get("updated_at").and_then(Value::as_f64);
            status.retries = retries(&document);
            status.news = (document.schema() == &NEWS).then(|| news(&document));
            let now = session.now();
            let tasks = document
                .records()
                .map(|(task, record)| task_status(wiring, task.to_owned(), record, now));
            status.tasks = join_all(tasks).await;
            // Latest first: that is what people look for.
            status.tasks.sort_by(|a, b| {
                let age = |task: &TaskStatus| task.age_seconds.unwrap_or(f64::INFINITY);
                age(a).total_cmp(&age(b))
            });
        }
    }
    status
}

/// Documents of the same target that belong to other automation ids: whoever looks from outside a
/// run easily looks at the wrong one.
fn others(
    wiring: &Wiring<'_>,
    configured: &Configured,
    target: &str,
    store: &StateStore,
) -> Vec<String> {
    let StateStore::Files(files) = store else {
        return Vec::new();
    };
    let own = files.path();
    let entries = own
        .parent()
        .and_then(|folder| state_store::list(folder).ok());
    let is_other = |entry: &Entry| {
        let stem = |path: &Path| {
            path.file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        };
        // What the name of this one begins with is its own document from an earlier version.
        entry.kind == EntryKind::Document
            && entry.automation == Some(wiring.automation.name())
            && !stem(&own).starts_with(&stem(&entry.path))
    };
    let is_same = |entry: &Entry| match (&entry.target, configured.schema().owner) {
        (Some(owner), _) => target.eq_ignore_ascii_case(owner),
        (None, owner) => owner.is_none(),
    };
    let entries = entries.into_iter().flatten();
    entries
        .filter(|entry| is_other(entry) && is_same(entry))
        .map(|entry| {
            let name = entry.path.file_name().unwrap_or_default();
            let name = name.to_string_lossy();
            format!("there is also {name}, of another automation id (see --automation-id)")
        })
        .collect()
}

async fn task_status(wiring: &Wiring<'_>, task: String, record: Record, now: f64) -> TaskStatus {
    let workspace = match record.workspace_dir() {
        None => None,
        Some(dir) => Some(workspace(wiring, dir).await),
    };
    let text = |field| record.text(field).map(str::to_owned);
    TaskStatus {
        task,
        // As it is written, also where this version does not know it.
        status: text(Field::Status).unwrap_or_else(|| "unknown".to_owned()),
        age_seconds: known_age(&record, now),
        conversation_url: conversation_url(wiring, &record),
        conversation_id: record.conversation_id().map(str::to_owned),
        workspace_dir: record.workspace_dir().map(str::to_owned),
        workspace,
    }
}

/// Seconds since the last activity of a record, if it says when that was.
pub(in crate::commands) fn known_age(record: &Record, now: f64) -> Option<f64> {
    record.get(Field::LastActivity)?;
    Some(age(record, now)).filter(|age| age.is_finite())
}

/// Where people can look at the conversation, as far as that is known here.
pub(in crate::commands) fn conversation_url(
    wiring: &Wiring<'_>,
    record: &Record,
) -> Option<String> {
    let known = record
        .text(Field::ConversationUrl)
        .filter(|url| !url.is_empty());
    known.map(str::to_owned).or_else(|| {
        wiring.environment.agent_server_url.as_ref()?;
        Some(wiring.agents.conversation_url(record.conversation_id()?))
    })
}

/// Whether a workspace is still there.
pub(in crate::commands) async fn workspace(wiring: &Wiring<'_>, dir: &str) -> String {
    match wiring.workspaces.roots().find(Path::new(dir)).await {
        Ok(Some(_)) => "on disk".to_owned(),
        Ok(None) => "gone".to_owned(),
        Err(WorkspaceError::OutsideRoots { .. }) => "not below the workspaces here".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn retries(document: &Document) -> Vec<RetryStatus> {
    let tasks = document.retry_tasks().into_iter();
    let retries = tasks.filter_map(|task| {
        let retry = document.retry(&task)?;
        Some(RetryStatus {
            task,
            attempts: retry.attempts,
            next_try: retry.next_try,
            last_error: retry.last_error,
        })
    });
    retries.collect()
}

fn news(document: &Document) -> NewsStatus {
    let errors = document.get("last_feed_errors").and_then(Value::as_array);
    let errors = errors.into_iter().flatten().filter_map(Value::as_str);
    let digest = document.get("last_digest");
    let period = digest.and_then(|digest| digest.get("period")?.as_str());
    NewsStatus {
        last_checked: document.get("last_checked").and_then(Value::as_f64),
        last_funnel: document.get("last_funnel").cloned(),
        last_feed_errors: errors.map(str::to_owned).collect(),
        seen: lifecycle::news::seen(document).len(),
        last_digest: period.map(str::to_owned),
    }
}
