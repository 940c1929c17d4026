//! What will be made, decided before anything is: a new automation, or a change of one.

use super::archive::Archive;
use super::arguments::Order;
use super::kind::{Neighbour, kind, neighbours, template_id};
use super::mode::Mode;
use crate::automation_service::{Automation as Deployed, Change, Draft, Trigger};
use crate::commands::error::CommandError;
use crate::commands::plain::harmless;
use crate::run::Automation;

/// When a new automation runs, unless it is said. A day's digest is begun by the first run of a
/// morning; the others see to it if that failed or took longer, and do nothing once it is told.
fn usual_schedule(automation: Automation) -> &'static str {
    match automation {
        Automation::News => "*/15 7-9 * * *",
        Automation::Review | Automation::Issue => "*/5 * * * *",
    }
}

/// The archive to be run, and where it goes.
#[derive(Clone, Debug)]
pub(super) enum Cargo {
    /// It is uploaded.
    Upload(Archive),
    /// The service fetches it.
    Remote(Archive),
}

impl Cargo {
    pub(super) fn archive(&self) -> &Archive {
        match self {
            Self::Upload(archive) | Self::Remote(archive) => archive,
        }
    }
}

/// All decisions.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) automation: Automation,
    pub(super) mode: Mode,
    pub(super) timeout: u64,
    /// What it will look like; `tarball_path` is still open.
    pub(super) draft: Draft,
    /// The automation that is changed.
    pub(super) existing: Option<Deployed>,
    pub(super) warnings: Vec<String>,
}

impl Plan {
    /// The change that makes the existing automation what the draft says, and nothing else: what
    /// was not asked for stays.
    pub(super) fn change(&self, order: &Order, tarball_path: String) -> Change {
        let new_trigger = order.schedule.is_some() || order.timezone.is_some();
        let current = self.existing.as_ref();
        let timeout = current.and_then(|existing| existing.timeout);
        Change {
            name: order.name.clone(),
            trigger: new_trigger.then(|| self.draft.trigger.clone()),
            tarball_path: Some(tarball_path),
            entrypoint: Some(self.draft.entrypoint.clone()),
            timeout: Some(self.timeout).filter(|new| timeout != Some(*new)),
            keep_alive: self.draft.keep_alive,
        }
    }
}

/// A new automation, unless it is there already.
pub(super) fn new_automation(
    order: &Order,
    automation: Automation,
    entrypoint: String,
    mode: Mode,
    timeout: u64,
    all: &[Deployed],
    mut warnings: Vec<String>,
) -> Result<Plan, CommandError> {
    let name = order
        .name
        .clone()
        .unwrap_or_else(|| automation.name().to_owned());
    for neighbour in neighbours(all, automation, &name) {
        match neighbour {
            Neighbour::Same(one) => return Err(exists(automation, one)),
            Neighbour::Namesake(one) => return Err(namesake(automation, one)),
            Neighbour::Kindred(one) => warnings.push(format!(
                "there is another {}, {} ({}). They know nothing of each other: what both watch is \
                 worked on twice",
                automation.name(),
                harmless(&one.name, 100),
                one.id
            )),
        }
    }
    let schedule = order
        .schedule
        .as_deref()
        .unwrap_or(usual_schedule(automation));
    let timezone = order.timezone.as_deref().unwrap_or("UTC");
    let template = template_id(automation, &name);
    let draft = Draft {
        name,
        trigger: Trigger::cron(schedule, timezone),
        tarball_path: None,
        entrypoint,
        timeout,
        keep_alive: order.keep_alive.or((mode == Mode::Sandbox).then_some(true)),
        template: None,
    };
    Ok(Plan {
        automation,
        mode,
        timeout,
        draft: draft.of_template(template, env!("CARGO_PKG_VERSION")),
        existing: None,
        warnings,
    })
}

/// The change of an automation that is there.
pub(super) fn update(
    order: &Order,
    automation: Automation,
    entrypoint: String,
    mode: Mode,
    timeout: u64,
    existing: Deployed,
    mut warnings: Vec<String>,
) -> Plan {
    if !existing.is_active() {
        let why = existing
            .disabled_reason
            .as_deref()
            .unwrap_or("no reason given");
        warnings.push(format!(
            "the automation is switched off ({}) and stays so: it runs only when it is dispatched",
            harmless(why, 100)
        ));
    }
    if !existing.is_scheduled() && order.schedule.is_none() {
        warnings.push(
            "the automation has no schedule: it runs when an event comes, and looks at everything \
             each time; give it one with --schedule"
                .to_owned(),
        );
    }
    let schedule = order.schedule.as_deref().unwrap_or(existing.schedule());
    let timezone = order.timezone.as_deref().unwrap_or(existing.timezone());
    let draft = Draft {
        name: order.name.clone().unwrap_or_else(|| existing.name.clone()),
        trigger: Trigger::cron(schedule, timezone),
        tarball_path: None,
        entrypoint,
        timeout,
        keep_alive: order
            .keep_alive
            .or((mode == Mode::Sandbox && existing.keep_alive.is_none()).then_some(true)),
        template: None,
    };
    Plan {
        automation,
        mode,
        timeout,
        draft,
        existing: Some(existing),
        warnings,
    }
}

/// Whether an automation may be replaced by one of ours.
pub(super) fn replaceable(existing: &Deployed, automation: Automation) -> Result<(), CommandError> {
    let name = harmless(&existing.name, 100);
    if let Some(what) = existing.generated_from() {
        return Err(CommandError::Usage(format!(
            "{name} ({}) is made from a {}, not from a script; it is left as it is",
            existing.id,
            harmless(what, 60)
        )));
    }
    match kind(existing) {
        Some(other) if other != automation => Err(CommandError::Usage(format!(
            "{name} ({}) is a {}; a {} in its place would not understand what it remembers",
            existing.id,
            other.name(),
            automation.name()
        ))),
        _ => Ok(()),
    }
}

/// The error for an automation that is there already.
pub(super) fn exists(automation: Automation, one: &Deployed) -> CommandError {
    CommandError::Usage(format!(
        "this {} is there already, under the name {} ({}); nothing was made. To replace what it \
         runs, add --update {}; to have a second one, give it another --name",
        automation.name(),
        harmless(&one.name, 100),
        one.id,
        one.id
    ))
}

/// The error for a name that something else has, which may be the script that is to be replaced.
fn namesake(automation: Automation, one: &Deployed) -> CommandError {
    CommandError::Usage(format!(
        "there is an automation {} already, which runs `{}` ({}); nothing was made. If it is the \
         predecessor of this {}, replace it with --update {}, so that no work is done twice; else \
         give the new one another --name",
        harmless(&one.name, 100),
        harmless(&one.entrypoint, 100),
        one.id,
        automation.name(),
        one.id
    ))
}

/// Five fields, which is all that can be said about a schedule without the service.
pub(super) fn check_schedule(order: &Order) -> Result<(), CommandError> {
    match order.schedule.as_deref() {
        Some(schedule) if schedule.split_whitespace().count() != 5 => {
            Err(CommandError::Usage(format!(
                "--schedule '{schedule}': it should have five fields (minute, hour, day, month, \
                 day of the week), such as '*/5 * * * *' or '0 7 * * 1-5'"
            )))
        }
        _ => Ok(()),
    }
}
