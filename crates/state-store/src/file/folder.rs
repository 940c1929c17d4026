//! What lies in a state folder, for people who look.

use super::{LOCK, PREVIOUS, disk};
use crate::location::name::fit;
use lifecycle::document::{ISSUE, NEWS, REVIEW, Schema};
use lifecycle::ports::StoreError;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What a file in a state folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A document that can be read.
    Document,
    /// A document that cannot be read, or is of a newer version.
    Unusable,
    /// What was set aside because it could not be read.
    SetAside,
}

/// A file in a state folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it lies.
    pub path: PathBuf,
    /// What it is.
    pub kind: EntryKind,
    /// Name of the automation, as the file name tells it.
    pub automation: Option<&'static str>,
    /// The target that it names as its own.
    pub target: Option<String>,
    /// Size in bytes.
    pub bytes: u64,
    /// Whether the generation before it is there.
    pub has_previous: bool,
}

/// The documents in a state folder and what was set aside, by name. A folder that is not there
/// has none.
///
/// # Errors
/// [`StoreError::Io`], when the folder cannot be read.
pub fn list(folder: &Path) -> Result<Vec<Entry>, StoreError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(disk::failed(folder, "reading the folder", &error)),
    };
    let mut found: Vec<Entry> = entries
        .flatten()
        .filter_map(|entry| read(&entry.path()))
        .collect();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn read(path: &Path) -> Option<Entry> {
    let name = path.file_name()?.to_str()?;
    let is_set_aside = name.contains(".damaged-");
    let is_ours = !name.starts_with('.') && !name.ends_with(LOCK) && !name.ends_with(PREVIOUS);
    let is_json = path
        .extension()
        .is_some_and(|extension| extension == "json");
    if !is_ours || !(is_set_aside || is_json) {
        return None;
    }
    let schema = schema_of(name);
    let value = disk::read(path)
        .ok()?
        .and_then(|bytes| disk::parse(&bytes).ok());
    let target = value
        .as_ref()
        .and_then(|value| value.get(schema?.owner?)?.as_str())
        .map(ToOwned::to_owned);
    let is_usable = value.is_some_and(|value| match schema {
        Some(schema) => lifecycle::document::Document::from_value(schema, value).is_ok(),
        None => true,
    });
    Some(Entry {
        path: path.to_owned(),
        kind: match (is_set_aside, is_usable) {
            (true, _) => EntryKind::SetAside,
            (false, true) => EntryKind::Document,
            (false, false) => EntryKind::Unusable,
        },
        automation: schema.map(|schema| schema.automation),
        target,
        bytes: std::fs::metadata(path).map_or(0, |meta| meta.len()),
        has_previous: path.with_file_name(fit(name, PREVIOUS)).exists(),
    })
}

fn schema_of(name: &str) -> Option<&'static Schema> {
    [
        ("github_pr_reviewer_label_event_", &REVIEW),
        ("gitlab_issue_to_mr_", &ISSUE),
        ("news_digest_", &NEWS),
    ]
    .into_iter()
    .find_map(|(prefix, schema)| name.starts_with(prefix).then_some(schema))
}
