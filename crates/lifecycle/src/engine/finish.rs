//! Finishing a task: the policy collects and tells, the end is recorded, and what failed is counted.

use super::desk::Room;
use super::poll::Watched;
use super::{Effect, Engine, Lease, World};
use crate::decide::Ending;
use crate::document::{Document, Field, Record, Retry};
use crate::error::TargetError;
use crate::policy::{Finish, Finishing, Policy};
use crate::ports::{Journal, StoreError};
use crate::report::FinishedTask;
use std::rc::Rc;

/// Finishing a task is tried this often.
const MAX_FINISH_ATTEMPTS: u64 = 3;

/// Seconds until a run that waits tries again: what refused for a moment must not use up all attempts.
const PAUSE_SECONDS: f64 = 30.0;

/// What lies between a failed attempt and the next one of the same run.
fn next_pause(attempts: u64) -> f64 {
    PAUSE_SECONDS * f64::from(u32::try_from(attempts).unwrap_or(u32::MAX))
}

impl<X: World, P: Policy> Engine<'_, X, P> {
    /// Lets the policy finish a task, records what came of it, and removes the workspace if the
    /// conversation has stopped.
    pub(super) async fn finish(
        &self,
        one: &Watched,
        lease: &Lease,
        ending: Ending,
    ) -> Result<(), TargetError> {
        let attempts = self.finish_attempts(&one.task, &one.record);
        let finishing = Finishing {
            task: &one.task,
            record: &one.record,
            ending,
            lease,
            attempts,
        };
        if !lease.holds(self.now()) {
            return Ok(());
        }
        let mut outcome = self.policy.finish(self.world, &finishing).await;
        if let Finish::Failed(error) = &outcome {
            self.warn(&one.task, &format!("finishing failed: {error}"));
            if attempts + 1 < MAX_FINISH_ATTEMPTS {
                self.count_attempt(&one.task, attempts + 1, error).await?;
                return Ok(());
            }
            let error = error.clone();
            outcome = self.policy.give_up(self.world, &finishing, &error).await;
        }
        match outcome {
            // What cannot even be given up is given up by a later poll.
            Finish::NotYet(why) | Finish::Failed(why) => {
                if !why.is_empty() {
                    self.note(&one.task, &why);
                }
                Ok(())
            }
            Finish::Ended {
                status,
                fields,
                drop,
                effect,
                note,
                digest,
            } => {
                let mut record = one.record.clone();
                record.set_status(status);
                for (field, value) in fields {
                    record.set(field, value);
                }
                for field in drop {
                    record.unset(field);
                }
                self.record_end(&one.task, record.clone(), effect).await?;
                self.note(&one.task, &note);
                if let Some((period, text)) = digest {
                    self.world.journal().digest(&period, &text);
                }
                self.report.borrow_mut().finished.push(FinishedTask {
                    task: one.task.clone(),
                    status: status.name(),
                });
                self.run.active.set(self.run.active.get().saturating_sub(1));
                self.release_if_stopped(one, &record, lease).await;
                Ok(())
            }
        }
    }

    async fn record_end(
        &self,
        task: &str,
        ended: Record,
        extra: Option<Effect>,
    ) -> Result<(), StoreError> {
        let (task, owner) = (task.to_owned(), self.run.run_id.clone());
        let until = self.now() + crate::decide::LEASE_SECONDS;
        let effect = move |document: &mut Document| {
            let present = document.record(&task);
            if present
                .as_ref()
                .is_none_or(|record| record.status().is_live())
            {
                let mut ended = ended.clone();
                // The lease stays named until the workspace and the keys are gone as well.
                ended
                    .set(Field::LeaseOwner, owner.as_str())
                    .set(Field::LeaseUntil, until);
                document.put_record(&task, ended);
                document.remove_retry(&task);
            }
            if let Some(extra) = &extra {
                extra(document);
            }
        };
        match self.desk.apply(self.now(), Rc::new(effect)).await? {
            Room::Found => Ok(()),
            Room::None => Err(StoreError::TooLarge {
                place: self.policy.target().to_owned(),
                size: self.desk.store_budget(),
            }),
        }
    }

    fn finish_attempts(&self, task: &str, record: &Record) -> u64 {
        if self.counts_on_record() {
            record.count(Field::FinalizeAttempts).unwrap_or(0)
        } else {
            self.desk
                .current()
                .retry(task)
                .map_or(0, |retry| retry.attempts)
        }
    }

    fn counts_on_record(&self) -> bool {
        self.policy
            .schema()
            .record_fields()
            .any(|(field, _)| field == Field::FinalizeAttempts)
    }

    async fn count_attempt(
        &self,
        task: &str,
        attempts: u64,
        error: &str,
    ) -> Result<(), StoreError> {
        let on_record = self.counts_on_record();
        let (task, error) = (task.to_owned(), error.to_owned());
        let next_try = self.now() + next_pause(attempts);
        let effect = move |document: &mut Document| {
            let Some(mut record) = document.record(&task) else {
                return;
            };
            if !record.status().is_live() {
                return;
            }
            if on_record {
                record.set(Field::FinalizeAttempts, attempts);
                document.put_record(&task, record);
            }
            let retry = Retry {
                attempts,
                next_try,
                last_error: error.clone(),
            };
            document.put_retry(&task, &retry);
        };
        self.desk
            .apply(self.now(), Rc::new(effect))
            .await
            .map(|_| ())
    }
}
