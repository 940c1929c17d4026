//! The documents under `fixtures/state/`, through every backend.

use lifecycle::document::{ISSUE, NEWS, REVIEW, Schema};
use lifecycle::ports::{Change, Store, StoreError};
use serde_json::Value;
use state_store::{FileStore, Memory, Overlap, Slot, StoreEnv};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn fixtures(kind: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/state")
        .join(kind);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    paths
        .iter()
        .map(|path| (name(path), std::fs::read(path).unwrap()))
        .collect()
}

fn parse(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).unwrap()
}

/// The slot of the target that a document names.
fn slot(schema: &'static Schema, document: &Value) -> Slot {
    let owner = schema.owner.and_then(|field| document[field].as_str());
    Slot::new(schema, Some("a1"), owner.unwrap_or("acme/widget"))
}

/// What the document is once it has been read: of the current version, with a map of records.
fn as_read(schema: &'static Schema, given: &Value) -> Value {
    let mut expected = given.clone();
    expected["version"] = schema.version.into();
    if !expected[schema.records].is_object() {
        expected[schema.records] = Value::Object(serde_json::Map::new());
    }
    expected
}

/// Loads and writes it, and compares every field.
async fn check<S: Store>(schema: &'static Schema, name: &str, given: &Value, store: &S) -> Value {
    let expected = as_read(schema, given);
    assert_eq!(
        store.load().await.unwrap().to_value(),
        expected,
        "{name}: loaded"
    );
    let written = store
        .update(&mut |_| Change::Write)
        .await
        .unwrap()
        .to_value();
    let mut rest = written.clone();
    rest.as_object_mut().unwrap().remove("written_by");
    if let Some(owner) = schema.owner
        && given.get(owner).is_none()
    {
        assert_eq!(
            rest.as_object_mut().unwrap().remove(owner),
            Some("acme/widget".into())
        );
    }
    let mut expected = expected;
    expected.as_object_mut().unwrap().remove("written_by");
    assert_eq!(rest, expected, "{name}: written");
    written
}

#[tokio::test]
async fn every_document_survives_a_round_trip_through_a_file() {
    for schema in [&REVIEW, &ISSUE, &NEWS] {
        for (name, bytes) in fixtures(schema.automation) {
            let folder = tempfile::tempdir().unwrap();
            let given = parse(&bytes);
            let slot = slot(schema, &given);
            let path = folder.path().join(slot.file_name());
            std::fs::write(&path, &bytes).unwrap();
            let store = FileStore::new(folder.path().to_owned(), slot, &StoreEnv::default());
            let written = check(schema, &name, &given, &store).await;
            assert_eq!(
                parse(&std::fs::read(&path).unwrap()),
                written,
                "{name}: on disk"
            );
            // The generation before is what was there, byte for byte.
            let previous = path.with_file_name(format!(
                "{}.prev",
                path.file_name().unwrap().to_str().unwrap()
            ));
            assert_eq!(std::fs::read(previous).unwrap(), bytes, "{name}");
            assert!(store.load().await.is_ok());
        }
    }
}

#[tokio::test]
async fn every_document_survives_a_round_trip_through_keys() {
    for schema in [&REVIEW, &ISSUE, &NEWS] {
        for (name, bytes) in fixtures(schema.automation) {
            let memory = Memory::new(Overlap::LastWins);
            let given = parse(&bytes);
            let slot = slot(schema, &given);
            memory.put_value(&slot.kv_key(), given.clone());
            let store = memory.open(slot.clone(), &StoreEnv::default());
            let written = check(schema, &name, &given, &store).await;
            assert_eq!(
                memory.value(&slot.kv_key()),
                Some(written),
                "{name}: stored"
            );
        }
    }
}

#[tokio::test]
async fn what_cannot_be_used_fails_with_the_reason_and_stays() {
    let mut messages = String::new();
    let damaged = fixtures("damaged")
        .into_iter()
        .map(|(name, bytes)| (name, bytes, &NEWS));
    let newer = fixtures("newer").into_iter().map(|(name, bytes)| {
        let schema = [&REVIEW, &ISSUE, &NEWS].into_iter();
        let schema = schema
            .into_iter()
            .find(|s| name.starts_with(s.automation))
            .unwrap();
        (name, bytes, schema)
    });
    for (name, bytes, schema) in damaged.chain(newer) {
        let folder = tempfile::tempdir().unwrap();
        let given = serde_json::from_slice(&bytes).unwrap_or_default();
        let slot = slot(schema, &given);
        let path = folder.path().join(slot.file_name());
        std::fs::write(&path, &bytes).unwrap();
        let store = FileStore::new(folder.path().to_owned(), slot, &StoreEnv::default());
        let error = store.load().await.unwrap_err();
        assert_eq!(
            store.update(&mut |_| Change::Write).await.unwrap_err(),
            error
        );
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "{name}");
        if let StoreError::Document {
            kept: Some(kept), ..
        } = &error
        {
            assert_eq!(std::fs::read(kept).unwrap(), bytes, "{name}");
        }
        let message = error
            .to_string()
            .replace(&folder.path().display().to_string(), "FOLDER");
        writeln!(messages, "{name}\n  {message}").unwrap();
    }
    insta::assert_snapshot!("unusable-documents", messages);
}
