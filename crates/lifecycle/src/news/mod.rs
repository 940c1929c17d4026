//! The news digest: public feeds become one short digest a day. Lifecycle and document:
//! `docs/state/news-digest.md`.
//!
//! One target, one task a day. Only a finished digest widens what counts as told, so a day that
//! went wrong loses nothing: its stories are still new to the next one.

mod prompt;
#[cfg(test)]
mod tests;

pub use prompt::prompt;

use crate::decide::Ending;
use crate::document::{Document, Field, NEWS, Record, Schema, Status};
use crate::engine::{Claim, Effect, World};
use crate::error::TargetError;
use crate::identity;
use crate::moment;
use crate::policy::{Discovery, Finish, Finishing, Policy, Prepared, SetupError, Trigger};
use crate::ports::{Agents, Clock, Feeds, News, Workspaces};
use crate::report::SkipReason;
use crate::text::cut_chars;
use serde_json::{Value, json};
use std::rc::Rc;

/// The target of the only document.
pub const TARGET: &str = "news";
/// Fingerprints that are remembered.
pub const MAX_SEEN: usize = 1000;
/// Days that are remembered.
pub const MAX_TASKS: usize = 14;
/// Characters of the last digest that are remembered.
pub const MAX_DIGEST_CHARS: usize = 4000;
/// Feed errors that are remembered, and their length in characters.
pub const MAX_FEED_ERRORS: usize = 10;
const MAX_FEED_ERROR_CHARS: usize = 200;
/// Bytes of `digest.md` that are read.
const MAX_DIGEST_BYTES: u64 = 256 * 1024;

/// What the digest is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interests {
    /// Topics in the order in which they are told.
    pub topics: Vec<String>,
}

/// The policy of the news digest.
#[derive(Debug)]
pub struct NewsPolicy<'a, F> {
    /// Where stories come from.
    pub feeds: &'a F,
    /// What the digest is about.
    pub interests: Interests,
}

impl<F: Feeds> NewsPolicy<'_, F> {
    fn discovered(document: &Document, news: News, now: f64) -> Discovery<News> {
        let day = moment::day(now);
        let task = identity::day_task(&day);
        let errors: Vec<String> = news
            .failures
            .iter()
            .map(|failure| format!("{}: {}", failure.url, failure.error))
            .collect();
        let mut discovery = Discovery {
            discovered: news.stories.len(),
            funnel: Some(news.funnel),
            feed_errors: Some(errors.clone()),
            shortlist: Some(news.stories.clone()),
            warnings: news.warnings.clone(),
            effects: vec![remember_look(&news, errors, now)],
            ..Discovery::default()
        };
        if news.stories.is_empty() {
            let funnel = news.funnel;
            let detail = format!(
                "{} stories fetched, {} of them unseen, {} of those fresh",
                funnel.fetched, funnel.unseen, funnel.fresh
            );
            discovery
                .skipped
                .push((day, SkipReason::NothingNew, detail));
            return discovery;
        }
        let mut keys: Vec<String> = Vec::new();
        for key in news.stories.iter().flat_map(|story| &story.keys) {
            if !keys.contains(key) {
                keys.push(key.clone());
            }
        }
        let mut record = Record::default();
        record
            .set(Field::Period, day.as_str())
            .set(Field::ItemKeys, keys)
            .set(Field::ItemCount, news.stories.len());
        debug_assert!(
            !document.has_record(&task),
            "a claimed day is not looked at"
        );
        discovery.triggers.push(Trigger {
            task,
            item: day.clone(),
            order: (now, 0),
            record,
            workspace: vec![day],
            payload: news,
        });
        discovery
    }

    fn end(finishing: &Finishing<'_>, status: Status, url: &str, now: f64) -> Finish {
        let period = finishing.record.text(Field::Period).unwrap_or_default();
        let mut fields: Vec<(Field, Value)> = vec![
            (Field::ConversationUrl, url.into()),
            (Field::CompletedAt, now.into()),
        ];
        if let Ending::Expired { after } = finishing.ending {
            fields.push((Field::ExpiredAfter, after.into()));
        }
        let note = match status {
            Status::Empty => "the agent wrote no digest; its stories stay new",
            Status::Expired => "no digest within two hours; its stories stay new",
            _ => "the conversation failed; its stories stay new",
        };
        Finish::Ended {
            status,
            fields,
            drop: vec![Field::ItemKeys],
            effect: None,
            note: format!("{period}: {note} ({url})"),
            digest: None,
        }
    }

    fn completed(finishing: &Finishing<'_>, url: &str, text: &str, now: f64) -> Finish {
        let period = finishing
            .record
            .text(Field::Period)
            .unwrap_or_default()
            .to_owned();
        let keys: Vec<Value> = finishing
            .record
            .get(Field::ItemKeys)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let told = keys.len();
        let last_digest = json!({
            "period": period,
            "conversation_url": url,
            "written_at": now,
            "text": cut_chars(text, MAX_DIGEST_CHARS),
        });
        let effect: Effect = Rc::new(move |document: &mut Document| {
            widen_seen(document, &keys);
            // A later day's digest may have been written meanwhile: it stays.
            let newer = document
                .get("last_digest")
                .and_then(|digest| digest.get("period")?.as_str().map(str::to_owned))
                .is_some_and(|other| other.as_str() > last_digest["period"].as_str().unwrap_or(""));
            if !newer {
                document.set("last_digest", last_digest.clone());
            }
        });
        Finish::Ended {
            status: Status::Completed,
            fields: vec![
                (Field::ConversationUrl, url.into()),
                (Field::CompletedAt, now.into()),
            ],
            drop: vec![Field::ItemKeys],
            effect: Some(effect),
            note: format!("{period}: digest collected, {told} fingerprints remembered"),
            digest: Some((period, text.to_owned())),
        }
    }
}

/// Remembers what was told, oldest first. Only a completed digest may do this.
fn widen_seen(document: &mut Document, keys: &[Value]) {
    let mut seen: Vec<Value> = document
        .get("seen")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    for key in keys {
        if !seen.contains(key) {
            seen.push(key.clone());
        }
    }
    let excess = seen.len().saturating_sub(MAX_SEEN);
    seen.drain(..excess);
    document.set("seen", seen);
}

/// What a run that read the feeds leaves in the document.
fn remember_look(news: &News, errors: Vec<String>, now: f64) -> Effect {
    let funnel = json!(news.funnel);
    let errors: Vec<String> = errors
        .into_iter()
        .take(MAX_FEED_ERRORS)
        .map(|error| cut_chars(&error, MAX_FEED_ERROR_CHARS))
        .collect();
    Rc::new(move |document: &mut Document| {
        let checked = document
            .get("last_checked")
            .and_then(Value::as_f64)
            .unwrap_or(0.0);
        if checked > now {
            return;
        }
        document.set("last_checked", now);
        document.set("last_funnel", funnel.clone());
        document.set("last_feed_errors", errors.clone());
    })
}

/// All fingerprints that a document remembers.
pub fn seen(document: &Document) -> Vec<String> {
    let list = document.get("seen").and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(|key| key.as_str().map(str::to_owned))
        .collect()
}

impl<F: Feeds> Policy for NewsPolicy<'_, F> {
    type Survey = ();
    type Payload = News;

    fn schema(&self) -> &'static Schema {
        &NEWS
    }

    fn target(&self) -> &str {
        TARGET
    }

    async fn survey(&self) -> Result<(), TargetError> {
        Ok(())
    }

    async fn suspect(&self, _survey: &(), _record: &Record) -> bool {
        false
    }

    async fn discover<X: World>(
        &self,
        world: &X,
        _survey: &(),
        document: &Document,
    ) -> Result<Discovery<News>, TargetError> {
        let now = world.clock().now();
        let day = moment::day(now);
        if let Some(record) = document.record(&identity::day_task(&day)) {
            let detail = format!("today is {}", record.status().name());
            let skipped = vec![(day, SkipReason::AlreadyTracked, detail)];
            return Ok(Discovery {
                skipped,
                ..Discovery::default()
            });
        }
        let task = identity::day_task(&day);
        if let Some(retry) = document.retry(&task).filter(|retry| retry.next_try > now) {
            let skipped = vec![(day, SkipReason::BackingOff, retry.in_words())];
            return Ok(Discovery {
                skipped,
                ..Discovery::default()
            });
        }
        // What an unfinished day has on its list is told by that day, if it gets that far; it
        // must not be told by today as well.
        let mut known = seen(document);
        for (_, record) in document
            .records()
            .filter(|(_, record)| record.status().is_live())
        {
            let keys = record.get(Field::ItemKeys).and_then(Value::as_array);
            known.extend(
                keys.into_iter()
                    .flatten()
                    .filter_map(|key| Some(key.as_str()?.into())),
            );
        }
        let news = self.feeds.read(&known, now).await;
        if news.configured > 0 && news.failures.len() >= news.configured {
            return Err(TargetError::AllFeedsFailed {
                count: news.configured,
                first: news.failures.first().map_or_else(String::new, |failure| {
                    format!("{}: {}", failure.url, failure.error)
                }),
            });
        }
        Ok(Self::discovered(document, news, now))
    }

    async fn confirm<X: World>(
        &self,
        _world: &X,
        _trigger: &mut Trigger<News>,
        _document: &Document,
    ) -> Result<(), SetupError> {
        Ok(())
    }

    async fn prepare<X: World>(
        &self,
        world: &X,
        _claim: &Claim,
        trigger: &Trigger<News>,
        _document: &Document,
    ) -> Result<Prepared, SetupError> {
        let parts: Vec<&str> = trigger.workspace.iter().map(String::as_str).collect();
        world
            .workspaces()
            .create(&parts)
            .await
            .map_err(SetupError::from)?;
        let prompt = prompt(&trigger.item, &self.interests, &trigger.payload);
        let note = format!("{} stories on the shortlist", trigger.payload.stories.len());
        Ok(Prepared {
            prompt,
            fields: Vec::new(),
            note,
        })
    }

    async fn acknowledge<X: World>(
        &self,
        _world: &X,
        _task: &str,
        _record: &Record,
    ) -> Result<(), String> {
        Ok(())
    }

    async fn finish<X: World>(&self, world: &X, finishing: &Finishing<'_>) -> Finish {
        let record = finishing.record;
        let now = world.clock().now();
        let id = record.conversation_id().unwrap_or_default();
        let url = world.agents().conversation_url(id);
        let answers = match finishing.ending {
            Ending::Elsewhere | Ending::Overtaken => return Finish::NotYet(String::new()),
            Ending::Failed(_) => return Self::end(finishing, Status::Failed, &url, now),
            Ending::Expired { .. } => return Self::end(finishing, Status::Expired, &url, now),
            Ending::Done => true,
            Ending::Gone => false,
        };
        let written = match record.workspace_dir() {
            Some(dir) => {
                world
                    .workspaces()
                    .read_file(dir, "digest.md", MAX_DIGEST_BYTES)
                    .await
            }
            None => Ok(None),
        };
        let mut text = match written {
            Ok(text) => text.unwrap_or_default(),
            Err(error) => return Finish::Failed(format!("digest.md: {error}")),
        };
        if text.trim().is_empty() && answers {
            text = match world.agents().final_response(id).await {
                Ok(text) => text,
                Err(error) => return Finish::NotYet(error.to_string()),
            };
        }
        if !text.trim().is_empty() {
            return Self::completed(finishing, &url, text.trim(), now);
        }
        let status = if answers {
            Status::Empty
        } else {
            Status::Failed
        };
        Self::end(finishing, status, &url, now)
    }

    async fn give_up<X: World>(
        &self,
        world: &X,
        finishing: &Finishing<'_>,
        _error: &str,
    ) -> Finish {
        let id = finishing.record.conversation_id().unwrap_or_default();
        let url = world.agents().conversation_url(id);
        Self::end(finishing, Status::Failed, &url, world.clock().now())
    }

    fn tidy(&self, document: &mut Document) {
        let mut days: Vec<(String, bool)> = document
            .records()
            .map(|(task, record)| (task.to_owned(), crate::document::size::must_stay(&record)))
            .collect();
        days.sort();
        let mut excess = days.len().saturating_sub(MAX_TASKS);
        for (task, stays) in days {
            if excess > 0 && !stays {
                document.remove_record(&task);
                excess -= 1;
            }
        }
        // A retry is of its day; yesterday's is of no use.
        let newest = document.records().map(|(task, _)| task.to_owned()).max();
        for task in document.retry_tasks() {
            let past = newest.as_ref().is_some_and(|newest| task < *newest);
            if past && !document.has_record(&task) {
                document.remove_retry(&task);
            }
        }
    }
}
