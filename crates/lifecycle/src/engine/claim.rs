//! Claims: the exclusive right to start a task.
//!
//! With files the transaction is exclusive; with the KV store a key created with `nx` is. The
//! record is written before anything slow happens, with all that a later poll needs to find
//! and remove what this one may leave behind: conversation id and workspace.

use super::desk::Room;
use super::{Engine, World, guards};
use crate::decide::LEASE_SECONDS;
use crate::document::{Document, Field, Record, Status};
use crate::identity;
use crate::policy::{Policy, Trigger};
use crate::ports::{Guard, Store, StoreError};
use crate::report::SkipReason;
use serde_json::{Value, json};
use std::cell::Cell;
use std::rc::Rc;

/// The right to start a task. Made only by a claim that was won; never copied.
#[derive(Debug)]
pub struct Claim {
    task: String,
    conversation_id: String,
    attempt: u64,
    record: Record,
    guarded: bool,
}

impl Claim {
    /// Task key.
    pub fn task(&self) -> &str {
        &self.task
    }

    /// The id that its conversation will have.
    pub fn conversation_id(&self) -> &str {
        &self.conversation_id
    }

    /// The record as it was claimed.
    pub fn record(&self) -> &Record {
        &self.record
    }
}

/// Whether a directory is that of another task than `task`.
pub(super) fn is_workspace(document: &Document, task: &str, dir: &str) -> bool {
    document
        .records()
        .any(|(other, record)| other != task && record.workspace_dir() == Some(dir))
}

impl<X: World, P: Policy> Engine<'_, X, P> {
    /// Claims a trigger, or says why not.
    pub(super) async fn claim(
        &self,
        trigger: &Trigger<P::Payload>,
        dir: &str,
    ) -> Result<Result<Claim, SkipReason>, StoreError> {
        let now = self.now();
        let task = trigger.task.as_str();
        let attempt = self
            .desk
            .current()
            .retry(task)
            .map_or(0, |retry| retry.attempts);
        let conversation_id =
            identity::conversation_id(&self.run.automation_id, self.policy.target(), task);
        let mut record = trigger.record.clone();
        record
            .set_status(Status::Starting)
            .set(Field::ConversationId, conversation_id.as_str())
            .set(Field::WorkspaceDir, dir)
            .set(Field::LastActivity, now)
            .set(Field::LeaseOwner, self.run.run_id.as_str())
            .set(Field::LeaseUntil, now + LEASE_SECONDS);
        if attempt > 0 {
            record.set(Field::Attempt, attempt);
        }
        let name = guards::claim(task, attempt);
        let content = json!({"run_id": self.run.run_id, "record": record.to_value()});
        let guarded = match self.create_guard(&name, &content).await {
            Ok(Guard::Created) => true,
            Ok(Guard::NotNeeded) => false,
            Ok(Guard::Exists(held)) => {
                self.restore(task, &held).await?;
                return Ok(Err(SkipReason::ClaimedElsewhere));
            }
            Err(StoreError::TooLarge { .. }) => return Ok(Err(SkipReason::NoRoom)),
            Err(error) => return Err(error),
        };
        let won = Rc::new(Cell::new(false));
        let effect = {
            let (won, task, record) = (won.clone(), task.to_owned(), record.clone());
            let dir = dir.to_owned();
            move |document: &mut Document| {
                let present = document.record(&task);
                // Two polls may have chosen one directory for two tasks on the same commit.
                let is_taken = is_workspace(document, &task, &dir);
                let wins = present.as_ref().is_none_or(|present| *present == record);
                won.set(wins && !is_taken);
                if present.is_none() && !is_taken {
                    document.put_record(&task, record.clone());
                }
            }
        };
        let effect = Rc::new(effect);
        // After a failed write the record may be there: then the guard has to stay with it.
        let room = self.desk.transact_new_once(now, effect.clone()).await?;
        let reason = match room {
            Room::Found if won.get() => {
                // Only what was won is made good at the end of the poll.
                self.desk.later(effect);
                return Ok(Ok(Claim {
                    task: task.to_owned(),
                    conversation_id,
                    attempt,
                    record,
                    guarded,
                }));
            }
            Room::Found => SkipReason::ClaimedElsewhere,
            Room::None => SkipReason::NoRoom,
        };
        // Not ours after all, or not recorded: without a record nobody must find the guard.
        if guarded {
            self.delete_guard(&name).await;
        }
        Ok(Err(reason))
    }

    /// A claim key without a record: its write was lost. The record is made from the key, and its
    /// fate is decided like that of any other claim. Without room for it the key has to do. Not
    /// remembered for the end of the poll: whoever holds the claim may have given it back by then.
    async fn restore(&self, task: &str, held: &Value) -> Result<(), StoreError> {
        let Some(record) = held.get("record").cloned().and_then(Record::from_value) else {
            self.warn(
                task,
                "its claim key holds no record; delete the key if no run is at work",
            );
            return Ok(());
        };
        let task = task.to_owned();
        let effect = move |document: &mut Document| {
            let dir = record.workspace_dir().unwrap_or_default();
            // Its directory is another task's by now: nothing was made in it for this claim.
            let is_taken = is_workspace(document, &task, dir);
            if !document.has_record(&task) && !is_taken {
                document.put_record(&task, record.clone());
            }
        };
        let restored = self.desk.transact_new_once(self.now(), Rc::new(effect));
        restored.await.map(|_| ())
    }

    /// Gives a claim back: the conversation was refused or never asked for.
    pub(super) async fn drop_claim(
        &self,
        claim: &Claim,
        failure: Option<&str>,
    ) -> Result<(), StoreError> {
        // The key goes before the record: should this run die in between, the record is found and
        // dropped like any stalled claim, while a key alone would be found by nobody.
        if claim.guarded
            && !self
                .delete_guard(&guards::claim(&claim.task, claim.attempt))
                .await
        {
            return Ok(());
        }
        self.forget_claim(&claim.task, claim.attempt + 1, failure)
            .await
    }

    /// Removes the record of a claim that is ours to drop, and remembers what went wrong, if
    /// anything did.
    pub(super) async fn forget_claim(
        &self,
        task: &str,
        attempts: u64,
        failure: Option<&str>,
    ) -> Result<(), StoreError> {
        let now = self.now();
        let (task, owner) = (task.to_owned(), self.run.run_id.clone());
        let failure = failure.map(str::to_owned);
        let effect = move |document: &mut Document| {
            let ours = document.record(&task).is_some_and(|record| {
                record.status() == Status::Starting
                    && record.text(Field::LeaseOwner) == Some(owner.as_str())
            });
            if ours {
                document.remove_record(&task);
                if let Some(error) = &failure {
                    super::start::remember_failure(document, &task, attempts, error, now);
                }
            }
        };
        self.desk.apply(now, Rc::new(effect)).await.map(|_| ())
    }

    /// Creates a key, if need be at the cost of what the document remembers of the past.
    pub(super) async fn create_guard(
        &self,
        name: &str,
        content: &Value,
    ) -> Result<Guard, StoreError> {
        let store = self.desk.store();
        match store.create_guard(name, content).await {
            Err(StoreError::TooLarge { .. }) if self.desk.make_room(self.now()).await? => {
                store.create_guard(name, content).await
            }
            other => other,
        }
    }

    /// Deletes a key and tells whether it is gone.
    pub(super) async fn delete_guard(&self, name: &str) -> bool {
        let deleted = self.desk.store().delete_guard(name).await;
        if let Err(error) = &deleted {
            self.warn("", &format!("the key {name} could not be deleted: {error}"));
        }
        deleted.is_ok()
    }
}
