//! GitLab: whose token it is, and each project as the token sees it.

use super::finding::{Finding, Findings};
use super::{Patient, clocks};
use crate::commands::plain::counted;
use crate::config::IssueConfig;
use futures_util::future::join_all;
use gitlab_adapter::GitLab;
use http_client::Secret;
use lifecycle::issue::DEVELOPER;
use lifecycle::ports::{ForgeError, IssueForge, Project};

/// The service's name in errors.
const SERVICE: &str = "GitLab";
const CHECK: &str = "project";

pub(super) async fn check(
    patient: &Patient<'_>,
    config: &IssueConfig,
    token: Option<Secret>,
    findings: &mut Findings<'_>,
) {
    let mut url = config.api_url.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().push("user");
    }
    if let Err(error) = clocks::check(patient, SERVICE, url, findings).await {
        findings.add(Finding::failed("GitLab", error.to_string(), unreachable()));
        return;
    }
    let Some(token) = token else {
        findings.add(Finding::skipped(CHECK, "a token is needed first"));
        return;
    };
    let forges: Vec<(String, GitLab)> = config
        .projects
        .iter()
        .map(|project| {
            let (client, api) = (patient.client.clone(), config.api_url.clone());
            let forge = GitLab::new(client, api, project.clone(), token.clone());
            (project.to_string(), forge.as_of(patient.session.now()))
        })
        .collect();
    if let Some((_, forge)) = forges.first() {
        match forge.identity().await {
            Ok(owner) => {
                let found = format!("it belongs to {}", owner.username);
                findings.add(Finding::ok("token", found));
            }
            Err(error) => {
                findings.add(Finding::failed("token", error.to_string(), advice(&error)));
                return;
            }
        }
    }
    let looks = forges
        .iter()
        .map(async |(name, forge)| (name, look(forge, config).await));
    for (name, found) in join_all(looks).await {
        for finding in found {
            findings.add(finding.of(name));
        }
    }
}

async fn look(forge: &GitLab, config: &IssueConfig) -> Vec<Finding> {
    let label = config.trigger_label.as_str();
    let project = match forge.project().await {
        Ok(project) => project,
        Err(error) => return vec![Finding::failed(CHECK, error.to_string(), advice(&error))],
    };
    let mut findings = vec![standing(&project)];
    findings.push(match forge.label_spelling(label).await {
        Ok(Some(spelling)) => match forge.list_labelled(&spelling).await {
            Ok(listing) => {
                let issues = counted(
                    listing.items.len(),
                    "open issue carries",
                    "open issues carry",
                );
                Finding::ok("label", format!("{spelling} exists; {issues} it"))
            }
            Err(error) => Finding::failed("label", error.to_string(), advice(&error)),
        },
        Ok(None) => Finding::failed(
            "label",
            format!("there is no label {label}, so nobody can ask for work"),
            "Create the label in the project or its group, or change `trigger_label`.",
        ),
        Err(error) => Finding::failed("label", error.to_string(), advice(&error)),
    });
    findings
}

fn standing(project: &Project) -> Finding {
    let access = project.access_level.map_or("not stated".to_owned(), role);
    let branch = project.default_branch.as_deref().unwrap_or("none");
    let found = format!("access: {access}; default branch: {branch}");
    let failed =
        |what: &str, advice: &str| Finding::failed(CHECK, format!("{what}; {found}"), advice);
    if project.archived {
        return failed("it is archived", "Take it off the list, or unarchive it.");
    }
    if !project.issues_enabled {
        return failed(
            "its issues are switched off",
            "Switch them on in its settings.",
        );
    }
    if !project.repository_enabled {
        return failed(
            "its repository is switched off",
            "Switch it on in its settings.",
        );
    }
    if project.default_branch.is_none() {
        return failed("its repository is empty", "Push a first commit.");
    }
    if project.access_level.is_some_and(|level| level < DEVELOPER) {
        return failed(
            "the token cannot push",
            "Give its account the role Developer in the project, and the token the scope `api`.",
        );
    }
    if let Some(name) = &project.moved_to {
        let advice = "Write the new path into `projects`; its state goes by the configured name, \
                      so expect labelled issues to be worked on once more.";
        return Finding::warning(CHECK, format!("it is called {name} now; {found}"), advice);
    }
    Finding::ok(CHECK, found)
}

/// An access level by the name of its role.
fn role(level: u64) -> String {
    let name = match level {
        0..10 => "none",
        10..15 => "Guest",
        15..20 => "Planner",
        20..30 => "Reporter",
        30..40 => "Developer",
        40..50 => "Maintainer",
        _ => "Owner",
    };
    format!("{name} ({level})")
}

fn unreachable() -> &'static str {
    "Check the network, `gitlab_api_url`, and (for a private certificate authority) SSL_CERT_FILE."
}

fn advice(error: &ForgeError) -> &'static str {
    match error {
        ForgeError::BadToken { .. } => {
            "Make a new token with the scope `api` and set it as GITLAB_TOKEN in the secrets of \
             the agent server."
        }
        ForgeError::NoAccess { .. } | ForgeError::NotFound { .. } => {
            "Check the path, and give the token's account the role Developer in the project."
        }
        ForgeError::Limited { .. } => "Wait, and check again.",
        ForgeError::Refused { .. } | ForgeError::Unavailable { .. } => unreachable(),
    }
}
