//! The arguments of `deploy` and its subcommands, which are their help.

use super::mode::Mode;
use crate::commands::arguments::automation;
use crate::run::Automation;
use clap::{Args, Subcommand};
use std::path::PathBuf;

const ABOUT: &str = "\
Brings an automation to an OpenHands installation in one step: checks everything
first, uploads an archive that holds the executable and your configuration, and
makes an automation that runs on a schedule. With --update it replaces what an
automation runs, and its name, id, schedule and state documents stay.

Checked beforehand: the address and the key, what the service can do, the
configuration by the same rules as a run, every repository, project or feed (with
GITHUB_PERSONAL_ACCESS_TOKEN or GITLAB_TOKEN, where set), the archive's size and
contents, and the service's own verdict. When anything is wrong, nothing is made;
what was begun is undone.

The key comes from OPENHANDS_AUTOMATION_API_KEY, else OPENHANDS_API_KEY, and never
from the command line. What is missing is asked for at a terminal; without one,
the command says what is missing and ends with exit code 2.";

const EXAMPLES: &str = "\
Examples:
  export OPENHANDS_HOST=http://127.0.0.1:8000 OPENHANDS_API_KEY=...
  # What would be made?
  openhands-automations deploy github-pr-reviewer --repo acme/widget --dry-run
  # Make it, start a run now and watch it
  openhands-automations deploy github-pr-reviewer --repo acme/widget --dispatch
  # A digest on working days at half past six
  openhands-automations deploy news-digest --feed https://example.org/feed.xml \\
      --topic Rust --schedule '30 6 * * 1-5' --timezone Europe/Berlin
  # Everything from a file, and one key besides
  openhands-automations deploy gitlab-issue-to-mr --config config.json \\
      --set max_active=4
  # A new release, or the successor of a Python script: same id, same state
  openhands-automations deploy github-pr-reviewer --update ID
  # What is there, how it went, and the end of it
  openhands-automations deploy list
  openhands-automations deploy logs ID
  openhands-automations deploy remove ID

With --json:
  {\"status\": \"created\" | \"updated\" | \"checked\", \"automation\", \"id\", \"name\",
   \"host\", \"mode\", \"schedule\", \"timezone\", \"timeout\", \"keep_alive\",
   \"archive\": {\"source\", \"bytes\", \"tarball_path\"}, \"config\", \"targets\",
   \"checks\", \"replaced\", \"documents\", \"warnings\", \"run\"}
  or {\"status\": \"failed\", \"error\"}.

Exit codes:
  0  done
  1  it could not be done, or the run that was dispatched failed
  2  wrong usage or configuration, or such an automation exists already";

const LIST_EXAMPLES: &str = "\
Example:
  openhands-automations deploy list --host https://openhands.example.com

With --json:
  {\"automations\": [{\"id\", \"name\", \"automation\", \"entrypoint\", \"schedule\",
   \"timezone\", \"timeout\", \"active\", \"disabled_reason\", \"last_triggered_at\"}]}
  automation is null for what is none of ours.";

const RUNS_EXAMPLES: &str = "\
Example:
  openhands-automations deploy runs 0d5c3b8e-4f1e-4a55-9c2a-6b1f0c7d9e21 --limit 3

With --json:
  {\"runs\": [{\"id\", \"status\", \"trigger\", \"phases\", \"error\", \"conversation_id\",
   \"created_at\", \"started_at\", \"completed_at\"}]}
  phases holds the last one only.";

const LOGS_ABOUT: &str = "\
Shows how a run went, and what it printed.

The output is held by the agent server. It is shown where AGENT_SERVER_URL and
SESSION_API_KEY say how to reach it, as long as the server keeps it.";

const LOGS_EXAMPLES: &str = "\
Example:
  AGENT_SERVER_URL=http://127.0.0.1:8010 SESSION_API_KEY=... \\
    openhands-automations deploy logs 0d5c3b8e-4f1e-4a55-9c2a-6b1f0c7d9e21

With --json:
  {\"run\": {...}, \"output\": text or null, \"no_output\": null or why}";

const REMOVE_EXAMPLES: &str = "\
Example:
  openhands-automations deploy remove 0d5c3b8e-4f1e-4a55-9c2a-6b1f0c7d9e21

With --json (which needs --yes):
  {\"status\": \"removed\", \"id\", \"name\", \"archive\", \"left\"}";

/// Bring an automation to an OpenHands installation
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
#[command(args_conflicts_with_subcommands = true)]
pub(in crate::commands) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) order: Order,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    List(List),
    Runs(Runs),
    Logs(Logs),
    Remove(Remove),
}

/// What is to be deployed, where and how.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Order {
    /// Which automation
    #[arg(value_parser = automation(), value_name = "AUTOMATION")]
    pub(super) automation: Option<Automation>,
    #[command(flatten)]
    pub(super) place: Place,
    /// Replace what this automation runs, instead of making a new one
    ///
    /// Its id stays, and with it everything that it remembers. Also for an
    /// automation that runs one of the Python scripts. Without --config, the
    /// configuration in its present archive is kept, and keys go over it.
    #[arg(long, value_name = "ID", verbatim_doc_comment)]
    pub(super) update: Option<String>,
    /// Name of the automation [default: that of AUTOMATION]
    #[arg(long)]
    pub(super) name: Option<String>,
    /// When it runs, as five fields of cron
    ///
    /// Default: news-digest '*/15 7-9 * * *', the others '*/5 * * * *'; with --update,
    /// what it is now.
    #[arg(long, value_name = "CRON", verbatim_doc_comment)]
    pub(super) schedule: Option<String>,
    /// Time zone of the schedule, such as Europe/Berlin [default: UTC]
    #[arg(long, value_name = "ZONE")]
    pub(super) timezone: Option<String>,
    /// How long a run may take
    ///
    /// Default: 600, or a minute more than `time_budget_seconds`; with a sandbox
    /// for each run the longest that the service allows, because the work has to
    /// be done by then. `time_budget_seconds` follows where it is not configured.
    #[arg(long, value_name = "SECONDS", verbatim_doc_comment)]
    pub(super) timeout: Option<u64>,
    /// Whether all runs share an agent server, or each has a sandbox [default: found out]
    #[arg(long, value_enum, value_name = "MODE")]
    pub(super) mode: Option<Mode>,
    /// Whether a sandbox outlives its run [default: true with sandboxes]
    #[arg(long, value_name = "BOOL")]
    pub(super) keep_alive: Option<bool>,
    /// Accept a service without a KV store: what is remembered lies in files then
    #[arg(long)]
    pub(super) file_state: bool,
    /// The archive, as a file or an https:// address
    ///
    /// Default: AUTOMATION.tar.gz beside this program, in target/package, or in
    /// the current directory. A file gets your configuration and is uploaded. An
    /// address is left to the service to fetch for each run, as it is: up to 100
    /// MB, and its own config.json counts.
    #[arg(long, value_name = "FILE|URL", verbatim_doc_comment)]
    pub(super) archive: Option<String>,
    /// Write the archive with your configuration to a file, and do nothing else
    #[arg(long, value_name = "FILE", conflicts_with_all = ["update", "dispatch", "dry_run"])]
    pub(super) write_archive: Option<PathBuf>,
    /// Start a run when all is done, and follow it to its end
    #[arg(long, conflicts_with = "dry_run")]
    pub(super) dispatch: bool,
    /// Check everything and say what would be made; nothing is uploaded or changed
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten, next_help_heading = "Configuration")]
    pub(super) keys: Keys,
}

/// Where the service is.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Place {
    /// Address of the installation
    #[arg(
        long,
        value_name = "URL",
        help = "Address of the installation [default: $OPENHANDS_HOST]"
    )]
    pub(super) host: Option<String>,
}

/// Keys of the configuration. Each replaces what the file says.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Keys {
    /// Configuration (JSON), with the keys of docs/configuration.md
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// news-digest: address of a feed; may be repeated
    #[arg(long, value_name = "URL")]
    pub(super) feed: Vec<String>,
    /// news-digest: a topic; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub(super) topic: Vec<String>,
    /// news-digest: for how long a story is news
    #[arg(long, value_name = "HOURS")]
    pub(super) lookback_hours: Option<u64>,
    /// news-digest: stories on the shortlist
    #[arg(long, value_name = "COUNT")]
    pub(super) max_items: Option<u64>,
    /// github-pr-reviewer: a repository; may be repeated
    #[arg(long, value_name = "OWNER/REPO")]
    pub(super) repo: Vec<String>,
    /// github-pr-reviewer: thorough, concise or friendly
    #[arg(long, value_name = "TONE")]
    pub(super) review_tone: Option<String>,
    /// github-pr-reviewer: address of the API of an Enterprise Server
    #[arg(long, value_name = "URL")]
    pub(super) github_api_url: Option<String>,
    /// gitlab-issue-to-mr: a project; may be repeated
    #[arg(long, value_name = "GROUP/PROJECT")]
    pub(super) project: Vec<String>,
    /// gitlab-issue-to-mr: draft or ready
    #[arg(long, value_name = "MODE")]
    pub(super) merge_request_mode: Option<String>,
    /// gitlab-issue-to-mr: what branch names begin with
    #[arg(long, value_name = "TEXT")]
    pub(super) branch_prefix: Option<String>,
    /// gitlab-issue-to-mr: address of a self-managed instance
    #[arg(long, value_name = "URL")]
    pub(super) gitlab_api_url: Option<String>,
    /// Not for news-digest: the label that asks for work
    #[arg(long, value_name = "LABEL")]
    pub(super) trigger_label: Option<String>,
    /// New tasks in one run
    #[arg(long, value_name = "COUNT")]
    pub(super) max_new_per_run: Option<u64>,
    /// Where people look at conversations
    #[arg(long, value_name = "URL")]
    pub(super) openhands_url: Option<String>,
    /// Any other key, with a value in JSON or as plain text; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) set: Vec<String>,
}

/// List the automations of an installation
#[derive(Debug, Args)]
#[command(after_long_help = LIST_EXAMPLES)]
pub(super) struct List {
    #[command(flatten)]
    pub(super) place: Place,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Show the latest runs of an automation
#[derive(Debug, Args)]
#[command(after_long_help = RUNS_EXAMPLES)]
pub(super) struct Runs {
    /// Id of the automation
    #[arg(value_name = "ID")]
    pub(super) id: String,
    #[command(flatten)]
    pub(super) place: Place,
    /// How many
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    pub(super) limit: usize,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Show how a run went, and what it printed
#[derive(Debug, Args)]
#[command(long_about = LOGS_ABOUT, after_long_help = LOGS_EXAMPLES)]
pub(super) struct Logs {
    /// Id of the automation
    #[arg(value_name = "ID")]
    pub(super) id: String,
    #[command(flatten)]
    pub(super) place: Place,
    /// Id of the run [default: the latest]
    #[arg(long, value_name = "RUN")]
    pub(super) run: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Remove an automation and its archive
///
/// It runs no more. Conversations that it started go on, and nobody collects what
/// comes of them. What it remembers goes with it.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = REMOVE_EXAMPLES)]
pub(super) struct Remove {
    /// Id of the automation
    #[arg(value_name = "ID")]
    pub(super) id: String,
    #[command(flatten)]
    pub(super) place: Place,
    /// Do not ask
    #[arg(long)]
    pub(super) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}
