//! Uploading an archive.

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::MAX_UPLOAD_BYTES;
use super::model::Upload;
use super::routes::{Shared, invalid, unknown};
use crate::answer::{Refusal, header_text, json_answer};
use crate::calendar;
use crate::kv::now;

const UPLOAD_TYPES: &[&str] = &[
    "application/x-tar",
    "application/x-gzip",
    "application/gzip",
    "application/x-compressed-tar",
    "application/octet-stream",
];

#[derive(Debug, Deserialize)]
pub(super) struct Named {
    #[serde(default)]
    name: String,
}

pub(super) async fn upload(
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

pub(super) async fn remove_upload(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    match shared.model().uploads.remove(&id) {
        Some(_) => Ok(StatusCode::NO_CONTENT.into_response()),
        None => Err(Refusal::new(404, "Upload not found")),
    }
}

/// The archive of an automation, as far as it was uploaded.
pub(super) async fn tarball(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let model = shared.model();
    let automation = model.automation(&id).ok_or_else(unknown)?;
    let path = automation["tarball_path"].as_str().unwrap_or_default();
    if path.starts_with("https://") {
        return Ok((StatusCode::FOUND, [(header::LOCATION, path)]).into_response());
    }
    let bytes = model.upload(path).ok_or_else(|| {
        let text = "Tarball not found (underlying upload may have been deleted)";
        Refusal::new(404, text)
    })?;
    let kind = [(header::CONTENT_TYPE, "application/x-tar")];
    Ok((kind, bytes.to_vec()).into_response())
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
