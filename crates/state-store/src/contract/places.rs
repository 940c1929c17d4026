//! Checks of which document is whose.

use super::documents::claim;
use super::{Backend, Verdict, ensure, same, text};
use crate::location::Slot;
use lifecycle::document::{REVIEW, Status};
use lifecycle::ports::{Change, Guard, Store};
use serde_json::json;

fn review(target: &str) -> Slot {
    Slot::new(&REVIEW, Some("contract"), target)
}

pub(super) async fn documents_that_share_a_name_stay_apart<B: Backend>(backend: &B) -> Verdict {
    let (first, second) = (review("apart/x__y"), review("apart__x/y"));
    same("the documented keys", &first.kv_key(), &second.kv_key())?;
    let (one, two) = (backend.open(&first, "r1")?, backend.open(&second, "r2")?);
    one.update(&mut claim("1:label:1", "one"))
        .await
        .map_err(text)?;
    let before = backend.stored(&first).await?;
    same(
        "the second's document",
        &two.load().await.map_err(text)?,
        &second.empty(),
    )?;
    two.update(&mut claim("2:label:2", "two"))
        .await
        .map_err(text)?;
    same(
        "the first's document",
        &backend.stored(&first).await?,
        &before,
    )?;
    for (store, task, count) in [(&one, "1:label:1", 1), (&two, "2:label:2", 1)] {
        let document = store.load().await.map_err(text)?;
        ensure(document.has_record(task), || format!("{task} is missing"))?;
        same("records", &document.records().count(), &count)?;
    }
    // The first one's removal does not make the second one's history anew.
    backend.remove(&first).await?;
    let document = two.load().await.map_err(text)?;
    ensure(document.has_record("2:label:2"), || {
        "the second's document is gone".into()
    })?;
    if backend.has_guards() {
        for store in [&one, &two] {
            let guard = store.create_guard("same", &json!(0)).await.map_err(text)?;
            same("guards of the same name", &guard, &Guard::Created)?;
        }
    }
    // A newer or odd document of another target is no reason to fail either.
    let odd = json!({"version": 99, "repo": "apart/x__y", "reviews": 5});
    backend.put(&first, &odd).await?;
    two.update(&mut claim("3:label:3", "two"))
        .await
        .map_err(text)?;
    same(
        "the odd document",
        &backend.stored(&first).await?,
        &Some(odd),
    )
}

pub(super) async fn an_older_document_is_adopted_once<B: Backend>(backend: &B) -> Verdict {
    let (named, other) = (review("adopt/widget"), review("adopt/other"));
    let legacy = json!({
        "version": 2, "repo": "adopt/widget", "kept": true,
        "reviews": {"4:label:900": {"status": "closed"}},
    });
    backend.put_legacy(&named, Some(&legacy)).await?;
    let store = backend.open(&named, "r1")?;
    let loaded = store.load().await.map_err(text)?;
    let status = |document: &lifecycle::document::Document| {
        document.record("4:label:900").map(|record| record.status())
    };
    same("the record", &status(&loaded), &Some(Status::Closed))?;
    same("after a mere load", &backend.stored(&named).await?, &None)?;
    // It is taken over even by a run that has nothing to change.
    store.update(&mut |_| Change::Keep).await.map_err(text)?;
    let stored = backend
        .stored(&named)
        .await?
        .ok_or("it was not taken over")?;
    same("the version", &stored["version"], &json!(3))?;
    same("an unknown field", &stored["kept"], &json!(true))?;
    same("the records", &stored["reviews"], &legacy["reviews"])?;
    let unrelated = backend.open(&other, "r1")?;
    same(
        "another target",
        &unrelated.load().await.map_err(text)?,
        &other.empty(),
    )?;
    // From now on the target's own document counts, whatever the older one says.
    let later = json!({"version": 2, "repo": "adopt/widget", "reviews": {}});
    backend.put_legacy(&named, Some(&later)).await?;
    let loaded = store.load().await.map_err(text)?;
    same("the record later", &status(&loaded), &Some(Status::Closed))?;
    backend.put_legacy(&named, None).await
}

pub(super) async fn owners_compare_without_case<B: Backend>(backend: &B) -> Verdict {
    let slot = review("Case/Widget");
    let given = json!({
        "version": 3, "repo": "case/widget", "reviews": {"1:label:1": {"status": "closed"}},
    });
    backend.put(&slot, &given).await?;
    let store = backend.open(&slot, "r1")?;
    let after = store
        .update(&mut claim("2:label:2", "c"))
        .await
        .map_err(text)?;
    same("records", &after.records().count(), &2)?;
    same("the owner", &after.owner(), &Some("case/widget"))
}
