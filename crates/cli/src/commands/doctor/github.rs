//! GitHub: whose token it is, and each repository as the token sees it.

use super::Patient;
use super::finding::{Finding, Findings};
use super::forge::{self, Forge, Site};
use crate::commands::plain::counted;
use crate::config::ReviewConfig;
use forge_http::answers::same_label;
use github_adapter::{Access, GitHub, RepoName};
use http_client::Secret;
use lifecycle::ports::{ForgeError, Listing, Pull, ReviewForge};

pub(super) async fn check(
    patient: &Patient<'_>,
    config: &ReviewConfig,
    token: Option<Secret>,
    findings: &mut Findings<'_>,
) {
    let site = Site {
        api: &config.api_url,
        targets: &config.repos,
        label: &config.trigger_label,
    };
    let open = |client, repo: &RepoName, token| {
        let api = config.api_url.clone();
        GitHub::new(client, api, repo.clone(), token).as_of(patient.session.now())
    };
    forge::check(patient, site, token, open, findings).await;
}

impl Forge for GitHub {
    const SERVICE: &'static str = "GitHub";
    const TARGET: &'static str = "repository";
    // Costs nothing of the limit that it tells about.
    const PROBE: &'static str = "rate_limit";
    const UNREACHABLE: &'static str = "Check the network, `github_api_url`, and (for a private \
        certificate authority) SSL_CERT_FILE.";
    const BAD_TOKEN: &'static str = "Make a new token and set it as GITHUB_PERSONAL_ACCESS_TOKEN \
        in the secrets of the agent server.";
    const NO_ACCESS: &'static str = "Check the name, and give the token access: a classic token \
        needs the scope `repo`, a fine-grained one this repository with contents (read), issues \
        and pull requests (read and write).";

    async fn owner(&self) -> Result<String, ForgeError> {
        self.login().await
    }

    async fn look(&self, label: &str) -> Vec<Finding> {
        let (access, listing, has_label) =
            futures_util::join!(self.access(), self.list_open(), self.has_label(label));
        let access = match access {
            Ok(access) => access,
            Err(error) => return vec![Self::failed(Self::TARGET, &error)],
        };
        let target = match listing {
            Ok(listing) => standing(&access, &listing, label),
            Err(error) => Self::failed(Self::TARGET, &error),
        };
        let label = match has_label {
            Ok(true) => Finding::ok("label", format!("{label} exists")),
            Ok(false) => Finding::failed(
                "label",
                format!("there is no label {label}, so nobody can ask for a review"),
                "Create the label in the repository, or change `trigger_label`.",
            ),
            Err(error) => Finding::warning("label", error.to_string(), Self::advice(&error)),
        };
        vec![target, label]
    }
}

fn standing(access: &Access, listing: &Listing<Pull>, label: &str) -> Finding {
    let labelled = listing
        .items
        .iter()
        .filter(|pull| pull.labels.iter().any(|name| same_label(name, label)));
    let found = format!(
        "access: {}; {}, {} with the label",
        access.role.unwrap_or("not stated"),
        counted(
            listing.items.len(),
            "open pull request",
            "open pull requests"
        ),
        labelled.count()
    );
    if access.archived {
        let advice = "Take it off the list: an archived repository takes no reviews.";
        return Finding::failed(GitHub::TARGET, format!("it is archived; {found}"), advice);
    }
    if let Some(name) = &listing.moved_to {
        let advice = "Write the new name into `repos`; its state goes by the configured name, so \
                      expect labelled pull requests to be reviewed once more.";
        return Finding::warning(
            GitHub::TARGET,
            format!("it is called {name} now; {found}"),
            advice,
        );
    }
    Finding::ok(GitHub::TARGET, found)
}
