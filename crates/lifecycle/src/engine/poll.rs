//! One poll of one target, from loading the document to the report.

use super::{Engine, World};
use crate::decide::{Step, Waiting, age, decide};
use crate::document::{Document, Record};
use crate::error::TargetError;
use crate::policy::{Discovery, Policy};
use crate::ports::{Agents, Journal, Observation, Store};
use crate::report::TargetReport;
use futures_util::future;
use std::rc::Rc;

/// A record with one look at its conversation.
pub(super) struct Watched {
    pub(super) task: String,
    pub(super) record: Record,
    pub(super) seen: Observation,
    /// When it was looked at, seconds since the epoch: what was seen says nothing of later.
    pub(super) at: f64,
}

impl<X: World, P: Policy> Engine<'_, X, P> {
    pub(super) async fn poll(self) -> TargetReport {
        if let Err(error) = self.steps().await {
            self.fail(&error);
        }
        let document = self.desk.current();
        let mut report = self.report.into_inner();
        report.in_flight = document
            .records()
            .filter(|(_, record)| record.status().is_live())
            .count();
        report
    }

    fn fail(&self, error: &TargetError) {
        let text = error.to_string();
        if error.is_limited() {
            self.warn("", &format!("{text}; the next poll goes on"));
            return;
        }
        self.world.journal().warn(self.policy.target(), "", &text);
        let mut report = self.report.borrow_mut();
        report.status = "failed";
        report.error = Some(text);
    }

    async fn steps(&self) -> Result<(), TargetError> {
        let (document, survey) = future::join(self.desk.load(), self.policy.survey()).await;
        let document = document?;
        let live = document
            .records()
            .filter(|(_, record)| record.status().is_live())
            .count();
        self.run.active.set(self.run.active.get() + live);
        let watched = self.watch(&document).await;
        if self.run.dry_run {
            return self.plan(&document, &watched, survey?).await;
        }
        let result = self.work(&watched, survey).await;
        // Whatever happened, what this poll has learned is made to stand.
        let policy = &self.policy;
        let mut document = self.desk.current();
        let before = document.clone();
        policy.tidy(&mut document);
        let flushed = if document == before && self.desk.is_settled() {
            Ok(())
        } else {
            self.flush().await
        };
        result.and(flushed)
    }

    async fn work(
        &self,
        watched: &[Watched],
        survey: Result<P::Survey, TargetError>,
    ) -> Result<(), TargetError> {
        for one in watched {
            self.settle(one, survey.as_ref().ok()).await?;
        }
        let survey = survey?;
        let discovery = self.discover(&survey).await?;
        let mine = self.start_all(discovery).await?;
        self.wait_for(mine, &survey).await?;
        Ok(())
    }

    /// Writes what is still to be written: effects that were overtaken, lists within their caps.
    async fn flush(&self) -> Result<(), TargetError> {
        let schema = self.policy.schema();
        let target = self.policy.target().to_owned();
        self.desk.later(Rc::new(move |document: &mut Document| {
            // A document that an older program began may lack its own name.
            if let Some(owner) = schema.owner
                && document.owner().is_none()
            {
                document.set(owner, target.as_str());
            }
        }));
        self.desk
            .flush_with(self.now(), &|document| self.policy.tidy(document))
            .await?;
        Ok(())
    }

    /// Looks at all conversations that matter, in one go.
    pub(super) async fn watch(&self, document: &Document) -> Vec<Watched> {
        let now = self.now();
        let mut watched: Vec<Watched> = Vec::new();
        let mut asked: Vec<(usize, String)> = Vec::new();
        for (task, record) in document.records() {
            let step = decide(&record, &Observation::Unknown, false, &self.run.run_id, now);
            if matches!(step, Step::Rest) {
                continue;
            }
            let seen = Observation::Unavailable("not asked".into());
            // Those that are left alone whatever the server says need no look.
            let is_decided = matches!(
                step,
                Step::Leave(Waiting::Claiming | Waiting::Settling | Waiting::Leased) | Step::Tidy
            );
            if !is_decided {
                let id = self.conversation_of(task, &record);
                asked.push((watched.len(), id));
            }
            watched.push(Watched {
                task: task.to_owned(),
                record,
                seen,
                at: now,
            });
        }
        let ids: Vec<String> = asked.iter().map(|(_, id)| id.clone()).collect();
        if !ids.is_empty() {
            let seen = self.world.agents().observe(&ids).await;
            for ((index, _), seen) in asked.into_iter().zip(seen) {
                watched[index].seen = seen;
            }
        }
        // Oldest first, so that a run that is cut short has done what waited longest.
        watched.sort_by(|a, b| age(&b.record, now).total_cmp(&age(&a.record, now)));
        watched
    }

    /// The conversation of a record. Claims of older programs do not name it yet; then only ours
    /// can exist.
    pub(super) fn conversation_of(&self, task: &str, record: &Record) -> String {
        record.conversation_id().map_or_else(
            || {
                crate::identity::conversation_id(
                    &self.run.automation_id,
                    self.policy.target(),
                    task,
                )
            },
            str::to_owned,
        )
    }

    pub(super) async fn discover(
        &self,
        survey: &P::Survey,
    ) -> Result<Discovery<P::Payload>, TargetError> {
        let document = self.desk.current();
        let mut discovery = self.policy.discover(self.world, survey, &document).await?;
        self.desk.know_in_force(discovery.in_force.take());
        for effect in discovery.effects.drain(..) {
            self.desk.later(effect);
        }
        if let Some(cache) = discovery.cache.take().filter(|_| !self.run.dry_run) {
            self.world.store().save_cache(&cache).await;
        }
        for warning in std::mem::take(&mut discovery.warnings) {
            self.warn("", &warning);
        }
        let mut report = self.report.borrow_mut();
        report.discovered = discovery.discovered;
        report.funnel = discovery.funnel;
        report.feed_errors = discovery.feed_errors.take();
        for (item, reason, detail) in std::mem::take(&mut discovery.skipped) {
            report.skip(&item, reason, detail);
        }
        drop(report);
        discovery.triggers.sort_by(|a, b| {
            a.order
                .0
                .total_cmp(&b.order.0)
                .then(a.order.1.cmp(&b.order.1))
        });
        Ok(discovery)
    }
}

#[cfg(test)]
mod tests;
