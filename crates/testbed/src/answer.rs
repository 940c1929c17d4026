//! Answers in the style of the OpenHands services: JSON, and refusals as `{"detail": …}`.

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// An answer that ends the handling of a request early.
#[derive(Debug)]
pub(crate) struct Refusal(Box<Response>);

impl Refusal {
    /// `{"detail": …}` with this status, given as a number.
    pub(crate) fn new(status: u16, detail: impl Into<Value>) -> Self {
        Self::from(json_answer(status, &json!({ "detail": detail.into() })))
    }
}

impl From<Response> for Refusal {
    fn from(response: Response) -> Self {
        Self(Box::new(response))
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        *self.0
    }
}

/// JSON with this status.
pub(crate) fn json_answer(status: u16, body: &Value) -> Response {
    json_text(status, body.to_string())
}

/// Text that is already JSON, with this status.
pub(crate) fn json_text(status: u16, body: String) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// A header's value as text; `None` when it is absent or not ASCII.
pub(crate) fn header_text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The token of `Authorization: Bearer TOKEN`.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    header_text(headers, "authorization")?
        .strip_prefix("Bearer ")
        .map(str::trim)
}

/// Reads a JSON body as the services do: 422 when it is not declared as JSON or does not parse.
pub(crate) fn json_body(headers: &HeaderMap, body: &[u8]) -> Result<Value, Refusal> {
    let declared = header_text(headers, "content-type").unwrap_or_default();
    if !declared.starts_with("application/json") {
        return Err(Refusal::new(
            422,
            "the body is not declared as application/json",
        ));
    }
    serde_json::from_slice(body).map_err(|error| Refusal::new(422, format!("not JSON: {error}")))
}
