//! Dry runs: the same looks and decisions, nothing written, claimed or posted.

use super::poll::Watched;
use super::{Engine, World};
use crate::decide::{Ending, Step};
use crate::document::Document;
use crate::error::TargetError;
use crate::identity;
use crate::policy::{Policy, SetupError};
use crate::report::{PlannedStep, SkipReason, StartedTask};

impl<X: World, P: Policy> Engine<'_, X, P> {
    pub(super) async fn plan(
        &self,
        document: &Document,
        watched: &[Watched],
        survey: P::Survey,
    ) -> Result<(), TargetError> {
        for one in watched {
            let step = self.step(one, Some(&survey)).await;
            let step = in_words(&step);
            self.note(&one.task, &format!("would {step}"));
            let planned = PlannedStep {
                task: one.task.clone(),
                step: step.to_owned(),
            };
            self.report.borrow_mut().planned.push(planned);
        }
        let mut discovery = self.discover(&survey).await?;
        if let Some(stories) = discovery.shortlist.take() {
            let list = stories.iter().map(Into::into).collect();
            self.report.borrow_mut().shortlist = Some(list);
        }
        for mut trigger in discovery.triggers {
            if let Some((reason, detail)) = self.obstacle(&trigger) {
                self.skip(&trigger.item, reason, detail);
                continue;
            }
            match self
                .policy
                .confirm(self.world, &mut trigger, document)
                .await
            {
                Ok(()) => {}
                Err(SetupError::Skip(reason, detail)) => {
                    self.skip(&trigger.item, reason, detail);
                    continue;
                }
                Err(SetupError::Failed(error)) => {
                    self.skip(&trigger.item, SkipReason::SetupFailed, error);
                    continue;
                }
            }
            let conversation_id = identity::conversation_id(
                &self.run.automation_id,
                self.policy.target(),
                &trigger.task,
            );
            self.note(
                &trigger.task,
                &format!("would start conversation {conversation_id}"),
            );
            self.run.started.set(self.run.started.get() + 1);
            self.run.active.set(self.run.active.get() + 1);
            let started = StartedTask {
                task: trigger.task,
                conversation_id,
            };
            self.report.borrow_mut().started.push(started);
        }
        Ok(())
    }
}

fn in_words(step: &Step) -> &'static str {
    match step {
        Step::Leave(_) | Step::Rest => "leave it alone for now",
        Step::Adopt => "adopt its conversation",
        Step::DropClaim(_) => "release the stalled claim",
        Step::Collect(Ending::Elsewhere) => "ask the forge for a result",
        Step::Collect(Ending::Overtaken) => "end it if its item is closed or changed",
        Step::Collect(_) => "collect its result",
        Step::Expire { .. } => "give it up after two hours",
        Step::Release(_) | Step::ForgetIfAbsent => "remove its workspace",
        Step::Interrupt => "stop its conversation and remove its workspace",
        Step::Tidy => "delete its keys",
    }
}
