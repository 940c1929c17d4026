//! The contract suite of the state store, over the real KV store.

use http_client::{Client, Policy, Secret};
use state_store::contract::{CHECKS, Keys, run};
use state_store::{HttpWire, Timing};

use crate::e2e::error::E2eError;
use crate::e2e::facts::Facts;
use crate::e2e::services::RealServices;

/// Connections at once: the suite has up to this many writers at a time.
const WRITERS: usize = 16;

pub(super) fn check(services: &RealServices, facts: &mut Facts) -> Result<(), E2eError> {
    // One of its own: an automation's keys share their version and their room.
    let automation = services.create_probe("state-store")?;
    let token = services.kv_token(&automation, "33333333-3333-4333-8333-333333333333");
    let token = Secret::new(token);
    let client = Client::new(Policy {
        max_per_host: WRITERS,
        ..Policy::default()
    });
    let client = client.map_err(|error| E2eError::Setup(error.to_string()))?;
    let url = services.automation_api_url();
    let timing = Timing::default();
    let wire = || HttpWire::new(client.clone(), &url, &token, timing).map_err(|e| e.to_string());
    let backend = Keys::new(wire, timing);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(E2eError::io("start a runtime"))?;
    for check in CHECKS {
        let verdict = runtime.block_on(run(check, &backend));
        facts.check(
            &format!("the state store keeps {check} over the real service"),
            verdict.is_ok(),
            &verdict.err().unwrap_or_default(),
        );
    }
    Ok(())
}
