//! What is wanted: said on the command line and in a file, or asked for.

use super::arguments::Order;
use super::questions::{Questions, items};
use super::settings::{Settings, keys, target_key};
use super::{plan, remote};
use crate::commands::error::CommandError;
use crate::run::Automation;
use serde_json::{Map, Value};

/// Which automation is meant; `None` when nobody can say, which the questions then know.
pub(super) fn which(
    order: &Order,
    questions: &mut Questions<'_>,
) -> Result<Option<Automation>, CommandError> {
    if order.automation.is_some() {
        return Ok(order.automation);
    }
    let names = Automation::ALL.map(Automation::name).join(", ");
    let answer = questions.needed(
        &format!("Which automation ({names})?"),
        format!("which automation: {names}"),
    )?;
    let Some(answer) = answer else {
        return Ok(None);
    };
    let found = Automation::from_name(&answer);
    let unknown = || CommandError::Usage(format!("there is no automation {answer}: it is {names}"));
    found.map(Some).ok_or_else(unknown)
}

/// The configuration that is wanted.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    /// All of it is known.
    Whole(Settings),
    /// The one that is there already, with these keys over it.
    Kept(Map<String, Value>),
}

/// What the file and the command line say.
pub(super) fn said(order: &Order, automation: Automation) -> Result<Wanted, CommandError> {
    let keys = keys(&order.keys, automation)?;
    let is_remote = order.archive.as_deref().is_some_and(remote::is_address);
    if is_remote && order.write_archive.is_some() {
        let text = "--write-archive puts a configuration into an archive that is a file here; name \
                    it with --archive FILE";
        return Err(CommandError::Usage(text.to_owned()));
    }
    if is_remote && (order.keys.config.is_some() || !keys.is_empty()) {
        return Err(CommandError::Usage(
            "an archive at an address is taken as it is, with the configuration in it: put yours \
             into it with --write-archive FILE, place that file at the address, and deploy without \
             --config and keys"
                .to_owned(),
        ));
    }
    let mut settings = match &order.keys.config {
        Some(path) => Settings::of_file(path)?,
        None if is_remote || order.update.is_some() => return Ok(Wanted::Kept(keys)),
        None => Settings::empty(),
    };
    settings.apply(keys);
    Ok(Wanted::Whole(settings))
}

/// Asks for what is missing.
pub(super) fn complete(
    order: &mut Order,
    automation: Automation,
    wanted: &mut Wanted,
    questions: &mut Questions<'_>,
) -> Result<(), CommandError> {
    let Wanted::Whole(settings) = wanted else {
        return Ok(());
    };
    targets_asked(automation, settings, questions)?;
    if order.update.is_none() {
        if order.schedule.is_none() {
            order.schedule =
                questions.wished("When does it run (five fields of cron; empty for the usual)?")?;
            plan::check_schedule(order)?;
        }
        if order.timezone.is_none() {
            order.timezone =
                questions.wished("In which time zone (such as Europe/Berlin; empty for UTC)?")?;
        }
    }
    Ok(())
}

/// Asks for what is worked on, if neither the file nor the command line names it.
pub(super) fn targets_asked(
    automation: Automation,
    settings: &mut Settings,
    questions: &mut Questions<'_>,
) -> Result<(), CommandError> {
    if settings.names_targets(automation) {
        return Ok(());
    }
    let (key, flag, what) = target_key(automation);
    let answer = questions.needed(
        &format!("Which {what} (separated by blanks)?"),
        format!("{what}: {flag} (may be repeated), or `{key}` in --config FILE"),
    )?;
    let mut keys = Map::new();
    if let Some(answer) = answer {
        keys.insert(key.to_owned(), items(&answer).into());
    }
    if automation == Automation::News && !settings.has("topics") {
        let topics = questions
            .wished("Which topics, most important first (separated by commas; may be empty)?")?;
        if let Some(topics) = topics {
            keys.insert("topics".to_owned(), topics.into());
        }
    }
    settings.apply(keys);
    Ok(())
}
