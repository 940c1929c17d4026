//! What the stand-ins of the forges share of REST: a request taken apart, an answer put together,
//! and a list cut into pages. A forge's answers are then a plain function from its model and a
//! request to a reply.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use serde_json::Value;

use crate::Unexpected;
use crate::coding::decode;

/// Bodies above this never reach a model; the server core refuses earlier.
const MAX_BODY_BYTES: usize = 256 * 1024 * 1024;

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    /// `GET`, `POST`, …
    pub(crate) method: String,
    /// The path as it was sent.
    pub(crate) path: String,
    /// The query as it was sent, without the question mark.
    pub(crate) raw_query: String,
    /// The query's pairs, decoded.
    pub(crate) query: Vec<(String, String)>,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The body.
    pub(crate) body: Bytes,
}

impl Ask {
    /// Takes a request apart; a body that breaks off counts as empty.
    pub(crate) async fn read(request: Request) -> Self {
        let (parts, body) = request.into_parts();
        let raw_query = parts.uri.query().unwrap_or_default().to_owned();
        let query = url::form_urlencoded::parse(raw_query.as_bytes())
            .into_owned()
            .collect();
        Self {
            method: parts.method.as_str().to_owned(),
            path: parts.uri.path().to_owned(),
            raw_query,
            query,
            headers: parts.headers,
            body: to_bytes(body, MAX_BODY_BYTES).await.unwrap_or_default(),
        }
    }

    /// Whether it only reads.
    pub(crate) fn reads(&self) -> bool {
        matches!(self.method.as_str(), "GET" | "HEAD")
    }

    /// The first value of a header, if it is text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The first value of a query parameter.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(have, _)| have == name)
            .map(|(_, value)| value.as_str())
    }

    /// The body as JSON; `null` when it is not JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The parts of a path below `prefix`, each decoded; `None` when it lies elsewhere. A slash
    /// that was sent encoded does not part anything.
    pub(crate) fn segments(&self, prefix: &str) -> Option<Vec<String>> {
        let rest = self.path.strip_prefix(prefix)?;
        let rest = rest.strip_prefix('/').unwrap_or(rest);
        Some(
            rest.split('/')
                .filter(|part| !part.is_empty())
                .map(decode)
                .collect(),
        )
    }

    /// The page asked for (from 1) and its size: `per_page` within 1 and 100, else `default`.
    pub(crate) fn page(&self, default: usize) -> (usize, usize) {
        let number = |name| self.query(name).and_then(|text| text.parse::<usize>().ok());
        let size = number("per_page")
            .filter(|size| *size > 0)
            .unwrap_or(default)
            .min(100);
        (number("page").filter(|page| *page > 0).unwrap_or(1), size)
    }

    /// The query with another page in it, as it goes into a `Link` header.
    pub(crate) fn query_for_page(&self, page: usize) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(self.query.iter().filter(|(name, _)| name != "page"));
        query.append_pair("page", &page.to_string());
        query.finish()
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The status.
    pub(crate) status: u16,
    /// The headers beside content type and length.
    pub(crate) headers: Vec<(String, String)>,
    /// What is sent.
    pub(crate) content: Content,
    /// Why nobody should have asked.
    pub(crate) unexpected: Option<String>,
}

/// What an answer holds.
#[derive(Debug)]
pub(crate) enum Content {
    /// Nothing.
    Empty,
    /// JSON.
    Json(Value),
    /// Bytes and their type.
    Bytes(String, Vec<u8>),
}

impl Reply {
    /// A status with JSON.
    pub(crate) fn json(status: u16, value: Value) -> Self {
        Self {
            status,
            headers: Vec::new(),
            content: Content::Json(value),
            unexpected: None,
        }
    }

    /// A status with bytes of some type.
    pub(crate) fn bytes(status: u16, content_type: &str, bytes: impl Into<Vec<u8>>) -> Self {
        let content = Content::Bytes(content_type.to_owned(), bytes.into());
        Self {
            status,
            headers: Vec::new(),
            content,
            unexpected: None,
        }
    }

    /// A status alone.
    pub(crate) fn empty(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            content: Content::Empty,
            unexpected: None,
        }
    }

    /// Adds a header.
    #[must_use]
    pub(crate) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Marks it as an answer to something that nobody should have asked.
    #[must_use]
    pub(crate) fn unexpected(mut self, reason: impl Into<String>) -> Self {
        self.unexpected = Some(reason.into());
        self
    }

    /// The bytes of the body and their type; JSON has the type given.
    pub(crate) fn body(&self, json_type: &str) -> (String, Vec<u8>) {
        match &self.content {
            Content::Empty => (String::new(), Vec::new()),
            Content::Json(value) => (json_type.to_owned(), value.to_string().into_bytes()),
            Content::Bytes(kind, bytes) => (kind.clone(), bytes.clone()),
        }
    }

    /// The answer as it goes out.
    pub(crate) fn into_response(self, json_type: &str) -> Response {
        let (kind, bytes) = self.body(json_type);
        let mut response = Response::new(Body::from(bytes));
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or_default();
        let kind = (!kind.is_empty()).then(|| ("content-type".to_owned(), kind));
        for (name, value) in kind.into_iter().chain(self.headers) {
            if let (Ok(name), Ok(value)) =
                (HeaderName::try_from(name), HeaderValue::try_from(value))
            {
                response.headers_mut().append(name, value);
            }
        }
        if let Some(reason) = self.unexpected {
            response.extensions_mut().insert(Unexpected(reason));
        }
        response
    }
}
