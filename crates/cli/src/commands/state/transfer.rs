//! `state show`, `state export` and `state import`.

use super::{Place, consent};
use crate::commands::configured::Configured;
use crate::commands::error::CommandError;
use crate::commands::plain::counted;
use crate::commands::{DONE, WRONG};
use lifecycle::document::Document;
use lifecycle::ports::{Change, Store};
use serde_json::{Map, Value, json};
use std::path::Path;

pub(super) async fn show(
    place: &Place,
    configured: &Configured,
    target: &str,
) -> Result<u8, CommandError> {
    let store = place.document(configured, target, true)?;
    let raw = store.read_raw().await.map_err(CommandError::failed)?;
    let Some(raw) = raw else {
        let text = format!("{target}: there is no document at {}", store.place());
        return Err(CommandError::Failed(text));
    };
    let text = match serde_json::from_slice::<Value>(&raw) {
        // A value of the KV store comes on one line.
        Ok(value) if !raw.contains(&b'\n') => {
            serde_json::to_string_pretty(&value).unwrap_or_default()
        }
        Ok(_) => String::from_utf8_lossy(&raw).into_owned(),
        // Whatever it is, the terminal does not obey it.
        Err(_) => String::from_utf8_lossy(&raw)
            .chars()
            .filter(|c| matches!(c, '\n' | '\t') || !c.is_control())
            .collect(),
    };
    place.session.console.verbatim(text.trim_end_matches('\n'));
    Ok(DONE)
}

pub(super) async fn export(
    place: &Place,
    configured: &Configured,
    targets: &[String],
) -> Result<u8, CommandError> {
    let mut documents = Map::new();
    for target in targets {
        let store = place.document(configured, target, true)?;
        let found = store.read_raw().await.map_err(CommandError::failed)?;
        if found.is_none() {
            place
                .session
                .console
                .warning(&format!("{target}: there is no document"));
            continue;
        }
        let document = store.load().await.map_err(CommandError::failed)?;
        documents.insert(target.clone(), document.to_value());
    }
    let all = json!({"automation": configured.automation().name(), "documents": documents});
    let text = serde_json::to_string_pretty(&all).unwrap_or_default();
    place.session.console.verbatim(&text);
    Ok(DONE)
}

pub(super) async fn import(
    place: &Place,
    configured: &Configured,
    file: &Path,
    yes: bool,
) -> Result<u8, CommandError> {
    let documents = read(configured, file)?;
    let console = &place.session.console;
    for (target, document) in &documents {
        let store = place.document(configured, target, false)?;
        let records = counted(document.records().count(), "record", "records");
        console.output(&format!("{target}: {records} for {}", store.place()));
    }
    let count = counted(documents.len(), "document", "documents");
    consent::given(console, yes, &format!("Replace {count}?"))?;
    let mut code = DONE;
    for (target, document) in &documents {
        let store = place.document(configured, target, false)?;
        match store
            .update(&mut |current| replace(current, document))
            .await
        {
            Ok(_) => console.output(&format!("{target}: replaced")),
            Err(error) => {
                console.error(&format!("{target}: {error}"));
                code = WRONG;
            }
        }
    }
    Ok(code)
}

/// Makes a document another one. Who wrote it last does not count: that changes with every write.
fn replace(current: &mut Document, wanted: &Document) -> Change {
    let plain = |document: &Document| {
        let mut document = document.clone();
        document.unset("written_by");
        document
    };
    if plain(current) == plain(wanted) {
        return Change::Keep;
    }
    *current = wanted.clone();
    Change::Write
}

/// Reads an export, and checks all of it.
fn read(configured: &Configured, file: &Path) -> Result<Vec<(String, Document)>, CommandError> {
    let name = file.display();
    let wrong = |why: String| CommandError::Failed(format!("{name}: {why}"));
    let bytes = std::fs::read(file).map_err(|error| wrong(format!("cannot be read ({error})")))?;
    let value: Value = serde_json::from_slice(&bytes)
        .map_err(|error| wrong(format!("it is no export of `state export` ({error})")))?;
    let expected = configured.automation().name();
    if value["automation"].as_str() != Some(expected) {
        let found = &value["automation"];
        return Err(wrong(format!(
            "it is no export of {expected} (automation: {found})"
        )));
    }
    let targets = configured.targets();
    let mut documents = Vec::new();
    for (target, value) in value["documents"].as_object().into_iter().flatten() {
        let Some(target) = targets.iter().find(|one| one.eq_ignore_ascii_case(target)) else {
            return Err(wrong(format!("{target} is not configured here")));
        };
        let document = Document::from_value(configured.schema(), value.clone())
            .map_err(|error| wrong(format!("{target}: {error}")))?;
        if document
            .owner()
            .is_some_and(|owner| !owner.eq_ignore_ascii_case(target))
        {
            return Err(wrong(format!(
                "{target}: the document is of another target"
            )));
        }
        documents.push((target.clone(), document));
    }
    if documents.is_empty() {
        return Err(wrong("it holds no documents".to_owned()));
    }
    Ok(documents)
}
