//! What becomes of an issue's work: adopted, pushed and opened, kept, or nothing at all.

use super::{IssuePolicy, notes};
use crate::decide::Ending;
use crate::document::{Field, Record, Status};
use crate::engine::World;
use crate::identity::{self, Kind};
use crate::moment;
use crate::policy::{Finish, Finishing, triggered_at};
use crate::ports::{
    Agents, Clock, Clones, ForgeError, IssueForge, MergeRequest, Store, Workspaces,
};
use serde_json::Value;

/// The forge's clock and ours may differ by this much.
const CLOCK_SKEW_SECONDS: f64 = 120.0;

impl<F: IssueForge, G: Clones> IssuePolicy<'_, F, G> {
    pub(super) async fn collect<X: World>(&self, world: &X, finishing: &Finishing<'_>) -> Finish {
        let record = finishing.record;
        let branch = record.text(Field::Branch).unwrap_or_default();
        let settled = finishing.ending != Ending::Overtaken && !branch.is_empty();
        if settled {
            match self.our_merge_request(record, branch).await {
                Ok(Some(found)) => return self.linked(world, finishing, &found, branch).await,
                Ok(None) => {}
                Err(error) => return error.into(),
            }
        }
        let Some(iid) = record.count(Field::IssueIid) else {
            return Finish::ended(Status::Failed, ended_at(world), "its record names no issue");
        };
        match self.forge.issue(iid).await {
            Ok(Some(issue)) if issue.open => {}
            Ok(_) => {
                let note = "the issue was closed meanwhile: nothing pushed or posted";
                return Finish::ended(Status::IssueClosed, ended_at(world), note);
            }
            Err(error) => return error.into(),
        }
        match finishing.ending {
            Ending::Overtaken => Finish::NotYet(String::new()),
            Ending::Elsewhere => Finish::NotYet("its conversation is in another sandbox".into()),
            Ending::Done => self.deliver(world, finishing, iid).await,
            Ending::Failed(_) | Ending::Gone | Ending::Expired { .. } => {
                self.without_result(world, finishing, iid, None).await
            }
        }
    }

    /// The merge request of a branch, if it is ours: opened after the claim and still holding the
    /// commit that the work started from. An old one of that name is not.
    async fn our_merge_request(
        &self,
        record: &Record,
        branch: &str,
    ) -> Result<Option<MergeRequest>, ForgeError> {
        let base = record.text(Field::BaseSha).unwrap_or_default();
        let claimed = triggered_at(record);
        for found in self.forge.merge_requests(branch).await? {
            let opened = moment::parse_rfc3339(&found.created_at);
            let in_time = opened.is_some_and(|opened| opened >= claimed - CLOCK_SKEW_SECONDS);
            if !found.same_project || found.source_branch != branch || !in_time {
                continue;
            }
            let ours = match (&found.sha, base.is_empty()) {
                (Some(head), false) => self.forge.contains(head, base).await?,
                _ => true,
            };
            if ours {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The work ended well: push it and open the merge request, or say that there is none.
    async fn deliver<X: World>(&self, world: &X, finishing: &Finishing<'_>, iid: u64) -> Finish {
        let record = finishing.record;
        let id = record.conversation_id().unwrap_or_default();
        let answer = match world.agents().final_response(id).await {
            Ok(answer) => answer,
            Err(error) => return Finish::NotYet(error.to_string()),
        };
        let work = match self.work(record).await {
            Ok(work) => work,
            Err(outcome) => return outcome,
        };
        if work.is_empty() {
            let url = world.agents().conversation_url(id);
            let note = notes::no_changes(finishing.task, &answer, &url);
            return match self.note_once(world, finishing, iid, &note).await {
                Ok(()) => Finish::ended(
                    Status::NoChanges,
                    ended_at(world),
                    "the agent changed nothing; its answer is on the issue",
                ),
                Err(error) => error.into(),
            };
        }
        let (pushed, branch) = match self.push(world, finishing, iid).await {
            Ok(done) => done,
            Err(outcome) => return outcome,
        };
        match self.open(world, finishing, iid, &branch, &answer).await {
            Ok(found) => self.linked(world, finishing, &found, &branch).await,
            Err(error) => {
                let text = format!(
                    "{} commit(s) are on branch {branch} at {}, but the merge request could not \
                     be opened: {error}",
                    pushed.commits, pushed.sha
                );
                match Finish::from(error) {
                    Finish::NotYet(_) => Finish::NotYet(text),
                    _ => Finish::Failed(text),
                }
            }
        }
    }

    /// There is a merge request: tell the issue once and close the task.
    async fn linked<X: World>(
        &self,
        world: &X,
        finishing: &Finishing<'_>,
        found: &MergeRequest,
        branch: &str,
    ) -> Finish {
        let record = finishing.record;
        let iid = record.count(Field::IssueIid).unwrap_or_default();
        let url = world
            .agents()
            .conversation_url(record.conversation_id().unwrap_or_default());
        let note = notes::linked(finishing.task, &found.web_url, &url);
        if let Err(error) = self.note_once(world, finishing, iid, &note).await {
            return error.into();
        }
        Finish::ended(
            Status::Closed,
            opened(world, finishing, found, branch),
            format!("merge request: {}", found.web_url),
        )
    }

    /// All attempts at telling what came of it have failed: record what there is.
    pub(super) async fn gave_up<X: World>(
        &self,
        world: &X,
        finishing: &Finishing<'_>,
        error: &str,
    ) -> Finish {
        let document = match world.store().load().await {
            Ok(document) => document,
            Err(error) => return Finish::NotYet(error.to_string()),
        };
        // The last attempt may have gone on to another branch.
        let record = document.record(finishing.task);
        let record = record.unwrap_or_else(|| finishing.record.clone());
        let finishing = &Finishing {
            record: &record,
            ..*finishing
        };
        let branch = record.text(Field::Branch).unwrap_or_default();
        if !branch.is_empty() {
            let found = self.our_merge_request(&record, branch).await;
            match found.map_err(Finish::from) {
                Ok(Some(found)) => {
                    let mut fields = opened(world, finishing, &found, branch);
                    fields.extend(failure(finishing, error));
                    let note = format!("merge request: {}; the issue was not told", found.web_url);
                    return Finish::ended(Status::Closed, fields, note);
                }
                Err(Finish::NotYet(why)) => return Finish::NotYet(why),
                Ok(None) | Err(_) => {}
            }
        }
        let iid = record.count(Field::IssueIid).unwrap_or_default();
        self.without_result(world, finishing, iid, Some(error))
            .await
    }

    /// Pushes what there is of the work, if that is wanted. The branch and its commits.
    async fn keep<X: World>(
        &self,
        world: &X,
        finishing: &Finishing<'_>,
        iid: u64,
    ) -> Result<Option<(String, u64)>, Finish> {
        let record = finishing.record;
        let dir = record.workspace_dir().unwrap_or_default();
        if !self.settings.keep_failed_work || record.get(Field::BaseSha).is_none() {
            return Ok(None);
        }
        let exists = world.workspaces().exists(dir).await;
        let exists = exists.map_err(|error| Finish::Failed(error.to_string()))?;
        if !exists || self.work(record).await?.is_empty() {
            return Ok(None);
        }
        let (pushed, branch) = self.push(world, finishing, iid).await?;
        Ok(Some((branch, pushed.commits)))
    }

    /// No merge request comes of it: keep what there is, and say so.
    async fn without_result<X: World>(
        &self,
        world: &X,
        finishing: &Finishing<'_>,
        iid: u64,
        error: Option<&str>,
    ) -> Finish {
        let record = finishing.record;
        let id = record.conversation_id().unwrap_or_default();
        let answer = world.agents().final_response(id).await.unwrap_or_default();
        let kept = match self.keep(world, finishing, iid).await {
            Ok(kept) => kept,
            // With its workspace it would be lost: it is tried again, and given up only when it was
            // refused for good.
            Err(outcome @ Finish::NotYet(_)) => return outcome,
            Err(outcome) if error.is_none() => return outcome,
            Err(_) => None,
        };
        let url = world.agents().conversation_url(id);
        let note = notes::without_result(&notes::WithoutResult {
            task: finishing.task,
            ending: finishing.ending,
            error,
            answer: &answer,
            kept: kept
                .as_ref()
                .map(|(branch, commits)| (branch.as_str(), *commits)),
            conversation_url: &url,
        });
        if let Err(untold) = self.note_once(world, finishing, iid, &note).await {
            let outcome = Finish::from(untold);
            if error.is_none() || matches!(outcome, Finish::NotYet(_)) {
                return outcome;
            }
        }
        let mut fields = ended_at(world);
        if let Some((branch, _)) = &kept {
            fields.push((Field::Branch, branch.as_str().into()));
        }
        if let Some(error) = error {
            fields.extend(failure(finishing, error));
        }
        let (status, text) = match finishing.ending {
            Ending::Expired { after } => {
                fields.push((Field::ExpiredAfter, after.into()));
                (Status::Expired, "given up after two hours")
            }
            _ => (Status::Failed, "failed"),
        };
        let kept = if kept.is_some() {
            "; what there was is on its branch"
        } else {
            ""
        };
        Finish::ended(status, fields, format!("{text}{kept}"))
    }

    /// Posts the result note unless it is there.
    async fn note_once<X: World>(
        &self,
        world: &X,
        finishing: &Finishing<'_>,
        iid: u64,
        body: &str,
    ) -> Result<(), ForgeError> {
        let mark = identity::marker(finishing.task, Kind::Result);
        let since = triggered_at(finishing.record);
        if self.forge.find_note(iid, &mark, since).await?.is_some() {
            return Ok(());
        }
        if !finishing.lease.holds(world.clock().now()) {
            return Err(ForgeError::Unavailable {
                call: "posting a note".into(),
                detail: "the lease ran out".into(),
            });
        }
        self.forge.note(iid, body).await
    }
}

/// What the record holds when there is a merge request.
fn opened<X: World>(
    world: &X,
    finishing: &Finishing<'_>,
    found: &MergeRequest,
    branch: &str,
) -> Vec<(Field, Value)> {
    let mark = identity::marker(finishing.task, Kind::Result);
    let opened_by = if found.description.contains(&mark) {
        "automation"
    } else {
        "agent"
    };
    let mut fields = ended_at(world);
    fields.extend([
        (Field::MergeRequestUrl, found.web_url.as_str().into()),
        (Field::MergeRequestIid, found.iid.into()),
        (Field::OpenedBy, opened_by.into()),
        (Field::Branch, branch.into()),
    ]);
    fields
}

/// What it holds when something was given up.
fn failure(finishing: &Finishing<'_>, error: &str) -> [(Field, Value); 2] {
    [
        (Field::Error, crate::text::cut_bytes(error, 500).into()),
        (Field::FinalizeAttempts, (finishing.attempts + 1).into()),
    ]
}

fn ended_at<X: World>(world: &X) -> Vec<(Field, Value)> {
    vec![(Field::CompletedAt, world.clock().now().into())]
}
