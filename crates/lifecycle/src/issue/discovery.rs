//! Which issues ask for work, with as few questions as possible.
//!
//! The document mirrors nothing of the forge, so what was learned of label events is remembered in
//! the cache, whose loss costs one question per issue. An entry counts as long as the issue's
//! `updated_at` is the same, and for an hour at most.

use super::{IssuePolicy, Payload, Survey, has_label};
use crate::document::{Document, Field, Record};
use crate::engine::World;
use crate::error::TargetError;
use crate::identity;
use crate::moment;
use crate::policy::{Discovery, Trigger, forget_retries};
use crate::ports::{Clock, Clones, ForgeError, Issue, IssueForge, LabelEvent, Store};
use crate::report::SkipReason;
use futures_util::{StreamExt as _, stream};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// Label events that are asked for at once.
const EVENTS_AT_ONCE: usize = 4;
/// How long a remembered event counts, in seconds.
const REMEMBERED_SECONDS: f64 = 3600.0;

impl<F: IssueForge, G: Clones> IssuePolicy<'_, F, G> {
    pub(super) async fn find_triggers<X: World>(
        &self,
        world: &X,
        survey: &Survey,
        document: &Document,
    ) -> Result<Discovery<Payload>, TargetError> {
        let now = world.clock().now();
        let mut discovery = Discovery {
            warnings: survey.listing.warnings.clone(),
            ..Discovery::default()
        };
        if let Some(name) = &survey.project.moved_to {
            let text = format!("the project is called {name} now; update the configuration");
            discovery.warnings.push(text);
        }
        let issues: Vec<&Issue> = survey
            .listing
            .items
            .iter()
            .filter(|issue| issue.open && has_label(issue, &self.settings.trigger_label))
            .collect();
        discovery.discovered = issues.len();
        let cache = if issues.is_empty() {
            None
        } else {
            world.store().load_cache().await
        };
        let remembered = cache
            .as_ref()
            .and_then(|cache| cache.get("events")?.as_object());
        let answers = self.newest_events(&issues, remembered, now).await;

        let mut in_force = HashSet::new();
        let mut events = Map::new();
        let mut levels: HashMap<u64, Option<u64>> = HashMap::new();
        for (issue, answer) in answers {
            let item = issue.iid.to_string();
            let event = match answer {
                Ok(Some((event, entry))) => {
                    events.insert(item.clone(), entry);
                    event
                }
                Ok(None) => {
                    discovery
                        .skipped
                        .push((item, SkipReason::NoLabelEvent, String::new()));
                    continue;
                }
                Err(error) if error.is_limited() => return Err(error.into()),
                Err(error) => {
                    protect(&mut in_force, document, issue.iid);
                    discovery.warnings.push(format!("{item}: {error}"));
                    let reason = SkipReason::SetupFailed;
                    discovery.skipped.push((item, reason, error.to_string()));
                    continue;
                }
            };
            let task = identity::label_task(issue.iid, event.id);
            in_force.insert(task.clone());
            if document.has_record(&task) {
                discovery
                    .skipped
                    .push((item, SkipReason::AlreadyTracked, String::new()));
                continue;
            }
            match self.may_trigger(&event, &mut levels).await {
                Ok(None) => discovery
                    .triggers
                    .push(trigger(task, issue, &event, survey, self)),
                Ok(Some(why)) => discovery.skipped.push((item, SkipReason::NotAllowed, why)),
                Err(error) if error.is_limited() => return Err(error.into()),
                Err(error) => {
                    discovery.warnings.push(format!("{item}: {error}"));
                    let reason = SkipReason::SetupFailed;
                    discovery.skipped.push((item, reason, error.to_string()));
                }
            }
        }
        let new_cache = json!({"events": events});
        if cache.as_ref() != Some(&new_cache) && !issues.is_empty() {
            discovery.cache = Some(new_cache);
        }
        discovery.effects.push(forget_retries(in_force.clone()));
        discovery.in_force = Some(in_force);
        Ok(discovery)
    }

    /// The newest label event of each issue, with what to remember of it.
    async fn newest_events<'i>(
        &self,
        issues: &[&'i Issue],
        remembered: Option<&Map<String, Value>>,
        now: f64,
    ) -> Vec<(&'i Issue, Result<Option<(LabelEvent, Value)>, ForgeError>)> {
        let label = self.settings.trigger_label.as_str();
        stream::iter(issues.iter().copied())
            .map(|issue| async move {
                let entry = remembered.and_then(|events| events.get(&issue.iid.to_string()));
                if let Some(entry) = entry
                    && let Some(event) = recall(entry, issue, label, now)
                {
                    return (issue, Ok(Some((event, entry.clone()))));
                }
                let answer = self.forge.newest_label_event(issue.iid, label).await;
                let answer = answer.map(|event| {
                    event.map(|event| {
                        let entry = entry_of(issue, &event, label, now);
                        (event, entry)
                    })
                });
                (issue, answer)
            })
            .buffered(EVENTS_AT_ONCE)
            .collect()
            .await
    }

    /// Why who applied the label may not trigger work; `None` when they may.
    async fn may_trigger(
        &self,
        event: &LabelEvent,
        levels: &mut HashMap<u64, Option<u64>>,
    ) -> Result<Option<String>, ForgeError> {
        let Some(wanted) = self.settings.trigger_level else {
            return Ok(None);
        };
        let name = event.actor.as_deref().unwrap_or("an unknown account");
        let Some(id) = event.actor_id else {
            return Ok(Some(format!("the label was applied by {name}")));
        };
        let level = match levels.get(&id) {
            Some(level) => *level,
            None => *levels
                .entry(id)
                .or_insert(self.forge.access_level(id).await?),
        };
        Ok(match level {
            Some(level) if level >= wanted => None,
            Some(level) => Some(format!(
                "{name} has access level {level}, {wanted} is asked for"
            )),
            None => Some(format!("{name} is no member of the project")),
        })
    }
}

fn entry_of(issue: &Issue, event: &LabelEvent, label: &str, now: f64) -> Value {
    json!({
        "updated_at": issue.updated_at,
        "label": label,
        "event": event.id,
        "created_at": event.created_at,
        "actor_id": event.actor_id,
        "actor": event.actor,
        "looked": now,
    })
}

fn recall(entry: &Value, issue: &Issue, label: &str, now: f64) -> Option<LabelEvent> {
    let text = |field: &str| entry.get(field).and_then(Value::as_str);
    let age = now - entry.get("looked")?.as_f64()?;
    let same =
        text("updated_at") == Some(issue.updated_at.as_str()) && text("label") == Some(label);
    if !same || !(0.0..REMEMBERED_SECONDS).contains(&age) {
        return None;
    }
    Some(LabelEvent {
        id: entry.get("event")?.as_u64()?,
        created_at: text("created_at")?.to_owned(),
        actor_id: entry.get("actor_id").and_then(Value::as_u64),
        actor: text("actor").map(str::to_owned),
    })
}

/// Nothing was learned of this issue, so whatever is recorded of it stays.
fn protect(in_force: &mut HashSet<String>, document: &Document, iid: u64) {
    for (task, _) in document.records() {
        if identity::parse_label_task(task).is_some_and(|(number, _)| number == iid) {
            in_force.insert(task.to_owned());
        }
    }
}

fn trigger<F, G>(
    task: String,
    issue: &Issue,
    event: &LabelEvent,
    survey: &Survey,
    policy: &IssuePolicy<'_, F, G>,
) -> Trigger<Payload> {
    let mut record = Record::default();
    record
        .set(Field::IssueIid, issue.iid)
        .set_text(Field::IssueTitle, &issue.title, 300)
        .set(Field::LabelEventId, event.id)
        .set(Field::LabelEventCreatedAt, event.created_at.as_str())
        .set_text(Field::WebUrl, &issue.web_url, 400)
        .set(Field::BaseBranch, survey.default_branch.as_str());
    Trigger {
        task,
        item: issue.iid.to_string(),
        order: (
            moment::parse_rfc3339(&event.created_at).unwrap_or(0.0),
            event.id,
        ),
        record,
        workspace: vec![
            policy.settings.project.replace('/', "__"),
            format!("issue-{}-{}", issue.iid, event.id),
        ],
        payload: Payload {
            issue: issue.clone(),
            project: survey.project.clone(),
            default_branch: survey.default_branch.clone(),
            event_created_at: event.created_at.clone(),
            actor: event.actor.clone(),
        },
    }
}
