//! What a failing status means, in words that say what a person can change. Limits are read before
//! (by the HTTP client); everything here is pure.
//!
//! GitHub says "no" in many ways: 401 for a token that is wrong, 403 for one that may not (single
//! sign-on, address list, missing permission, archived repository), and 404 both for what is gone
//! and for what the token may not see. Sources: "Troubleshooting the REST API" and the headers
//! `X-GitHub-SSO`, `X-Accepted-GitHub-Permissions`, `X-Accepted-OAuth-Scopes`.

use forge_http::Refusal;
use lifecycle::ports::ForgeError;
use serde::Deserialize;
use serde_json::Value;

/// The error that a refusal means.
pub(crate) fn read(refusal: &Refusal<'_>) -> ForgeError {
    let said = refusal
        .clean(&words_of(refusal))
        .unwrap_or_else(|| format!("status {}", refusal.status));
    let call = refusal.call.clone();
    match refusal.status {
        401 => ForgeError::BadToken { call, detail: said },
        403 | 451 => {
            let hint = if refusal.status == 403 {
                hint(refusal, &said)
            } else {
                None
            };
            let detail = match hint {
                Some(hint) => format!("{}: {hint}", said.trim_end_matches('.')),
                None => said,
            };
            ForgeError::NoAccess { call, detail }
        }
        404 | 410 => ForgeError::NotFound { call, detail: said },
        // A secondary limit that comes as a validation error, without a word about its end.
        422 if said.contains("submitted too quickly") => ForgeError::Limited {
            call,
            resets_at: None,
        },
        301 | 302 | 303 | 307 | 308 => ForgeError::Refused {
            call,
            status: refusal.status,
            detail: "the repository has moved; configure its new name".to_owned(),
        },
        400..=499 => ForgeError::Refused {
            call,
            status: refusal.status,
            detail: said,
        },
        status => {
            let detail = if said.starts_with("status") {
                said
            } else {
                format!("status {status}: {said}")
            };
            ForgeError::Unavailable { call, detail }
        }
    }
}

/// What a person can change about a 403.
fn hint(refusal: &Refusal<'_>, said: &str) -> Option<String> {
    let header = |name: &str| refusal.clean(&(refusal.header)(name)?);
    if let Some(sso) = header("x-github-sso") {
        // The query of the address is a one-time request that belongs into no log.
        let place = sso
            .split_once("url=")
            .and_then(|(_, url)| url.split(['?', ';']).next());
        return Some(match place {
            Some(url) => format!("authorize the token for single sign-on at {url}"),
            None => "authorize the token for the organization's single sign-on".to_owned(),
        });
    }
    if said.contains("IP allow list") {
        return Some(
            "add the address of this machine to the organization's IP allow list".to_owned(),
        );
    }
    if said.contains("not accessible by") {
        return Some(match header("x-accepted-github-permissions") {
            Some(needed) => format!("give the token one of the permissions {needed}"),
            None => "give the token the permission for this".to_owned(),
        });
    }
    if said.contains("archived") {
        return Some("an archived repository takes no comments".to_owned());
    }
    let needed = header("x-accepted-oauth-scopes")?;
    let held = header("x-oauth-scopes")?;
    let has = |scope: &str| held.split(',').any(|one| one.trim() == scope.trim());
    if needed.split(',').any(has) {
        return None;
    }
    Some(format!(
        "the token has the scopes [{held}] and needs one of [{needed}]"
    ))
}

/// Turns a 404 about the repository itself into the error it is: GitHub answers the same for what
/// is not there and for what the token may not see.
pub(crate) fn hidden(error: ForgeError) -> ForgeError {
    match error {
        ForgeError::NotFound { call, detail } => ForgeError::NoAccess {
            call,
            detail: format!(
                "{detail}: there is no such repository, or the token may not see it; correct the name, or give the token access"
            ),
        },
        other => other,
    }
}

/// The message of an error body with the messages of its parts; the text itself when it is no JSON.
fn words_of(refusal: &Refusal<'_>) -> String {
    #[derive(Deserialize)]
    struct ErrorWire {
        message: Option<String>,
        #[serde(default)]
        errors: Value,
    }
    let Some(wire) = refusal.json::<ErrorWire>() else {
        return refusal.start();
    };
    let mut words: Vec<String> = wire.message.into_iter().collect();
    for part in wire.errors.as_array().into_iter().flatten().take(5) {
        let text = |name: &str| part[name].as_str().unwrap_or_default();
        let said = part.as_str().unwrap_or_else(|| text("message"));
        if !said.is_empty() {
            words.push(said.to_owned());
        } else if !text("code").is_empty() {
            words.push(format!(
                "{} {} {}",
                text("resource"),
                text("field"),
                text("code")
            ));
        }
    }
    words.join("; ")
}

#[cfg(test)]
mod tests;
