//! `run`: one run of one automation, by the same code as the deployable binaries.

use super::arguments::automation;
use crate::environment::Environment;
use crate::run::arguments::moment;
use crate::run::deployable::once;
use crate::run::{Automation, Issue, News, Options, Review};
use clap::Args;
use std::path::PathBuf;

const ABOUT: &str = "\
Runs an automation once, exactly as the automation service would.

A run looks at its targets (the day's news, each repository, each project),
collects what earlier runs started, starts conversations for what is new, and
ends. With --dry-run it only looks and says what it would do: nothing is
written, claimed or posted, and no conversation is started.

A real run needs an agent server (AGENT_SERVER_URL, SESSION_API_KEY). A dry run
of news-digest needs nothing but a network.";

const EXAMPLES: &str = "\
Examples:
  # Which stories would today's digest tell?
  openhands-automations run news-digest --config config.json --dry-run
  # ... and which would it have told on another day?
  openhands-automations run news-digest --dry-run --now 2026-08-20T06:00:00Z
  # One run for real, with the report as JSON
  openhands-automations run github-pr-reviewer --config config.json --json";

/// Run an automation once
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Which automation
    #[arg(value_parser = automation(), value_name = "AUTOMATION")]
    automation: Automation,
    /// Configuration (JSON); without it, the one that a deployed run would find
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Look only: write, claim and post nothing, and say what a run would do
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON report on standard output; the log goes to standard error
    #[arg(long)]
    json: bool,
    /// Exit with 3 when some targets failed
    #[arg(long)]
    strict: bool,
    /// Ask as of this moment (with --dry-run), such as 2026-08-20T06:00:00Z
    #[arg(long, value_name = "RFC3339", requires = "dry_run", value_parser = moment)]
    now: Option<f64>,
}

impl Arguments {
    pub(super) fn run(self, environment: &Environment) -> u8 {
        let options = Options {
            config: self.config,
            dry_run: self.dry_run,
            json: self.json,
            strict: self.strict,
            now: self.now,
        };
        match self.automation {
            Automation::News => once::<News>(&options, environment),
            Automation::Review => once::<Review>(&options, environment),
            Automation::Issue => once::<Issue>(&options, environment),
        }
    }
}
