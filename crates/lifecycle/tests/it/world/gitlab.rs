//! A project on GitLab in memory. Its clones are in [`super::git`].

use super::{Log, MINUTE, NOW, World, others};
use lifecycle::issue::{IssuePolicy, IssueSettings};
use lifecycle::moment;
use lifecycle::ports::{
    ForgeError, Identity, Issue, IssueForge, LabelEvent, Listing, MergeRequest, MergeRequestDraft,
    Project, PushError, PushRequest, Work,
};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

pub const PROJECT: &str = "group/team/service";
pub const LABEL: &str = "openhands";
pub const BASE: &str = "0123456789abcdef0123456789abcdef01234567";

pub struct GitLab {
    pub project: RefCell<Project>,
    pub issues: RefCell<BTreeMap<u64, Issue>>,
    events: RefCell<BTreeMap<u64, LabelEvent>>,
    pub levels: RefCell<BTreeMap<u64, u64>>,
    pub branches: RefCell<BTreeSet<String>>,
    pub merge_requests: RefCell<Vec<MergeRequest>>,
    pub notes: RefCell<Vec<(u64, String)>>,
    /// Whether the head of a merge request holds the commit that the work started from.
    pub holds_base: Cell<bool>,
    /// What the agent leaves in every clone.
    pub work: Cell<Work>,
    /// What the next calls of that name answer instead, if anything.
    errors: RefCell<BTreeMap<&'static str, VecDeque<Option<ForgeError>>>>,
    pub(super) push_errors: RefCell<VecDeque<PushError>>,
    /// What the next clones, and looks into them, answer instead.
    pub clone_errors: RefCell<VecDeque<PushError>>,
    pub inspect_errors: RefCell<VecDeque<PushError>>,
    /// What happens just before each of the next looks at an issue.
    pub before_issue: RefCell<VecDeque<fn(&Self)>>,
    /// Whether the project has the label at all.
    pub has_label: Cell<bool>,
    pub pushes: RefCell<Vec<PushRequest>>,
    pub titles: RefCell<Vec<String>>,
    /// The next call that opens a merge request finds that somebody has just done so.
    pub appears_on_open: Cell<bool>,
    pub settings: IssueSettings,
    /// Seconds that every call takes.
    pub delay: Cell<f64>,
    now: Rc<Cell<f64>>,
    pub(super) log: Log,
}

impl GitLab {
    pub fn new(world: &World) -> Self {
        Self {
            project: RefCell::new(Project {
                id: 7,
                path: PROJECT.into(),
                default_branch: Some("main".into()),
                http_url: format!("https://git.example.com/{PROJECT}.git"),
                web_url: format!("https://git.example.com/{PROJECT}"),
                archived: false,
                issues_enabled: true,
                repository_enabled: true,
                access_level: Some(30),
                moved_to: None,
            }),
            issues: RefCell::default(),
            events: RefCell::default(),
            levels: RefCell::new(BTreeMap::from([(1, 20)])),
            branches: RefCell::default(),
            merge_requests: RefCell::default(),
            notes: RefCell::default(),
            holds_base: Cell::new(true),
            work: Cell::new(Work::default()),
            errors: RefCell::default(),
            push_errors: RefCell::default(),
            clone_errors: RefCell::default(),
            inspect_errors: RefCell::default(),
            before_issue: RefCell::default(),
            has_label: Cell::new(true),
            pushes: RefCell::default(),
            titles: RefCell::default(),
            appears_on_open: Cell::new(false),
            settings: IssueSettings {
                project: PROJECT.into(),
                trigger_label: LABEL.into(),
                branch_prefix: "openhands/issue".into(),
                trigger_level: Some(20),
                keep_failed_work: true,
                api_url: "https://git.example.com/api/v4".into(),
                token_secret: "GITLAB_TOKEN".into(),
                ..IssueSettings::default()
            },
            delay: Cell::new(0.0),
            now: world.clock.now.clone(),
            log: world.log.clone(),
        }
    }

    pub fn policy(&self) -> IssuePolicy<'_, Self, Self> {
        IssuePolicy {
            forge: self,
            clones: self,
            settings: &self.settings,
        }
    }

    /// Opens an issue and labels it, as that event, half an hour ago.
    pub fn open_labelled(&self, iid: u64, event: u64) {
        let issue = Issue {
            iid,
            title: "Retry uploads on a 502".into(),
            open: true,
            labels: vec![LABEL.into()],
            updated_at: moment::rfc3339(NOW - 30.0 * MINUTE),
            web_url: format!("https://git.example.com/{PROJECT}/-/issues/{iid}"),
        };
        self.issues.borrow_mut().insert(iid, issue);
        self.label(iid, event, NOW - 30.0 * MINUTE);
    }

    pub fn label(&self, iid: u64, event: u64, at: f64) {
        self.change(iid, |issue| issue.updated_at = moment::rfc3339(at));
        let event = LabelEvent {
            id: event,
            created_at: moment::rfc3339(at),
            actor_id: Some(1),
            actor: Some("maintainer".into()),
        };
        self.events.borrow_mut().insert(iid, event);
    }

    /// GitLab has forgotten when the label was applied.
    pub fn forget_event(&self, iid: u64) {
        self.events.borrow_mut().remove(&iid);
    }

    pub fn labelled_by(&self, iid: u64, actor_id: Option<u64>, actor: Option<&str>) {
        let mut events = self.events.borrow_mut();
        let event = events.get_mut(&iid).unwrap();
        event.actor_id = actor_id;
        event.actor = actor.map(str::to_owned);
    }

    pub fn change(&self, iid: u64, change: impl FnOnce(&mut Issue)) {
        change(self.issues.borrow_mut().get_mut(&iid).unwrap());
    }

    pub fn commits(&self, commits: u64) {
        self.work.set(Work {
            commits,
            uncommitted: false,
        });
    }

    /// A merge request of a branch, opened at a moment.
    pub fn merge_request(&self, iid: u64, branch: &str, at: f64) {
        self.branches.borrow_mut().insert(branch.into());
        self.merge_requests.borrow_mut().insert(
            0,
            MergeRequest {
                iid,
                web_url: format!("https://git.example.com/{PROJECT}/-/merge_requests/{iid}"),
                state: "opened".into(),
                created_at: moment::rfc3339(at),
                source_branch: branch.into(),
                same_project: true,
                sha: Some("c".repeat(40)),
                author: Some("agent".into()),
                description: String::new(),
            },
        );
    }

    pub fn fails(&self, call: &'static str, error: ForgeError) {
        self.fails_after(0, call, error);
    }

    /// That many more calls of that name succeed, and the next one fails so.
    pub fn fails_after(&self, count: usize, call: &'static str, error: ForgeError) {
        let mut errors = self.errors.borrow_mut();
        let answers = errors.entry(call).or_default();
        answers.extend(std::iter::repeat_n(None, count));
        answers.push_back(Some(error));
    }

    pub fn push_fails(&self, error: PushError) {
        self.push_errors.borrow_mut().push_back(error);
    }

    /// The only note on an issue.
    pub fn only_note(&self) -> String {
        let notes = self.notes.borrow();
        assert_eq!(notes.len(), 1, "{notes:?}");
        notes[0].1.clone()
    }

    async fn called(&self, call: &'static str) -> Result<(), ForgeError> {
        self.log.add(format!("gitlab {call}"));
        self.now.set(self.now.get() + self.delay.get());
        let error = self
            .errors
            .borrow_mut()
            .get_mut(call)
            .and_then(VecDeque::pop_front)
            .flatten();
        others().await;
        error.map_or(Ok(()), Err)
    }
}

pub fn refused(status: u16) -> ForgeError {
    ForgeError::Refused {
        call: "POST /merge_requests".into(),
        status,
        detail: "refused".into(),
    }
}

/// What says nothing of the task: it is only not its time.
pub fn passing() -> [ForgeError; 3] {
    let call = || "GET /projects/7".to_owned();
    [
        ForgeError::Limited {
            call: call(),
            resets_at: None,
        },
        ForgeError::Unavailable {
            call: call(),
            detail: "502 Bad Gateway".into(),
        },
        ForgeError::BadToken {
            call: call(),
            detail: "401 Unauthorized".into(),
        },
    ]
}

/// What will not get better by waiting alone.
pub fn lasting() -> [ForgeError; 3] {
    let call = || "GET /projects/7".to_owned();
    [
        ForgeError::NoAccess {
            call: call(),
            detail: "403 Forbidden".into(),
        },
        ForgeError::NotFound {
            call: call(),
            detail: "404 Not Found".into(),
        },
        refused(405),
    ]
}

impl IssueForge for GitLab {
    async fn project(&self) -> Result<Project, ForgeError> {
        self.called("project").await?;
        Ok(self.project.borrow().clone())
    }

    async fn identity(&self) -> Result<Identity, ForgeError> {
        self.called("identity").await?;
        Ok(Identity {
            username: "bot".into(),
            name: "Bot".into(),
            email: "bot@example.com".into(),
        })
    }

    async fn label_spelling(&self, label: &str) -> Result<Option<String>, ForgeError> {
        self.called("label").await?;
        Ok(self.has_label.get().then(|| label.to_owned()))
    }

    async fn list_labelled(&self, label: &str) -> Result<Listing<Issue>, ForgeError> {
        self.called("list").await?;
        let issues = self.issues.borrow();
        let wanted = |issue: &&Issue| issue.open && issue.labels.iter().any(|l| l == label);
        Ok(Listing {
            items: issues.values().filter(wanted).cloned().collect(),
            warnings: Vec::new(),
            moved_to: None,
        })
    }

    async fn newest_label_event(
        &self,
        iid: u64,
        _label: &str,
    ) -> Result<Option<LabelEvent>, ForgeError> {
        self.called("events").await?;
        Ok(self.events.borrow().get(&iid).cloned())
    }

    async fn access_level(&self, user_id: u64) -> Result<Option<u64>, ForgeError> {
        self.called("member").await?;
        Ok(self.levels.borrow().get(&user_id).copied())
    }

    async fn issue(&self, iid: u64) -> Result<Option<Issue>, ForgeError> {
        let change = self.before_issue.borrow_mut().pop_front();
        if let Some(change) = change {
            change(self);
        }
        self.called("issue").await?;
        Ok(self.issues.borrow().get(&iid).cloned())
    }

    async fn branch_exists(&self, branch: &str) -> Result<bool, ForgeError> {
        self.called("branch").await?;
        Ok(self.branches.borrow().contains(branch))
    }

    async fn merge_requests(&self, branch: &str) -> Result<Vec<MergeRequest>, ForgeError> {
        self.called("merge requests").await?;
        let all = self.merge_requests.borrow();
        let of_branch = all.iter().filter(|found| found.source_branch == branch);
        Ok(of_branch.cloned().collect())
    }

    async fn contains(&self, _head: &str, _commit: &str) -> Result<bool, ForgeError> {
        self.called("contains").await?;
        Ok(self.holds_base.get())
    }

    async fn open_merge_request(
        &self,
        draft: &MergeRequestDraft,
    ) -> Result<MergeRequest, ForgeError> {
        if self.appears_on_open.take() {
            self.merge_request(57, &draft.source_branch, NOW + 30.0);
        }
        self.called("open").await?;
        self.titles.borrow_mut().push(draft.title.clone());
        let iid = 57 + self.merge_requests.borrow().len() as u64;
        self.merge_request(iid, &draft.source_branch, NOW);
        let mut all = self.merge_requests.borrow_mut();
        all[0].description.clone_from(&draft.description);
        Ok(all[0].clone())
    }

    async fn find_note(
        &self,
        iid: u64,
        marker: &str,
        _since: f64,
    ) -> Result<Option<String>, ForgeError> {
        self.called("notes").await?;
        let notes = self.notes.borrow();
        let found = notes
            .iter()
            .any(|(n, body)| *n == iid && body.contains(marker));
        Ok(found.then(|| "https://git.example.com/note".into()))
    }

    async fn note(&self, iid: u64, body: &str) -> Result<(), ForgeError> {
        self.called("note").await?;
        self.notes.borrow_mut().push((iid, body.into()));
        Ok(())
    }
}
