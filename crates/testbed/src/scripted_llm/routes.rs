//! The calls of the API, with and without streaming.

use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Map, Value, json};

use super::Stage;
use super::play::{Asked, Turn};
use crate::answer::{Refusal, json_answer, json_body};
use crate::server::Unexpected;

type Shared = Arc<Mutex<Stage>>;

/// What is said to a request that offers no tools, such as one for a title.
const WITHOUT_TOOLS: &str = "A scripted conversation";

pub(super) fn router(stage: Shared) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(complete))
        .route("/chat/completions", post(complete))
        .route("/v1/models", get(models))
        .route("/models", get(models))
        .with_state(stage)
}

async fn models() -> Response {
    json_answer(
        200,
        &json!({"object": "list", "data": [{"id": "scripted", "object": "model"}]}),
    )
}

async fn complete(
    State(stage): State<Shared>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refusal> {
    let body = json_body(&headers, &body)?;
    let asked = Asked::read(&body);
    let mut beyond = false;
    let mut turn = if asked.with_tools {
        let play = stage
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .play_for(&asked);
        play.turns.get(asked.turns).cloned().unwrap_or_else(|| {
            beyond = true;
            Turn::finish("The script has no more turns.")
        })
    } else {
        Turn::Say(WITHOUT_TOOLS.to_owned())
    };
    let message = loop {
        turn = match turn {
            Turn::Think(thought) => thought(&asked),
            Turn::Slowly(by, turn) => {
                tokio::time::sleep(by).await;
                *turn
            }
            Turn::Refuse(status) => {
                let error = json!({"message": "refused by the script", "type": "scripted"});
                return Err(json_answer(status, &json!({ "error": error })).into());
            }
            Turn::Say(text) => break json!({"role": "assistant", "content": text}),
            Turn::Tool { name, arguments } => break tool_call(&asked, &name, &arguments),
        };
    };
    let mut answer = if body["stream"] == true {
        streamed(&body, &message)
    } else {
        json_answer(200, &whole(&body, &message))
    };
    if beyond {
        let why = format!("the play has no turn {}", asked.turns + 1);
        answer.extensions_mut().insert(Unexpected(why));
    }
    Ok(answer)
}

fn tool_call(asked: &Asked, name: &str, arguments: &Value) -> Value {
    let arguments = Value::Object(completed(asked, name, arguments)).to_string();
    let id = format!("call_{}", asked.turns + 1);
    let function = json!({"name": name, "arguments": arguments});
    json!({
        "role": "assistant", "content": null,
        "tool_calls": [{"id": id, "type": "function", "function": function}],
    })
}

/// The arguments with what the tool requires beyond them: servers add fields of their own, such as
/// a risk or a summary.
fn completed(asked: &Asked, name: &str, arguments: &Value) -> Map<String, Value> {
    let mut arguments = arguments.as_object().cloned().unwrap_or_default();
    let tools = asked.body["tools"].as_array().into_iter().flatten();
    let Some(tool) = tools
        .map(|tool| &tool["function"])
        .find(|tool| tool["name"] == name)
    else {
        return arguments;
    };
    let required = tool["parameters"]["required"]
        .as_array()
        .into_iter()
        .flatten();
    for field in required.filter_map(Value::as_str) {
        let schema = &tool["parameters"]["properties"][field];
        let made_up = || match schema["type"].as_str() {
            _ if schema["enum"].is_array() => low_or_first(&schema["enum"]),
            Some("boolean") => json!(false),
            Some("integer" | "number") => json!(0),
            Some("array") => json!([]),
            Some("object") => json!({}),
            _ => json!("scripted"),
        };
        arguments.entry(field).or_insert_with(made_up);
    }
    arguments
}

fn low_or_first(choices: &Value) -> Value {
    let choices = choices.as_array().map(Vec::as_slice).unwrap_or_default();
    let low = choices.iter().find(|choice| *choice == "LOW");
    low.or_else(|| choices.first()).cloned().unwrap_or_default()
}

fn finish_reason(message: &Value) -> &'static str {
    if message["tool_calls"].is_array() {
        "tool_calls"
    } else {
        "stop"
    }
}

fn whole(body: &Value, message: &Value) -> Value {
    json!({
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason(message)}],
        "usage": usage(),
    })
}

fn usage() -> Value {
    json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15})
}

/// The same answer as server-sent events: who speaks, what is said, why it ends, what it cost.
fn streamed(body: &Value, message: &Value) -> Response {
    let chunk = |choices: Value, usage: Value| {
        json!({
            "id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 0,
            "model": body["model"], "choices": choices, "usage": usage,
        })
    };
    let mut delta = message.clone();
    for (index, call) in delta["tool_calls"]
        .as_array_mut()
        .into_iter()
        .flatten()
        .enumerate()
    {
        call["index"] = json!(index);
    }
    let choice = |delta: Value, reason: Value| json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
    let mut events = vec![
        chunk(choice(delta, Value::Null), Value::Null),
        chunk(
            choice(json!({}), json!(finish_reason(message))),
            Value::Null,
        ),
    ];
    if body["stream_options"]["include_usage"] == true {
        events.push(chunk(json!([]), usage()));
    }
    let mut text = String::new();
    for event in events {
        let _ = write!(text, "data: {event}\n\n");
    }
    text.push_str("data: [DONE]\n\n");
    ([(header::CONTENT_TYPE, "text/event-stream")], text).into_response()
}
