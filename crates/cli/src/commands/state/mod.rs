//! `state`: the stored documents themselves. Shows and copies them, and (asked twice) forgets or
//! replaces them.

mod consent;
mod list;
mod reset;
mod transfer;

use super::DONE;
use super::arguments::{Whose, automation};
use super::choice;
use super::configured::Configured;
use super::error::CommandError;
use super::session::{Session, block_on};
use crate::environment::Environment;
use crate::run::Automation;
use crate::run::wiring::{automation_id, store_env};
use clap::{Args, Subcommand};
use http_client::Client;
use state_store::{Slot, StateStore, StoreEnv};
use std::path::PathBuf;

const GROUP: &str = "\
Works on the state documents, in which the automations remember what they have
done: one for each repository or project, one for all news. They are in the KV
store of the automation service when AUTOMATION_API_URL and AUTOMATION_KV_TOKEN
are set, else in files below WORKSPACE_BASE, else below ~/.openhands/workspaces.";

const GROUP_EXAMPLES: &str = "\
Examples:
  openhands-automations state list
  openhands-automations state show news-digest
  openhands-automations state reset github-pr-reviewer --target acme/widget";

/// Show, copy or forget state documents
#[derive(Debug, Args)]
#[command(long_about = GROUP, after_long_help = GROUP_EXAMPLES)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(List),
    Show(Show),
    Path(Path),
    Export(Export),
    Import(Import),
    Reset(Reset),
}

/// List the documents that are stored here
///
/// Lists everything in the place where a run in this environment would keep its
/// documents: those of every automation and target, and what was set aside because
/// it could not be read.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_long_help = "\
Examples:
  openhands-automations state list
  # The files of runs that the automation service started on this machine
  WORKSPACE_BASE=/srv/openhands/automation-runs/any openhands-automations state list"
)]
struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Which documents are meant.
#[derive(Debug, Args)]
struct Which {
    /// Which automation
    #[arg(value_parser = automation(), value_name = "AUTOMATION")]
    automation: Automation,
    /// Only this repository or project
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    #[command(flatten)]
    whose: Whose,
}

/// Print a document as it is stored
///
/// Prints what is stored, also when it cannot be read as a document.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_long_help = "\
Examples:
  openhands-automations state show news-digest
  openhands-automations state show github-pr-reviewer --target acme/widget > widget.json"
)]
struct Show {
    #[command(flatten)]
    which: Which,
}

/// Say where documents are, or would be
///
/// Prints a path, or a key of the KV store, for each target.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_long_help = "\
Examples:
  openhands-automations state path gitlab-issue-to-mr --config config.json"
)]
struct Path {
    #[command(flatten)]
    which: Which,
}

/// Print all documents of an automation as one
///
/// What it prints can be read by `state import`, also in another place: it moves an
/// automation from files to the KV store, or to another automation id.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_long_help = "\
Examples:
  openhands-automations state export github-pr-reviewer > reviewer.json"
)]
struct Export {
    #[command(flatten)]
    which: Which,
}

/// Replace documents by those of an export
///
/// Reads what `state export` has printed and puts each document in the place of the
/// target it belongs to; what was there is lost. Every document is checked before the
/// first is written. Asks before it does so. Switch the automation off meanwhile.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_long_help = "\
Examples:
  openhands-automations state import github-pr-reviewer reviewer.json"
)]
struct Import {
    /// Which automation
    #[arg(value_parser = automation(), value_name = "AUTOMATION")]
    automation: Automation,
    /// What `state export` has printed
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    whose: Whose,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

/// Forget what an automation remembers of its targets
///
/// Removes the documents, so that the targets start as if they had never been looked
/// at. Whatever carries the trigger label now is handled again: pull requests are
/// reviewed again, issues worked on again, stories told again. Conversations that are
/// at work go on, but their results are not collected, and workspaces that are still
/// on disk are removed by nobody. It names them and asks before it does so.
///
/// To have a single item handled again, take its label off and put it on again.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_long_help = "\
Examples:
  openhands-automations state reset github-pr-reviewer --target acme/widget
  # Where nobody can answer
  openhands-automations state reset news-digest --yes"
)]
struct Reset {
    #[command(flatten)]
    which: Which,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

/// Does what the arguments say.
pub(super) fn state(arguments: Arguments, environment: Environment) -> Result<u8, CommandError> {
    match arguments.command {
        Command::List(List { json }) => {
            let place = Place::of(Session::new(environment, &Whose::default()))?;
            block_on(list::list(&place, json))
        }
        Command::Show(Show { which }) => {
            let (place, configured) = which.open(environment)?;
            let target = configured.choose(which.target.as_deref())?;
            block_on(transfer::show(&place, &configured, &target))
        }
        Command::Path(Path { which }) => {
            let (place, configured) = which.open(environment)?;
            let targets = which.targets(&configured)?;
            for target in &targets {
                let document = place.document(&configured, target, true)?.place();
                let line = match targets.as_slice() {
                    [_] => document,
                    _ => format!("{target}\t{document}"),
                };
                place.session.console.output(&line);
            }
            Ok(DONE)
        }
        Command::Export(Export { which }) => {
            let (place, configured) = which.open(environment)?;
            let targets = which.targets(&configured)?;
            block_on(transfer::export(&place, &configured, &targets))
        }
        Command::Import(import) => {
            let session = Session::new(environment, &import.whose);
            let configured = session.configured(import.automation)?;
            let place = Place::of(session)?;
            block_on(transfer::import(
                &place,
                &configured,
                &import.file,
                import.yes,
            ))
        }
        Command::Reset(Reset { which, yes }) => {
            let (place, configured) = which.open(environment)?;
            let targets = which.targets(&configured)?;
            block_on(reset::reset(&place, &configured, &targets, yes))
        }
    }
}

impl Which {
    fn open(&self, environment: Environment) -> Result<(Place, Configured), CommandError> {
        let session = Session::new(environment, &self.whose);
        let configured = session.configured(self.automation)?;
        Ok((Place::of(session)?, configured))
    }

    fn targets(&self, configured: &Configured) -> Result<Vec<String>, CommandError> {
        choice::some(configured.targets(), self.target.as_deref())
    }
}

/// Where documents are.
struct Place {
    session: Session,
    client: Client,
}

impl Place {
    fn of(session: Session) -> Result<Self, CommandError> {
        let client = session.client()?;
        Ok(Self { session, client })
    }

    fn env(&self, targets: usize, read_only: bool) -> StoreEnv {
        StoreEnv {
            // Says in the document that a person has written it.
            run_id: "by-hand".to_owned(),
            targets,
            read_only,
            ..store_env(&self.session.environment)
        }
    }

    /// The document of a target.
    fn document(
        &self,
        configured: &Configured,
        target: &str,
        read_only: bool,
    ) -> Result<StateStore, CommandError> {
        let id = automation_id(&self.session.environment);
        let slot = Slot::new(configured.schema(), Some(&id), target);
        let env = self.env(configured.targets().len(), read_only);
        state_store::open(&env, &self.client, slot).map_err(CommandError::failed)
    }
}
