//! The service's calls and their answers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::{Value, json};

use super::check::{self, Problem};
use super::model::{Dispatch, Model, Stage, Upload};
use super::{API_KEY, MAX_UPLOAD_BYTES};
use crate::answer::{Refusal, bearer, header_text, json_answer, json_body};
use crate::calendar;
use crate::callback::{RunStatus, Runs, shown_run};
use crate::kv::now;

const UPLOAD_TYPES: &[&str] = &[
    "application/x-tar",
    "application/x-gzip",
    "application/gzip",
    "application/x-compressed-tar",
    "application/octet-stream",
];

#[derive(Clone)]
pub(super) struct Shared {
    pub(super) model: Arc<Mutex<Model>>,
    pub(super) runs: Arc<Mutex<Runs>>,
}

impl Shared {
    fn model(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Deserialize)]
struct Page {
    limit: Option<usize>,
    offset: Option<usize>,
}

impl Page {
    fn of<T>(&self, all: impl Iterator<Item = T>) -> Vec<T> {
        all.skip(self.offset.unwrap_or(0))
            .take(self.limit.unwrap_or(50))
            .collect()
    }
}

#[derive(Debug, Deserialize)]
struct Named {
    #[serde(default)]
    name: String,
}

pub(super) fn router(shared: Shared) -> Router {
    let guarded = Router::new()
        .route("/v1", get(list).post(create))
        .route("/v1/uploads", post(upload))
        .route("/v1/capabilities", get(capabilities))
        .route("/v1/validate", post(validate))
        .route("/v1/{id}", get(read).patch(update).delete(remove))
        .route("/v1/{id}/dispatch", post(dispatch))
        .route("/v1/{id}/runs", get(runs))
        .layer(from_fn(check_key));
    let open = Router::new().route(
        "/health",
        get(|| async { json_answer(200, &json!({"status": "ok"})) }),
    );
    Router::new()
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

async fn upload(
    State(shared): State<Shared>,
    Query(asked): Query<Named>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refusal> {
    if !(1..=255).contains(&asked.name.chars().count()) {
        return Err(invalid(&[(
            "name".into(),
            "String should have 1 to 255 characters".into(),
        )]));
    }
    let content_type = header_text(&headers, "content-type").unwrap_or_default();
    let content_type = content_type.split(';').next().unwrap_or_default().trim();
    if !UPLOAD_TYPES.contains(&content_type) {
        let types = UPLOAD_TYPES.join(", ");
        return Err(Refusal::new(
            415,
            format!("Content-Type must be one of: {types}"),
        ));
    }
    let too_large = body.len() > MAX_UPLOAD_BYTES;
    if too_large && headers.contains_key("content-length") {
        let text = format!("File too large. Maximum size is {MAX_UPLOAD_BYTES} bytes");
        return Err(Refusal::new(413, text));
    }
    // A length that was not announced is noticed only while it comes in: the upload then exists
    // and has failed.
    let mut model = shared.model();
    let id = model.id("b0000000");
    let size = body.len();
    let bytes = (!too_large).then(|| body.to_vec());
    let kept = Upload {
        name: asked.name,
        bytes,
        size,
    };
    let answer = json_answer(201, &shown_upload(&id, &kept));
    model.uploads.insert(id, kept);
    Ok(answer)
}

fn shown_upload(id: &str, upload: &Upload) -> Value {
    let complete = upload.bytes.is_some();
    let error = format!("File size exceeds limit of {MAX_UPLOAD_BYTES} bytes");
    let time = calendar::milliseconds(now());
    json!({
        "id": id,
        "user_id": "00000000-0000-4000-8000-000000000001",
        "org_id": "00000000-0000-4000-8000-000000000002",
        "name": upload.name,
        "description": null,
        "status": if complete { "COMPLETED" } else { "FAILED" },
        "error_message": (!complete).then_some(error),
        "size_bytes": upload.size,
        "tarball_path": complete.then(|| format!("oh-internal://uploads/{id}")),
        "created_at": time,
        "updated_at": time,
    })
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

async fn dispatch(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let mut model = shared.model();
    let automation = model.automation(&id).ok_or_else(unknown)?.clone();
    let run = model.id("c0000000");
    shared.runs().begin(&run, &id, RunStatus::Pending);
    if let Some(carry_out) = model.carry_out.clone() {
        let path = automation["tarball_path"].as_str().unwrap_or_default();
        let archive = model.upload(path).map(<[u8]>::to_vec);
        let dispatch = Dispatch {
            run: run.clone(),
            automation,
            archive,
        };
        if let Some(run) = shared.runs().get_mut(&run) {
            run.status = RunStatus::Running;
        }
        tokio::task::spawn_blocking(move || carry_out(&dispatch));
    } else {
        model.plan(&run);
    }
    let shown = shared.runs().get(&run).map(shown_run).unwrap_or_default();
    Ok(json_answer(201, &shown))
}

async fn runs(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Query(page): Query<Page>,
) -> Result<Response, Refusal> {
    let mut model = shared.model();
    model.automation(&id).ok_or_else(unknown)?;
    let mut runs = shared.runs();
    let mine: Vec<Value> = runs
        .all()
        .iter()
        .filter(|run| run.automation == id)
        .map(shown_run)
        .collect();
    // What a look shows is how things stood; the next look shows the next stage.
    for shown in &mine {
        let run = shown["id"].as_str().unwrap_or_default();
        let Some(stage) = model.ahead.get_mut(run).and_then(Vec::pop) else {
            continue;
        };
        match stage {
            Stage::Phase(phase) => {
                if let Some(run) = runs.get_mut(run) {
                    run.status = RunStatus::Running;
                    run.phases.push(phase);
                }
            }
            Stage::End(RunStatus::Running, _) => {
                if let Some(run) = runs.get_mut(run) {
                    run.status = RunStatus::Running;
                }
            }
            Stage::End(status, error) => runs.end(run, status, error.map(Value::from)),
        }
    }
    let page = page.of(mine.iter().rev());
    Ok(json_answer(
        200,
        &json!({"runs": page, "total": mine.len(), "status_counts": {}}),
    ))
}

async fn capabilities(State(shared): State<Shared>) -> Result<Response, Refusal> {
    let model = shared.model();
    if !model.preflight {
        // An older service takes the word for an automation's id.
        return Err(invalid(&[(
            "automation_id".into(),
            "Input should be a valid UUID".into(),
        )]));
    }
    let mut features = vec![
        "conversationDispatch",
        "customTarball",
        "mcpTools",
        "presetPrompt",
    ];
    features.extend(model.kv_store.then_some("kvStore"));
    let zones = [
        "America/New_York",
        "Asia/Tokyo",
        "Europe/Berlin",
        "Europe/London",
        "UTC",
    ];
    let (ready, kinds) = (model.ready, if model.ready { vec!["cron"] } else { vec![] });
    let body = json!({
        "ready": ready,
        "maxAutomationTimeoutSeconds": check::MAX_TIMEOUT,
        "triggerKinds": kinds,
        "eventSources": [],
        "eventTypes": [],
        "triggers": {"cron": {"minIntervalSeconds": 60, "timezones": zones}},
        "features": if ready { features } else { vec![] },
        "repoProviders": ["github", "gitlab"],
    });
    Ok(json_answer(200, &body))
}

async fn validate(
    State(shared): State<Shared>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refusal> {
    if !shared.model().preflight {
        return Ok(StatusCode::METHOD_NOT_ALLOWED.into_response());
    }
    let body = json_body(&headers, &body)?;
    let known = [
        "endpoint",
        "draft",
        "automationId",
        "automation_id",
        "sampleEvent",
        "sample_event",
    ];
    for field in body.as_object().into_iter().flat_map(|body| body.keys()) {
        if !known.contains(&field.as_str()) {
            return Err(invalid(&[(
                field.clone(),
                "Extra inputs are not permitted".into(),
            )]));
        }
    }
    if body["endpoint"] != "/v1" || !body["draft"].is_object() {
        return Err(invalid(&[(
            "endpoint".into(),
            "only /v1 with a draft is known here".into(),
        )]));
    }
    let errors: Vec<Value> = check::create(&body["draft"])
        .into_iter()
        .map(|(field, why)| json!({"field": field, "code": "invalid_value", "message": why}))
        .collect();
    let body = json!({"valid": errors.is_empty(), "errors": errors, "sampleEventMatched": null});
    Ok(json_answer(200, &body))
}

fn unknown() -> Refusal {
    Refusal::new(404, "Automation not found")
}

fn refuse(problems: &[Problem]) -> Result<(), Refusal> {
    if problems.is_empty() {
        Ok(())
    } else {
        Err(invalid(problems))
    }
}

fn invalid(problems: &[Problem]) -> Refusal {
    let list = problems.iter().map(|(field, why)| {
        json!({"type": "value_error", "loc": ["body", field], "msg": format!("Value error, {why}")})
    });
    Refusal::new(422, Value::Array(list.collect()))
}
