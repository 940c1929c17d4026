//! Checks of one writer with one document.

use super::{Backend, Verdict, ensure, same, text};
use crate::location::Slot;
use lifecycle::document::{Document, DocumentError, ISSUE, NEWS, REVIEW, Record, Status};
use lifecycle::ports::{Change, Store, StoreError};
use serde_json::{Value, json};

fn review(name: &str) -> Slot {
    Slot::new(&REVIEW, Some("contract"), &format!("contract/{name}"))
}

/// A change that puts a record in place, once.
pub(super) fn claim(task: &str, conversation: &str) -> impl FnMut(&mut Document) -> Change {
    move |document| {
        if document.has_record(task) {
            return Change::Keep;
        }
        let mut record = Record::default();
        record
            .set_status(Status::Starting)
            .set(lifecycle::document::Field::ConversationId, conversation);
        document.put_record(task, record);
        Change::Write
    }
}

pub(super) async fn starts_empty<B: Backend>(backend: &B) -> Verdict {
    for slot in [
        review("empty"),
        Slot::new(&ISSUE, Some("contract"), "contract/team/empty"),
        Slot::new(&NEWS, Some("contract-empty"), "news"),
    ] {
        if slot.schema() == &NEWS {
            // All news documents of an automation lie under one key.
            backend.remove(&slot).await?;
        }
        let found = backend.open(&slot, "r1")?.load().await.map_err(text)?;
        same("a first load", &found, &slot.empty())?;
        same("what is stored", &backend.stored(&slot).await?, &None)?;
    }
    Ok(())
}

pub(super) async fn keeping_writes_nothing<B: Backend>(backend: &B) -> Verdict {
    let slot = review("keep");
    let store = backend.open(&slot, "r1")?;
    let found = store.update(&mut |_| Change::Keep).await.map_err(text)?;
    same("the document", &found, &slot.empty())?;
    same("what is stored", &backend.stored(&slot).await?, &None)
}

pub(super) async fn what_could_not_be_read_is_not_written<B: Backend>(backend: &B) -> Verdict {
    let slot = review("broken");
    let store = backend.open(&slot, "r1")?;
    let written = store.update(&mut claim("1:label:1", "c")).await;
    let written = written.map_err(text)?;
    let mut breaks = |document: &mut Document| {
        document.set("reviews", "none");
        Change::Write
    };
    let refused = store.update(&mut breaks).await;
    ensure(
        matches!(&refused, Err(StoreError::Document { error: DocumentError::Unreadable(why), .. }) if why.contains("reviews")),
        || format!("a document that breaks its schema was answered {refused:?}"),
    )?;
    let found = backend.open(&slot, "r2")?.load().await.map_err(text)?;
    same("the document", &found, &written)
}

pub(super) async fn a_write_names_its_run<B: Backend>(backend: &B) -> Verdict {
    let slot = review("written-by");
    let store = backend.open(&slot, "run-17")?;
    let mut marks = Vec::new();
    for task in ["1:label:1", "2:label:2"] {
        let written = store.update(&mut claim(task, "c")).await.map_err(text)?;
        let stored = backend.stored(&slot).await?.ok_or("nothing is stored")?;
        same("what is stored", &stored, &written.to_value())?;
        marks.push(stored["written_by"].as_str().unwrap_or_default().to_owned());
        same("the owner", &stored["repo"], &json!("contract/written-by"))?;
    }
    ensure(
        marks[0] != marks[1] && marks.iter().all(|mark| mark.starts_with("run-17/")),
        || format!("the marks are {marks:?}"),
    )
}

pub(super) async fn a_change_gets_the_fresh_document<B: Backend>(backend: &B) -> Verdict {
    let slot = review("fresh");
    let (early, late) = (backend.open(&slot, "early")?, backend.open(&slot, "late")?);
    let stale = early.load().await.map_err(text)?;
    late.update(&mut claim("1:label:1", "late"))
        .await
        .map_err(text)?;
    ensure(!stale.has_record("1:label:1"), || {
        "the first load was not empty".into()
    })?;
    let mut saw = None;
    let after = early
        .update(&mut |document| {
            saw = document.record("1:label:1");
            claim("2:label:2", "early")(document)
        })
        .await
        .map_err(text)?;
    ensure(saw.is_some(), || {
        "the change was given a stale document".into()
    })?;
    ensure(
        after.has_record("1:label:1") && after.has_record("2:label:2"),
        || format!("a record is missing: {:?}", after.to_value()),
    )
}

pub(super) async fn what_it_does_not_know_survives<B: Backend>(backend: &B) -> Verdict {
    let slot = review("unknown");
    let given = json!({
        "version": 3, "repo": "contract/unknown", "trigger_label": null, "updated_at": 1_717_200_000,
        "reviews": {"1:label:1": {"status": "unheard-of", "x": [1, 2.5, null, {"ä": "\u{1f600}"}]}},
        "prs": {}, "provenance": {"host": "h", "n": 9_007_199_254_740_993_u64}, "f": 0.1,
    });
    backend.put(&slot, &given).await?;
    let store = backend.open(&slot, "r1")?;
    same(
        "the loaded document",
        &store.load().await.map_err(text)?.to_value(),
        &given,
    )?;
    store
        .update(&mut claim("2:label:2", "c"))
        .await
        .map_err(text)?;
    let mut stored = backend.stored(&slot).await?.ok_or("nothing is stored")?;
    let Value::Object(fields) = &mut stored else {
        return Err("no object is stored".into());
    };
    fields.remove("written_by");
    let added = fields.get_mut("reviews").and_then(|reviews| {
        reviews
            .as_object_mut()
            .and_then(|reviews| reviews.remove("2:label:2"))
    });
    ensure(added.is_some(), || "the change is missing".into())?;
    same("the rest", &stored, &given)
}

pub(super) async fn a_newer_version_is_refused_untouched<B: Backend>(backend: &B) -> Verdict {
    let slot = review("newer");
    let newer = json!({"version": 4, "repo": "contract/newer", "reviews": ["another shape"]});
    backend.put(&slot, &newer).await?;
    let store = backend.open(&slot, "r1")?;
    let mut was_called = false;
    let updated = store
        .update(&mut |_| {
            was_called = true;
            Change::Write
        })
        .await;
    for (call, result) in [("load", store.load().await), ("update", updated)] {
        match result {
            Err(StoreError::Document {
                error: DocumentError::NewerVersion { found: 4, known: 3 },
                kept: None,
                ..
            }) => {}
            other => return Err(format!("{call}: {other:?}")),
        }
    }
    ensure(!was_called, || "the change was called".into())?;
    same(
        "what is stored",
        &backend.stored(&slot).await?,
        &Some(newer),
    )
}

pub(super) async fn what_cannot_be_read_is_set_aside<B: Backend>(backend: &B) -> Verdict {
    let slot = review("damaged");
    let damaged = json!({"version": 3, "reviews": [], "note": "no map of records"});
    backend.put(&slot, &damaged).await?;
    let store = backend.open(&slot, "r1")?;
    let mut names = Vec::new();
    for result in [
        store.load().await,
        store.update(&mut |_| Change::Write).await,
        backend.open(&slot, "r2")?.load().await,
    ] {
        match result {
            Err(StoreError::Document {
                error: DocumentError::Unreadable(_),
                kept: Some(kept),
                ..
            }) => names.push(kept),
            other => return Err(format!("{other:?}")),
        }
    }
    ensure(
        names
            .iter()
            .all(|name| *name == names[0] && name.contains("damaged")),
        || format!("set aside as {names:?}"),
    )?;
    // It also stays, so that no later run finds nothing.
    same(
        "what is stored",
        &backend.stored(&slot).await?,
        &Some(damaged),
    )
}

pub(super) async fn a_removed_document_is_empty_again<B: Backend>(backend: &B) -> Verdict {
    let slot = review("removed");
    let store = backend.open(&slot, "r1")?;
    store
        .update(&mut claim("1:label:1", "c"))
        .await
        .map_err(text)?;
    store
        .update(&mut claim("2:label:2", "c"))
        .await
        .map_err(text)?;
    backend.remove(&slot).await?;
    same(
        "after removal",
        &store.load().await.map_err(text)?,
        &slot.empty(),
    )?;
    let after = store
        .update(&mut claim("3:label:3", "c"))
        .await
        .map_err(text)?;
    same("records", &after.records().count(), &1)
}

pub(super) async fn budget_is_an_even_share<B: Backend>(backend: &B) -> Verdict {
    // The checks open their stores as one of two targets.
    same(
        "the budget",
        &backend.open(&review("budget"), "r1")?.budget(),
        &(30 * 1024),
    )
}

pub(super) async fn cache_comes_back<B: Backend>(backend: &B) -> Verdict {
    let slot = review("cache");
    let store = backend.open(&slot, "r1")?;
    same("before", &store.load_cache().await, &None)?;
    let cache = json!({"etag": "W/\"1\"", "n": 1});
    store.save_cache(&cache).await;
    store.save_cache(&cache).await;
    same(
        "after",
        &backend.open(&slot, "r2")?.load_cache().await,
        &Some(cache),
    )?;
    same("the document", &backend.stored(&slot).await?, &None)
}
