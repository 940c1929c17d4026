//! A service that gives answers written down word for word, one after the other: for cases met
//! elsewhere, which no model needs to know how to come by.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use serde_json::Value;

use crate::error::TestbedError;
use crate::server::StandIn;

/// An answer that waits for its request.
#[derive(Clone, Debug)]
pub struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl Answer {
    /// An answer with headers given as an object (or as nothing) and a body that is sent as JSON.
    pub fn new(status: u16, headers: &Value, body: &Value) -> Self {
        let text = |value: &Value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        };
        let headers = headers.as_object().into_iter().flatten();
        let headers = headers
            .map(|(name, value)| (name.clone(), text(value)))
            .collect();
        Self {
            status,
            headers,
            body: body.to_string(),
        }
    }

    /// An answer of which nothing but the body is of interest.
    pub fn ok(body: &Value) -> Self {
        Self::new(200, &Value::Null, body)
    }

    /// `BASE` in a header is the server's own address.
    fn respond(self, base: &str) -> Response {
        let mut response = Response::builder().status(self.status);
        for (name, value) in self.headers {
            response = response.header(name, value.replace("BASE", base));
        }
        response
            .body(Body::from(self.body))
            .unwrap_or_else(|error| failed(&error.to_string()))
    }
}

fn failed(why: &str) -> Response {
    (StatusCode::INTERNAL_SERVER_ERROR, why.to_owned()).into_response()
}

/// Serves answers in their order, whatever is asked; after the last one, 500. `BASE` in a header is
/// the server's own address.
///
/// # Errors
/// [`TestbedError::Listen`] when no port or thread can be had.
pub fn serve(name: &'static str, answers: Vec<Answer>) -> Result<StandIn, TestbedError> {
    StandIn::start(name, |base| {
        let base = base.to_owned();
        let answers = Arc::new(Mutex::new(VecDeque::from(answers)));
        let next = move |_: Request<Body>| {
            let mut waiting = answers.lock().unwrap_or_else(PoisonError::into_inner);
            let response = match waiting.pop_front() {
                Some(answer) => answer.respond(&base),
                None => failed("asked too often"),
            };
            async move { response }
        };
        Router::new()
            .route("/", any(next.clone()))
            .route("/{*path}", any(next))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Call;
    use serde_json::json;

    #[test]
    fn answers_come_in_their_order_and_then_no_more() {
        let answers = vec![
            Answer::new(201, &json!({"location": "BASE/b", "age": 7}), &json!([1])),
            Answer::ok(&json!({})),
            Answer::new(200, &json!({"no name": ""}), &Value::Null),
        ];
        let server = serve("words", answers).unwrap();
        let ask = || Call::get(&server.url("/a")).send().unwrap();
        let first = ask();
        assert_eq!((first.status, first.text()), (201, "[1]".to_owned()));
        assert_eq!(first.header("location"), Some(server.url("/b").as_str()));
        assert_eq!(first.header("age"), Some("7"));
        assert_eq!(ask().status, 200);
        assert_eq!((ask().status, ask().status), (500, 500));
    }
}
