//! `deploy`: brings an automation to an installation, and looks after those that are there.
//!
//! The order of things: what is said and asked (`arguments`, `questions`, `settings`), what it means
//! (`mode`, `kind`, `plan`), what is checked (`targets`, `archive`, `predecessor`), and only then what is done
//! (`carry_out`, `follow`) and told (`report`). The service itself is spoken to by
//! [`crate::automation_service`].

mod ability;
mod archive;
mod arguments;
mod bring;
mod carry_out;
mod follow;
mod freight;
mod kind;
mod manage;
mod mode;
mod output;
mod plan;
mod predecessor;
mod questions;
mod remote;
mod report;
mod settings;
mod site;
mod targets;
#[cfg(test)]
mod tests;
mod wishes;

pub(in crate::commands) use arguments::Arguments;

use super::arguments::Whose;
use super::error::CommandError;
use super::session::{Session, block_on};
use crate::environment::Environment;
use arguments::Command;
use questions::Questions;
use serde_json::json;

/// Does what the arguments say.
pub(super) fn deploy(arguments: Arguments, environment: Environment) -> Result<u8, CommandError> {
    let session = Session::new(environment, &Whose::default());
    let console = &session.console;
    let (wants_json, done) = match arguments.command {
        None => {
            let json = arguments.order.json;
            let mut questions = Questions::at_terminal(console, json);
            let bring = bring::bring(arguments.order, &session, &mut questions);
            (json, block_on(bring))
        }
        Some(Command::List(list)) => (list.json, block_on(manage::list(&list, &session))),
        Some(Command::Runs(runs)) => (runs.json, block_on(manage::runs(&runs, &session))),
        Some(Command::Logs(logs)) => (logs.json, block_on(manage::logs(&logs, &session))),
        Some(Command::Remove(one)) => (one.json, block_on(manage::remove(&one, &session))),
    };
    if let (true, Err(error)) = (wants_json, &done) {
        let report = json!({"status": "failed", "error": console.clean(&error.to_string())});
        console.output(&serde_json::to_string_pretty(&report).unwrap_or_default());
    }
    done
}
