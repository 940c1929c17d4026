//! Wiring of the issue automation.

use super::wiring::{Wiring, unwired, with_notes};
use super::{Automation, Given, RunError, RunReport};
use crate::clock::RunClock;
use crate::config::IssueConfig;
use crate::config::issue::TOKEN_SECRET;
use crate::environment::Environment;
use crate::ports::ClonesPort;
use futures_util::future;
use gitlab_adapter::{GitLab, ProjectPath};
use http_client::Secret;
use lifecycle::document::ISSUE;
use lifecycle::engine::{Parts, poll};
use lifecycle::issue::{IssuePolicy, IssueSettings};
use lifecycle::ports::Clock;
use lifecycle::report::TargetReport;
use workspace_fs::{GitRunner, GitSettings};

pub(crate) async fn run(
    config: &IssueConfig,
    given: &Given<'_>,
    clock: RunClock,
) -> Result<RunReport, RunError> {
    let wiring = Wiring::new(Automation::Issue, &config.shared, given, clock).await?;
    let token = wiring.secret(TOKEN_SECRET, given.environment.gitlab_token.as_ref())?;
    let git = GitRunner::find(git_settings(given.environment))
        .await
        .map_err(|error| RunError::Setup(error.to_string()))?;
    let phase = format!("polling {} projects", config.projects.len());
    let polls = wiring.poll_all(&config.projects, |index| {
        poll_one(&wiring, config, &config.projects[index], &token, &git)
    });
    let ((), reports) = future::join(wiring.phase(&phase), polls).await;
    Ok(wiring.report(reports))
}

async fn poll_one(
    wiring: &Wiring<'_>,
    config: &IssueConfig,
    project: &ProjectPath,
    token: &Secret,
    git: &GitRunner,
) -> TargetReport {
    let target = project.to_string();
    let store = match wiring.store(&ISSUE, &target, config.projects.len()) {
        Ok(store) => store,
        Err(error) => return unwired(&target, &error),
    };
    let settings = IssueSettings {
        project: target,
        trigger_label: config.trigger_label.clone(),
        branch_prefix: config.branch_prefix.clone(),
        mode: config.mode,
        trigger_level: config.trigger_level,
        keep_failed_work: config.keep_failed_work,
        api_url: config.api_url.to_string(),
        token_secret: config.shared.granted(TOKEN_SECRET),
    };
    let forge = GitLab::new(
        wiring.client.clone(),
        config.api_url.clone(),
        project.clone(),
        token.clone(),
    )
    .as_of(wiring.clock.now());
    let clones = ClonesPort {
        git,
        roots: wiring.workspaces.roots(),
        token: token.clone(),
        origin: config.api_url.origin(),
    };
    let policy = IssuePolicy {
        forge: &forge,
        clones: &clones,
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

/// Git reaches hosts as everything else does.
pub(crate) fn git_settings(environment: &Environment) -> GitSettings {
    let network = &environment.network;
    let mut settings = GitSettings::new(environment.path.clone().unwrap_or_default());
    settings.http_proxy.clone_from(&network.http_proxy);
    settings.https_proxy.clone_from(&network.https_proxy);
    settings.all_proxy.clone_from(&network.all_proxy);
    settings.no_proxy.clone_from(&network.no_proxy);
    settings.ca_file.clone_from(&network.cert_file);
    settings.ca_dir = network.cert_dirs.first().cloned();
    settings
}
