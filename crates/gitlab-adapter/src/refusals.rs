//! What a failing status means, in words that say what a person can change. Limits are read before
//! (by the HTTP client); everything here is pure.
//!
//! GitLab words its errors in four shapes (`message` as text, list or object of lists, and the
//! `error` of OAuth), and hides a project that the token may not see behind the 404 of one that is
//! not there. A 404 that is not in its words comes from something else at that address (a proxy, or
//! a wrong base), and says nothing about what was asked for.

use http_client::{Secret, redact};
use lifecycle::ports::ForgeError;
use lifecycle::text::{cut_chars, one_line};
use serde_json::Value;

/// Characters of GitLab's own words in an error.
const MAX_DETAIL: usize = 300;
/// Bytes of a body that may be GitLab's words; a longer one is not looked into.
const MAX_WORDS: usize = 256 * 1024;
/// Parts of a message that are told.
const MAX_PARTS: usize = 5;

/// An answer that is a refusal.
pub(crate) struct Refusal<'a> {
    /// Method and path.
    pub(crate) call: String,
    pub(crate) status: u16,
    pub(crate) body: &'a [u8],
    /// Taken out of every text.
    pub(crate) token: &'a Secret,
}

impl Refusal<'_> {
    /// The error that it means.
    pub(crate) fn read(self) -> ForgeError {
        let words = self.body.get(..MAX_WORDS).is_none().then_some(self.body);
        let wire = words
            .and_then(|words| serde_json::from_slice::<Value>(words).ok())
            .filter(Value::is_object);
        let said = self.said(wire.as_ref());
        let Self { call, status, .. } = self;
        match status {
            401 => ForgeError::BadToken { call, detail: said },
            403 | 451 => ForgeError::NoAccess {
                call,
                detail: with_scope(said, wire.as_ref()),
            },
            404 | 410 if wire.is_none() => ForgeError::Unavailable {
                call,
                detail: format!(
                    "status {status} not in GitLab's words ({said}); check gitlab_api_url"
                ),
            },
            404 if said.to_ascii_lowercase().contains("project not found") => {
                ForgeError::NoAccess {
                    call,
                    detail: format!(
                        "{said}: there is no such project, or the token may not see it; correct the path, or give the token access"
                    ),
                }
            }
            404 | 410 => ForgeError::NotFound { call, detail: said },
            300..=499 => ForgeError::Refused {
                call,
                status,
                detail: said,
            },
            status => ForgeError::Unavailable {
                call,
                detail: format!("status {status}: {said}"),
            },
        }
    }

    /// GitLab's own words, cleaned and shortened.
    fn said(&self, wire: Option<&Value>) -> String {
        let mut parts = Vec::new();
        if let Some(wire) = wire {
            for member in ["message", "error", "error_description"] {
                flatten(&wire[member], "", &mut parts);
            }
        } else {
            let start = String::from_utf8_lossy(&self.body[..self.body.len().min(2048)]);
            let is_page = start.trim_start().starts_with('<');
            parts.push(if is_page {
                "a page of HTML".to_owned()
            } else {
                start.into_owned()
            });
        }
        let clean = one_line(&redact(&parts.join("; "), &[self.token]));
        if clean.is_empty() {
            "no reason given".to_owned()
        } else {
            cut_chars(&clean, MAX_DETAIL)
        }
    }
}

/// The texts of a message of any shape, each after the field that it is about.
fn flatten(value: &Value, field: &str, parts: &mut Vec<String>) {
    if parts.len() >= MAX_PARTS {
        return;
    }
    match value {
        Value::String(text) if field.is_empty() || field == "base" => parts.push(text.clone()),
        Value::String(text) => parts.push(format!("{field} {text}")),
        Value::Array(items) => items.iter().for_each(|item| flatten(item, field, parts)),
        Value::Object(members) => {
            for (name, member) in members {
                flatten(member, name, parts);
            }
        }
        _ => {}
    }
}

/// Adds the scope that a token would need, where GitLab says it.
fn with_scope(said: String, wire: Option<&Value>) -> String {
    let scope = wire.and_then(|wire| wire["scope"].as_str());
    match scope {
        Some(scope) => format!(
            "{}: the token needs the scope {}",
            said.trim_end_matches('.'),
            cut_chars(&one_line(scope), 60)
        ),
        None => said,
    }
}

#[cfg(test)]
mod tests;
