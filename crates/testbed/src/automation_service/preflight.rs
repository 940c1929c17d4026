//! What the deployment can do, and whether a draft would be taken.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::check;
use super::routes::{Shared, invalid};
use crate::answer::{Refusal, json_answer, json_body};

pub(super) async fn capabilities(State(shared): State<Shared>) -> Result<Response, Refusal> {
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

pub(super) async fn validate(
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
