//! What a failing status means, in words that say what a person can change. Limits are read before
//! (by the HTTP client); everything here is pure.
//!
//! GitHub says "no" in many ways: 401 for a token that is wrong, 403 for one that may not (single
//! sign-on, address list, missing permission, archived repository), and 404 both for what is gone
//! and for what the token may not see. Sources: "Troubleshooting the REST API" and the headers
//! `X-GitHub-SSO`, `X-Accepted-GitHub-Permissions`, `X-Accepted-OAuth-Scopes`.

use http_client::{Secret, redact};
use lifecycle::ports::ForgeError;
use lifecycle::text::{cut_chars, one_line};
use serde::Deserialize;
use serde_json::Value;

/// Characters of GitHub's own words in an error.
const MAX_DETAIL: usize = 300;

/// Bytes of a body that may be GitHub's words; a longer one is not looked into.
const MAX_WORDS: usize = 256 * 1024;

/// An answer that is a refusal.
pub(crate) struct Refusal<'a> {
    /// Method and path.
    pub(crate) call: String,
    pub(crate) status: u16,
    /// The value of a header by its name.
    pub(crate) header: &'a dyn Fn(&str) -> Option<String>,
    pub(crate) body: &'a [u8],
    /// Taken out of every text.
    pub(crate) token: &'a Secret,
}

impl Refusal<'_> {
    /// The error that it means.
    pub(crate) fn read(self) -> ForgeError {
        let said = self.said();
        let call = self.call.clone();
        match self.status {
            401 => ForgeError::BadToken { call, detail: said },
            403 | 451 => {
                let hint = if self.status == 403 {
                    self.hint(&said)
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
                status: self.status,
                detail: "the repository has moved; configure its new name".to_owned(),
            },
            400..=499 => ForgeError::Refused {
                call,
                status: self.status,
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

    /// GitHub's own words, cleaned and shortened.
    fn said(&self) -> String {
        let clean = one_line(&redact(&words_of(self.body), &[self.token]));
        if clean.is_empty() {
            format!("status {}", self.status)
        } else {
            cut_chars(&clean, MAX_DETAIL)
        }
    }

    /// What a person can change about a 403.
    fn hint(&self, said: &str) -> Option<String> {
        if let Some(sso) = self.header("x-github-sso") {
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
            let needed = self.header("x-accepted-github-permissions");
            return Some(match needed {
                Some(needed) => format!("give the token one of the permissions {needed}"),
                None => "give the token the permission for this".to_owned(),
            });
        }
        if said.contains("archived") {
            return Some("an archived repository takes no comments".to_owned());
        }
        let needed = self.header("x-accepted-oauth-scopes")?;
        let held = self.header("x-oauth-scopes")?;
        let has = |scope: &str| held.split(',').any(|one| one.trim() == scope.trim());
        if needed.split(',').any(has) {
            return None;
        }
        Some(format!(
            "the token has the scopes [{held}] and needs one of [{needed}]"
        ))
    }

    /// A header, cleaned and shortened; `None` when it is absent or empty.
    fn header(&self, name: &str) -> Option<String> {
        let value = (self.header)(name)?;
        let clean = cut_chars(&one_line(&redact(&value, &[self.token])), MAX_DETAIL);
        (!clean.is_empty()).then_some(clean)
    }
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
fn words_of(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct ErrorWire {
        message: Option<String>,
        #[serde(default)]
        errors: Value,
    }
    let words = body.get(..MAX_WORDS).is_none().then_some(body);
    let wire = words.and_then(|words| serde_json::from_slice::<ErrorWire>(words).ok());
    let Some(wire) = wire else {
        let start = String::from_utf8_lossy(&body[..body.len().min(2048)]);
        return if start.trim_start().starts_with('<') {
            "a page of HTML".to_owned()
        } else {
            start.into_owned()
        };
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
