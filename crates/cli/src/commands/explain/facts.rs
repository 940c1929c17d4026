//! What the forge says of an item.

use super::Item;
use crate::commands::configured::Configured;
use crate::commands::error::CommandError;
use crate::config::issue::TOKEN_SECRET as GITLAB_TOKEN;
use crate::config::review::TOKEN_SECRET as GITHUB_TOKEN;
use crate::run::wiring::Wiring;
use github_adapter::GitHub;
use gitlab_adapter::GitLab;
use lifecycle::ports::{Clock as _, ForgeError, IssueForge, LabelEvent, ReviewForge};

/// An item as the forge shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Facts {
    /// There is no such item, or the token cannot see it.
    Gone,
    /// A pull request or an issue.
    Found(Found),
    /// A day has nothing that could be asked.
    Day,
}

/// A pull request or an issue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) title: String,
    pub(super) url: String,
    pub(super) open: bool,
    pub(super) draft: bool,
    /// The commit at the head; empty for an issue.
    pub(super) head: String,
    pub(super) from_fork: bool,
    /// Whether it carries the trigger label.
    pub(super) labelled: bool,
    /// When that label was put on last.
    pub(super) event: Option<LabelEvent>,
}

/// Asks about an item. The inner error is the forge's.
pub(super) async fn ask(
    wiring: &Wiring<'_>,
    configured: &Configured,
    item: &Item,
) -> Result<Result<Facts, String>, CommandError> {
    let answer = match (configured, item) {
        (Configured::Review(loaded), Item::Number(number)) => {
            let config = &loaded.config;
            let token = wiring.environment.github_token.as_ref();
            let token = wiring.secret(GITHUB_TOKEN, token)?;
            let Some(repo) = config.repos.first() else {
                return Ok(Ok(Facts::Day));
            };
            let (client, api) = (wiring.client.clone(), config.api_url.clone());
            let forge = GitHub::new(client, api, repo.clone(), token).as_of(wiring.clock.now());
            pull(&forge, *number, &config.trigger_label).await
        }
        (Configured::Issue(loaded), Item::Number(iid)) => {
            let config = &loaded.config;
            let token = wiring.environment.gitlab_token.as_ref();
            let token = wiring.secret(GITLAB_TOKEN, token)?;
            let Some(project) = config.projects.first() else {
                return Ok(Ok(Facts::Day));
            };
            let (client, api) = (wiring.client.clone(), config.api_url.clone());
            let forge = GitLab::new(client, api, project.clone(), token).as_of(wiring.clock.now());
            issue(&forge, *iid, &config.trigger_label).await
        }
        _ => Ok(Facts::Day),
    };
    Ok(answer.map_err(|error| error.to_string()))
}

fn carries(labels: &[String], wanted: &str) -> bool {
    let wanted = wanted.to_lowercase();
    labels.iter().any(|label| label.to_lowercase() == wanted)
}

async fn pull(forge: &GitHub, number: u64, label: &str) -> Result<Facts, ForgeError> {
    let Some(details) = forge.pull(number).await? else {
        return Ok(Facts::Gone);
    };
    Ok(Facts::Found(Found {
        event: forge.newest_label_event(number, label).await?,
        title: details.title,
        open: details.open,
        draft: details.pull.draft,
        from_fork: details.from_fork,
        labelled: carries(&details.pull.labels, label),
        url: details.pull.html_url,
        head: details.pull.head_sha,
    }))
}

async fn issue(forge: &GitLab, iid: u64, label: &str) -> Result<Facts, ForgeError> {
    let Some(issue) = forge.issue(iid).await? else {
        return Ok(Facts::Gone);
    };
    Ok(Facts::Found(Found {
        event: forge.newest_label_event(iid, label).await?,
        labelled: carries(&issue.labels, label),
        title: issue.title,
        url: issue.web_url,
        open: issue.open,
        ..Found::default()
    }))
}
