//! Leases: the exclusive right to finish a task, for a quarter of an hour.
//!
//! The record names who holds it. With the KV store a key created with `nx` makes it exclusive; each
//! take-over of a lapsed lease is the next key. After winning, the record is looked at afresh:
//! whatever was decided on an older copy counts only if nothing has changed since.

use super::{Engine, World, guards};
use crate::decide::{LEASE_SECONDS, leased_to_other};
use crate::document::{Document, Field, Record};
use crate::policy::Policy;
use crate::ports::{Guard, StoreError};
use serde_json::{Value, json};
use std::cell::Cell;
use std::rc::Rc;

/// More take-overs than this of one task mean that something kills every run.
const MAX_TAKE_OVERS: u32 = 40;

/// The right to finish a task. Made only by winning it; never copied.
#[derive(Debug)]
pub struct Lease {
    task: String,
    until: f64,
    /// The number of the held key; `None` where no keys are needed.
    number: Option<u32>,
    /// Whether all keys that had to go are gone.
    is_clean: Cell<bool>,
}

impl Lease {
    /// Whether it still holds. What others may see is done only while it does.
    pub fn holds(&self, now: f64) -> bool {
        now < self.until
    }
}

impl<X: World, P: Policy> Engine<'_, X, P> {
    /// Takes the lease of a task whose record looked like `decided_on`. `None` when somebody
    /// else holds it or the record has changed.
    pub(super) async fn lease(
        &self,
        task: &str,
        decided_on: &Record,
    ) -> Result<Option<Lease>, StoreError> {
        let now = self.now();
        let until = now + LEASE_SECONDS;
        let Some(number) = self.take_lease_key(task, now, until).await? else {
            return Ok(None);
        };
        let lease = Lease {
            task: task.to_owned(),
            until,
            number,
            is_clean: Cell::new(true),
        };
        let won = Rc::new(Cell::new(false));
        let effect = {
            let (won, task, owner) = (won.clone(), task.to_owned(), self.run.run_id.clone());
            let decided_on = without_lease(decided_on.clone());
            move |document: &mut Document| {
                won.set(false);
                let Some(mut record) = document.record(&task) else {
                    return;
                };
                let unchanged = without_lease(record.clone()) == decided_on;
                if unchanged && !leased_to_other(&record, &owner, now) {
                    record
                        .set(Field::LeaseOwner, owner.as_str())
                        .set(Field::LeaseUntil, until);
                    document.put_record(&task, record);
                    won.set(true);
                }
            }
        };
        // Not remembered for the end of the poll: a lease is of its moment.
        let written = self.desk.transact_once(now, Rc::new(effect)).await;
        if won.get() && written.is_ok() {
            return Ok(Some(lease));
        }
        if written.is_ok() {
            self.delete_lease_keys(&lease).await;
        }
        written.map(|_| None)
    }

    /// The outer option: whether the key was won; the inner: its number, if keys are needed.
    async fn take_lease_key(
        &self,
        task: &str,
        now: f64,
        until: f64,
    ) -> Result<Option<Option<u32>>, StoreError> {
        for number in 0..MAX_TAKE_OVERS {
            let content = json!({"run_id": self.run.run_id, "until": until});
            let name = guards::lease(task, number);
            match self.create_guard(&name, &content).await? {
                Guard::NotNeeded => return Ok(Some(None)),
                Guard::Created => return Ok(Some(Some(number))),
                Guard::Exists(held) if is_held(&held, now) => return Ok(None),
                Guard::Exists(_) => {}
            }
        }
        self.warn(
            task,
            "every run that tried to finish it died; look at the logs of earlier runs",
        );
        Ok(None)
    }

    /// Gives a lease back. The record forgets it at the end of the poll, unless a key is left: then a
    /// later poll finds it by the record.
    pub(super) async fn release_lease(&self, lease: &Lease) {
        self.delete_lease_keys(lease).await;
        let (task, owner) = (lease.task.clone(), self.run.run_id.clone());
        let (is_clean, until) = (lease.is_clean.get(), lease.until);
        self.desk.later(Rc::new(move |document: &mut Document| {
            let Some(mut record) = document.record(&task) else {
                return;
            };
            let is_ours = record
                .text(Field::LeaseOwner)
                .is_none_or(|named| named == owner);
            if is_ours && is_clean {
                record.unset(Field::LeaseOwner).unset(Field::LeaseUntil);
            } else if is_ours {
                record
                    .set(Field::LeaseOwner, owner.as_str())
                    .set(Field::LeaseUntil, until);
            }
            document.put_record(&task, record);
        }));
    }

    /// Lowest first: so whoever asks meanwhile wins the lowest key and is seen by all that follow.
    /// What cannot be deleted keeps those above it, so that none is out of sight.
    async fn delete_lease_keys(&self, lease: &Lease) {
        let Some(highest) = lease.number else { return };
        for number in 0..=highest {
            if !self
                .delete_key(lease, &guards::lease(&lease.task, number))
                .await
            {
                return;
            }
        }
    }

    async fn delete_key(&self, lease: &Lease, name: &str) -> bool {
        let is_gone = self.delete_guard(name).await;
        if !is_gone {
            lease.is_clean.set(false);
        }
        is_gone
    }

    /// Deletes the claim key of a task that has ended or whose claim is dropped; tells whether it is
    /// gone.
    pub(super) async fn delete_claim_key(&self, lease: &Lease, record: &Record) -> bool {
        if lease.number.is_none() {
            return true;
        }
        let attempt = record.count(Field::Attempt).unwrap_or(0);
        self.delete_key(lease, &guards::claim(&lease.task, attempt))
            .await
    }
}

/// Whether a lease's key still is somebody's.
fn is_held(held: &Value, now: f64) -> bool {
    let until = held.get("until").and_then(Value::as_f64).unwrap_or(0.0);
    until > now && until < now + 2.0 * LEASE_SECONDS
}

fn without_lease(mut record: Record) -> Record {
    record.unset(Field::LeaseOwner).unset(Field::LeaseUntil);
    record
}
