//! `deploy AUTOMATION`: from what was said to an automation that runs. Everything is decided and
//! checked first; only then something is made.

use super::arguments::Order;
use super::carry_out::{carry_out, preflight};
use super::follow::{Followed, follow};
use super::plan::{self, Cargo, Plan};
use super::questions::Questions;
use super::report::{ArchiveReport, Replaced, Report, RunReport, tell_run};
use super::settings::Settings;
use super::site::Address;
use super::wishes::Wanted;
use super::{ability, freight, predecessor, site, targets, wishes};
use crate::automation_service::{Automation as Deployed, AutomationService};
use crate::commands::configured::Configured;
use crate::commands::error::CommandError;
use crate::commands::session::Session;
use crate::commands::{DONE, WRONG};
use crate::console::Console;
use crate::run::Automation;

/// What is ready to be done: checked, and nothing of it made yet.
struct Ready {
    service: AutomationService,
    plan: Plan,
    cargo: Cargo,
    report: Report,
}

/// Deploys, and tells what came of it. The exit code says whether a run that was asked for ended
/// well.
pub(super) async fn bring(
    mut order: Order,
    session: &Session,
    questions: &mut Questions<'_>,
) -> Result<u8, CommandError> {
    let console = &session.console;
    plan::check_schedule(&order)?;
    let Some(automation) = wishes::which(&order, questions)? else {
        questions.settle()?;
        return Ok(WRONG);
    };
    let mut wanted = wishes::said(&order, automation)?;
    if let (Some(path), Wanted::Whole(settings)) = (&order.write_archive, &mut wanted) {
        wishes::targets_asked(automation, settings, questions)?;
        questions.settle()?;
        return freight::write(&order, automation, settings, path, console);
    }
    let address = site::address(&order.place, &session.environment, questions)?;
    wishes::complete(&mut order, automation, &mut wanted, questions)?;
    let address = questions.settle_with(address)?;
    let ready = ready(&order, automation, wanted, address, session).await?;
    for warning in &ready.plan.warnings {
        console.warning(warning);
    }
    if order.dry_run {
        return Ok(tell(&ready.report, &order, None, console));
    }
    done(ready, &order, console).await
}

/// Decides and checks everything.
async fn ready(
    order: &Order,
    automation: Automation,
    wanted: Wanted,
    address: Address,
    session: &Session,
) -> Result<Ready, CommandError> {
    // Mistakes show before anybody is asked for anything.
    if let Wanted::Whole(settings) = &wanted {
        settings.configured(automation)?;
    }
    let client = site::client(session)?;
    let cargo = freight::cargo(order, automation, &client).await?;
    let (service, capabilities) = site::connect(&client, address, &session.console).await?;
    let capabilities = capabilities.as_ref();
    let existing = existing(&service, order, automation).await?;
    let mut settings = match wanted {
        Wanted::Whole(settings) => settings,
        Wanted::Kept(keys) => {
            freight::kept(&service, &cargo, existing.as_ref(), automation, keys).await?
        }
    };
    let mode = site::mode(&service, order.mode).await;
    let mut warnings = Vec::new();
    ability::able(&service, capabilities, order, mode, &mut warnings)?;
    let timeout = ability::timed(order, mode, capabilities, existing.as_ref(), &mut settings)?;
    let configured = settings.configured(automation)?;
    warnings.extend(configured.warnings().iter().cloned());
    let mut documents = Vec::new();
    if let Some(existing) = &existing {
        match predecessor::documents(&service, existing).await? {
            Some(found) => documents = found,
            // A service that could not say so before.
            None if capabilities.is_none() => {
                ability::without_kv_store(order, mode, &mut warnings)?;
            }
            None => {}
        }
        warnings.extend(predecessor::unknown(&documents, &configured, &existing.id));
    }
    let cargo = freight::loaded(cargo, &settings, mode, &mut warnings)?;
    let start = cargo.archive().entrypoint(automation);
    let start = start.map_err(CommandError::failed)?;
    let plan = if let Some(existing) = existing {
        plan::update(order, automation, start, mode, timeout, existing, warnings)
    } else {
        let all = service.automations().await?;
        plan::new_automation(order, automation, start, mode, timeout, &all, warnings)?
    };
    let checks = targets::check(session, &client, &configured, order.json).await?;
    preflight(&service, &plan).await?;
    let mut report = report(&service, &plan, &cargo, &settings, &configured);
    report.checks = checks;
    report.documents = documents;
    Ok(Ready {
        service,
        plan,
        cargo,
        report,
    })
}

/// Does it, and tells.
async fn done(ready: Ready, order: &Order, console: &Console) -> Result<u8, CommandError> {
    let Ready {
        service,
        plan,
        cargo,
        mut report,
    } = ready;
    if let Some(existing) = &plan.existing {
        predecessor::wait_for_its_runs(&service, existing, console).await?;
    }
    let made = carry_out(&service, order, &plan, cargo, console).await?;
    for warning in &made.warnings {
        console.warning(warning);
    }
    report.warnings.extend(made.warnings);
    report.status = if plan.existing.is_some() {
        "updated"
    } else {
        "created"
    };
    report.id = Some(made.automation.id.clone());
    report.archive.tarball_path = Some(made.tarball_path);
    if !order.json {
        report.tell_made(console);
    }
    let mut followed = None;
    if order.dispatch {
        followed = Some(dispatched(&service, &made.automation, plan.timeout, console).await?);
    }
    report.run = followed.as_ref().map(RunReport::from);
    Ok(tell(&report, order, followed.as_ref(), console))
}

/// The automation that is to be replaced, if it may be.
async fn existing(
    service: &AutomationService,
    order: &Order,
    automation: Automation,
) -> Result<Option<Deployed>, CommandError> {
    let Some(id) = &order.update else {
        return Ok(None);
    };
    let existing = service.automation(id.trim()).await?;
    plan::replaceable(&existing, automation)?;
    Ok(Some(existing))
}

fn report(
    service: &AutomationService,
    plan: &Plan,
    cargo: &Cargo,
    settings: &Settings,
    configured: &Configured,
) -> Report {
    let archive = cargo.archive();
    let trigger = &plan.draft.trigger;
    let current = plan.existing.as_ref();
    Report {
        status: "checked",
        automation: plan.automation.name(),
        id: current.map(|existing| existing.id.clone()),
        name: plan.draft.name.clone(),
        host: service.host().to_string(),
        mode: plan.mode,
        schedule: trigger.schedule.clone(),
        timezone: trigger.timezone.clone(),
        timeout: plan.timeout,
        keep_alive: plan
            .draft
            .keep_alive
            .or_else(|| current.and_then(|existing| existing.keep_alive)),
        archive: ArchiveReport {
            source: archive.source().to_owned(),
            bytes: archive.size(),
            tarball_path: None,
        },
        config: settings.source().to_owned(),
        targets: match configured {
            Configured::News(loaded) => loaded.config.feeds.clone(),
            other => other.targets(),
        },
        checks: Vec::new(),
        replaced: current.map(Replaced::from),
        documents: Vec::new(),
        warnings: plan.warnings.clone(),
        run: None,
    }
}

async fn dispatched(
    service: &AutomationService,
    automation: &Deployed,
    timeout: u64,
    console: &Console,
) -> Result<Followed, CommandError> {
    let (id, name) = (&automation.id, &automation.name);
    let run = service.dispatch(id).await.map_err(|error| {
        let text = format!("{name} is deployed ({id}), but no run was started: {error}");
        CommandError::Failed(text)
    })?;
    console.line(&format!("run {} is asked for", run.id));
    follow(service, id, &run.id, timeout, console).await
}

fn tell(report: &Report, order: &Order, followed: Option<&Followed>, console: &Console) -> u8 {
    if order.json {
        console.output(&serde_json::to_string_pretty(report).unwrap_or_default());
    } else {
        if report.status == "checked" {
            report.tell_made(console);
        }
        if let Some(followed) = followed {
            tell_run(followed, console);
        }
        report.tell_where(order, console);
    }
    match followed {
        Some(followed) if !followed.run.is_completed() => WRONG,
        _ => DONE,
    }
}
