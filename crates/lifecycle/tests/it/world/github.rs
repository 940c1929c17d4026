//! A repository on GitHub in memory.

use super::workspaces::Dirs;
use super::{Log, MINUTE, NOW, World, others};
use lifecycle::moment;
use lifecycle::ports::{
    CheckoutError, CheckoutReport, Checkouts, ForgeError, LabelEvent, Listing, Pull, PullDetails,
    ReviewForge, ReviewRef,
};
use lifecycle::review::{ReviewPolicy, ReviewSettings};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

pub const REPO: &str = "acme/widget";
pub const LABEL: &str = "openhands-review";

pub struct GitHub {
    pub pulls: RefCell<BTreeMap<u64, PullDetails>>,
    events: RefCell<BTreeMap<u64, LabelEvent>>,
    pub comments: RefCell<Vec<(u64, String)>>,
    /// Published reviews of ours: number, commit, moment.
    pub reviews: RefCell<Vec<(u64, String, f64)>>,
    /// Files by path and commit.
    pub files: RefCell<BTreeMap<(String, String), String>>,
    /// What the next calls of that name answer instead.
    errors: RefCell<BTreeMap<&'static str, VecDeque<ForgeError>>>,
    pub next_checkouts: RefCell<VecDeque<CheckoutError>>,
    /// What checkouts leave out, in words.
    pub left_out: RefCell<String>,
    /// The name that the repository has now.
    pub moved_to: RefCell<Option<String>>,
    pub settings: ReviewSettings,
    /// Numbers that the listing lacks.
    pub unlisted: RefCell<Vec<u64>>,
    /// What happens just before a pull request is looked at.
    pub before_pull: Cell<Option<fn(&Self)>>,
    /// Files that every head brings.
    head_files: RefCell<Vec<(String, String)>>,
    workspaces: Rc<Dirs>,
    /// Seconds that every call takes.
    pub delay: Cell<f64>,
    now: Rc<Cell<f64>>,
    log: Log,
}

/// The commit that is made of one hex digit.
pub fn commit(digit: char) -> String {
    digit.to_string().repeat(40)
}

impl GitHub {
    pub fn new(world: &World) -> Self {
        Self {
            pulls: RefCell::default(),
            events: RefCell::default(),
            comments: RefCell::default(),
            reviews: RefCell::default(),
            files: RefCell::default(),
            errors: RefCell::default(),
            next_checkouts: RefCell::default(),
            left_out: RefCell::default(),
            moved_to: RefCell::default(),
            settings: ReviewSettings {
                repo: REPO.into(),
                trigger_label: LABEL.into(),
                review_drafts: true,
                api_url: "https://api.github.com".into(),
                token_secret: "GITHUB_PERSONAL_ACCESS_TOKEN".into(),
                ..ReviewSettings::default()
            },
            unlisted: RefCell::default(),
            before_pull: Cell::new(None),
            head_files: RefCell::default(),
            workspaces: world.workspaces.dirs.clone(),
            delay: Cell::new(0.0),
            now: world.clock.now.clone(),
            log: world.log.clone(),
        }
    }

    pub fn policy(&self) -> ReviewPolicy<'_, Self, Self> {
        ReviewPolicy {
            forge: self,
            checkouts: self,
            settings: &self.settings,
        }
    }

    /// Opens a pull request whose head is that digit.
    pub fn open(&self, number: u64, head: char) {
        let pull = Pull {
            number,
            head_sha: commit(head),
            labels: Vec::new(),
            draft: false,
            updated_at: moment::rfc3339(NOW - 60.0 * MINUTE),
            html_url: format!("https://github.com/{REPO}/pull/{number}"),
        };
        let details = PullDetails {
            pull,
            open: true,
            title: "Retry uploads".into(),
            body: String::new(),
            author: Some("dev".into()),
            base_ref: "main".into(),
            base_sha: commit('0'),
            head_ref: "retry".into(),
            from_fork: false,
            changed_files: Some(1),
            additions: Some(1),
            deletions: Some(0),
            commits: Some(1),
        };
        self.pulls.borrow_mut().insert(number, details);
    }

    /// Puts the label on, as that event at that moment.
    pub fn label(&self, number: u64, event: u64, at: f64) {
        self.change(number, |details| {
            details.pull.labels = vec![LABEL.into()];
            details.pull.updated_at = moment::rfc3339(at);
        });
        self.log_event(number, event, at);
    }

    /// An event without any change that shows in the listing.
    pub fn log_event(&self, number: u64, event: u64, at: f64) {
        let event = LabelEvent {
            id: event,
            created_at: moment::rfc3339(at),
            actor_id: Some(1),
            actor: Some("maintainer".into()),
        };
        self.events.borrow_mut().insert(number, event);
    }

    /// Opens and labels: the number is the event as well, and smaller ones are older.
    pub fn open_labelled(&self, number: u64) {
        self.open(number, 'b');
        self.label(number, number, NOW - 30.0 * MINUTE + number as f64);
    }

    pub fn change(&self, number: u64, change: impl FnOnce(&mut PullDetails)) {
        change(self.pulls.borrow_mut().get_mut(&number).unwrap());
    }

    pub fn push(&self, number: u64, head: char) {
        self.change(number, |details| details.pull.head_sha = commit(head));
    }

    pub fn close(&self, number: u64) {
        self.change(number, |details| details.open = false);
    }

    /// Every head brings this file.
    pub fn brings(&self, path: &str, text: &str) {
        self.head_files
            .borrow_mut()
            .push((path.into(), text.into()));
    }

    /// The next call of that name fails so.
    pub fn fails(&self, call: &'static str, error: ForgeError) {
        self.errors
            .borrow_mut()
            .entry(call)
            .or_default()
            .push_back(error);
    }

    /// The comments on a pull request that hold a text.
    pub fn comments_with(&self, text: &str) -> usize {
        let comments = self.comments.borrow();
        comments
            .iter()
            .filter(|(_, body)| body.contains(text))
            .count()
    }

    async fn called(&self, call: &'static str) -> Result<(), ForgeError> {
        self.log.add(format!("github {call}"));
        self.now.set(self.now.get() + self.delay.get());
        let error = self
            .errors
            .borrow_mut()
            .get_mut(call)
            .and_then(VecDeque::pop_front);
        others().await;
        error.map_or(Ok(()), Err)
    }
}

pub fn refused(status: u16) -> ForgeError {
    ForgeError::Refused {
        call: "POST /comments".into(),
        status,
        detail: "Validation Failed".into(),
    }
}

pub fn no_access() -> ForgeError {
    ForgeError::NoAccess {
        call: "POST /comments".into(),
        detail: "Resource not accessible by personal access token".into(),
    }
}

pub fn limited() -> ForgeError {
    ForgeError::Limited {
        call: "GET /repos/acme/widget/pulls".into(),
        resets_at: Some(NOW + 57.0),
    }
}

pub fn unavailable() -> ForgeError {
    ForgeError::Unavailable {
        call: "POST /comments".into(),
        detail: "502 Bad Gateway".into(),
    }
}

impl ReviewForge for GitHub {
    async fn list_open(&self) -> Result<Listing<Pull>, ForgeError> {
        self.called("list").await?;
        let pulls = self.pulls.borrow();
        let unlisted = self.unlisted.borrow();
        let open = pulls
            .values()
            .filter(|details| details.open && !unlisted.contains(&details.pull.number));
        Ok(Listing {
            items: open.map(|details| details.pull.clone()).collect(),
            warnings: Vec::new(),
            moved_to: self.moved_to.borrow().clone(),
        })
    }

    async fn newest_label_event(
        &self,
        number: u64,
        _label: &str,
    ) -> Result<Option<LabelEvent>, ForgeError> {
        self.called("events").await?;
        Ok(self.events.borrow().get(&number).cloned())
    }

    async fn pull(&self, number: u64) -> Result<Option<PullDetails>, ForgeError> {
        if let Some(change) = self.before_pull.take() {
            change(self);
        }
        self.called("pull").await?;
        Ok(self.pulls.borrow().get(&number).cloned())
    }

    async fn published_review(
        &self,
        number: u64,
        head_sha: &str,
        since: f64,
    ) -> Result<Option<ReviewRef>, ForgeError> {
        self.called("reviews").await?;
        let reviews = self.reviews.borrow();
        let found = reviews
            .iter()
            .any(|(n, head, at)| *n == number && head == head_sha && *at >= since);
        Ok(found.then(|| ReviewRef {
            id: 1,
            html_url: format!("https://github.com/{REPO}/pull/{number}#review-1"),
        }))
    }

    async fn find_comment(
        &self,
        number: u64,
        marker: &str,
        _since: f64,
    ) -> Result<Option<String>, ForgeError> {
        self.called("comments").await?;
        let comments = self.comments.borrow();
        let found = comments
            .iter()
            .any(|(n, body)| *n == number && body.contains(marker));
        Ok(found.then(|| "https://github.com/comment".into()))
    }

    async fn comment(&self, number: u64, body: &str) -> Result<String, ForgeError> {
        self.called("comment").await?;
        self.comments.borrow_mut().push((number, body.into()));
        Ok("https://github.com/comment".into())
    }

    async fn file_at(
        &self,
        path: &str,
        reference: &str,
        _max: u64,
    ) -> Result<Option<String>, ForgeError> {
        self.called("file").await?;
        let key = (path.to_owned(), reference.to_owned());
        Ok(self.files.borrow().get(&key).cloned())
    }
}

impl Checkouts for GitHub {
    async fn checkout(&self, _head: &str, dir: &str) -> Result<CheckoutReport, CheckoutError> {
        self.log.add("github checkout");
        others().await;
        if let Some(error) = self.next_checkouts.borrow_mut().pop_front() {
            return Err(error);
        }
        let files = self.head_files.borrow().iter().cloned().collect();
        self.workspaces.borrow_mut().insert(dir.into(), files);
        Ok(CheckoutReport {
            files: 3,
            skipped: self.left_out.borrow().clone(),
            ..CheckoutReport::default()
        })
    }
}
