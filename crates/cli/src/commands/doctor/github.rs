//! GitHub: whose token it is, and each repository as the token sees it.

use super::finding::{Finding, Findings};
use super::{Patient, clocks};
use crate::commands::plain::counted;
use crate::config::ReviewConfig;
use futures_util::future::join_all;
use github_adapter::{Access, GitHub};
use http_client::Secret;
use lifecycle::ports::{ForgeError, Listing, Pull, ReviewForge};

/// The service's name in errors.
const SERVICE: &str = "GitHub";
const CHECK: &str = "repository";

pub(super) async fn check(
    patient: &Patient<'_>,
    config: &ReviewConfig,
    token: Option<Secret>,
    findings: &mut Findings<'_>,
) {
    let mut url = config.api_url.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        // Costs nothing of the limit that it tells about.
        segments.pop_if_empty().push("rate_limit");
    }
    if let Err(error) = clocks::check(patient, SERVICE, url, findings).await {
        findings.add(Finding::failed("GitHub", error.to_string(), unreachable()));
        return;
    }
    let Some(token) = token else {
        findings.add(Finding::skipped(CHECK, "a token is needed first"));
        return;
    };
    let forges: Vec<(String, GitHub)> = config
        .repos
        .iter()
        .map(|repo| {
            let (client, api) = (patient.client.clone(), config.api_url.clone());
            let forge = GitHub::new(client, api, repo.clone(), token.clone());
            (repo.to_string(), forge.as_of(patient.session.now()))
        })
        .collect();
    if let Some((_, forge)) = forges.first() {
        match forge.login().await {
            Ok(login) => findings.add(Finding::ok("token", format!("it belongs to {login}"))),
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

async fn look(forge: &GitHub, config: &ReviewConfig) -> Vec<Finding> {
    let label = config.trigger_label.as_str();
    let (access, listing, has_label) =
        futures_util::join!(forge.access(), forge.list_open(), forge.has_label(label));
    let access = match access {
        Ok(access) => access,
        Err(error) => return vec![Finding::failed(CHECK, error.to_string(), advice(&error))],
    };
    let mut findings = vec![match listing {
        Ok(listing) => standing(&access, &listing, label),
        Err(error) => Finding::failed(CHECK, error.to_string(), advice(&error)),
    }];
    findings.push(match has_label {
        Ok(true) => Finding::ok("label", format!("{label} exists")),
        Ok(false) => Finding::failed(
            "label",
            format!("there is no label {label}, so nobody can ask for a review"),
            "Create the label in the repository, or change `trigger_label`.",
        ),
        Err(error) => Finding::warning("label", error.to_string(), advice(&error)),
    });
    findings
}

fn standing(access: &Access, listing: &Listing<Pull>, label: &str) -> Finding {
    let wanted = label.to_lowercase();
    let labelled = listing.items.iter().filter(|pull| {
        pull.labels
            .iter()
            .any(|label| label.to_lowercase() == wanted)
    });
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
        return Finding::failed(CHECK, format!("it is archived; {found}"), advice);
    }
    if let Some(name) = &listing.moved_to {
        let advice = "Write the new name into `repos`; its state goes by the configured name, so \
                      expect labelled pull requests to be reviewed once more.";
        return Finding::warning(CHECK, format!("it is called {name} now; {found}"), advice);
    }
    Finding::ok(CHECK, found)
}

fn unreachable() -> &'static str {
    "Check the network, `github_api_url`, and (for a private certificate authority) SSL_CERT_FILE."
}

fn advice(error: &ForgeError) -> &'static str {
    match error {
        ForgeError::BadToken { .. } => {
            "Make a new token and set it as GITHUB_PERSONAL_ACCESS_TOKEN in the secrets of the \
             agent server."
        }
        ForgeError::NoAccess { .. } | ForgeError::NotFound { .. } => {
            "Check the name, and give the token access: a classic token needs the scope `repo`, a \
             fine-grained one this repository with contents (read), issues and pull requests (read \
             and write)."
        }
        ForgeError::Limited { .. } => "Wait, and check again.",
        ForgeError::Refused { .. } | ForgeError::Unavailable { .. } => unreachable(),
    }
}
