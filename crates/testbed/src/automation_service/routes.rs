//! The service's calls and their answers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use serde::Deserialize;
use serde_json::{Value, json};

use super::API_KEY;
use super::check::{self, Problem};
use super::dispatches::{dispatch, runs};
use super::model::Model;
use super::preflight::{capabilities, validate};
use super::uploads::{remove_upload, tarball, upload};
use crate::answer::{Refusal, bearer, header_text, json_answer, json_body};
use crate::calendar;
use crate::callback::Runs;
use crate::kv::now;

#[derive(Clone)]
pub(super) struct Shared {
    pub(super) model: Arc<Mutex<Model>>,
    pub(super) runs: Arc<Mutex<Runs>>,
}

impl Shared {
    pub(super) fn model(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Page {
    limit: Option<usize>,
    offset: Option<usize>,
}

impl Page {
    pub(super) fn of<T>(&self, all: impl Iterator<Item = T>) -> Vec<T> {
        all.skip(self.offset.unwrap_or(0))
            .take(self.limit.unwrap_or(50))
            .collect()
    }
}

pub(super) fn router(shared: Shared) -> Router {
    let guarded = Router::new()
        .route("/v1", get(list).post(create))
        .route("/v1/uploads", post(upload))
        .route("/v1/uploads/{id}", delete(remove_upload))
        .route("/v1/capabilities", get(capabilities))
        .route("/v1/validate", post(validate))
        .route("/v1/{id}", get(read).patch(update).delete(remove))
        .route("/v1/{id}/tarball", get(tarball))
        .route("/v1/kv", get(keys))
        .route("/v1/{id}/dispatch", post(dispatch))
        .route("/v1/{id}/runs", get(runs))
        .layer(from_fn(check_key));
    let open = Router::new().route(
        "/health",
        get(|| async { json_answer(200, &json!({"status": "ok"})) }),
    );
    Router::new()
        .route("/api/v1/users/me", get(account))
        .nest("/api/automation", open.merge(guarded))
        .with_state(shared)
}

async fn check_key(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let key = bearer(headers).or_else(|| header_text(headers, "x-session-api-key"));
    if key != Some(API_KEY) {
        return Refusal::new(401, "Invalid API key").into_response();
    }
    next.run(request).await
}

async fn create(
    State(shared): State<Shared>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refusal> {
    let body = json_body(&headers, &body)?;
    refuse(&check::create(&body))?;
    let mut model = shared.model();
    let template = &body["template"]["id"];
    if template.is_string() {
        let same = |have: &&Value| have["preset_metadata"]["template"]["id"] == *template;
        if let Some(existing) = model.automations.iter().find(same) {
            return Ok(json_answer(200, existing));
        }
    }
    check_archive(&model, &body)?;
    let mut fields = body.clone();
    if template.is_string() {
        fields["preset_metadata"] = json!({ "template": body["template"] });
    }
    if let Some(fields) = fields.as_object_mut() {
        fields.remove("template");
        if fields.get("timeout").is_some_and(Value::is_null) {
            fields.remove("timeout");
        }
    }
    let id = model.add(body["name"].as_str().unwrap_or_default(), &fields);
    let created = model.automation(&id).cloned().unwrap_or_default();
    Ok(json_answer(201, &created))
}

/// An archive that was uploaded must be there and whole.
fn check_archive(model: &Model, body: &Value) -> Result<(), Refusal> {
    let Some(path) = body["tarball_path"].as_str() else {
        return Ok(());
    };
    let Some(rest) = path.strip_prefix("oh-internal://") else {
        return Ok(());
    };
    let Some(id) = rest.strip_prefix("uploads/") else {
        let text = "Invalid internal upload URL format. Expected: oh-internal://uploads/{uuid}";
        return Err(Refusal::new(422, text));
    };
    match model.uploads.get(id) {
        None => Err(Refusal::new(404, "Upload not found")),
        Some(upload) if upload.bytes.is_none() => {
            Err(Refusal::new(400, "Upload is not ready (status: FAILED)"))
        }
        Some(_) => Ok(()),
    }
}

async fn list(State(shared): State<Shared>, Query(page): Query<Page>) -> Response {
    let model = shared.model();
    let page = page.of(model.automations.iter().rev());
    json_answer(
        200,
        &json!({"automations": page, "total": model.automations.len()}),
    )
}

async fn read(State(shared): State<Shared>, Path(id): Path<String>) -> Result<Response, Refusal> {
    let model = shared.model();
    Ok(json_answer(200, model.automation(&id).ok_or_else(unknown)?))
}

async fn update(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refusal> {
    let body = json_body(&headers, &body)?;
    let mut model = shared.model();
    model.automation(&id).ok_or_else(unknown)?;
    refuse(&check::update(&body))?;
    check_archive(&model, &body)?;
    let automation = model.automation_mut(&id).ok_or_else(unknown)?;
    for (field, value) in body.as_object().into_iter().flatten() {
        automation[field] = value.clone();
    }
    automation["updated_at"] = json!(calendar::milliseconds(now()));
    Ok(json_answer(200, automation))
}

async fn remove(State(shared): State<Shared>, Path(id): Path<String>) -> Result<Response, Refusal> {
    let mut model = shared.model();
    model.automation(&id).ok_or_else(unknown)?;
    model
        .automations
        .retain(|automation| automation["id"] != id);
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// The person, where the host is that of a cloud deployment; a self-hosted one knows no persons.
async fn account(State(shared): State<Shared>) -> Result<Response, Refusal> {
    if !shared.model().accounts {
        return Err(Refusal::new(404, "Not Found"));
    }
    let body = json!({
        "id": "00000000-0000-4000-8000-000000000001",
        "org_id": "00000000-0000-4000-8000-000000000002",
        "email": "alice@example.com",
    });
    Ok(json_answer(200, &body))
}

#[derive(Debug, Deserialize)]
struct Whose {
    automation_id: String,
    limit: Option<usize>,
    offset: Option<usize>,
}

/// What an automation keeps in the KV store, for a person's key.
async fn keys(
    State(shared): State<Shared>,
    Query(whose): Query<Whose>,
) -> Result<Response, Refusal> {
    let model = shared.model();
    if !model.kv_store {
        return Err(Refusal::new(503, "KV store is not configured"));
    }
    model.automation(&whose.automation_id).ok_or_else(unknown)?;
    let keys = model.keys.get(&whose.automation_id);
    let all = keys.cloned().unwrap_or_default();
    let (limit, offset) = (whose.limit.unwrap_or(100), whose.offset.unwrap_or(0));
    let page: Vec<&String> = all.iter().skip(offset).take(limit).collect();
    let body = json!({
        "keys": page, "count": page.len(), "total": all.len(), "limit": limit, "offset": offset,
    });
    Ok(json_answer(200, &body))
}

pub(super) fn unknown() -> Refusal {
    Refusal::new(404, "Automation not found")
}

fn refuse(problems: &[Problem]) -> Result<(), Refusal> {
    if problems.is_empty() {
        Ok(())
    } else {
        Err(invalid(problems))
    }
}

pub(super) fn invalid(problems: &[Problem]) -> Refusal {
    let list = problems.iter().map(|(field, why)| {
        json!({"type": "value_error", "loc": ["body", field], "msg": format!("Value error, {why}")})
    });
    Refusal::new(422, Value::Array(list.collect()))
}
