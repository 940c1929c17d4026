//! What a failing status means, in words that say what a person can change. Limits are read before
//! (by the HTTP client); everything here is pure.
//!
//! GitLab words its errors in four shapes (`message` as text, list or object of lists, and the
//! `error` of OAuth), and hides a project that the token may not see behind the 404 of one that is
//! not there. A 404 that is not in its words comes from something else at that address (a proxy, or
//! a wrong base), and says nothing about what was asked for.

use forge_http::Refusal;
use lifecycle::ports::ForgeError;
use lifecycle::text::cut_chars;
use serde_json::Value;

/// Parts of a message that are told.
const MAX_PARTS: usize = 5;

/// The error that a refusal means.
pub(crate) fn read(refusal: &Refusal<'_>) -> ForgeError {
    let wire = refusal.json().filter(Value::is_object);
    let said = said(refusal, wire.as_ref());
    let (call, status) = (refusal.call.clone(), refusal.status);
    match status {
        401 => ForgeError::BadToken { call, detail: said },
        403 | 451 => ForgeError::NoAccess {
            call,
            detail: with_scope(refusal, said, wire.as_ref()),
        },
        404 | 410 if wire.is_none() => ForgeError::Unavailable {
            call,
            detail: format!("status {status} not in GitLab's words ({said}); check gitlab_api_url"),
        },
        404 if said.to_ascii_lowercase().contains("project not found") => ForgeError::NoAccess {
            call,
            detail: format!(
                "{said}: there is no such project, or the token may not see it; correct the path, or give the token access"
            ),
        },
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
fn said(refusal: &Refusal<'_>, wire: Option<&Value>) -> String {
    let words = match wire {
        Some(wire) => {
            let mut parts = Vec::new();
            for member in ["message", "error", "error_description"] {
                flatten(&wire[member], "", &mut parts);
            }
            parts.join("; ")
        }
        None => refusal.start(),
    };
    refusal
        .clean(&words)
        .unwrap_or_else(|| "no reason given".to_owned())
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
fn with_scope(refusal: &Refusal<'_>, said: String, wire: Option<&Value>) -> String {
    let scope = wire.and_then(|wire| wire["scope"].as_str());
    let scope = scope.and_then(|scope| refusal.clean(scope));
    match scope {
        Some(scope) => format!(
            "{}: the token needs the scope {}",
            said.trim_end_matches('.'),
            cut_chars(&scope, 60)
        ),
        None => said,
    }
}

#[cfg(test)]
mod tests;
