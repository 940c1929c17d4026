//! Checks of writers that overlap.

use super::documents::claim;
use super::{Backend, Verdict, ensure, same, text};
use crate::location::Slot;
use futures_util::future::join_all;
use lifecycle::document::{Field, ISSUE};
use lifecycle::ports::{Guard, Store};
use serde_json::json;

const WRITERS: usize = 8;
const EFFECTS: usize = 10;

fn issue(name: &str) -> Slot {
    Slot::new(&ISSUE, Some("contract"), &format!("contract/team/{name}"))
}

pub(super) async fn created_twice_keeps_both<B: Backend>(backend: &B) -> Verdict {
    let slot = issue("created-twice");
    let runs = join_all(["a", "b"].map(|run| {
        let slot = &slot;
        async move {
            let store = backend.open(slot, run)?;
            store.update(&mut claim(run, run)).await.map_err(text)
        }
    }));
    for result in runs.await {
        result?;
    }
    let document = backend.open(&slot, "c")?.load().await.map_err(text)?;
    ensure(document.has_record("a") && document.has_record("b"), || {
        format!("a record is missing: {}", document.to_value())
    })
}

pub(super) async fn another_document_moves_the_version<B: Backend>(backend: &B) -> Verdict {
    let slots = ["busy-one", "busy-two"].map(issue);
    let runs = join_all(slots.iter().map(|slot| async move {
        let store = backend.open(slot, "r")?;
        for n in 0..EFFECTS {
            store
                .update(&mut claim(&format!("{n}"), "c"))
                .await
                .map_err(text)?;
        }
        Ok::<_, String>(())
    }));
    for result in runs.await {
        result?;
    }
    for slot in &slots {
        let document = backend.open(slot, "r")?.load().await.map_err(text)?;
        same(slot.target(), &document.records().count(), &EFFECTS)?;
    }
    Ok(())
}

pub(super) async fn every_effect_of_many_writers_is_there<B: Backend>(backend: &B) -> Verdict {
    let slot = issue("many");
    let runs = join_all((0..WRITERS).map(|writer| {
        let slot = &slot;
        async move {
            let store = backend.open(slot, &format!("run-{writer}"))?;
            for n in 0..EFFECTS {
                let task = format!("{writer}:{n}");
                let after = store.update(&mut claim(&task, "c")).await.map_err(text)?;
                ensure(after.has_record(&task), || {
                    format!("{task} is not in what came back")
                })?;
            }
            Ok::<_, String>(())
        }
    }));
    for result in runs.await {
        result?;
    }
    let document = backend.open(&slot, "r")?.load().await.map_err(text)?;
    let missing: Vec<String> = (0..WRITERS)
        .flat_map(|writer| (0..EFFECTS).map(move |n| format!("{writer}:{n}")))
        .filter(|task| !document.has_record(task))
        .collect();
    ensure(missing.is_empty(), || format!("lost: {missing:?}"))
}

pub(super) async fn a_guard_is_created_once<B: Backend>(backend: &B) -> Verdict {
    let slot = issue("guard");
    let name = "claim:42:label:7/ä attempt 1";
    let content = |run: usize| json!({"run": format!("run-{run}"), "at": 1_717_200_000.5});
    let outcomes = join_all((0..WRITERS).map(|run| {
        let slot = &slot;
        async move {
            let store = backend.open(slot, &format!("run-{run}"))?;
            store.create_guard(name, &content(run)).await.map_err(text)
        }
    }));
    let outcomes: Vec<Guard> = outcomes.await.into_iter().collect::<Result<_, _>>()?;
    let store = backend.open(&slot, "r")?;
    if !backend.has_guards() {
        ensure(
            outcomes.iter().all(|outcome| *outcome == Guard::NotNeeded),
            || format!("{outcomes:?}"),
        )?;
        return same(
            "a guard",
            &store.read_guard(name).await.map_err(text)?,
            &None,
        );
    }
    let winners: Vec<usize> = (0..WRITERS)
        .filter(|run| outcomes[*run] == Guard::Created)
        .collect();
    let [winner] = winners[..] else {
        return Err(format!("created by {winners:?}"));
    };
    for (run, outcome) in outcomes
        .iter()
        .enumerate()
        .filter(|(run, _)| *run != winner)
    {
        same(
            &format!("what run {run} saw"),
            outcome,
            &Guard::Exists(content(winner)),
        )?;
    }
    same(
        "the guard",
        &store.read_guard(name).await.map_err(text)?,
        &Some(content(winner)),
    )?;
    // A second creation with the same content is not the first one either.
    let again = store
        .create_guard(name, &content(winner))
        .await
        .map_err(text)?;
    same("a second creation", &again, &Guard::Exists(content(winner)))?;
    let other = store
        .create_guard("claim:42:label:7/ä attempt 2", &json!(1))
        .await;
    same("another name", &other.map_err(text)?, &Guard::Created)?;
    for _ in 0..2 {
        store.delete_guard(name).await.map_err(text)?;
    }
    same(
        "after deletion",
        &store.read_guard(name).await.map_err(text)?,
        &None,
    )?;
    let anew = store.create_guard(name, &json!(2)).await.map_err(text)?;
    same("after deletion", &anew, &Guard::Created)
}

pub(super) async fn a_claim_is_won_once<B: Backend>(backend: &B) -> Verdict {
    let slot = issue("claim");
    let task = "42:label:7";
    let claims = join_all((0..WRITERS).map(|run| {
        let slot = &slot;
        async move {
            let run = format!("run-{run}");
            let store = backend.open(slot, &run)?;
            let guard = store
                .create_guard(task, &json!({"run": run}))
                .await
                .map_err(text)?;
            if matches!(guard, Guard::Exists(_)) {
                return Ok(None);
            }
            let after = store.update(&mut claim(task, &run)).await.map_err(text)?;
            let holder = after
                .record(task)
                .and_then(|record| record.text(Field::ConversationId).map(ToOwned::to_owned));
            Ok::<_, String>((holder.as_ref() == Some(&run)).then_some(run))
        }
    }));
    let winners: Vec<String> = claims
        .await
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .flatten()
        .collect();
    same("winners", &winners.len(), &1)
}
