//! Looking after the tasks that are tracked: adopt, drop, collect, expire, release.

use super::desk::Room;
use super::poll::Watched;
use super::{Engine, Lease, World};
use crate::decide::{Ending, Step, Stopped, Waiting, decide, stopped_by_interrupt};
use crate::document::{Document, Field, Record, Retry, Status};
use crate::error::TargetError;
use crate::policy::{Finish, Finishing, Policy};
use crate::ports::{Agents, Journal, Observation, StoreError, WorkspaceError, Workspaces};
use crate::report::FinishedTask;
use std::rc::Rc;

/// Finishing a task is tried this often.
pub(super) const MAX_FINISH_ATTEMPTS: u64 = 3;

impl<X: World, P: Policy> Engine<'_, X, P> {
    /// Decides on one record and does it.
    pub(super) async fn settle(
        &self,
        one: &Watched,
        survey: Option<&P::Survey>,
    ) -> Result<(), TargetError> {
        let sandbox = self.world.agents().is_sandbox();
        let mut step = decide(&one.record, &one.seen, sandbox, &self.run.run_id, one.at);
        // What has expired ends now, whatever is suspected: a suspicion may turn out wrong.
        if one.record.status() == Status::Active
            && !matches!(
                step,
                Step::Leave(Waiting::Leased) | Step::Collect(_) | Step::Expire { .. }
            )
            && let Some(survey) = survey
            && self.policy.suspect(survey, &one.record).await
        {
            step = Step::Collect(Ending::Overtaken);
        }
        match &step {
            Step::Rest => return Ok(()),
            Step::Leave(waiting) => {
                self.explain(one, *waiting);
                return Ok(());
            }
            // Without the forge nothing can be said of results.
            Step::Collect(_) | Step::Expire { .. } | Step::Adopt if survey.is_none() => {
                return Ok(());
            }
            _ => {}
        }
        let Some(lease) = self.lease(&one.task, &one.record).await? else {
            return Ok(());
        };
        let done = self.perform(one, step, &lease).await;
        self.release_lease(&lease).await;
        done
    }

    fn explain(&self, one: &Watched, waiting: Waiting) {
        if let (Waiting::ServerSilent, Observation::Unavailable(why)) = (waiting, &one.seen) {
            self.warn(
                &one.task,
                &format!("the agent server could not say how it is: {why}"),
            );
        }
    }

    async fn perform(&self, one: &Watched, step: Step, lease: &Lease) -> Result<(), TargetError> {
        match step {
            Step::Leave(_) | Step::Rest => Ok(()),
            Step::Adopt => self.adopt(one).await,
            Step::DropClaim(stopped) => self.drop_stalled(one, lease, &stopped).await,
            Step::Collect(ending) => self.finish(one, lease, ending).await,
            Step::Expire { after, interrupt } => self.expire(one, lease, after, interrupt).await,
            Step::Release(stopped) => {
                self.release(&one.task, &one.record, lease, &stopped).await;
                Ok(())
            }
            Step::Interrupt => self.interrupt_and_release(one, lease).await,
            Step::ForgetIfAbsent => {
                let dir = one.record.workspace_dir().unwrap_or_default();
                if !self.world.workspaces().exists(dir).await {
                    self.forget_workspace(&one.task, dir);
                    self.delete_claim_key(lease, &one.record).await;
                }
                Ok(())
            }
            Step::Tidy => {
                self.delete_claim_key(lease, &one.record).await;
                Ok(())
            }
        }
    }

    async fn adopt(&self, one: &Watched) -> Result<(), TargetError> {
        let id = self.conversation_of(&one.task, &one.record);
        let mut record = one.record.clone();
        record.set(Field::ConversationId, id.as_str());
        if let Err(error) = self
            .policy
            .acknowledge(self.world, &one.task, &record)
            .await
        {
            self.warn(
                &one.task,
                &format!("the start could not be acknowledged: {error}"),
            );
        }
        let task = one.task.clone();
        let effect = move |document: &mut Document| {
            let Some(mut record) = document.record(&task) else {
                return;
            };
            if record.status() == Status::Starting {
                record
                    .set_status(Status::Active)
                    .set(Field::ConversationId, id.as_str());
                document.put_record(&task, record);
                // Setting it up has succeeded after all; attempts at finishing count anew.
                document.remove_retry(&task);
            }
        };
        self.desk.apply(self.now(), Rc::new(effect)).await?;
        self.note(
            &one.task,
            "the run that started it died, but its conversation exists: adopted",
        );
        Ok(())
    }

    async fn drop_stalled(
        &self,
        one: &Watched,
        lease: &Lease,
        stopped: &Stopped,
    ) -> Result<(), TargetError> {
        if let Some(dir) = one.record.workspace_dir()
            && let Err(error) = self.world.workspaces().remove(dir, stopped).await
        {
            self.warn(
                &one.task,
                &format!("its workspace could not be removed: {error}"),
            );
            return Ok(());
        }
        // The key goes first: without its record nobody would ever look for it.
        if !self.delete_claim_key(lease, &one.record).await {
            return Ok(());
        }
        let now = self.now();
        let task = one.task.clone();
        let owner = self.run.run_id.clone();
        let attempts = one.record.count(Field::Attempt).unwrap_or(0) + 1;
        let effect = move |document: &mut Document| {
            let ours = document.record(&task).is_some_and(|record| {
                record.status() == Status::Starting
                    && record.text(Field::LeaseOwner) == Some(owner.as_str())
            });
            if ours {
                document.remove_record(&task);
                let error = "a run died while it set this up";
                super::start::remember_failure(document, &task, attempts, error, now);
            }
        };
        self.desk.apply(now, Rc::new(effect)).await?;
        self.note(
            &one.task,
            "the run that claimed it died before its conversation: released",
        );
        Ok(())
    }

    async fn expire(
        &self,
        one: &Watched,
        lease: &Lease,
        after: f64,
        interrupt: bool,
    ) -> Result<(), TargetError> {
        let mut seen = one.seen.clone();
        if interrupt {
            let id = self.conversation_of(&one.task, &one.record);
            if let Err(error) = self.world.agents().interrupt(&id).await {
                self.warn(
                    &one.task,
                    &format!("expired, but it could not be stopped: {error}"),
                );
                return Ok(());
            }
            seen = self.look_again(&id).await;
        }
        let again = Watched {
            task: one.task.clone(),
            record: one.record.clone(),
            seen,
            at: self.now(),
        };
        self.finish(&again, lease, Ending::Expired { after }).await
    }

    async fn interrupt_and_release(&self, one: &Watched, lease: &Lease) -> Result<(), TargetError> {
        let id = self.conversation_of(&one.task, &one.record);
        if let Err(error) = self.world.agents().interrupt(&id).await {
            self.warn(&one.task, &format!("it could not be stopped: {error}"));
            return Ok(());
        }
        let seen = self.look_again(&id).await;
        let sandbox = self.world.agents().is_sandbox();
        let run_id = self.run.run_id.as_str();
        if let Some(stopped) = stopped_by_interrupt(&one.record, &seen, sandbox, run_id, self.now())
        {
            self.release(&one.task, &one.record, lease, &stopped).await;
        }
        Ok(())
    }

    pub(super) async fn look_again(&self, id: &str) -> Observation {
        let mut seen = self.world.agents().observe(&[id.to_owned()]).await;
        seen.pop()
            .unwrap_or_else(|| Observation::Unavailable("no answer".into()))
    }

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
            Finish::NotYet(why) => {
                if !why.is_empty() {
                    self.note(&one.task, &why);
                }
                Ok(())
            }
            Finish::Failed(error) => {
                self.count_attempt(&one.task, attempts + 1, &error).await?;
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
        extra: Option<super::Effect>,
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

    async fn release_if_stopped(&self, one: &Watched, ended: &Record, lease: &Lease) {
        let sandbox = self.world.agents().is_sandbox();
        match decide(ended, &one.seen, sandbox, &self.run.run_id, one.at) {
            Step::Release(stopped) => self.release(&one.task, ended, lease, &stopped).await,
            Step::Tidy | Step::Rest => {
                self.delete_claim_key(lease, ended).await;
            }
            _ => {}
        }
    }

    /// Removes the workspace of an ended task and forgets it.
    async fn release(&self, task: &str, record: &Record, lease: &Lease, stopped: &Stopped) {
        let Some(dir) = record.workspace_dir() else {
            return;
        };
        match self.world.workspaces().remove(dir, stopped).await {
            Ok(()) => {
                self.forget_workspace(task, dir);
                self.delete_claim_key(lease, record).await;
                self.report.borrow_mut().released += 1;
                self.note(task, "workspace removed");
            }
            Err(error @ WorkspaceError::OutsideRoots { .. }) => {
                self.warn(task, &error.to_string());
            }
            Err(error) => {
                self.warn(
                    task,
                    &format!("its workspace could not be removed: {error}"),
                );
            }
        }
    }

    fn forget_workspace(&self, task: &str, dir: &str) {
        let (task, dir) = (task.to_owned(), dir.to_owned());
        self.desk.later(Rc::new(move |document: &mut Document| {
            let Some(mut record) = document.record(&task) else {
                return;
            };
            if record.workspace_dir() == Some(dir.as_str()) && !record.status().is_live() {
                record.unset(Field::WorkspaceDir);
                document.put_record(&task, record);
            }
        }));
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
                next_try: 0.0,
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
