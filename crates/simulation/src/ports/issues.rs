//! Issues, merge requests and git, as a run sees them.

use super::reviews::ALLOWED_SKEW;
use super::{Link, forge_error};
use crate::world::{BOT, Checkout, Fault, LABEL, Service, TARGET, Ticket};
use lifecycle::ports::{
    CloneFacts, CloneRequest, Clones, ForgeError, Identity, Issue, IssueForge, LabelEvent, Listing,
    MergeRequest, MergeRequestDraft, Project, PushError, PushRequest, Pushed, ReviewForge, Work,
};

impl IssueForge for Link {
    async fn project(&self) -> Result<Project, ForgeError> {
        self.ask(false, "looks at the project".into(), |_, _| Project {
            id: 1,
            path: TARGET.into(),
            default_branch: Some("main".into()),
            http_url: format!("https://forge.example/{TARGET}.git"),
            web_url: format!("https://forge.example/{TARGET}"),
            archived: false,
            issues_enabled: true,
            repository_enabled: true,
            access_level: Some(30),
            moved_to: None,
        })
        .await
    }

    async fn identity(&self) -> Result<Identity, ForgeError> {
        self.ask(false, "asks who it is".into(), |_, _| Identity {
            username: BOT.into(),
            name: "Bot".into(),
            email: "bot@forge.example".into(),
        })
        .await
    }

    async fn label_spelling(&self, _label: &str) -> Result<Option<String>, ForgeError> {
        self.ask(false, "asks for the labels".into(), |_, _| {
            Some(LABEL.to_owned())
        })
        .await
    }

    async fn list_labelled(&self, _label: &str) -> Result<Listing<Issue>, ForgeError> {
        self.ask(false, "lists issues".into(), |world, _| {
            let labelled = world
                .tickets
                .all
                .iter()
                .filter(|ticket| ticket.item.is_open && ticket.item.has_label);
            Listing {
                items: labelled.map(Ticket::shown).collect(),
                warnings: Vec::new(),
                moved_to: None,
            }
        })
        .await
    }

    async fn newest_label_event(
        &self,
        iid: u64,
        label: &str,
    ) -> Result<Option<LabelEvent>, ForgeError> {
        ReviewForge::newest_label_event(self, iid, label).await
    }

    async fn access_level(&self, user_id: u64) -> Result<Option<u64>, ForgeError> {
        self.ask(false, format!("asks what {user_id} may"), move |_, _| {
            (user_id == 7).then_some(30)
        })
        .await
    }

    async fn issue(&self, iid: u64) -> Result<Option<Issue>, ForgeError> {
        self.ask(false, format!("looks at issue {iid}"), move |world, _| {
            world.tickets.get(iid).map(Ticket::shown)
        })
        .await
    }

    async fn branch_exists(&self, branch: &str) -> Result<bool, ForgeError> {
        let name = branch.to_owned();
        self.ask(
            false,
            format!("looks for branch {name}"),
            move |world, _| world.git.branches.contains_key(&name),
        )
        .await
    }

    async fn merge_requests(&self, branch: &str) -> Result<Vec<MergeRequest>, ForgeError> {
        let name = branch.to_owned();
        self.ask(
            false,
            format!("looks for merge requests of {name}"),
            move |world, _| {
                let head = world.git.branches.get(&name).map(|(sha, _)| sha.clone());
                let of_branch = world
                    .git
                    .merge_requests
                    .iter()
                    .filter(|opened| opened.source_branch == name);
                let newest_first = of_branch.rev().map(|opened| MergeRequest {
                    sha: head.clone(),
                    ..opened.clone()
                });
                newest_first.collect()
            },
        )
        .await
    }

    async fn contains(&self, head: &str, commit: &str) -> Result<bool, ForgeError> {
        let (head, commit) = (head.to_owned(), commit.to_owned());
        self.ask(
            false,
            format!("asks whether {head} holds {commit}"),
            move |world, _| world.git.distance(&head, &commit).is_some(),
        )
        .await
    }

    async fn open_merge_request(
        &self,
        draft: &MergeRequestDraft,
    ) -> Result<MergeRequest, ForgeError> {
        let draft = draft.clone();
        let what = format!("opens a merge request from {}", draft.source_branch);
        let opened = self.ask(true, what.clone(), move |world, _| {
            let task = world.watch.task_marked_in(&draft.description);
            let opened = world.open_merge_request(&draft, BOT, task.as_deref());
            world.note(|_| format!("           {:?}", opened.as_ref().map(|opened| opened.iid)));
            opened
        });
        match opened.await? {
            Ok(opened) => Ok(opened),
            Err(status) => Err(forge_error(Fault::Status(status), &what)),
        }
    }

    async fn find_note(
        &self,
        iid: u64,
        marker: &str,
        since: f64,
    ) -> Result<Option<String>, ForgeError> {
        let (marker, finds) = (marker.to_owned(), self.finds_marks());
        self.ask(
            false,
            format!("looks for a mark on {iid}"),
            move |world, _| {
                let item = world.item(iid).filter(|_| finds)?;
                item.marked(&marker, since - ALLOWED_SKEW)
            },
        )
        .await
    }

    async fn note(&self, iid: u64, body: &str) -> Result<(), ForgeError> {
        let body = body.to_owned();
        let first = body.lines().next().unwrap_or_default().to_owned();
        self.ask(
            true,
            format!("comments on {iid}: {first}"),
            move |world, _| {
                world.comment(iid, body);
            },
        )
        .await
    }
}

/// What the adapter of git makes of a call that brought no result.
fn git_error(fault: Fault) -> PushError {
    match fault {
        Fault::Status(_) => PushError::Refused("403".into()),
        Fault::Disk => PushError::Clone("the disk refused".into()),
        _ => PushError::Unavailable(format!("{fault:?}")),
    }
}

impl Clones for Link {
    async fn clone_branch(&self, request: &CloneRequest) -> Result<CloneFacts, PushError> {
        let request = request.clone();
        let call = Self::call_of(Service::Git, false, format!("clones into {}", request.dir));
        let cloned = self.call(call, move |world, run| {
            let home = world.home_of(run);
            let base = world.tickets.main.clone();
            let is_full = world.disk_is_full;
            let place = (home, request.dir.trim_end_matches('/').to_owned());
            let folder = world.disk.folders.get_mut(&place);
            let Some(folder) = folder.filter(|_| !is_full) else {
                return Err(PushError::Clone("no room".into()));
            };
            folder.clone = Some(Checkout {
                base: base.clone(),
                tip: base.clone(),
                has_leftovers: false,
                branch: request.branch,
            });
            Ok(CloneFacts {
                base_sha: base,
                ..CloneFacts::default()
            })
        });
        cloned.await.map_err(git_error)?
    }

    async fn inspect(
        &self,
        dir: &str,
        base_sha: &str,
        _branch: &str,
        _url: &str,
    ) -> Result<Work, PushError> {
        let (dir, base) = (dir.trim_end_matches('/').to_owned(), base_sha.to_owned());
        let call = Self::call_of(Service::Disk, false, format!("inspects {dir}"));
        let work = self.call(call, move |world, run| world.inspect(run, &dir, &base));
        work.await.map_err(git_error)?
    }

    async fn push(&self, request: &PushRequest) -> Result<Pushed, PushError> {
        let request = request.clone();
        let call = Self::call_of(Service::Git, true, format!("pushes {}", request.branch));
        let pushed = self.call(call, move |world, run| {
            let pushed = world.push(run, &request);
            world.note(|_| format!("           {pushed:?}"));
            pushed
        });
        pushed.await.map_err(git_error)?
    }
}
