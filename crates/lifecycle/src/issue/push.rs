//! From a clone to a merge request: what was done is read, pushed to a branch, and opened.

use super::{IssuePolicy, MergeRequestMode, notes};
use crate::document::{Document, Field, Record};
use crate::engine::World;
use crate::policy::{Finish, Finishing, triggered_at};
use crate::ports::{
    Agents, Change, Clock, Clones, ForgeError, IssueForge, MergeRequest, MergeRequestDraft,
    PushError, PushRequest, Pushed, Store, StoreError, Work,
};

/// A moment after a push the forge may not know the branch yet. Seconds between tries.
const OPENING_PAUSES: [f64; 4] = [0.5, 1.0, 2.0, 4.0];

impl<F: IssueForge, G: Clones> IssuePolicy<'_, F, G> {
    /// What there is to push.
    pub(super) async fn work(&self, record: &Record) -> Result<Work, Finish> {
        let dir = record.workspace_dir().unwrap_or_default();
        let base = record.text(Field::BaseSha).unwrap_or_default();
        let branch = record.text(Field::Branch).unwrap_or_default();
        if dir.is_empty() || base.is_empty() {
            let error = PushError::Clone("its record names no clone or no base commit".into());
            return Err(error.into());
        }
        let project = self.forge.project().await.map_err(Finish::from)?;
        let work = self
            .clones
            .inspect(dir, base, branch, &project.http_url)
            .await;
        work.map_err(Finish::from)
    }

    /// Pushes the work to its branch, or to a free one if somebody else's work is there. The
    /// branch that it went to comes with it.
    pub(super) async fn push<X: World>(
        &self,
        world: &X,
        finishing: &Finishing<'_>,
        iid: u64,
    ) -> Result<(Pushed, String), Finish> {
        let record = finishing.record;
        let project = self.forge.project().await.map_err(Finish::from)?;
        let identity = self.forge.identity().await.map_err(Finish::from)?;
        let mut request = PushRequest {
            url: project.http_url,
            dir: record.workspace_dir().unwrap_or_default().to_owned(),
            base_sha: record.text(Field::BaseSha).unwrap_or_default().to_owned(),
            branch: record.text(Field::Branch).unwrap_or_default().to_owned(),
            message: notes::commit_message(record, iid),
            identity,
            work_branch: record.text(Field::Branch).unwrap_or_default().to_owned(),
            committed_at: triggered_at(record),
        };
        if !finishing.lease.holds(world.clock().now()) {
            return Err(Finish::NotYet("the lease ran out".into()));
        }
        match self.clones.push(&request).await {
            Ok(pushed) => Ok((pushed, request.branch)),
            Err(PushError::Taken(_)) => {
                let document = world
                    .store()
                    .load()
                    .await
                    .map_err(|e| Finish::NotYet(e.to_string()))?;
                let free = self
                    .free_branch(iid, finishing.task, &document)
                    .await
                    .map_err(Finish::from)?
                    .filter(|name| *name != request.branch);
                let Some(free) = free else {
                    let text = format!("branch {} and its successors are taken", request.branch);
                    return Err(Finish::Failed(text));
                };
                // Written before the push, so that whoever comes after us looks there.
                self.record_branch(world, finishing.task, &free)
                    .await
                    .map_err(|e| Finish::NotYet(e.to_string()))?;
                request.branch = free;
                let pushed = self.clones.push(&request).await.map_err(Finish::from)?;
                Ok((pushed, request.branch))
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn record_branch<X: World>(
        &self,
        world: &X,
        task: &str,
        branch: &str,
    ) -> Result<(), StoreError> {
        let mut change = |document: &mut Document| {
            let Some(mut record) = document.record(task) else {
                return Change::Keep;
            };
            record.set(Field::Branch, branch);
            if document.put_record(task, record) {
                Change::Write
            } else {
                Change::Keep
            }
        };
        world.store().update(&mut change).await.map(|_| ())
    }

    /// Opens the merge request of a pushed branch, or finds it.
    pub(super) async fn open<X: World>(
        &self,
        world: &X,
        finishing: &Finishing<'_>,
        iid: u64,
        branch: &str,
        answer: &str,
    ) -> Result<MergeRequest, ForgeError> {
        let record = finishing.record;
        let url = world
            .agents()
            .conversation_url(record.conversation_id().unwrap_or_default());
        let draft = MergeRequestDraft {
            source_branch: branch.to_owned(),
            target_branch: record
                .text(Field::BaseBranch)
                .unwrap_or_default()
                .to_owned(),
            title: notes::title(
                record.text(Field::IssueTitle).unwrap_or_default(),
                iid,
                self.settings.mode == MergeRequestMode::Draft,
            ),
            description: notes::description(finishing.task, iid, answer, &url),
        };
        let mut pauses = OPENING_PAUSES.into_iter();
        loop {
            let error = match self.forge.open_merge_request(&draft).await {
                Ok(opened) => return Ok(opened),
                Err(error) => error,
            };
            match error {
                // One is open already, or the answer to ours was lost.
                ForgeError::Refused {
                    status: 409 | 422, ..
                }
                | ForgeError::Unavailable { .. } => {
                    let found = self.forge.merge_requests(branch).await?;
                    let open = found.into_iter().find(|found| {
                        found.same_project
                            && found.state == "opened"
                            && found.source_branch == branch
                    });
                    return open.ok_or(error);
                }
                ForgeError::Refused { status: 400, .. } => match pauses.next() {
                    Some(pause) => world.clock().sleep(pause).await,
                    None => return Err(error),
                },
                _ => return Err(error),
            }
        }
    }
}
