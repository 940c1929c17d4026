//! A forge: whether it answers, whose token it is, and each target as the token sees it. What GitHub
//! and GitLab do differently is told by each of them.

use super::finding::{Finding, Findings};
use super::{Patient, clocks};
use futures_util::future::join_all;
use http_client::{Client, Secret, Url};
use lifecycle::ports::ForgeError;

/// One target on a forge, looked at with a token.
pub(super) trait Forge {
    /// The service's name in findings and errors.
    const SERVICE: &'static str;
    /// What a target is called.
    const TARGET: &'static str;
    /// What is asked for, below the API, to see whether anybody answers.
    const PROBE: &'static str;
    /// What to do when nobody answers.
    const UNREACHABLE: &'static str;
    /// What to do about a token that is not accepted.
    const BAD_TOKEN: &'static str;
    /// What to do about a target that the token may not see.
    const NO_ACCESS: &'static str;

    /// The name of the token's own user.
    async fn owner(&self) -> Result<String, ForgeError>;

    /// The target itself, and whether the label that asks for work is there.
    async fn look(&self, label: &str) -> Vec<Finding>;

    /// What cannot be had is found to be wrong.
    fn failed(check: &'static str, error: &ForgeError) -> Finding {
        Finding::failed(check, error.to_string(), Self::advice(error))
    }

    /// What to do about an error.
    fn advice(error: &ForgeError) -> &'static str {
        match error {
            ForgeError::BadToken { .. } => Self::BAD_TOKEN,
            ForgeError::NoAccess { .. } | ForgeError::NotFound { .. } => Self::NO_ACCESS,
            ForgeError::Limited { .. } => "Wait, and check again.",
            ForgeError::Refused { .. } | ForgeError::Unavailable { .. } => Self::UNREACHABLE,
        }
    }
}

/// What the configuration says about a forge.
pub(super) struct Site<'a, T> {
    pub(super) api: &'a Url,
    pub(super) targets: &'a [T],
    /// The label that asks for work.
    pub(super) label: &'a str,
}

/// Looks at all of it. `open` makes a target's forge of its name.
pub(super) async fn check<T: ToString, F: Forge>(
    patient: &Patient<'_>,
    site: Site<'_, T>,
    token: Option<Secret>,
    open: impl Fn(Client, &T, Secret) -> F,
    findings: &mut Findings<'_>,
) {
    let url = forge_http::below(site.api, &[F::PROBE]);
    if let Err(error) = clocks::check(patient, F::SERVICE, url, findings).await {
        let text = error.to_string();
        findings.add(Finding::failed(F::SERVICE, text, F::UNREACHABLE));
        return;
    }
    let Some(token) = token else {
        findings.add(Finding::skipped(F::TARGET, "a token is needed first"));
        return;
    };
    let targets = site.targets.iter();
    let forges: Vec<(String, F)> = targets
        .map(|target| {
            let forge = open(patient.client.clone(), target, token.clone());
            (target.to_string(), forge)
        })
        .collect();
    if let Some((_, forge)) = forges.first() {
        match forge.owner().await {
            Ok(owner) => findings.add(Finding::ok("token", format!("it belongs to {owner}"))),
            Err(error) => {
                findings.add(F::failed("token", &error));
                return;
            }
        }
    }
    let looks = forges
        .iter()
        .map(async |(name, forge)| (name, forge.look(site.label).await));
    for (name, found) in join_all(looks).await {
        for finding in found {
            findings.add(finding.of(name));
        }
    }
}
