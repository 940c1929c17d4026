//! What the service allows: how long a run may take, whether it runs archives, and where state is.

use super::arguments::Order;
use super::mode::{LONGEST, Mode, Timing, timing};
use super::settings::Settings;
use crate::automation_service::{Automation as Deployed, AutomationService, Capabilities};
use crate::commands::error::CommandError;

/// Decides about time and state, and adds to the configuration what follows from it.
pub(super) fn timed(
    order: &Order,
    mode: Mode,
    capabilities: Option<&Capabilities>,
    existing: Option<&Deployed>,
    settings: &mut Settings,
) -> Result<u64, CommandError> {
    let longest = capabilities
        .and_then(|capabilities| capabilities.max_automation_timeout_seconds)
        .unwrap_or(LONGEST);
    let current = existing.and_then(|existing| existing.timeout);
    let found = timing(
        mode,
        order.timeout,
        settings.time_budget(),
        current,
        longest,
    );
    let Timing { timeout, budget } = found.map_err(CommandError::Usage)?;
    if let Some(budget) = budget {
        settings.set_time_budget(budget);
    }
    Ok(timeout)
}

/// Whether the service can run it at all, and where state will be.
pub(super) fn able(
    service: &AutomationService,
    capabilities: Option<&Capabilities>,
    order: &Order,
    mode: Mode,
    warnings: &mut Vec<String>,
) -> Result<(), CommandError> {
    let Some(capabilities) = capabilities else {
        return Ok(());
    };
    let host = service.host();
    if !capabilities.ready {
        return Err(CommandError::Failed(format!(
            "the automation service at {host} is not ready to run anything; ask who looks after it"
        )));
    }
    if capabilities.lacks("customTarball") {
        return Err(CommandError::Failed(format!(
            "the automation service at {host} runs no archives of its users"
        )));
    }
    if capabilities.lacks("kvStore") {
        without_kv_store(order, mode, warnings)?;
    }
    Ok(())
}

/// A service without a KV secret: refused, unless files are good enough and were accepted.
pub(super) fn without_kv_store(
    order: &Order,
    mode: Mode,
    warnings: &mut Vec<String>,
) -> Result<(), CommandError> {
    let secret = "the automation service has no KV store (AUTOMATION_KV_SECRET is not set there)";
    match (mode, order.file_state) {
        (Mode::Sandbox, _) => Err(CommandError::Failed(format!(
            "{secret}. With a sandbox for each run, everything that a run remembers would be gone \
             with it, and every run would do all work again; set the secret"
        ))),
        (Mode::Local, false) if order.update.is_none() => Err(CommandError::Failed(format!(
            "{secret}, so what a run remembers would lie in files on the agent server's disk and \
             be lost with it; set the secret, or accept that with --file-state"
        ))),
        // Of an automation that is there, the files are there as well.
        (Mode::Local, _) => {
            warnings.push(format!(
                "{secret}: what a run remembers lies in files, in automation-state beside the \
                 directories of the runs. Keep that folder"
            ));
            Ok(())
        }
    }
}
