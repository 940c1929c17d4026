//! `status`: what the automations remember of their targets.

mod look;
mod words;

use super::arguments::{Whose, automation};
use super::error::CommandError;
use super::session::{Session, block_on};
use super::{DONE, WRONG};
use crate::environment::Environment;
use crate::run::Automation;
use clap::Args;
use look::{AutomationStatus, look_at};
pub(super) use look::{conversation_url, known_age, workspace};
use serde_json::json;

const ABOUT: &str = "\
Shows what an automation remembers: for each of its targets the state document,
the tasks in it with their status, age, conversation and workspace, and tasks
that failed and are tried again. For news-digest also when feeds were last read
and what came of it. Nothing is changed.

Documents are looked for where a run in this environment would have them: in the
KV store of the automation service when AUTOMATION_API_URL and
AUTOMATION_KV_TOKEN are set, else in files below WORKSPACE_BASE, else below
~/.openhands/workspaces.

Without AUTOMATION, all that the configuration names targets for are shown.";

const EXAMPLES: &str = "\
Examples:
  openhands-automations status github-pr-reviewer --config config.json
  # Documents of a deployed automation, from the machine it runs on
  openhands-automations status --config config.json --automation-id 5f6a0a3e-...
  # Whatever is at work, for a program
  openhands-automations status news-digest --json

Exit code 1 when no document could be read.";

/// Show what the automations remember
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Which automation; without it, those that are configured
    #[arg(value_parser = automation(), value_name = "AUTOMATION")]
    automation: Option<Automation>,
    #[command(flatten)]
    whose: Whose,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Does what the arguments say.
pub(super) fn status(arguments: &Arguments, environment: Environment) -> Result<u8, CommandError> {
    let session = Session::new(environment, &arguments.whose);
    let mut configured = Vec::new();
    for automation in session.automations(arguments.automation)? {
        configured.push(session.configured(automation)?);
    }
    let statuses: Vec<AutomationStatus> = block_on(async {
        let mut statuses = Vec::new();
        for configured in &configured {
            statuses.push(look_at(&session, configured).await?);
        }
        Ok(statuses)
    })?;
    if arguments.json {
        let report = json!({ "automations": statuses });
        let text = serde_json::to_string_pretty(&report).unwrap_or_default();
        session.console.output(&text);
    } else {
        let texts: Vec<String> = statuses
            .iter()
            .map(|status| words::of(status, session.now()))
            .collect();
        session.console.output(&texts.join("\n\n"));
    }
    let mut targets = statuses.iter().flat_map(|status| &status.targets);
    let all_failed = targets.all(|target| target.error.is_some());
    Ok(if all_failed { WRONG } else { DONE })
}
