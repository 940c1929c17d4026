//! What an update takes over: documents in the KV store, and runs that are under way.

use crate::automation_service::{Automation as Deployed, AutomationService, Keys};
use crate::commands::configured::Configured;
use crate::commands::error::CommandError;
use crate::console::Console;
use state_store::Slot;
use std::time::{Duration, Instant};

/// What a run may take beyond its timeout.
const PATIENCE: Duration = Duration::from_mins(2);
/// The service's own timeout, where an automation has none.
const USUAL_TIMEOUT: u64 = 600;
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);
/// Runs that are looked through.
const RUNS: usize = 20;

/// Names of the documents that are taken over, as far as the service tells; `None` when it has no KV
/// store.
pub(super) async fn documents(
    service: &AutomationService,
    existing: &Deployed,
) -> Result<Option<Vec<String>>, CommandError> {
    let keys = match service.keys(&existing.id).await? {
        Keys::Are(keys) => keys,
        Keys::NoStore => return Ok(None),
        Keys::Untold => Vec::new(),
    };
    let is_document = |key: &String| key == "state" || key.starts_with("state:");
    Ok(Some(keys.into_iter().filter(is_document).collect()))
}

/// Warnings about targets of which nothing is remembered, although there are documents of others: a
/// name that is spelled otherwise now, or a target that is new.
pub(super) fn unknown(documents: &[String], configured: &Configured, id: &str) -> Vec<String> {
    // One document of an older version holds what is known of all repositories.
    if documents.is_empty() || documents.iter().any(|key| key == "state") {
        return Vec::new();
    }
    let targets = configured.targets().into_iter();
    let unknown = targets.filter(|target| {
        let key = Slot::new(configured.schema(), Some(id), target).kv_key();
        !documents.contains(&key)
    });
    unknown
        .map(|target| {
            format!("nothing is remembered of {target}: what carries the label there counts as new")
        })
        .collect()
}

/// Waits until no run of the predecessor is under way: a script that still runs would write over
/// what its successor has begun.
pub(super) async fn wait_for_its_runs(
    service: &AutomationService,
    existing: &Deployed,
    console: &Console,
) -> Result<(), CommandError> {
    let timeout = existing.timeout.unwrap_or(USUAL_TIMEOUT);
    let until = Instant::now() + Duration::from_secs(timeout) + PATIENCE;
    let (mut told, mut pause) = (false, FIRST_PAUSE);
    loop {
        let runs = service.runs(&existing.id, RUNS).await?;
        let Some(open) = runs.iter().find(|run| run.is_open()) else {
            return Ok(());
        };
        if Instant::now() > until {
            return Err(CommandError::Failed(format!(
                "run {} is still {}, so {} was not replaced; try again when it has ended",
                open.id,
                open.status.to_lowercase(),
                existing.name
            )));
        }
        if !told {
            console.line(&format!(
                "waiting for run {}, which is {}",
                open.id,
                open.status.to_lowercase()
            ));
            told = true;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 3 / 2).min(LONGEST_PAUSE);
    }
}
