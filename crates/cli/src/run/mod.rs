//! One run of one automation: configuration, wiring, polls, report, callback.

pub(crate) mod arguments;
pub(crate) mod deployable;
mod ending;
pub(crate) mod issue;
pub(crate) mod news;
mod report;
pub(crate) mod review;
pub(crate) mod wiring;

pub use deployable::deployable;
pub use ending::Ended;
pub use report::{HttpReport, RunReport};

use crate::clock::RunClock;
use crate::config::{self, ConfigError, IssueConfig, Loaded, NewsConfig, ReviewConfig, Shared};
use crate::console::Console;
use crate::environment::Environment;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use workspace_fs::Area;

/// What a run may take beyond its time before it is cut off: one call that hangs, and the writing.
const GRACE: Duration = Duration::from_secs(45);

/// The automations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Automation {
    /// `news-digest`.
    News,
    /// `github-pr-reviewer`.
    Review,
    /// `gitlab-issue-to-mr`.
    Issue,
}

impl Automation {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::News, Self::Review, Self::Issue];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::News => "news-digest",
            Self::Review => "github-pr-reviewer",
            Self::Issue => "gitlab-issue-to-mr",
        }
    }

    /// Name of the secret that holds the token of its forge, if it has one.
    pub fn token_secret(self) -> Option<&'static str> {
        match self {
            Self::News => None,
            Self::Review => Some(config::review::TOKEN_SECRET),
            Self::Issue => Some(config::issue::TOKEN_SECRET),
        }
    }

    /// Where its workspaces are.
    pub(crate) fn area(self) -> Area {
        match self {
            Self::News => Area::NewsDigest,
            Self::Review => Area::Repositories,
            Self::Issue => Area::IssueToMr,
        }
    }

    /// What it does, in one line.
    pub fn about(self) -> &'static str {
        match self {
            Self::News => "Turns public feeds into one short digest a day",
            Self::Review => {
                "Turns a label on a pull request into one published review of its commit"
            }
            Self::Issue => "Turns a label on an issue into a merge request",
        }
    }

    /// The automation of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|automation| automation.name() == name)
    }
}

/// How a run is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The configuration, if named.
    pub config: Option<PathBuf>,
    /// Only look.
    pub dry_run: bool,
    /// One JSON report on standard output.
    pub json: bool,
    /// Any failed target makes the exit code 3.
    pub strict: bool,
    /// The moment to ask as of, seconds since the epoch (dry run only).
    pub now: Option<f64>,
}

/// Everything that a run is given.
#[derive(Debug)]
pub struct Given<'a> {
    /// How it was asked for.
    pub options: &'a Options,
    /// The environment.
    pub environment: &'a Environment,
    /// The log.
    pub console: &'a Console,
}

/// Why a run could not even begin.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum RunError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Something that the run needs is not there.
    #[error("{0}")]
    Setup(String),
    /// It did not end within its time.
    #[error("the run did not end within time_budget_seconds; the next run goes on from here")]
    OutOfTime,
}

/// Reads the configuration of an automation as a run would.
///
/// # Errors
/// [`ConfigError`], naming file and key.
pub fn load_config<T: config::Config>(given: &Given<'_>) -> Result<Loaded<T>, ConfigError> {
    let executable = std::env::current_exe().ok();
    let working_dir = std::env::current_dir().unwrap_or_default();
    let loaded: Loaded<T> = config::load(
        given.options.config.as_deref(),
        given.environment,
        executable.as_deref(),
        &working_dir,
    )?;
    for warning in &loaded.warnings {
        given.console.warning(warning);
    }
    Ok(loaded)
}

/// An automation as a type, so that a binary holds only the one that it runs.
pub trait Program {
    /// Which one it is.
    const AUTOMATION: Automation;

    /// Runs it once, without callback and exit code.
    ///
    /// # Errors
    /// [`RunError`] when it could not begin; what goes wrong later is in the report.
    fn run(given: &Given<'_>) -> impl Future<Output = Result<RunReport, RunError>>;
}

/// `news-digest`.
#[derive(Clone, Copy, Debug)]
pub struct News;

/// `github-pr-reviewer`.
#[derive(Clone, Copy, Debug)]
pub struct Review;

/// `gitlab-issue-to-mr`.
#[derive(Clone, Copy, Debug)]
pub struct Issue;

impl Program for News {
    const AUTOMATION: Automation = Automation::News;

    async fn run(given: &Given<'_>) -> Result<RunReport, RunError> {
        let config = load_config::<NewsConfig>(given)?.config;
        let clock = clock(&config.shared, given);
        in_time(
            last_moment(clock),
            Box::pin(news::run(&config, given, clock)),
        )
        .await
    }
}

impl Program for Review {
    const AUTOMATION: Automation = Automation::Review;

    async fn run(given: &Given<'_>) -> Result<RunReport, RunError> {
        let config = load_config::<ReviewConfig>(given)?.config;
        let clock = clock(&config.shared, given);
        in_time(
            last_moment(clock),
            Box::pin(review::run(&config, given, clock)),
        )
        .await
    }
}

impl Program for Issue {
    const AUTOMATION: Automation = Automation::Issue;

    async fn run(given: &Given<'_>) -> Result<RunReport, RunError> {
        let config = load_config::<IssueConfig>(given)?.config;
        let clock = clock(&config.shared, given);
        in_time(
            last_moment(clock),
            Box::pin(issue::run(&config, given, clock)),
        )
        .await
    }
}

fn clock(shared: &Shared, given: &Given<'_>) -> RunClock {
    RunClock::start(shared.time_budget_seconds, given.options.now)
}

/// When a run that goes on is cut off.
fn last_moment(clock: RunClock) -> Instant {
    clock.deadline() + GRACE
}

/// Every call keeps to the run's time by itself; this is for what does not.
async fn in_time(
    end: Instant,
    work: impl Future<Output = Result<RunReport, RunError>>,
) -> Result<RunReport, RunError> {
    tokio::time::timeout_at(end.into(), work)
        .await
        .unwrap_or(Err(RunError::OutOfTime))
}

#[cfg(test)]
mod tests;
