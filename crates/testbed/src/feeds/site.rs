//! The pages of a site and how they are served.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

use super::write::{self, http_date};
use super::{Format, Story};
use crate::answer::header_text;
use crate::kv::now;
use crate::server::Unexpected;

#[derive(Debug, Default)]
pub(super) struct Site {
    pages: HashMap<String, Page>,
}

#[derive(Debug)]
pub(super) enum Page {
    Document(Document),
    Redirect { status: u16, to: String },
    Status(u16),
}

#[derive(Debug)]
pub(super) struct Document {
    content_type: String,
    bytes: Vec<u8>,
    /// Seconds since the epoch.
    modified: f64,
    pub(super) validators: bool,
    /// Whether it is compressed, and if so whether a header says so.
    pub(super) gzip: Option<bool>,
    pub(super) headers: Vec<(String, String)>,
    model: Option<(String, Format, Vec<Story>)>,
}

impl Page {
    pub(super) fn document(content_type: &str, bytes: Vec<u8>) -> Self {
        Self::Document(Document {
            content_type: content_type.to_owned(),
            bytes,
            modified: now(),
            validators: true,
            gzip: None,
            headers: Vec::new(),
            model: None,
        })
    }

    pub(super) fn feed(url: &str, title: &str, format: Format, stories: Vec<Story>) -> Self {
        let (content_type, text) = write::feed(url, title, format, &stories);
        let mut page = Self::document(content_type, text.into_bytes());
        if let Self::Document(document) = &mut page {
            document.model = Some((title.to_owned(), format, stories));
        }
        page
    }
}

impl Site {
    pub(super) fn put(&mut self, path: &str, page: Page) {
        self.pages.insert(path.to_owned(), page);
    }

    pub(super) fn with_document(&mut self, path: &str, change: impl FnOnce(&mut Document)) {
        if let Some(Page::Document(document)) = self.pages.get_mut(path) {
            change(document);
        }
    }

    pub(super) fn publish(&mut self, path: &str, url: &str, stories: &[Story]) {
        self.with_document(path, |document| {
            let Some((title, format, known)) = &mut document.model else {
                return;
            };
            known.splice(0..0, stories.iter().cloned());
            document.bytes = write::feed(url, title, *format, known).1.into_bytes();
            document.modified = now();
        });
    }
}

pub(super) fn router(site: Arc<Mutex<Site>>) -> Router {
    Router::new()
        .route("/", get(serve))
        .route("/{*path}", get(serve))
        .with_state(site)
}

async fn serve(State(site): State<Arc<Mutex<Site>>>, request: Request) -> Response {
    let site = site.lock().unwrap_or_else(PoisonError::into_inner);
    let path = request.uri().path();
    match site.pages.get(path) {
        None => Unexpected(format!("no page at {path}")).into_response(),
        Some(Page::Status(status)) => code(*status).into_response(),
        Some(Page::Redirect { status, to }) => {
            (code(*status), [(header::LOCATION, to.clone())]).into_response()
        }
        Some(Page::Document(document)) => document.answer(request.headers()),
    }
}

fn code(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

impl Document {
    fn etag(&self) -> String {
        let digest = Sha256::digest(&self.bytes);
        let hex: Vec<String> = digest
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        format!("\"{}\"", hex.concat())
    }

    fn answer(&self, asked: &HeaderMap) -> Response {
        let (etag, modified) = (self.etag(), http_date(self.modified));
        // A client that sends both is judged by the tag alone.
        let unchanged = match header_text(asked, "if-none-match") {
            Some(tags) => tags
                .split(',')
                .any(|tag| tag.trim().trim_start_matches("W/") == etag),
            None => header_text(asked, "if-modified-since") == Some(modified.as_str()),
        };
        let mut answer = if self.validators && unchanged {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            let content_type = [(header::CONTENT_TYPE, self.content_type.clone())];
            (content_type, self.body()).into_response()
        };
        let mut set = |name: &str, value: &str| {
            if let (Ok(name), Ok(value)) =
                (HeaderName::try_from(name), HeaderValue::try_from(value))
            {
                answer.headers_mut().insert(name, value);
            }
        };
        if self.validators {
            set("etag", &etag);
            set("last-modified", &modified);
        }
        if self.gzip == Some(true) {
            set("content-encoding", "gzip");
        }
        for (name, value) in &self.headers {
            set(name, value);
        }
        answer
    }

    fn body(&self) -> Vec<u8> {
        if self.gzip.is_none() {
            return self.bytes.clone();
        }
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        // Writing into memory does not fail.
        let _ = encoder.write_all(&self.bytes);
        encoder.finish().unwrap_or_default()
    }
}
