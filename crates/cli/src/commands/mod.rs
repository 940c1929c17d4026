//! The binary for people, `openhands-automations`: checks an installation, shows what is recorded,
//! explains what a run would do, and runs.
//!
//! One module per command: its arguments (which are its help) and what it does. Only `run` polls;
//! only `state reset` and `state import` write. Exit codes are those of the deployable binaries.

mod arguments;
mod choice;
mod configured;
mod deploy;
mod doctor;
mod error;
mod explain;
mod feeds;
mod plain;
mod run;
mod session;
mod state;
mod status;
#[cfg(test)]
mod tests;

use crate::console::{Console, Stream};
use crate::environment::Environment;
use crate::run::deployable::speak_up;
use clap::{Parser, Subcommand};
use error::CommandError;
use std::process::ExitCode;

/// Exit code of a command that has done what it was asked.
const DONE: u8 = 0;
/// Exit code when something is wrong, or nothing could be done.
const WRONG: u8 = 1;

const ABOUT: &str = "\
Looks after three automations for OpenHands:

  news-digest          turns news feeds into a short digest every day
  github-pr-reviewer   reviews pull requests on GitHub that carry a label
  gitlab-issue-to-mr   turns labelled issues on GitLab into merge requests

The automation service starts them on a schedule. This program is for people:
it checks an installation, shows what the automations remember, explains what
the next run would do and why, and runs one by hand.";

const EXAMPLES: &str = "\
Examples:
  # Is everything in place?
  openhands-automations doctor github-pr-reviewer --config config.json
  # What would a run do? Nothing is written, posted or started.
  openhands-automations run news-digest --config config.json --dry-run
  # Why was pull request 42 not reviewed?
  openhands-automations explain github-pr-reviewer 42 --config config.json
  # What is in this feed?
  openhands-automations feeds inspect https://example.org/feed.xml

Exit codes:
  0  done
  1  something is wrong, or every target failed
  2  wrong usage or configuration
  3  some targets failed, and --strict was given

Every command says more about itself with --help.";

/// Checks, shows, explains and runs automations for OpenHands
#[derive(Debug, Parser)]
#[command(
    name = "openhands-automations",
    bin_name = "openhands-automations",
    version
)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
#[command(arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Arguments),
    Doctor(doctor::Arguments),
    Status(status::Arguments),
    Explain(explain::Arguments),
    State(state::Arguments),
    Feeds(feeds::Arguments),
    Deploy(Box<deploy::Arguments>),
}

/// `main` of the binary for people.
pub fn umbrella() -> ExitCode {
    let environment = Environment::of_process();
    match Arguments::try_parse() {
        Ok(arguments) => ExitCode::from(dispatch(arguments.command, environment)),
        Err(error) => {
            let _ = error.print();
            if !error.use_stderr() {
                return ExitCode::SUCCESS;
            }
            // The service starts runs only, and is owed an answer for each.
            if std::env::args_os().nth(1).is_some_and(|word| word == "run") {
                speak_up(&environment, error.to_string());
            }
            ExitCode::from(2)
        }
    }
}

fn dispatch(command: Command, environment: Environment) -> u8 {
    let errors = Console::new(Stream::Stderr, environment.no_color);
    for secret in environment.secrets() {
        errors.hide(secret);
    }
    let done = match command {
        Command::Run(arguments) => return arguments.run(&environment),
        Command::Doctor(arguments) => doctor::doctor(&arguments, environment),
        Command::Status(arguments) => status::status(&arguments, environment),
        Command::Explain(arguments) => explain::explain(&arguments, environment),
        Command::State(arguments) => state::state(arguments, environment),
        Command::Feeds(arguments) => feeds::feeds(&arguments, environment),
        Command::Deploy(arguments) => deploy::deploy(*arguments, environment),
    };
    done.unwrap_or_else(|error: CommandError| {
        errors.error(&error.to_string());
        error.exit_code()
    })
}
