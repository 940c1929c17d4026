//! The server's calls and their answers.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::HeaderMap;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::model::{Model, Started, World};
use super::script::Pace;
use super::start_body::{self, Flaw, uuid};
use crate::answer::{Refusal, header_text, json_answer, json_body};
use crate::calendar;

type Shared = Arc<World>;

/// How many ids a batch may name.
const MAX_BATCH: usize = 99;
const REDACTED: &str = "**********";

pub(super) fn router(world: Shared) -> Router {
    let guarded = Router::new()
        .route("/api/settings", get(settings))
        .route("/api/settings/secrets", get(secrets))
        .route("/api/settings/secrets/{name}", get(secret))
        .route("/api/profiles/{name}", get(profile))
        .route("/api/conversations", get(batch).post(start))
        .route("/api/conversations/{id}", get(conversation).delete(delete))
        .route(
            "/api/conversations/{id}/agent_final_response",
            get(final_response),
        )
        .route("/api/conversations/{id}/interrupt", post(interrupt))
        .route("/api/conversations/{id}/pause", post(interrupt))
        .layer(from_fn_with_state(Arc::clone(&world), check_key));
    Router::new()
        .route("/health", get(healthy))
        .route("/alive", get(healthy))
        .route("/ready", get(healthy))
        .route("/server_info", get(server_info))
        .merge(guarded)
        .with_state(world)
}

async fn check_key(State(world): State<Shared>, request: Request, next: Next) -> Response {
    let key = world.lock().key.clone();
    if header_text(request.headers(), "x-session-api-key") != Some(key.as_str()) {
        return Refusal::new(401, "Unauthorized").into_response();
    }
    next.run(request).await
}

async fn healthy() -> Response {
    json_answer(200, &json!({"status": "ok"}))
}

async fn server_info() -> Response {
    json_answer(
        200,
        &json!({"title": "OpenHands Agent Server", "version": "1.58.2"}),
    )
}

fn plaintext(headers: &HeaderMap) -> bool {
    header_text(headers, "x-expose-secrets") == Some("plaintext")
}

/// The block with its key as it is, or hidden.
fn shown(llm: &Value, plain: bool, hidden: &Value) -> Value {
    let mut llm = llm.clone();
    if !plain && llm["api_key"].is_string() {
        llm["api_key"] = hidden.clone();
    }
    llm
}

async fn settings(State(world): State<Shared>, headers: HeaderMap) -> Response {
    let model = world.lock();
    let llm = shown(&model.llm, plaintext(&headers), &json!(REDACTED));
    let body = json!({
        "agent_settings": {
            "schema_version": 1, "agent_kind": "openhands",
            "llm": llm, "mcp_config": model.mcp_config,
        },
        "conversation_settings": {"max_iterations": 500},
        "llm_api_key_is_set": model.llm["api_key"].is_string(),
        "active_profile": null,
        "misc_settings": {},
    });
    json_answer(200, &body)
}

async fn secrets(State(world): State<Shared>) -> Response {
    let model = world.lock();
    let names = model.secrets.keys();
    let list: Vec<Value> = names
        .map(|name| json!({"name": name, "description": null}))
        .collect();
    json_answer(200, &json!({ "secrets": list }))
}

async fn secret(
    State(world): State<Shared>,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    let valid = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.len() <= 64
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !valid {
        return Err(Refusal::new(422, "Invalid secret name format."));
    }
    let value = world.lock().secrets.get(&name).cloned();
    let value = value.ok_or_else(|| Refusal::new(404, "Secret not found"))?;
    Ok(([("content-type", "text/plain; charset=utf-8")], value).into_response())
}

async fn profile(
    State(world): State<Shared>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let model = world.lock();
    let missing = || Refusal::new(404, format!("Profile '{name}' not found"));
    let llm = model.profiles.get(&name).ok_or_else(missing)?;
    let config = shown(llm, plaintext(&headers), &Value::Null);
    let set = llm["api_key"].is_string();
    Ok(json_answer(
        200,
        &json!({"name": name, "config": config, "api_key_set": set}),
    ))
}

async fn start(
    State(world): State<Shared>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refusal> {
    let start = start_body::read(json_body(&headers, &body)?).map_err(|flaw| match flaw {
        Flaw::Invalid(field, why) => invalid(&["body", field], &why),
        Flaw::Stumble(exception) => stumbled(&exception),
    })?;
    let stillborn = start.stillborn.clone();
    let working_dir = start.working_dir.clone();
    let (started, git_init) = {
        let mut model = world.lock();
        (model.start(start), model.git_init)
    };
    let (status, id) = match started {
        Started::Full => {
            let text = "Conversation run limit reached. Retry the request later.";
            return Err(Refusal::new(429, text));
        }
        Started::Known { id } => (200, id),
        Started::New { id, pace } => {
            if git_init {
                Arc::clone(&world).git_init(working_dir).await;
            }
            if let Pace::Millis(millis) = pace {
                tokio::spawn(by_the_clock(Arc::clone(&world), id.clone(), millis));
            }
            match stillborn {
                Some(exception) => return Err(stumbled(&exception)),
                None => (201, id),
            }
        }
    };
    Ok(json_answer(status, &info(&world.lock(), &id)))
}

/// Moves a conversation along until its script has ended.
async fn by_the_clock(world: Shared, id: String, millis: u64) {
    loop {
        tokio::time::sleep(Duration::from_millis(millis)).await;
        if !Arc::clone(&world).advance_aside(id.clone()).await {
            return;
        }
    }
}

async fn conversation(
    State(world): State<Shared>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let id = path_uuid(&id)?;
    Ok(json_answer(
        200,
        &look(&world, &id).await.ok_or_else(not_found)?,
    ))
}

async fn batch(
    State(world): State<Shared>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let query = query.unwrap_or_default();
    let pairs = url::form_urlencoded::parse(query.as_bytes());
    let asked: Vec<String> = pairs
        .filter(|(name, _)| name == "ids")
        .map(|(_, id)| id.into_owned())
        .collect();
    if asked.is_empty() {
        return Err(invalid(&["query", "ids"], "Field required"));
    }
    if asked.len() > MAX_BATCH {
        return Err(invalid(
            &["query", "ids"],
            "List should have at most 99 items",
        ));
    }
    let mut ids = Vec::new();
    for id in &asked {
        ids.push(
            uuid(id).ok_or_else(|| invalid(&["query", "ids"], "Input should be a valid UUID"))?,
        );
    }
    let mut found = Vec::new();
    for id in &ids {
        found.push(look(&world, id).await.unwrap_or_default());
    }
    Ok(json_answer(200, &Value::Array(found)))
}

/// What a look shows, after the step that the look brings about; `None` when unknown.
async fn look(world: &Shared, id: &str) -> Option<Value> {
    let due = world.lock().look(id);
    if due {
        Arc::clone(world).advance_aside(id.to_owned()).await;
    }
    let mut model = world.lock();
    model.look_again(id);
    model
        .conversations
        .contains_key(id)
        .then(|| info(&model, id))
}

async fn final_response(
    State(world): State<Shared>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let held = world
        .lock()
        .snapshot(&path_uuid(&id)?)
        .ok_or_else(not_found)?;
    Ok(json_answer(200, &json!({ "response": held.response })))
}

async fn interrupt(
    State(world): State<Shared>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    if !world.lock().interrupt(&path_uuid(&id)?) {
        return Err(not_found());
    }
    Ok(json_answer(200, &json!({"success": true})))
}

async fn delete(State(world): State<Shared>, Path(id): Path<String>) -> Result<Response, Refusal> {
    world
        .lock()
        .conversations
        .remove(&path_uuid(&id)?)
        .ok_or_else(not_found)?;
    Ok(json_answer(200, &json!({"success": true})))
}

fn path_uuid(id: &str) -> Result<String, Refusal> {
    uuid(id).ok_or_else(|| invalid(&["path", "conversation_id"], "Input should be a valid UUID"))
}

/// How the server answers when it did not see something coming.
fn stumbled(exception: &str) -> Refusal {
    let body = json!({"detail": "Internal Server Error", "exception": exception});
    json_answer(500, &body).into()
}

fn not_found() -> Refusal {
    Refusal::new(404, "Not Found")
}

fn invalid(place: &[&str], why: &str) -> Refusal {
    let body = json!({"detail": [{"type": "value_error", "loc": place, "msg": why}]});
    json_answer(422, &body).into()
}

/// A conversation as the server shows it, without the fields that nobody here reads.
fn info(model: &Model, id: &str) -> Value {
    let (Some(held), Some((created, updated))) = (model.snapshot(id), model.times(id)) else {
        return Value::Null;
    };
    let agent = json!({
        "kind": "Agent",
        "llm": shown(&held.body["agent"]["llm"], false, &Value::Null),
        "tools": held.body["agent"]["tools"],
        // What stands beside the agent in the start body is not looked at.
        "mcp_config": held.body["agent"].get("mcp_config").cloned().unwrap_or_else(|| json!({})),
    });
    json!({
        "id": id,
        "workspace": {"kind": "LocalWorkspace", "working_dir": held.working_dir},
        "persistence_dir": "workspace/conversations",
        "max_iterations": 500,
        "stuck_detection": true,
        "execution_status": held.status.as_str(),
        "activated_knowledge_skills": [],
        "invoked_skills": [],
        "blocked_actions": {},
        "blocked_messages": {},
        "last_user_message_id": null,
        "stats": {"usage_to_metrics": {}},
        "agent_state": {},
        "hook_config": null,
        "title": null,
        "metrics": null,
        "created_at": calendar::milliseconds(created),
        "updated_at": calendar::milliseconds(updated),
        "tags": held.body.get("tags").cloned().unwrap_or_else(|| json!({})),
        "agent": agent,
    })
}
