//! The archive that is deployed and the configuration in it: fetched, kept, put together, written.

use super::ability::timed;
use super::archive::Archive;
use super::arguments::Order;
use super::mode::Mode;
use super::plan::Cargo;
use super::remote;
use super::settings::{Settings, target_key};
use crate::automation_service::{
    Automation as Deployed, AutomationService, MAX_UPLOAD_BYTES, ServiceError,
};
use crate::commands::DONE;
use crate::commands::error::CommandError;
use crate::console::Console;
use crate::run::Automation;
use http_client::Client;
use serde_json::{Map, Value};
use std::path::Path;

/// The archive, looked into.
pub(super) async fn cargo(
    order: &Order,
    automation: Automation,
    client: &Client,
) -> Result<Cargo, CommandError> {
    if let Some(address) = order
        .archive
        .as_deref()
        .filter(|text| remote::is_address(text))
    {
        let archive = remote::fetch(client, address).await?;
        archive.check(automation).map_err(CommandError::failed)?;
        return Ok(Cargo::Remote(archive));
    }
    local_archive(order, automation).map(Cargo::Upload)
}

fn local_archive(order: &Order, automation: Automation) -> Result<Archive, CommandError> {
    let executable = std::env::current_exe().ok();
    let working_dir = std::env::current_dir().unwrap_or_default();
    let named = order.archive.as_deref().map(Path::new);
    let archive = Archive::of_file(named, automation, executable.as_deref(), &working_dir);
    let archive = archive.map_err(CommandError::failed)?;
    archive.check(automation).map_err(CommandError::failed)?;
    Ok(archive)
}

/// The configuration that is there already (in the archive at the address, or in the archive that the
/// automation runs now) with what is wanted over it.
pub(super) async fn kept(
    service: &AutomationService,
    cargo: &Cargo,
    existing: Option<&Deployed>,
    automation: Automation,
    keys: Map<String, Value>,
) -> Result<Settings, CommandError> {
    let (source, text) = match (cargo, existing) {
        (Cargo::Remote(archive), _) => (
            format!("config.json in {}", archive.source()),
            archive.config(),
        ),
        (Cargo::Upload(_), Some(existing)) => {
            let bytes = service.archive(&existing.id).await?;
            let source = format!("config.json in the archive of {}", existing.id);
            // A script may come in another shape, and then without a configuration that is known.
            let archive = bytes.and_then(|bytes| Archive::of_bytes(&source, bytes).ok());
            (source, archive.and_then(|archive| archive.config()))
        }
        (Cargo::Upload(_), None) => (String::new(), None),
    };
    let is_kept = text.is_some();
    let mut settings = match text {
        Some(text) => Settings::of_text(&source, &text)?,
        None => Settings::empty(),
    };
    settings.apply(keys);
    if !is_kept && !settings.names_targets(automation) {
        let (key, flag, what) = target_key(automation);
        return Err(CommandError::Usage(format!(
            "there is no configuration to keep: no config.json is in the archive (a script may have \
             it in its constants); give it with --config FILE, or {what} with {flag} (`{key}`)"
        )));
    }
    Ok(settings)
}

/// The archive with the configuration in it, if it is not too large then.
pub(super) fn loaded(
    cargo: Cargo,
    settings: &Settings,
    mode: Mode,
    warnings: &mut Vec<String>,
) -> Result<Cargo, CommandError> {
    match cargo {
        Cargo::Remote(archive) => {
            // What it should say by now is not in it, and cannot be added.
            let inside = archive.config().unwrap_or_default();
            let inside = Settings::of_text(archive.source(), &inside)?;
            if mode == Mode::Sandbox && inside.time_budget().is_none() {
                warnings.push(format!(
                    "{}: its config.json has no `time_budget_seconds`, so a run stays 480 s for \
                     its work and no longer; write the archive with --write-archive FILE --mode \
                     sandbox",
                    archive.source()
                ));
            }
            Ok(Cargo::Remote(archive))
        }
        Cargo::Upload(archive) => {
            let archive = archive
                .with_config(&settings.text())
                .map_err(CommandError::failed)?;
            if archive.size() > MAX_UPLOAD_BYTES {
                return Err(ServiceError::TooLarge {
                    bytes: archive.size(),
                }
                .into());
            }
            Ok(Cargo::Upload(archive))
        }
    }
}

/// Writes the archive with the configuration in it, for a place of one's own.
pub(super) fn write(
    order: &Order,
    automation: Automation,
    settings: &mut Settings,
    path: &Path,
    console: &Console,
) -> Result<u8, CommandError> {
    let mode = order.mode.unwrap_or(Mode::Local);
    timed(order, mode, None, None, settings)?;
    let configured = settings.configured(automation)?;
    for warning in configured.warnings() {
        console.warning(warning);
    }
    let archive = local_archive(order, automation)?;
    let archive = archive
        .with_config(&settings.text())
        .map_err(CommandError::failed)?;
    let (bytes, shown) = (archive.size(), path.display());
    std::fs::write(path, archive.into_bytes())
        .map_err(|error| CommandError::Failed(format!("{shown}: cannot be written ({error})")))?;
    console.output(&format!(
        "Wrote {shown}: {} with {}, {bytes} bytes",
        automation.name(),
        settings.source()
    ));
    Ok(DONE)
}
