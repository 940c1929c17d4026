//! The store's calls and their answers, in the order in which the service checks them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;
use serde_json::{Value, json};

use super::model::Model;
use super::size::{depth, service_json_bytes};
use super::{USER_KEY, now};
use crate::answer::{Refusal, bearer, header_text, json_answer, json_body, json_text};
use crate::calendar;
use crate::server::Unexpected;

type Shared = Arc<Mutex<Model>>;

const MAX_DEPTH: usize = 32;
const MAX_KEY_CHARS: usize = 255;

pub(super) fn router(model: Shared) -> Router {
    Router::new()
        .route("/api/automation/v1/kv", get(list))
        .route(
            "/api/automation/v1/kv/{key}",
            get(read).put(write).delete(remove),
        )
        .with_state(model)
}

#[derive(Debug, Deserialize)]
struct Asked {
    #[serde(default)]
    meta: bool,
    #[serde(default)]
    nx: bool,
    #[serde(default)]
    xx: bool,
    if_version: Option<u64>,
    automation_id: Option<String>,
    limit: Option<usize>,
    offset: Option<usize>,
}

fn lock(model: &Mutex<Model>) -> MutexGuard<'_, Model> {
    model.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn list(
    State(model): State<Shared>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let automation = authorize(&lock(&model), &headers, &asked)?;
    let (limit, offset) = (asked.limit.unwrap_or(100), asked.offset.unwrap_or(0));
    let all = lock(&model).keys(&automation);
    let page: Vec<&String> = all.iter().skip(offset).take(limit).collect();
    let (count, total) = (page.len(), all.len());
    let body = json!({
        "keys": page, "count": count, "total": total, "limit": limit, "offset": offset,
    });
    Ok(json_answer(200, &body))
}

async fn read(
    State(model): State<Shared>,
    Path(key): Path<String>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let model = lock(&model);
    let automation = admit(&model, &headers, &asked, &key)?;
    let Some(entry) = model.get(&automation, &key) else {
        return Err(Refusal::new(404, "key_not_found"));
    };
    // The value goes back as the text that came, whatever order its members have.
    let (key, raw) = (json!(key), &entry.raw);
    let body = if asked.meta {
        let version = model.version(&automation);
        let (created, updated) = (stamp(entry.created_at), stamp(entry.updated_at));
        format!(
            r#"{{"key":{key},"value":{raw},"version":{version},"created_at":{created},"updated_at":{updated}}}"#
        )
    } else {
        format!(r#"{{"key":{key},"value":{raw}}}"#)
    };
    Ok(json_text(200, body))
}

async fn write(
    State(model): State<Shared>,
    Path(key): Path<String>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refusal> {
    let (automation, seen, existed, window) = {
        let mut model = lock(&model);
        let automation = admit(&model, &headers, &asked, &key)?;
        check_value(&model, &automation, &key, &headers, &body)?;
        if asked.nx && asked.xx {
            return Err(Refusal::new(400, "Cannot use both nx and xx"));
        }
        busy(&mut model)?;
        let seen = model.seen(&automation);
        stale(asked.if_version, seen.version)?;
        let existed = model.get(&automation, &key).is_some();
        if asked.nx && existed {
            let body = json!({"key": key, "created": false, "error": "key_exists"});
            return Err(json_answer(409, &body).into());
        }
        if asked.xx && !existed {
            return Err(Refusal::new(409, "key_not_exists"));
        }
        let window = model.window();
        if window.is_none() {
            put(&mut model, &automation, &key, &body, seen);
        }
        (automation, seen, existed, window)
    };
    if let Some(window) = window {
        tokio::time::sleep(window).await;
        let mut model = lock(&model);
        // The row is inserted or updated as the check found it: a row that has appeared breaks the
        // unique index, one that has vanished cannot be updated. Both end as a bare 500.
        if model.get(&automation, &key).is_some() != existed {
            return Err(internal_error());
        }
        put(&mut model, &automation, &key, &body, seen);
    }
    let status = if existed { 200 } else { 201 };
    let (key, raw, updated) = (json!(key), String::from_utf8_lossy(&body), stamp(now()));
    let created = !existed;
    let body =
        format!(r#"{{"key":{key},"value":{raw},"created":{created},"updated_at":{updated}}}"#);
    Ok(json_text(status, body))
}

async fn remove(
    State(model): State<Shared>,
    Path(key): Path<String>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let (automation, seen, window) = {
        let mut model = lock(&model);
        let automation = admit(&model, &headers, &asked, &key)?;
        busy(&mut model)?;
        let seen = model.seen(&automation);
        stale(asked.if_version, seen.version)?;
        if model.get(&automation, &key).is_none() {
            return Ok(json_answer(200, &json!({"key": key, "deleted": false})));
        }
        let window = model.window();
        if window.is_none() {
            model.write(&automation, &key, None, seen, now());
        }
        (automation, seen, window)
    };
    if let Some(window) = window {
        tokio::time::sleep(window).await;
        // Two who delete at once are both told that they did.
        lock(&model).write(&automation, &key, None, seen, now());
    }
    Ok(json_answer(200, &json!({"key": key, "deleted": true})))
}

fn put(model: &mut Model, automation: &str, key: &str, body: &Bytes, seen: super::model::Seen) {
    let raw = String::from_utf8_lossy(body).into_owned();
    model.write(automation, key, Some(raw), seen, now());
}

/// Who asks, and whether the key may be asked for at all.
fn admit(model: &Model, headers: &HeaderMap, asked: &Asked, key: &str) -> Result<String, Refusal> {
    let automation = authorize(model, headers, asked)?;
    let refused = |why: &str| Err(Refusal::new(400, format!("invalid_key: {why}")));
    if key.trim().is_empty() {
        return refused("key cannot be whitespace-only");
    }
    if key.starts_with('$') {
        return refused("keys starting with '$' are reserved for system use");
    }
    let chars = key.chars().count();
    if chars > MAX_KEY_CHARS {
        return refused(&format!(
            "key exceeds {MAX_KEY_CHARS} chars ({chars} given)"
        ));
    }
    if let Some(at) = key
        .chars()
        .position(|c| u32::from(c) < 32 || u32::from(c) == 127)
    {
        return refused(&format!("control character at position {at}"));
    }
    if key.contains('/') {
        // The service undoes the percent-encoding before it looks for the route.
        return Err(Unexpected("no route for a key with a slash".to_owned())
            .into_response()
            .into());
    }
    Ok(automation)
}

fn authorize(model: &Model, headers: &HeaderMap, asked: &Asked) -> Result<String, Refusal> {
    if !model.secret_configured {
        return Err(Refusal::new(
            503,
            "KV store not configured (missing AUTOMATION_KV_SECRET)",
        ));
    }
    let token = bearer(headers).unwrap_or_default();
    if token == USER_KEY || header_text(headers, "x-session-api-key") == Some(USER_KEY) {
        let text = "automation_id query parameter is required for user-authenticated KV access";
        return asked
            .automation_id
            .clone()
            .ok_or_else(|| Refusal::new(400, text));
    }
    model.automation_of(token).ok_or_else(|| {
        let looks_like_one = token.matches('.').count() == 2;
        let text = if looks_like_one {
            "Invalid or expired KV token"
        } else {
            "Authentication required: provide a KV token or user credentials"
        };
        Refusal::new(401, text)
    })
}

/// The body must be JSON, not too large and not too deep.
fn check_value(
    model: &Model,
    automation: &str,
    key: &str,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<(), Refusal> {
    let value = json_body(headers, body)?;
    let limit = model.options.max_bytes;
    let size = model.size_with(automation, key, service_json_bytes(&value));
    if size > limit {
        let message = format!("Value for key '{key}' is {size} bytes, the limit is {limit} bytes");
        let body = json!({
            "error": "value_too_large", "message": message,
            "key": key, "size": size, "limit": limit,
        });
        return Err(Refusal::new(413, body));
    }
    if depth(&value) > MAX_DEPTH {
        let text = format!("invalid_value: Value exceeds maximum nesting depth of {MAX_DEPTH}");
        return Err(Refusal::new(400, text));
    }
    Ok(())
}

fn busy(model: &mut Model) -> Result<(), Refusal> {
    let Some(left) = model.busy.checked_sub(1) else {
        return Ok(());
    };
    model.busy = left;
    let text = "kv_store_busy: another operation is in progress, please retry";
    Err(come_back(Refusal::new(409, text)))
}

fn stale(expected: Option<u64>, actual: u64) -> Result<(), Refusal> {
    let Some(expected) = expected.filter(|expected| *expected != actual) else {
        return Ok(());
    };
    let body = json!({
        "error": "version_mismatch",
        "message": "State was modified by another process",
        "expected_version": expected,
        "actual_version": actual,
    });
    Err(come_back(Refusal::new(409, body)))
}

fn come_back(refusal: Refusal) -> Refusal {
    ([(header::RETRY_AFTER, "1")], refusal)
        .into_response()
        .into()
}

fn internal_error() -> Refusal {
    (StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error")
        .into_response()
        .into()
}

/// A time as the service writes it, as a JSON string.
fn stamp(epoch: f64) -> Value {
    json!(calendar::milliseconds(epoch).replace('Z', "+00:00"))
}
