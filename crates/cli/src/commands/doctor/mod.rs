//! `doctor`: is everything in place for a run? Checks one thing after the other and says what to do
//! about each that is wrong. Starts nothing, posts nothing and writes no document.

mod agent;
mod clocks;
mod feeds;
mod finding;
mod forge;
mod github;
mod gitlab;
mod machine;
mod storage;
mod variables;

use super::arguments::{Whose, automation};
use super::configured::Configured;
use super::error::CommandError;
use super::session::{Session, block_on};
use super::{DONE, WRONG};
use crate::environment::Environment;
use crate::run::Automation;
use clap::Args;
pub(super) use finding::{Finding, Findings};
use http_client::{Client, Secret};

const ABOUT: &str = "\
Checks whether everything is in place for a run, one thing after the other, and
says what to do about each that is wrong:

  the configuration, the environment variables (never their values), the agent
  server and its key, the LLM, secrets, the state documents and their place, the
  place for workspaces, git, tokens, each repository or project with the access
  that the token has, the trigger label, each feed, and the clock

Nothing is started or posted, and no document is written. To see whether a folder
can be written to, an empty file is made in it and removed.

Without AUTOMATION, all that the configuration names targets for are checked.";

const EXAMPLES: &str = "\
Examples:
  openhands-automations doctor github-pr-reviewer --config config.json
  openhands-automations doctor news-digest --json

Exit code 1 when something is wrong. A warning is not.

With --json:
  {\"status\": \"ok\" | \"failed\", \"findings\": [{\"automation\", \"check\", \"target\",
   \"status\": \"ok\" | \"warning\" | \"failed\" | \"skipped\", \"found\", \"advice\"}]}";

/// Check whether everything is in place for a run
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

/// What the checks of one automation look at.
struct Patient<'a> {
    session: &'a Session,
    client: Client,
    automation: Automation,
    /// `None` when it cannot be read; what depends on it is not checked then.
    configured: Option<&'a Configured>,
}

/// Does what the arguments say.
pub(super) fn doctor(arguments: &Arguments, environment: Environment) -> Result<u8, CommandError> {
    // Odd keys are findings here, not warnings of the log.
    let session = Session::new(environment, &arguments.whose).silenced();
    let mut findings = Findings::new(&session.console, arguments.json);
    match session.automations(arguments.automation) {
        Ok(automations) => block_on(async {
            for automation in automations {
                examine(&session, automation, &mut findings).await?;
            }
            Ok(())
        })?,
        Err(error @ CommandError::Usage(_)) => return Err(error),
        Err(error) => findings.add(Finding::failed(
            "configuration",
            error.to_string(),
            "Correct the configuration; `--help` of the binaries and the README list its keys.",
        )),
    }
    findings.tell();
    Ok(if findings.has_failed() { WRONG } else { DONE })
}

async fn examine(
    session: &Session,
    automation: Automation,
    findings: &mut Findings<'_>,
) -> Result<(), CommandError> {
    findings.begin(automation.name());
    let configured = session.configured(automation);
    configuration(&configured, findings);
    variables::check(&session.environment, automation, findings);
    let patient = Patient {
        session,
        client: session.client()?,
        automation,
        configured: configured.as_ref().ok(),
    };
    let token = agent::check(&patient, findings).await;
    storage::check(&patient, findings).await;
    machine::check(&patient, findings).await;
    match patient.configured {
        None => findings.add(Finding::skipped(
            "targets",
            "the configuration is needed first",
        )),
        Some(configured) => look_at_targets(&patient, configured, token, findings).await,
    }
    Ok(())
}

/// Checks the token and what a configuration names, and nothing else.
pub(super) async fn targets(
    session: &Session,
    client: Client,
    configured: &Configured,
    token: Option<Secret>,
    findings: &mut Findings<'_>,
) {
    let patient = Patient {
        session,
        client,
        automation: configured.automation(),
        configured: Some(configured),
    };
    look_at_targets(&patient, configured, token, findings).await;
}

async fn look_at_targets(
    patient: &Patient<'_>,
    configured: &Configured,
    token: Option<Secret>,
    findings: &mut Findings<'_>,
) {
    match configured {
        Configured::News(loaded) => feeds::check(patient, &loaded.config, findings).await,
        Configured::Review(loaded) => {
            github::check(patient, &loaded.config, token, findings).await;
        }
        Configured::Issue(loaded) => {
            gitlab::check(patient, &loaded.config, token, findings).await;
        }
    }
}

fn configuration(
    configured: &Result<Configured, crate::config::ConfigError>,
    findings: &mut Findings<'_>,
) {
    match configured {
        Ok(configured) => {
            let found = format!("{}, {}", configured.source(), configured.extent());
            findings.add(Finding::ok("configuration", found));
            for warning in configured.warnings() {
                let advice = "Correct the spelling, or leave the key as it is if it is not for us.";
                findings.add(Finding::warning("configuration", warning, advice));
            }
        }
        Err(error) => {
            let advice = "Correct it there, or name another file with --config.";
            findings.add(Finding::failed("configuration", error.to_string(), advice));
        }
    }
}
