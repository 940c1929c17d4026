//! `explain`: why an item is or is not worked on, in sentences. Looks at the forge and the document
//! as a run does, and lets the engine say what it would do.

mod facts;
mod item;
mod reasons;
mod sentences;
#[cfg(test)]
mod tests;

use super::DONE;
use super::arguments::{Whose, automation};
use super::configured::Configured;
use super::error::CommandError;
use super::session::{Session, block_on};
use super::status::{conversation_url, workspace};
use crate::environment::Environment;
use crate::run::Automation;
use crate::run::wiring::Wiring;
use clap::Args;
use facts::Facts;
use item::Item;
use lifecycle::document::{Document, Record, Retry};
use lifecycle::ports::Store;
use lifecycle::report::TargetReport;

const ABOUT: &str = "\
Says why one item is or is not worked on: what it is and whether it carries the
trigger label, what is recorded of it, and what the next run would do with it.
It looks at the forge and the state document as a run does, and changes nothing.

ITEM is the number of a pull request or an issue (42, #42, or its address), for
news-digest a day (2026-08-20, or today).";

const EXAMPLES: &str = "\
Examples:
  openhands-automations explain github-pr-reviewer 42 --config config.json
  openhands-automations explain gitlab-issue-to-mr 7 --target group/team/service
  openhands-automations explain news-digest today";

/// Say why an item is or is not worked on
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Which automation
    #[arg(value_parser = automation(), value_name = "AUTOMATION")]
    automation: Automation,
    /// Number of a pull request or an issue, or a day
    #[arg(value_name = "ITEM")]
    item: String,
    /// Repository or project, when several are configured
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    #[command(flatten)]
    whose: Whose,
}

/// All that is known of an item.
#[derive(Debug)]
struct Known {
    automation: Automation,
    target: String,
    item: Item,
    /// The label that asks for work; empty for news.
    label: String,
    /// What the forge says.
    facts: Result<Facts, String>,
    /// Where the document is.
    place: String,
    /// What is recorded, or why that cannot be read.
    recorded: Result<Recorded, String>,
    /// What a run would do with the target, or why that cannot be told.
    plan: Result<TargetReport, String>,
    /// How many other targets share the run's limits.
    others: usize,
    /// Seconds since the epoch.
    now: f64,
}

/// What the document says of an item.
#[derive(Debug, Default)]
struct Recorded {
    tasks: Vec<Task>,
    retries: Vec<(String, Retry)>,
}

/// One record.
#[derive(Debug)]
struct Task {
    key: String,
    record: Record,
    conversation: Option<String>,
    workspace: Option<String>,
}

/// Does what the arguments say.
pub(super) fn explain(arguments: &Arguments, environment: Environment) -> Result<u8, CommandError> {
    let session = Session::new(environment, &arguments.whose);
    let mut configured = session.configured(arguments.automation)?;
    let item = Item::parse(&arguments.item, arguments.automation, session.now())?;
    let target = configured.choose(arguments.target.as_deref())?;
    let others = configured.targets().len() - 1;
    configured.narrow(&target);
    // What the dry run logs is told here in other words.
    let silent = session.silenced();
    let known = block_on(look(&silent, &configured, item, target, others))?;
    session
        .console
        .output(&silent.console.clean(&sentences::of(&known)));
    Ok(DONE)
}

async fn look(
    session: &Session,
    configured: &Configured,
    item: Item,
    target: String,
    others: usize,
) -> Result<Known, CommandError> {
    let wiring = session.wiring(configured).await?;
    let store = wiring.store(configured.schema(), &target, others + 1)?;
    let recorded = match store.load().await {
        Ok(document) => Ok(recorded(&wiring, &document, &item).await),
        Err(error) => Err(error.to_string()),
    };
    let facts = facts::ask(&wiring, configured, &item).await?;
    let plan = configured.dry_run(&session.given()).await;
    let plan = plan.map_err(|error| error.to_string()).and_then(|report| {
        let target = report.targets.into_iter().next();
        target.ok_or_else(|| "the dry run told nothing about the target".to_owned())
    });
    Ok(Known {
        automation: configured.automation(),
        label: match configured {
            Configured::News(_) => String::new(),
            Configured::Review(loaded) => loaded.config.trigger_label.clone(),
            Configured::Issue(loaded) => loaded.config.trigger_label.clone(),
        },
        target,
        item,
        facts,
        place: store.place(),
        recorded,
        plan,
        others,
        now: session.now(),
    })
}

async fn recorded(wiring: &Wiring<'_>, document: &Document, item: &Item) -> Recorded {
    let mut recorded = Recorded::default();
    for (key, record) in document.records() {
        if !item.owns(key) {
            continue;
        }
        let there = match record.workspace_dir() {
            None => None,
            Some(dir) => Some(format!("{dir} ({})", workspace(wiring, dir).await)),
        };
        recorded.tasks.push(Task {
            key: key.to_owned(),
            conversation: conversation_url(wiring, &record),
            workspace: there,
            record,
        });
    }
    for key in document.retry_tasks() {
        if item.owns(&key)
            && let Some(retry) = document.retry(&key)
        {
            recorded.retries.push((key, retry));
        }
    }
    recorded
}
