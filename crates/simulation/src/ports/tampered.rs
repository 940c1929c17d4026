//! Safeguards switched off around the engine: stores and policies that behave as if they were not
//! there.

use super::Link;
use crate::mutation::Mutation;
use lifecycle::document::{Document, Field, Record, Schema};
use lifecycle::engine::{Claim, World};
use lifecycle::error::TargetError;
use lifecycle::policy::{Discovery, Finish, Finishing, Policy, Prepared, SetupError, Trigger};
use lifecycle::ports::{Change, Guard, Store, StoreError};
use serde_json::Value;
use std::collections::HashSet;

/// A store without what the mutation takes from it; without one, the store itself.
pub(crate) struct Mutated<S> {
    pub(crate) store: S,
    pub(crate) link: Link,
}

impl<S> Mutated<S> {
    fn is(&self, mutation: Mutation) -> bool {
        self.link.world.borrow().is_mutated(mutation)
    }

    fn own(&self) -> String {
        format!("run-{}", self.link.run)
    }
}

/// As if nobody but this run had ever said that they hold a lease.
fn without_leases(document: &mut Document, own: &str) {
    let records: Vec<(String, Record)> = document
        .records()
        .map(|(task, record)| (task.to_owned(), record))
        .collect();
    for (task, mut record) in records {
        if record.text(Field::LeaseOwner) == Some(own) {
            continue;
        }
        record.unset(Field::LeaseOwner).unset(Field::LeaseUntil);
        document.put_record(&task, record);
    }
}

impl<S: Store> Store for Mutated<S> {
    async fn load(&self) -> Result<Document, StoreError> {
        let mut document = self.store.load().await?;
        if self.is(Mutation::Lease) {
            without_leases(&mut document, &self.own());
        }
        Ok(document)
    }

    async fn update(
        &self,
        change: &mut dyn FnMut(&mut Document) -> Change,
    ) -> Result<Document, StoreError> {
        if !self.is(Mutation::Lease) {
            return self.store.update(change).await;
        }
        let own = self.own();
        let mut blind = |document: &mut Document| {
            without_leases(document, &own);
            change(document)
        };
        self.store.update(&mut blind).await
    }

    async fn create_guard(&self, name: &str, content: &Value) -> Result<Guard, StoreError> {
        let made = self.store.create_guard(name, content).await?;
        let forced = self.is(Mutation::GuardExclusivity)
            || self.is(Mutation::Lease) && name.starts_with("lease:");
        Ok(match made {
            Guard::Exists(_) if forced => Guard::Created,
            other => other,
        })
    }

    async fn read_guard(&self, name: &str) -> Result<Option<Value>, StoreError> {
        self.store.read_guard(name).await
    }

    async fn delete_guard(&self, name: &str) -> Result<(), StoreError> {
        self.store.delete_guard(name).await
    }

    fn budget(&self) -> usize {
        self.store.budget()
    }

    async fn load_cache(&self) -> Option<Value> {
        self.store.load_cache().await
    }

    async fn save_cache(&self, cache: &Value) {
        self.store.save_cache(cache).await;
    }
}

/// A policy that may say that no trigger is in force.
pub(crate) struct Tampered<P> {
    pub(crate) policy: P,
    pub(crate) forgets_what_is_in_force: bool,
}

impl<P: Policy> Policy for Tampered<P> {
    type Survey = P::Survey;
    type Payload = P::Payload;

    fn schema(&self) -> &'static Schema {
        self.policy.schema()
    }

    fn target(&self) -> &str {
        self.policy.target()
    }

    async fn survey(&self) -> Result<Self::Survey, TargetError> {
        self.policy.survey().await
    }

    async fn suspect(&self, survey: &Self::Survey, record: &Record) -> bool {
        self.policy.suspect(survey, record).await
    }

    async fn discover<X: World>(
        &self,
        world: &X,
        survey: &Self::Survey,
        document: &Document,
    ) -> Result<Discovery<Self::Payload>, TargetError> {
        let mut discovery = self.policy.discover(world, survey, document).await?;
        if self.forgets_what_is_in_force {
            discovery.in_force = Some(HashSet::new());
        }
        Ok(discovery)
    }

    async fn confirm<X: World>(
        &self,
        world: &X,
        trigger: &mut Trigger<Self::Payload>,
        document: &Document,
    ) -> Result<(), SetupError> {
        self.policy.confirm(world, trigger, document).await
    }

    async fn prepare<X: World>(
        &self,
        world: &X,
        claim: &Claim,
        trigger: &Trigger<Self::Payload>,
        document: &Document,
    ) -> Result<Prepared, SetupError> {
        self.policy.prepare(world, claim, trigger, document).await
    }

    async fn acknowledge<X: World>(
        &self,
        world: &X,
        task: &str,
        record: &Record,
    ) -> Result<(), String> {
        self.policy.acknowledge(world, task, record).await
    }

    async fn finish<X: World>(&self, world: &X, finishing: &Finishing<'_>) -> Finish {
        self.policy.finish(world, finishing).await
    }

    async fn give_up<X: World>(&self, world: &X, finishing: &Finishing<'_>, error: &str) -> Finish {
        self.policy.give_up(world, finishing, error).await
    }

    fn tidy(&self, document: &mut Document) {
        self.policy.tidy(document);
    }
}
