//! GitLab: whose token it is, and each project as the token sees it.

use super::Patient;
use super::finding::{Finding, Findings};
use super::forge::{self, Forge, Site};
use crate::commands::plain::counted;
use crate::config::IssueConfig;
use gitlab_adapter::{GitLab, ProjectPath};
use http_client::Secret;
use lifecycle::issue::DEVELOPER;
use lifecycle::ports::{ForgeError, IssueForge, Project};

pub(super) async fn check(
    patient: &Patient<'_>,
    config: &IssueConfig,
    token: Option<Secret>,
    findings: &mut Findings<'_>,
) {
    let site = Site {
        api: &config.api_url,
        targets: &config.projects,
        label: &config.trigger_label,
    };
    let open = |client, project: &ProjectPath, token| {
        let api = config.api_url.clone();
        GitLab::new(client, api, project.clone(), token).as_of(patient.session.now())
    };
    forge::check(patient, site, token, open, findings).await;
}

impl Forge for GitLab {
    const SERVICE: &'static str = "GitLab";
    const TARGET: &'static str = "project";
    const PROBE: &'static str = "user";
    const UNREACHABLE: &'static str = "Check the network, `gitlab_api_url`, and (for a private \
        certificate authority) SSL_CERT_FILE.";
    const BAD_TOKEN: &'static str = "Make a new token with the scope `api` and set it as \
        GITLAB_TOKEN in the secrets of the agent server.";
    const NO_ACCESS: &'static str = "Check the path, and give the token's account the role \
        Developer in the project.";

    async fn owner(&self) -> Result<String, ForgeError> {
        let owner = self.identity().await?;
        Ok(owner.username)
    }

    async fn look(&self, label: &str) -> Vec<Finding> {
        let target = match self.project().await {
            Ok(project) => standing(&project),
            Err(error) => return vec![Self::failed(Self::TARGET, &error)],
        };
        let label = match self.label_spelling(label).await {
            Ok(Some(spelling)) => labelled(self, &spelling).await,
            Ok(None) => Finding::failed(
                "label",
                format!("there is no label {label}, so nobody can ask for work"),
                "Create the label in the project or its group, or change `trigger_label`.",
            ),
            Err(error) => Self::failed("label", &error),
        };
        vec![target, label]
    }
}

async fn labelled(forge: &GitLab, label: &str) -> Finding {
    match forge.list_labelled(label).await {
        Ok(listing) => {
            let issues = counted(
                listing.items.len(),
                "open issue carries",
                "open issues carry",
            );
            Finding::ok("label", format!("{label} exists; {issues} it"))
        }
        Err(error) => GitLab::failed("label", &error),
    }
}

fn standing(project: &Project) -> Finding {
    let access = project.access_level.map_or("not stated".to_owned(), role);
    let branch = project.default_branch.as_deref().unwrap_or("none");
    let found = format!("access: {access}; default branch: {branch}");
    let failed = |what: &str, advice: &str| {
        Finding::failed(GitLab::TARGET, format!("{what}; {found}"), advice)
    };
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
        return Finding::warning(
            GitLab::TARGET,
            format!("it is called {name} now; {found}"),
            advice,
        );
    }
    Finding::ok(GitLab::TARGET, found)
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
