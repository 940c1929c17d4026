//! Keys: each answer of the service, lost answers, and a service that is not there.

mod documents;
mod guards;
mod keys;
mod refusals;

use http_client::{Client, Policy, Secret};
use lifecycle::document::REVIEW;
use lifecycle::ports::{Change, Store, StoreError};
use serde_json::{Value, json};
use state_store::{Slot, StateStore, StoreEnv, Timing, open};
use std::time::Duration;
use testbed::faults::Fault;
use testbed::kv::{Behaviour, KvStore};

pub(crate) const AUTOMATION: &str = "a1";
pub(crate) const KEY: &str = "state:acme__widget";
pub(crate) const PATH: &str = "/api/automation/v1/kv/";

pub(crate) struct World {
    pub(crate) service: KvStore,
    pub(crate) env: StoreEnv,
    pub(crate) client: Client,
}

impl World {
    pub(crate) fn new() -> Self {
        let service = KvStore::start(Behaviour::Strict).unwrap();
        let env = StoreEnv {
            kv_url: Some(format!("{}/", service.api_url())),
            kv_token: Some(Secret::new(service.token(AUTOMATION))),
            // It would be there to fall back to, if anything did.
            home: Some(std::env::temp_dir()),
            run_id: "run-1".into(),
            timing: Timing::quick(Duration::from_millis(1)),
            ..StoreEnv::default()
        };
        let policy = Policy {
            call_timeout: Duration::from_millis(300),
            retry_pause: Duration::from_millis(1),
            ..Policy::default()
        };
        Self {
            service,
            env,
            client: Client::new(policy).unwrap(),
        }
    }

    pub(crate) fn store(&self) -> StateStore {
        let store = open(
            &self.env,
            &self.client,
            Slot::new(&REVIEW, Some("a1"), "acme/widget"),
        )
        .unwrap();
        assert!(matches!(store, StateStore::Kv(_)));
        store
    }

    pub(crate) fn fault(&self, fault: Fault) {
        self.service.server().faults().add(fault);
    }

    pub(crate) fn value(&self) -> Option<Value> {
        self.service.value(AUTOMATION, KEY)
    }

    pub(crate) fn writes(&self) -> usize {
        self.service.history().len()
    }

    /// The answer to every call.
    pub(crate) async fn fails(&self) -> StoreError {
        let store = self.store();
        let error = store.load().await.unwrap_err();
        let again = store.update(&mut |_| Change::Write).await.unwrap_err();
        assert_eq!(kind(&again), kind(&error), "{again}");
        let guard = store.create_guard("g", &json!(1)).await.unwrap_err();
        assert_eq!(kind(&guard), kind(&error), "{guard}");
        assert_eq!(store.load_cache().await, None);
        store.save_cache(&json!(1)).await;
        error
    }

    pub(crate) fn end(self) {
        assert_eq!(
            self.service.server().faults().unspent(),
            0,
            "a fault did not come to pass"
        );
        self.service.server().check().unwrap();
    }
}

fn kind(error: &StoreError) -> std::mem::Discriminant<StoreError> {
    std::mem::discriminant(error)
}
