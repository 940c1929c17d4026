//! Looking after the tasks that are tracked: decide, then adopt, drop, expire, or hand on to
//! finishing ([`super::finish`]) and releasing ([`super::release`]).

use super::poll::Watched;
use super::{Engine, Lease, World};
use crate::decide::{Ending, Step, Stopped, Waiting, decide, stopped_by_interrupt};
use crate::document::{Document, Field, Status};
use crate::error::TargetError;
use crate::policy::Policy;
use crate::ports::{Agents, Observation, Workspaces};
use std::rc::Rc;

impl<X: World, P: Policy> Engine<'_, X, P> {
    /// What to do with a record after one look at its conversation and its item.
    pub(super) async fn step(&self, one: &Watched, survey: Option<&P::Survey>) -> Step {
        let sandbox = self.world.agents().is_sandbox();
        let step = decide(&one.record, &one.seen, sandbox, &self.run.run_id, one.at);
        // What has expired ends now, whatever is suspected: a suspicion may turn out wrong.
        if one.record.status() == Status::Active
            && !matches!(
                step,
                Step::Leave(Waiting::Leased) | Step::Collect(_) | Step::Expire { .. }
            )
            && let Some(survey) = survey
            && self.policy.suspect(survey, &one.record).await
        {
            return Step::Collect(Ending::Overtaken);
        }
        step
    }

    /// Decides on one record and does it.
    pub(super) async fn settle(
        &self,
        one: &Watched,
        survey: Option<&P::Survey>,
    ) -> Result<(), TargetError> {
        let step = self.step(one, survey).await;
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
                match self.world.workspaces().exists(dir).await {
                    Ok(true) => {}
                    Ok(false) => {
                        self.forget_workspace(&one.task, dir);
                        self.delete_claim_key(lease, &one.record).await;
                    }
                    Err(error) => self.warn(&one.task, &error.to_string()),
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
        let attempts = one.record.count(Field::Attempt).unwrap_or(0) + 1;
        let failure = Some("a run died while it set this up");
        self.forget_claim(&one.task, attempts, failure).await?;
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
}
