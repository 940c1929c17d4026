//! Wiring of the pull request reviewer.

use super::wiring::{Wiring, unwired, with_notes};
use super::{Automation, Given, RunError, RunReport};
use crate::clock::RunClock;
use crate::config::ReviewConfig;
use crate::config::review::TOKEN_SECRET;
use crate::ports::CheckoutsPort;
use futures_util::future;
use github_adapter::{GitHub, RepoName};
use http_client::Secret;
use lifecycle::document::REVIEW;
use lifecycle::engine::{Parts, poll};
use lifecycle::ports::Clock;
use lifecycle::report::TargetReport;
use lifecycle::review::{ReviewPolicy, ReviewSettings};
use workspace_fs::Limits;

pub(crate) async fn run(
    config: &ReviewConfig,
    given: &Given<'_>,
    clock: RunClock,
) -> Result<RunReport, RunError> {
    let wiring = Wiring::new(Automation::Review, &config.shared, given, clock).await?;
    let token = wiring.secret(TOKEN_SECRET, given.environment.github_token.as_ref())?;
    let phase = format!("polling {} repositories", config.repos.len());
    let polls = wiring.poll_all(&config.repos, |index| {
        poll_one(&wiring, config, &config.repos[index], &token)
    });
    let ((), reports) = future::join(wiring.phase(&phase), polls).await;
    Ok(wiring.report(reports))
}

async fn poll_one(
    wiring: &Wiring<'_>,
    config: &ReviewConfig,
    repo: &RepoName,
    token: &Secret,
) -> TargetReport {
    let target = repo.to_string();
    let store = match wiring.store(&REVIEW, &target, config.repos.len()) {
        Ok(store) => store,
        Err(error) => return unwired(&target, &error),
    };
    let settings = ReviewSettings {
        repo: target,
        trigger_label: config.trigger_label.clone(),
        tone: config.tone,
        style_instructions: config.style_instructions.clone(),
        guide_path: config.guide_path.clone(),
        review_drafts: config.review_drafts,
        api_url: config.api_url.to_string(),
        token_secret: config.shared.granted(TOKEN_SECRET),
    };
    let forge = GitHub::new(
        wiring.client.clone(),
        config.api_url.clone(),
        repo.clone(),
        token.clone(),
    )
    .as_of(wiring.clock.now());
    let checkouts = CheckoutsPort {
        forge: &forge,
        roots: wiring.workspaces.roots(),
        limits: Limits {
            max_bytes: config.max_archive_bytes,
            max_entries: config.max_archive_entries,
        },
    };
    let policy = ReviewPolicy {
        forge: &forge,
        checkouts: &checkouts,
        settings: &settings,
    };
    let world = Parts {
        store: &store,
        agents: &wiring.agents,
        workspaces: &wiring.workspaces,
        clock: &wiring.clock,
        journal: wiring.console,
    };
    let report = poll(&wiring.run, &world, &policy).await;
    with_notes(report, &store, wiring.console)
}
