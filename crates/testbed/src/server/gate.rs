//! Every request passes here: it is logged, waits, meets the faults, and its answer is noted.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;

use super::line::LineHandle;
use crate::faults::{Effect, Fault, Faults};
use crate::request_log::{KEPT_BODY_BYTES, Logged, RequestLog};

/// Bodies above this are refused: no request of ours comes near it.
const MAX_BODY_BYTES: usize = 256 * 1024 * 1024;

/// Put into an answer's extensions (or returned as an answer): nobody expected this request.
///
/// As an answer it is a 404 with the reason in `detail`.
#[derive(Debug, Clone)]
pub struct Unexpected(pub String);

impl IntoResponse for Unexpected {
    fn into_response(self) -> Response {
        let body = serde_json::json!({ "detail": self.0 });
        let mut response = (StatusCode::NOT_FOUND, axum::Json(body)).into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// What all requests of one stand-in share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) log: RequestLog,
    pub(crate) faults: Faults,
}

/// Counts a request as in flight for as long as it lives, also when its client gives up.
struct InFlight(Arc<Shared>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.log.leave();
    }
}

pub(crate) async fn pass(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(line): ConnectInfo<LineHandle>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MAX_BODY_BYTES).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let logged = logged(&parts, &body, line.number);
    let (method, path, target) = (logged.method.clone(), logged.path.clone(), logged.target());
    let number = shared.log.enter(logged);
    let in_flight = InFlight(Arc::clone(&shared));

    let latency = shared.faults.latency();
    if !latency.is_zero() {
        tokio::time::sleep(latency).await;
    }
    let fault = shared.faults.take(&method, &path, &target);
    if let Some(fault) = &fault {
        shared
            .log
            .amend(number, |r| r.fault = Some(format!("{:?}", fault.effect)));
        if let Some(delay) = fault.delay {
            tokio::time::sleep(delay).await;
        }
    }
    let reaches_model = fault.as_ref().is_none_or(|fault| fault.after_effect);
    let real = if reaches_model {
        next.run(Request::from_parts(parts, Body::from(body))).await
    } else {
        StatusCode::OK.into_response()
    };
    let reason = real
        .extensions()
        .get::<Unexpected>()
        .map(|unexpected| unexpected.0.clone());
    if reason.is_some() {
        shared.log.amend(number, |r| r.unexpected = reason);
    }
    let answer = match fault {
        None => Some(real),
        Some(fault) => spoil(fault, real, &line).await,
    };
    let status = answer.as_ref().map(|answer| answer.status().as_u16());
    shared.log.amend(number, |r| r.status = status);
    drop(in_flight);
    // Without an answer the line is about to be reset; these bytes are never sent.
    answer.unwrap_or_else(|| StatusCode::OK.into_response())
}

fn logged(parts: &axum::http::request::Parts, body: &Bytes, connection: u64) -> Logged {
    let headers = parts.headers.iter().map(|(name, value)| {
        (
            name.as_str().to_owned(),
            String::from_utf8_lossy(value.as_bytes()).into_owned(),
        )
    });
    Logged {
        number: 0,
        method: parts.method.as_str().to_owned(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers: headers.collect(),
        body: body[..body.len().min(KEPT_BODY_BYTES)].to_vec(),
        body_bytes: body.len(),
        connection,
        at: Instant::now(),
        status: None,
        fault: None,
        unexpected: None,
    }
}

/// The answer as the fault leaves it; `None` when the line is reset instead.
async fn spoil(fault: Fault, real: Response, line: &LineHandle) -> Option<Response> {
    match fault.effect {
        Effect::Delay => Some(real),
        Effect::Hang => std::future::pending().await,
        Effect::Reset => {
            line.reset();
            None
        }
        Effect::Answer {
            status,
            headers,
            body,
        } => {
            let mut answer = Response::new(Body::from(body));
            *answer.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
            for (name, value) in headers {
                if let (Ok(name), Ok(value)) =
                    (HeaderName::try_from(name), HeaderValue::try_from(value))
                {
                    answer.headers_mut().append(name, value);
                }
            }
            Some(answer)
        }
        Effect::Body { content_type, body } => {
            let (mut parts, _) = real.into_parts();
            parts.headers.remove(header::CONTENT_LENGTH);
            if let Ok(value) = HeaderValue::try_from(content_type) {
                parts.headers.insert(header::CONTENT_TYPE, value);
            }
            Some(Response::from_parts(parts, Body::from(body)))
        }
        Effect::HalfThenClose => Some(slowly(real, Portions::HalfThenClose).await),
        Effect::HalfThenHang => Some(slowly(real, Portions::HalfThenHang).await),
        Effect::Drip { bytes, pause } => Some(slowly(real, Portions::Drip(bytes, pause)).await),
    }
}

#[derive(Clone, Copy)]
enum Portions {
    HalfThenClose,
    HalfThenHang,
    Drip(usize, Duration),
}

/// The same answer with its whole length promised and its body sent in portions.
async fn slowly(real: Response, portions: Portions) -> Response {
    let (mut parts, body) = real.into_parts();
    let whole = to_bytes(body, usize::MAX).await.unwrap_or_default();
    parts
        .headers
        .insert(header::CONTENT_LENGTH, HeaderValue::from(whole.len()));
    let body = stream::unfold((whole, 0_usize), move |(whole, sent)| async move {
        let next = match portions {
            Portions::Drip(bytes, pause) => {
                if sent >= whole.len() {
                    return None;
                }
                if sent > 0 {
                    tokio::time::sleep(pause).await;
                }
                whole.len().min(sent + bytes)
            }
            _ if sent == 0 => whole.len() / 2,
            Portions::HalfThenHang => std::future::pending().await,
            Portions::HalfThenClose => {
                // What was written so far leaves before the line is closed.
                tokio::time::sleep(Duration::from_millis(5)).await;
                return Some((
                    Err(std::io::Error::other("cut off by a fault")),
                    (whole, sent),
                ));
            }
        };
        let portion = whole.slice(sent..next);
        Some((Ok(portion), (whole, next.max(1))))
    });
    Response::from_parts(parts, Body::from_stream(body))
}

pub(crate) async fn unknown_route(request: Request) -> Result<Unexpected, Infallible> {
    Ok(Unexpected(format!(
        "no such route: {} {}",
        request.method(),
        request.uri().path()
    )))
}
