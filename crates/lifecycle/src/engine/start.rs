//! Starting new work: select, confirm, claim, prepare, start, acknowledge, record.

use super::claim::is_workspace;
use super::desk::Room;
use super::{Claim, Engine, World};
use crate::decide::Stopped;
use crate::document::{Document, Field, Retry, Status};
use crate::error::TargetError;
use crate::policy::{Discovery, Policy, Prepared, SetupError, Trigger};
use crate::ports::{
    AgentError, Agents, Clock, Observation, StartConversation, StoreError, Workspaces,
};
use crate::report::{SkipReason, StartedTask};
use std::rc::Rc;

/// Seconds that a start should have left at least.
const START_SECONDS: f64 = 20.0;
/// The first attempt that failed is repeated at the next poll; after that the wait doubles.
const FIRST_WAIT_SECONDS: f64 = 300.0;
/// And never gets longer than this.
const LONGEST_WAIT_SECONDS: f64 = 6.0 * 3600.0;

/// Remembers that setting a task up failed, and when to try again.
pub(super) fn remember_failure(
    document: &mut Document,
    task: &str,
    attempts: u64,
    error: &str,
    now: f64,
) {
    let doublings = u32::try_from(attempts.saturating_sub(2))
        .unwrap_or(u32::MAX)
        .min(16);
    let wait = if attempts <= 1 {
        0.0
    } else {
        (FIRST_WAIT_SECONDS * f64::from(1u32 << doublings)).min(LONGEST_WAIT_SECONDS)
    };
    let retry = Retry {
        attempts,
        next_try: now + wait,
        last_error: error.to_owned(),
    };
    document.put_retry(task, &retry);
}

impl<X: World, P: Policy> Engine<'_, X, P> {
    /// Starts what may be started, oldest trigger first; returns the tasks that run now.
    pub(super) async fn start_all(
        &self,
        discovery: Discovery<P::Payload>,
    ) -> Result<Vec<String>, TargetError> {
        let mut mine = Vec::new();
        for mut trigger in discovery.triggers {
            if let Some((reason, detail)) = self.obstacle(&trigger) {
                self.skip(&trigger.item, reason, detail);
                continue;
            }
            if self.start(&mut trigger).await? {
                mine.push(trigger.task);
            }
        }
        Ok(mine)
    }

    pub(super) fn skip(&self, item: &str, reason: SkipReason, detail: String) {
        self.report.borrow_mut().skip(item, reason, detail);
    }

    /// What stands against starting a trigger now, without asking anybody.
    pub(super) fn obstacle(&self, trigger: &Trigger<P::Payload>) -> Option<(SkipReason, String)> {
        let run = self.run;
        let retry = self.desk.current().retry(&trigger.task);
        if let Some(retry) = retry.filter(|retry| retry.next_try > self.now()) {
            return Some((SkipReason::BackingOff, retry.in_words()));
        }
        if run.agents_full.get() {
            return Some((SkipReason::AgentServerFull, String::new()));
        }
        if run.max_new > 0 && run.started.get() >= run.max_new {
            return Some((
                SkipReason::CapReached,
                format!("max_new_per_run is {}", run.max_new),
            ));
        }
        if run.max_active > 0 && run.active.get() >= run.max_active {
            return Some((
                SkipReason::MaxActive,
                format!("max_active is {}", run.max_active),
            ));
        }
        if self.world.clock().time_left() < START_SECONDS {
            return Some((SkipReason::OutOfTime, String::new()));
        }
        None
    }

    /// Starts one trigger; true when its conversation exists.
    async fn start(&self, trigger: &mut Trigger<P::Payload>) -> Result<bool, TargetError> {
        let document = self.desk.current();
        if let Err(error) = self.policy.confirm(self.world, trigger, &document).await {
            self.set_up_failed(trigger, error);
            return Ok(false);
        }
        let parts: Vec<&str> = trigger.workspace.iter().map(String::as_str).collect();
        let mut dir = self.world.workspaces().path_of(&parts);
        let mut workspace = trigger.workspace.clone();
        if is_workspace(&document, &trigger.task, &dir) {
            // An earlier task on the same commit still has its workspace there.
            if let Some(last) = workspace.last_mut() {
                *last = format!("{last}-{}", trigger.order.1);
            }
            let parts: Vec<&str> = workspace.iter().map(String::as_str).collect();
            dir = self.world.workspaces().path_of(&parts);
        }
        trigger.workspace = workspace;
        let claim = match self.claim(trigger, &dir).await? {
            Ok(claim) => claim,
            Err(reason) => {
                self.skip(&trigger.item, reason, String::new());
                return Ok(false);
            }
        };
        self.run.started.set(self.run.started.get() + 1);
        let started = self.set_up(&claim, trigger).await?;
        if started {
            self.run.active.set(self.run.active.get() + 1);
        } else {
            self.run
                .started
                .set(self.run.started.get().saturating_sub(1));
        }
        Ok(started)
    }

    fn set_up_failed(&self, trigger: &Trigger<P::Payload>, error: SetupError) {
        match error {
            SetupError::Skip(reason, detail) => self.skip(&trigger.item, reason, detail),
            SetupError::Failed(error) => {
                self.warn(&trigger.item, &format!("not started: {error}"));
                self.skip(&trigger.item, SkipReason::SetupFailed, error);
            }
        }
    }

    async fn set_up(
        &self,
        claim: &Claim,
        trigger: &Trigger<P::Payload>,
    ) -> Result<bool, TargetError> {
        let document = self.desk.current();
        let prepared = match self
            .policy
            .prepare(self.world, claim, trigger, &document)
            .await
        {
            Ok(prepared) => prepared,
            Err(error) => {
                let failure = match &error {
                    SetupError::Skip(..) => None,
                    SetupError::Failed(error) => Some(error.as_str()),
                };
                self.undo(claim, failure).await?;
                self.set_up_failed(trigger, error);
                return Ok(false);
            }
        };
        if !prepared.note.is_empty() {
            self.note(&trigger.task, &prepared.note);
        }
        if !prepared.fields.is_empty()
            && self.record_prepared(claim, &prepared).await? == Room::None
        {
            self.undo(claim, None).await?;
            self.skip(&trigger.item, SkipReason::NoRoom, String::new());
            return Ok(false);
        }
        let Some(conversation_id) = self.start_conversation(claim, trigger, &prepared).await?
        else {
            return Ok(false);
        };
        let mut record = claim.record().clone();
        record
            .set_status(Status::Active)
            .set(Field::ConversationId, conversation_id.as_str())
            .set(Field::LastActivity, self.now())
            .unset(Field::LeaseOwner)
            .unset(Field::LeaseUntil);
        for (field, value) in prepared.fields {
            record.set(field, value);
        }
        if let Err(error) = self
            .policy
            .acknowledge(self.world, claim.task(), &record)
            .await
        {
            self.warn(
                &trigger.item,
                &format!("the start could not be acknowledged: {error}"),
            );
        }
        let task = claim.task().to_owned();
        let effect = move |document: &mut Document| {
            let present = document.record(&task).map(|record| record.status());
            if matches!(present, None | Some(Status::Starting)) {
                document.put_record(&task, record.clone());
                document.remove_retry(&task);
            }
        };
        self.desk.apply(self.now(), Rc::new(effect)).await?;
        self.note(
            &trigger.task,
            &format!("started as conversation {conversation_id}"),
        );
        self.report.borrow_mut().started.push(StartedTask {
            task: claim.task().to_owned(),
            conversation_id,
        });
        Ok(true)
    }

    /// What finishing will need is written before the conversation exists: should this run die,
    /// whoever adopts the conversation finds it in the record.
    async fn record_prepared(
        &self,
        claim: &Claim,
        prepared: &Prepared,
    ) -> Result<Room, StoreError> {
        let (task, fields) = (claim.task().to_owned(), prepared.fields.clone());
        let claimed = claim.record().clone();
        let effect = move |document: &mut Document| {
            let mut record = document.record(&task).unwrap_or_else(|| claimed.clone());
            // A claim of another run on the same task, after this one was dropped, is not ours.
            let is_ours = record.text(Field::LeaseOwner) == claimed.text(Field::LeaseOwner);
            if is_ours && record.status() == Status::Starting {
                for (field, value) in &fields {
                    record.set(*field, value.clone());
                }
                document.put_record(&task, record);
            }
        };
        self.desk.apply(self.now(), Rc::new(effect)).await
    }

    async fn start_conversation(
        &self,
        claim: &Claim,
        trigger: &Trigger<P::Payload>,
        prepared: &Prepared,
    ) -> Result<Option<String>, TargetError> {
        let request = StartConversation {
            conversation_id: claim.conversation_id().to_owned(),
            working_dir: claim
                .record()
                .workspace_dir()
                .unwrap_or_default()
                .to_owned(),
            prompt: prepared.prompt.clone(),
        };
        let error = match self.world.agents().start(&request).await {
            Ok(started) => return Ok(Some(started.conversation_id)),
            Err(error) => error,
        };
        match error {
            AgentError::Full(_) => {
                self.run.agents_full.set(true);
                self.undo(claim, None).await?;
                self.skip(
                    &trigger.item,
                    SkipReason::AgentServerFull,
                    error.to_string(),
                );
            }
            AgentError::Unauthorized(_) | AgentError::Refused(_) => {
                let text = error.to_string();
                self.undo(claim, Some(&text)).await?;
                self.set_up_failed(trigger, SetupError::Failed(text));
            }
            // It may exist. If it can be seen, all is well; if not, the claim stays until it is
            // certain: a request may still be under way.
            AgentError::Unavailable(_) => {
                if let Observation::Seen(_) = self.look_again(claim.conversation_id()).await {
                    return Ok(Some(claim.conversation_id().to_owned()));
                }
                let text = format!("{error}; the claim is kept until the server can say");
                self.warn(&trigger.item, &text);
                self.skip(&trigger.item, SkipReason::SetupFailed, text);
            }
        }
        Ok(None)
    }

    /// Takes back a start whose conversation was refused or never asked for.
    async fn undo(&self, claim: &Claim, failure: Option<&str>) -> Result<(), StoreError> {
        let dir = claim.record().workspace_dir().unwrap_or_default();
        let stopped = Stopped::never_started(claim);
        if let Err(error) = self.world.workspaces().remove(dir, &stopped).await {
            // The claim keeps the directory in mind; the next poll tries again.
            self.warn(
                claim.task(),
                &format!("its workspace could not be removed: {error}"),
            );
            return Ok(());
        }
        self.drop_claim(claim, failure).await
    }
}
