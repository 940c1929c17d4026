//! Following a run to its end.

use crate::automation_service::{AutomationService, Run, ServiceError};
use crate::commands::error::CommandError;
use crate::commands::plain::harmless;
use crate::console::Console;
use http_client::HttpError;
use std::time::{Duration, Instant};

/// The first pause between two looks; they grow to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// Looks in a row that may fail: a service that restarts is back within half a minute.
const MOST_FAILURES: u32 = 12;
/// What a run may take beyond its timeout: to be started, and for the service to notice.
const PATIENCE: Duration = Duration::from_mins(6);
/// Runs that are looked through for the one.
const RUNS: usize = 50;
/// Characters of a phase or an error that are shown.
const SHOWN: usize = 2_000;

/// A run that has ended, and what it reported on the way. A phase that came and went between two
/// looks is missing.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Followed {
    pub(super) run: Run,
    pub(super) phases: Vec<String>,
}

/// Waits until a run is over, however it ends, and tells its phases as they come.
pub(super) async fn follow(
    service: &AutomationService,
    automation: &str,
    run: &str,
    timeout: u64,
    console: &Console,
) -> Result<Followed, CommandError> {
    let until = Instant::now() + Duration::from_secs(timeout) + PATIENCE;
    let (mut phases, mut failures, mut pause) = (Vec::new(), 0, FIRST_PAUSE);
    loop {
        match service.runs(automation, RUNS).await {
            Ok(runs) => {
                failures = 0;
                let Some(found) = runs.into_iter().find(|found| found.id == run) else {
                    let text = format!("run {run} is not in the history of its automation");
                    return Err(CommandError::Failed(text));
                };
                if let Some(phase) = &found.current_phase
                    && phases.last() != Some(phase)
                {
                    console.line(&format!("  {}", harmless(phase, SHOWN)));
                    phases.push(phase.clone());
                }
                if !found.is_open() {
                    return Ok(Followed { run: found, phases });
                }
            }
            Err(error) if passes(&error) && failures < MOST_FAILURES => failures += 1,
            Err(error) => return Err(CommandError::Failed(format!("run {run}: {error}"))),
        }
        if Instant::now() > until {
            return Err(CommandError::Failed(format!(
                "run {run} has not ended within its time; `openhands-automations deploy runs \
                 {automation}` shows what becomes of it"
            )));
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 3 / 2).min(LONGEST_PAUSE);
    }
}

/// Whether a failed look may be followed by a better one.
fn passes(error: &ServiceError) -> bool {
    let ServiceError::Http(error) = error else {
        return false;
    };
    match error {
        HttpError::Connect { .. }
        | HttpError::Timeout { .. }
        | HttpError::Unresponsive { .. }
        | HttpError::Broken { .. }
        | HttpError::Limited { .. } => true,
        HttpError::Status { status, .. } => *status >= 500,
        _ => false,
    }
}

/// How a run ended, in one line.
pub(super) fn ending(run: &Run) -> String {
    let why = run
        .error_detail
        .as_deref()
        .map(|why| format!(": {}", harmless(why, SHOWN)));
    format!("{}{}", run.status.to_lowercase(), why.unwrap_or_default())
}
