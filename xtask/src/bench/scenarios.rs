//! What is measured.

use super::measure::{self, Figures};
use crate::error::TaskError;
use serde_json::{Value, json};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use testbed::agent_server::AgentServer;
use testbed::callback::{Callbacks, RunSetup, Scratch};
use testbed::feeds::{Feeds, Format, Story};
use testbed::github::{Archive, GitHub, NewPull};

const TOKEN: &str = "stand-in-token";
const TIMES: usize = 3;

type Scenario = (&'static str, fn() -> Result<Figures, TaskError>);

pub(super) const ALL: &[Scenario] = &[
    ("news: the day is handled already", news_handled),
    ("news: 20 feeds at 50 ms, nothing new", news_twenty_feeds),
    (
        "reviewer: 30 open, 10 of them tracked, at 50 ms",
        reviewer_steady,
    ),
    ("reviewer: 20 such repositories at 20 ms", reviewer_many),
    (
        "reviewer: an archive that unpacks to 60 MB",
        reviewer_archive,
    ),
];

struct Around {
    agent: AgentServer,
    callbacks: Callbacks,
    scratch: Scratch,
}

impl Around {
    fn new() -> Result<Self, TaskError> {
        let agent = AgentServer::start().map_err(TaskError::found)?;
        agent.set_secret("GITHUB_PERSONAL_ACCESS_TOKEN", TOKEN);
        Ok(Self {
            agent,
            callbacks: Callbacks::start().map_err(TaskError::found)?,
            scratch: Scratch::new().map_err(TaskError::found)?,
        })
    }

    fn run(
        &self,
        automation: &str,
        config: &Value,
        watched: &[&testbed::StandIn],
    ) -> Result<Figures, TaskError> {
        let setup = RunSetup::local(&self.agent, &self.scratch).callbacks(&self.callbacks);
        let run = setup.prepare().map_err(TaskError::found)?;
        measure::run(automation, config, &run, watched)
    }

    fn best(
        &self,
        automation: &str,
        config: &Value,
        watched: &[&testbed::StandIn],
    ) -> Result<Figures, TaskError> {
        let mut best = self.run(automation, config, watched)?;
        for _ in 1..TIMES {
            best = best.better(self.run(automation, config, watched)?);
        }
        Ok(best)
    }
}

fn now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}

fn news_handled() -> Result<Figures, TaskError> {
    let around = Around::new()?;
    let feeds = Feeds::start().map_err(TaskError::found)?;
    let url = feeds.feed("/a", "A", Format::Rss, &[Story::numbered(1, now() - 60.0)]);
    let config = json!({"feeds": [url], "wait_seconds": 0});
    around.run("news-digest", &config, &[])?;
    around.best(
        "news-digest",
        &config,
        &[feeds.server(), around.agent.server()],
    )
}

fn news_twenty_feeds() -> Result<Figures, TaskError> {
    let around = Around::new()?;
    let feeds = Feeds::start().map_err(TaskError::found)?;
    // Old stories: every run reads all feeds and finds nothing new.
    let stories: Vec<Story> = (0..15)
        .map(|n| Story::numbered(n, now() - f64::from(u32::try_from(n).unwrap_or(0)) - 1e7))
        .collect();
    let urls: Vec<String> = (0..20)
        .map(|n| feeds.feed(&format!("/{n}"), "Feed", Format::Rss, &stories))
        .collect();
    feeds
        .server()
        .faults()
        .set_latency(Duration::from_millis(50));
    around.best("news-digest", &json!({"feeds": urls}), &[feeds.server()])
}

/// Repositories with 30 open pull requests, 10 of them labelled, as a second poll finds them.
fn reviewer(repositories: usize, latency: u64) -> Result<Figures, TaskError> {
    let around = Around::new()?;
    let forge = GitHub::start().map_err(TaskError::found)?;
    forge.token(TOKEN, "review-bot");
    // What is set up here is old news when the polls come.
    forge.set_now(now() - 86_400.0);
    let mut names = Vec::new();
    for n in 0..repositories {
        let name = format!("acme/repo{n}");
        let repo = forge.repo(&name);
        for n in 0..30 {
            let pull = repo.open_pull(NewPull::titled("A change").by("dev"));
            if n < 10 {
                pull.label("openhands-review", "maintainer");
            }
        }
        names.push(name);
    }
    let config = json!({
        "repos": names, "github_api_url": forge.api_url(), "max_new_per_run": 1000,
    });
    around.run("github-pr-reviewer", &config, &[])?;
    around.run("github-pr-reviewer", &config, &[])?;
    forge
        .server()
        .faults()
        .set_latency(Duration::from_millis(latency));
    around.best("github-pr-reviewer", &config, &[forge.server()])
}

fn reviewer_steady() -> Result<Figures, TaskError> {
    reviewer(1, 50)
}

fn reviewer_many() -> Result<Figures, TaskError> {
    reviewer(20, 20)
}

fn reviewer_archive() -> Result<Figures, TaskError> {
    let around = Around::new()?;
    let forge = GitHub::start().map_err(TaskError::found)?;
    forge.token(TOKEN, "review-bot");
    let repo = forge.repo("acme/large");
    let pull = repo.open_pull(NewPull::titled("A change").by("dev"));
    repo.set_archive(
        &pull.head_sha(),
        Archive::Large {
            files: 60,
            bytes_each: 1_000_000,
            noise: false,
        },
    );
    pull.label("openhands-review", "maintainer");
    let config = json!({"repos": ["acme/large"], "github_api_url": forge.api_url()});
    around.run(
        "github-pr-reviewer",
        &config,
        &[forge.server(), forge.codeload()],
    )
}
