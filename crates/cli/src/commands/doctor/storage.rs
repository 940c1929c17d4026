//! The state documents: the place can be reached, and what is there can be read.

use super::Patient;
use super::finding::{Finding, Findings};
use super::machine::probe;
use crate::run::wiring::{automation_id, store_env};
use futures_util::future::join_all;
use lifecycle::ports::{Store, StoreError};
use state_store::{Slot, StateStore, StoreEnv, folder_of};

const CHECK: &str = "state";

pub(super) async fn check(patient: &Patient<'_>, findings: &mut Findings<'_>) {
    let Some(configured) = patient.configured else {
        findings.add(Finding::skipped(CHECK, "the configuration is needed first"));
        return;
    };
    let environment = &patient.session.environment;
    let id = automation_id(environment);
    let targets = configured.targets();
    let env = StoreEnv {
        targets: targets.len(),
        read_only: true,
        ..store_env(environment)
    };
    let mut stores = Vec::new();
    for target in &targets {
        let slot = Slot::new(configured.schema(), Some(&id), target);
        match state_store::open(&env, &patient.client, slot) {
            Ok(store) => stores.push((target, store)),
            Err(error) => {
                let advice = "Set WORKSPACE_BASE, or HOME, or both AUTOMATION_API_URL and \
                              AUTOMATION_KV_TOKEN.";
                findings.add(Finding::failed(CHECK, error.to_string(), advice));
                return;
            }
        }
    }
    if matches!(stores.first(), Some((_, StateStore::Files(_)))) {
        folder(&env, findings);
    }
    let looks = stores
        .iter()
        .map(async |(target, store)| (*target, look(store).await));
    for (target, finding) in join_all(looks).await {
        findings.add(finding.of(target));
    }
}

fn folder(env: &StoreEnv, findings: &mut Findings<'_>) {
    let Some(folder) = folder_of(env) else {
        return;
    };
    let name = folder.display();
    findings.add(match probe(&folder) {
        Ok(true) => Finding::ok(CHECK, format!("{name} can be written to")),
        Ok(false) => Finding::ok(CHECK, format!("{name} is not there yet and can be made")),
        Err(error) => Finding::failed(
            CHECK,
            format!("{name} cannot be written to ({error})"),
            "Change its owner or permissions, make room, or set WORKSPACE_BASE to another place.",
        ),
    });
}

async fn look(store: &StateStore) -> Finding {
    let (raw, loaded) = futures_util::join!(store.read_raw(), store.load());
    let notes = store.take_notes();
    let place = store.place();
    match loaded {
        Err(error) => Finding::failed(CHECK, error.to_string(), advice(&error)),
        Ok(_) if !notes.is_empty() => Finding::warning(
            CHECK,
            notes.join("; "),
            "`status` shows what is used in its place.",
        ),
        Ok(document) => {
            let found = match raw {
                Ok(Some(raw)) => format!(
                    "{place}: {} records, {} of at most {} bytes",
                    document.records().count(),
                    raw.len(),
                    store.budget()
                ),
                _ => format!("{place}: no document yet"),
            };
            Finding::ok(CHECK, found)
        }
    }
}

fn advice(error: &StoreError) -> &'static str {
    match error {
        StoreError::Unavailable { .. } => {
            "Check AUTOMATION_API_URL and whether the automation service runs."
        }
        StoreError::Unauthorized { .. } => {
            "The service gives every run a token of its own, for 24 hours. Take a fresh one, or \
             look from within a run."
        }
        StoreError::NotConfigured { .. } => {
            "Set AUTOMATION_KV_SECRET for the automation service and start it again."
        }
        StoreError::TooLarge { .. } | StoreError::Contended { .. } => "Try again.",
        StoreError::Document { .. } => {
            "`state show` prints what is there. A newer release reads newer documents; what is \
             damaged can be repaired by hand, replaced with `state import`, or forgotten with \
             `state reset`."
        }
        StoreError::Io { .. } => "Change its owner or permissions, and see that the disk is sound.",
    }
}
