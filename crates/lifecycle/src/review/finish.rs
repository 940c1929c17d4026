//! What becomes of a review: suppressed, found published, or told as a comment.

use super::{ReviewPolicy, comments};
use crate::decide::Ending;
use crate::document::{Field, Status};
use crate::engine::World;
use crate::identity::Kind;
use crate::policy::{Finish, Finishing, triggered_at};
use crate::ports::{Agents, Checkouts, Clock, ReviewForge};
use serde_json::Value;

impl<F: ReviewForge, C: Checkouts> ReviewPolicy<'_, F, C> {
    pub(super) async fn collect<X: World>(&self, world: &X, finishing: &Finishing<'_>) -> Finish {
        let record = finishing.record;
        let now = world.clock().now();
        if let Ending::Expired { after } = finishing.ending {
            let fields = vec![(Field::ExpiredAfter, after.into())];
            return Finish::ended(Status::Expired, fields, "given up after two hours");
        }
        let Some(number) = record.count(Field::PrNumber) else {
            return closed(Vec::new(), now, "its record names no pull request".into());
        };
        let head = record.text(Field::HeadSha).unwrap_or_default();
        match self.forge.pull(number).await {
            Ok(None) => return closed(Vec::new(), now, "the pull request is gone".into()),
            Ok(Some(details)) if !details.open => {
                let note = "the pull request was closed meanwhile: nothing posted".to_owned();
                return closed(Vec::new(), now, note);
            }
            Ok(Some(details)) if details.pull.head_sha != head => {
                let reason = format!("head changed from {head} to {}", details.pull.head_sha);
                let fields = vec![(Field::StaleReason, reason.as_str().into())];
                return Finish::ended(Status::Stale, fields, format!("{reason}: nothing posted"));
            }
            Ok(Some(_)) => {}
            Err(error) => return error.into(),
        }
        if finishing.ending == Ending::Overtaken {
            return Finish::NotYet(String::new());
        }
        let since = triggered_at(record);
        match self.forge.published_review(number, head, since).await {
            Ok(Some(review)) => {
                return closed(
                    Vec::new(),
                    now,
                    format!("review published: {}", review.html_url),
                );
            }
            Ok(None) if finishing.ending == Ending::Elsewhere => {
                return Finish::NotYet("its conversation is in another sandbox".into());
            }
            Ok(None) => {}
            Err(error) => return error.into(),
        }
        let id = record.conversation_id().unwrap_or_default();
        let text = match (finishing.ending, world.agents().final_response(id).await) {
            (_, Ok(text)) => text,
            // What failed may have nothing to say; what ended well must be asked again.
            (Ending::Failed(_) | Ending::Gone, Err(_)) => String::new(),
            (_, Err(error)) => return Finish::NotYet(error.to_string()),
        };
        if !finishing.lease.holds(world.clock().now()) {
            return Finish::NotYet("the lease ran out".into());
        }
        let url = world.agents().conversation_url(id);
        let body = comments::outcome(finishing.task, record, finishing.ending, &text, &url);
        match self
            .comment_once(number, finishing.task, Kind::Result, record, &body)
            .await
        {
            Ok(()) => closed(
                Vec::new(),
                now,
                "no review was published: told as a comment".into(),
            ),
            Err(error) => error.into(),
        }
    }
}

/// The terminal status of everything that was handled.
pub(super) fn closed(mut fields: Vec<(Field, Value)>, now: f64, note: String) -> Finish {
    fields.push((Field::CompletedAt, now.into()));
    Finish::ended(Status::Closed, fields, note)
}
