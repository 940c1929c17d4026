//! What is to be worked on, as the token of the person who deploys sees it.

use crate::commands::configured::Configured;
use crate::commands::doctor::{self, Finding, Findings};
use crate::commands::error::CommandError;
use crate::commands::session::Session;
use crate::run::Automation;
use http_client::Client;

/// Checks without which a run could do nothing. A label can be made later, and a feed may come back.
const DECISIVE: [&str; 3] = ["token", "repository", "project"];

/// Checks the token and every repository, project or feed. Without a token here it says so.
pub(super) async fn check(
    session: &Session,
    client: &Client,
    configured: &Configured,
    json: bool,
) -> Result<Vec<Finding>, CommandError> {
    let mut findings = Findings::new(&session.console, json);
    findings.begin(configured.automation().name());
    let environment = &session.environment;
    let token = match configured.automation() {
        Automation::News => None,
        Automation::Review => environment.github_token.clone(),
        Automation::Issue => environment.gitlab_token.clone(),
    };
    let name = configured.automation().token_secret();
    if let (Some(name), None) = (name, &token) {
        findings.add(Finding::skipped(
            "targets",
            format!(
                "{name} is not set here, so {} cannot be looked at; a run takes it from the \
                 secrets of its agent server",
                configured.extent()
            ),
        ));
        return Ok(findings.into_all());
    }
    doctor::targets(session, client.clone(), configured, token, &mut findings).await;
    let all = findings.into_all();
    let wrong: Vec<String> = all
        .iter()
        .filter(|finding| finding.is_failed() && DECISIVE.contains(&finding.check()))
        .map(Finding::in_words)
        .collect();
    if wrong.is_empty() {
        return Ok(all);
    }
    let unset = name.map(|name| {
        format!(". If a run has another token than the {name} here, deploy without that variable")
    });
    Err(CommandError::Failed(format!(
        "nothing was deployed, because a run could not work: {}{}",
        wrong.join("; "),
        unset.unwrap_or_default()
    )))
}
