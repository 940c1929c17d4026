//! A configuration of whichever automation, for commands that serve all three.

use super::choice;
use super::error::CommandError;
use crate::clock::RunClock;
use crate::config::{IssueConfig, Loaded, NewsConfig, ReviewConfig, Shared};
use crate::run::{self, Automation, Given, RunError, RunReport};
use lifecycle::document::{ISSUE, NEWS, REVIEW, Schema};
use lifecycle::news::TARGET;

/// A configuration that was read, and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Configured {
    News(Loaded<NewsConfig>),
    Review(Loaded<ReviewConfig>),
    Issue(Loaded<IssueConfig>),
}

impl Configured {
    pub(super) fn automation(&self) -> Automation {
        match self {
            Self::News(_) => Automation::News,
            Self::Review(_) => Automation::Review,
            Self::Issue(_) => Automation::Issue,
        }
    }

    pub(super) fn schema(&self) -> &'static Schema {
        match self {
            Self::News(_) => &NEWS,
            Self::Review(_) => &REVIEW,
            Self::Issue(_) => &ISSUE,
        }
    }

    pub(super) fn shared(&self) -> &Shared {
        match self {
            Self::News(loaded) => &loaded.config.shared,
            Self::Review(loaded) => &loaded.config.shared,
            Self::Issue(loaded) => &loaded.config.shared,
        }
    }

    /// Where it came from, for people.
    pub(super) fn source(&self) -> &str {
        match self {
            Self::News(loaded) => &loaded.source,
            Self::Review(loaded) => &loaded.source,
            Self::Issue(loaded) => &loaded.source,
        }
    }

    pub(super) fn warnings(&self) -> &[String] {
        match self {
            Self::News(loaded) => &loaded.warnings,
            Self::Review(loaded) => &loaded.warnings,
            Self::Issue(loaded) => &loaded.warnings,
        }
    }

    /// The names of its targets, as documents have them.
    pub(super) fn targets(&self) -> Vec<String> {
        match self {
            Self::News(_) => vec![TARGET.to_owned()],
            Self::Review(loaded) => names(&loaded.config.repos),
            Self::Issue(loaded) => names(&loaded.config.projects),
        }
    }

    /// The target that was named, or the only one there is.
    pub(super) fn choose(&self, named: Option<&str>) -> Result<String, CommandError> {
        choice::one(&self.targets(), named)
    }

    /// Leaves one target only.
    pub(super) fn narrow(&mut self, target: &str) {
        match self {
            Self::News(_) => {}
            Self::Review(loaded) => loaded.config.repos.retain(|one| one.to_string() == target),
            Self::Issue(loaded) => loaded.config.projects.retain(|one| one.as_str() == target),
        }
    }

    /// The targets in a few words: `2 repositories`.
    pub(super) fn extent(&self) -> String {
        let (count, one, many) = match self {
            Self::News(loaded) => (loaded.config.feeds.len(), "feed", "feeds"),
            Self::Review(loaded) => (loaded.config.repos.len(), "repository", "repositories"),
            Self::Issue(loaded) => (loaded.config.projects.len(), "project", "projects"),
        };
        format!("{count} {}", if count == 1 { one } else { many })
    }

    /// Asks the engine what a run would do. `given` must be for a dry run.
    pub(super) async fn dry_run(&self, given: &Given<'_>) -> Result<RunReport, RunError> {
        debug_assert!(given.options.dry_run, "nothing may be written");
        let clock = RunClock::start(self.shared().time_budget_seconds, given.options.now);
        match self {
            Self::News(loaded) => Box::pin(run::news::run(&loaded.config, given, clock)).await,
            Self::Review(loaded) => Box::pin(run::review::run(&loaded.config, given, clock)).await,
            Self::Issue(loaded) => Box::pin(run::issue::run(&loaded.config, given, clock)).await,
        }
    }
}

fn names(targets: &[impl ToString]) -> Vec<String> {
    targets.iter().map(ToString::to_string).collect()
}
