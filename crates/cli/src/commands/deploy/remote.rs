//! An archive at an address, which the service fetches for each run.

use super::archive::Archive;
use crate::automation_service::MAX_REMOTE_BYTES;
use crate::commands::error::CommandError;
use http_client::{Client, Request, Url};
use std::time::Duration;

/// For a large archive over a slow line.
const TIMEOUT: Duration = Duration::from_mins(10);

/// Whether an archive is named by an address and not as a file.
pub(super) fn is_address(text: &str) -> bool {
    let text = text.trim();
    text.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

/// Fetches an archive as the service will, to look into it.
pub(super) async fn fetch(client: &Client, address: &str) -> Result<Archive, CommandError> {
    let address = address.trim();
    let url = Url::parse(address).map_err(|error| {
        CommandError::Usage(format!("--archive {address}: no address ({error})"))
    })?;
    if url.scheme() != "https" {
        return Err(CommandError::Usage(format!(
            "--archive {address}: the automation service fetches archives from https:// addresses \
             only"
        )));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(CommandError::Usage(
            "--archive: the address is stored with the automation and shown to others, so it may \
             hold no user or password"
                .to_owned(),
        ));
    }
    let request = Request::get("archive", url)
        .timeout(TIMEOUT)
        .max_bytes(MAX_REMOTE_BYTES);
    let answer = client
        .send(request)
        .await
        .and_then(http_client::Response::ok);
    let answer = answer
        .map_err(|error| CommandError::Failed(format!("the archive cannot be fetched: {error}")))?;
    Archive::of_bytes(address, answer.body).map_err(CommandError::failed)
}
