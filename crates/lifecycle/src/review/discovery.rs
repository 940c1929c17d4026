//! Which pull requests ask for a review, with as few questions as possible.
//!
//! A pull request whose label events were looked at before needs no second look as long as the
//! listing proves that nothing about it changed since: applying a label moves `updated_at`. The
//! snapshots in the document say when that look was.

use super::snapshots::{Known, event_unless_changed};
use super::{Payload, ReviewPolicy, Survey, snapshots};
use crate::document::{Document, Field, Record};
use crate::error::TargetError;
use crate::identity;
use crate::moment;
use crate::policy::{Discovery, Trigger, forget_retries};
use crate::ports::{Checkouts, ForgeError, LabelEvent, Pull, ReviewForge};
use crate::report::SkipReason;
use futures_util::{StreamExt as _, stream};
use std::collections::{HashMap, HashSet};

/// Label events that are asked for at once.
const EVENTS_AT_ONCE: usize = 4;

impl<F: ReviewForge, C: Checkouts> ReviewPolicy<'_, F, C> {
    pub(super) async fn find_triggers(
        &self,
        now: f64,
        survey: &Survey,
        document: &Document,
    ) -> Result<Discovery<Payload>, TargetError> {
        let listing = &survey.listing;
        let label = self.settings.trigger_label.as_str();
        let tracked = events_by_number(document);
        let mut discovery = Discovery {
            warnings: listing.warnings.clone(),
            ..Discovery::default()
        };
        if let Some(name) = &listing.moved_to {
            let text = format!("the repository is called {name} now; update the configuration");
            discovery.warnings.push(text);
        }
        let labelled: Vec<&Pull> = listing
            .items
            .iter()
            .filter(|pull| self.is_labelled(pull))
            .collect();
        discovery.discovered = labelled.len();
        let mut in_force = HashSet::new();
        let mut looked_at = HashMap::new();
        let mut open_questions = Vec::new();
        for pull in labelled {
            let known = event_unless_changed(document, pull, label, now)
                .map(|event| identity::label_task(pull.number, event))
                .filter(|task| document.has_record(task));
            if let Some(task) = known {
                in_force.insert(task);
                discovery.skipped.push(already(pull.number));
                looked_at.insert(pull.number, Known::Unchanged);
            } else if pull.draft && !self.settings.review_drafts {
                let detail = "review_drafts is false".to_owned();
                discovery
                    .skipped
                    .push((pull.number.to_string(), SkipReason::Draft, detail));
                protect(&mut in_force, &tracked, pull.number);
            } else {
                open_questions.push(pull);
            }
        }
        let answers: Vec<(&Pull, Result<Option<LabelEvent>, ForgeError>)> =
            stream::iter(open_questions)
                .map(|pull| async move {
                    (
                        pull,
                        self.forge.newest_label_event(pull.number, label).await,
                    )
                })
                .buffered(EVENTS_AT_ONCE)
                .collect()
                .await;
        for (pull, answer) in answers {
            let number = pull.number.to_string();
            match answer {
                Ok(Some(event)) => {
                    let task = identity::label_task(pull.number, event.id);
                    in_force.insert(task.clone());
                    looked_at.insert(pull.number, Known::Looked(event.id));
                    if document.has_record(&task) {
                        discovery.skipped.push(already(pull.number));
                    } else {
                        discovery.triggers.push(trigger(task, pull, &event));
                    }
                }
                Ok(None) => {
                    let reason = SkipReason::NoLabelEvent;
                    discovery.skipped.push((number, reason, String::new()));
                }
                Err(error) if error.is_limited() => return Err(error.into()),
                Err(error) => {
                    protect(&mut in_force, &tracked, pull.number);
                    discovery.warnings.push(format!("{number}: {error}"));
                    let reason = SkipReason::SetupFailed;
                    discovery.skipped.push((number, reason, error.to_string()));
                }
            }
        }
        let snapshots = snapshots::effect(document, &listing.items, label, &looked_at, now);
        discovery.effects.push(snapshots);
        discovery.effects.push(forget_retries(in_force.clone()));
        discovery.in_force = Some(in_force);
        Ok(discovery)
    }
}

/// The label events that have records, by pull request.
fn events_by_number(document: &Document) -> HashMap<u64, Vec<u64>> {
    let mut events: HashMap<u64, Vec<u64>> = HashMap::new();
    for (task, _) in document.records() {
        if let Some((number, event)) = identity::parse_label_task(task) {
            events.entry(number).or_default().push(event);
        }
    }
    events
}

/// Nothing was learned of this pull request, so whatever is recorded of it stays.
fn protect(in_force: &mut HashSet<String>, tracked: &HashMap<u64, Vec<u64>>, number: u64) {
    for event in tracked.get(&number).into_iter().flatten() {
        in_force.insert(identity::label_task(number, *event));
    }
}

fn already(number: u64) -> (String, SkipReason, String) {
    (
        number.to_string(),
        SkipReason::AlreadyTracked,
        String::new(),
    )
}

fn trigger(task: String, pull: &Pull, event: &LabelEvent) -> Trigger<Payload> {
    let mut record = Record::default();
    record
        .set(Field::PrNumber, pull.number)
        .set(Field::HeadSha, pull.head_sha.as_str())
        .set(Field::LabelEventId, event.id)
        .set(Field::LabelEventCreatedAt, event.created_at.as_str())
        .set_text(Field::HtmlUrl, &pull.html_url, 300);
    Trigger {
        task,
        item: pull.number.to_string(),
        order: (
            moment::parse_rfc3339(&event.created_at).unwrap_or(0.0),
            event.id,
        ),
        record,
        workspace: Vec::new(),
        payload: Payload {
            number: pull.number,
            details: None,
            event_created_at: event.created_at.clone(),
            actor: event.actor.clone(),
        },
    }
}
