//! Pull requests: the forge of the reviewer.

use super::{LABEL, World, sha_of};
use lifecycle::moment::rfc3339;
use lifecycle::ports::{LabelEvent, Pull, PullDetails};

/// A comment or a note: whose, what, when (by the forge's clock).
#[derive(Clone, Debug)]
pub(crate) struct Comment {
    pub(crate) body: String,
    pub(crate) at: f64,
}

/// What a pull request and an issue have in common.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) number: u64,
    pub(crate) is_open: bool,
    pub(crate) has_label: bool,
    /// The newest event that put the label on: id, when (forge), and since when it has been in
    /// force without a break (true time).
    pub(crate) event: Option<(u64, f64)>,
    pub(crate) in_force_since: u64,
    pub(crate) updated_at: f64,
    pub(crate) comments: Vec<Comment>,
    /// Whether who labels it may do so.
    pub(crate) is_allowed: bool,
    /// When it was last closed or changed, true time: a result may rightly be missing then.
    pub(crate) disturbed: u64,
}

impl Item {
    pub(crate) fn new(number: u64) -> Self {
        Self {
            number,
            is_open: true,
            has_label: false,
            event: None,
            in_force_since: 0,
            updated_at: super::BEGINNING - 86_400.0,
            comments: Vec::new(),
            is_allowed: true,
            disturbed: 0,
        }
    }

    /// The task of the trigger that is in force.
    pub(crate) fn task_in_force(&self) -> Option<String> {
        let (event, _) = self.event?;
        (self.is_open && self.has_label)
            .then(|| lifecycle::identity::label_task(self.number, event))
    }

    pub(crate) fn labels(&self) -> Vec<String> {
        if self.has_label {
            vec![LABEL.to_owned(), "bug".to_owned()]
        } else {
            vec!["bug".to_owned()]
        }
    }

    pub(crate) fn label_event(&self) -> Option<LabelEvent> {
        let (id, at) = self.event?;
        Some(LabelEvent {
            id,
            created_at: rfc3339(at),
            actor_id: Some(if self.is_allowed { 7 } else { 8 }),
            actor: Some("someone".into()),
        })
    }

    /// The comment of ours that holds a mark, not older than `since`.
    pub(crate) fn marked(&self, marker: &str, since: f64) -> Option<String> {
        let at = self
            .comments
            .iter()
            .rposition(|comment| comment.at >= since && comment.body.contains(marker))?;
        Some(format!("https://forge.example/{}#{at}", self.number))
    }
}

/// A pull request.
#[derive(Clone, Debug)]
pub(crate) struct PullRequest {
    pub(crate) item: Item,
    pub(crate) head: String,
    /// Published reviews: of which commit, when (forge), of which task.
    pub(crate) reviews: Vec<(String, f64, String)>,
}

impl PullRequest {
    pub(crate) fn touch(&mut self, at: f64) {
        self.item.updated_at = at;
    }

    pub(crate) fn listed(&self) -> Pull {
        Pull {
            number: self.item.number,
            head_sha: self.head.clone(),
            labels: self.item.labels(),
            draft: false,
            updated_at: rfc3339(self.item.updated_at),
            html_url: format!("https://forge.example/pull/{}", self.item.number),
        }
    }

    pub(crate) fn details(&self) -> PullDetails {
        PullDetails {
            pull: self.listed(),
            open: self.item.is_open,
            title: "A change".into(),
            body: "What it does.".into(),
            author: Some("someone".into()),
            base_ref: "main".into(),
            base_sha: sha_of("base"),
            head_ref: "topic".into(),
            from_fork: self.item.number.is_multiple_of(3),
            changed_files: Some(1),
            additions: Some(1),
            deletions: Some(1),
            commits: Some(1),
        }
    }
}

/// All pull requests.
#[derive(Debug, Default)]
pub(crate) struct Pulls {
    pub(crate) all: Vec<PullRequest>,
}

impl Pulls {
    pub(crate) fn get(&self, number: u64) -> Option<&PullRequest> {
        self.all.iter().find(|pull| pull.item.number == number)
    }

    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut PullRequest> {
        self.all.iter_mut().find(|pull| pull.item.number == number)
    }
}

impl World {
    /// The pull request or the issue of a number.
    pub(crate) fn item(&self, number: u64) -> Option<&Item> {
        let pull = self.pulls.get(number).map(|pull| &pull.item);
        pull.or_else(|| self.tickets.get(number).map(|ticket| &ticket.item))
    }

    pub(crate) fn item_mut(&mut self, number: u64) -> Option<&mut Item> {
        if let Some(pull) = self.pulls.get_mut(number) {
            return Some(&mut pull.item);
        }
        self.tickets.get_mut(number).map(|ticket| &mut ticket.item)
    }

    /// All pull requests or issues.
    pub(crate) fn items(&self) -> impl Iterator<Item = &Item> {
        let pulls = self.pulls.all.iter().map(|pull| &pull.item);
        pulls.chain(self.tickets.all.iter().map(|ticket| &ticket.item))
    }

    /// A comment or a note of ours appears.
    pub(crate) fn comment(&mut self, number: u64, body: String) -> String {
        let at = self.forge_time();
        self.check_text("a comment", &body);
        self.watch_comment(number, &body);
        self.counts.told += 1;
        if let Some(item) = self.item_mut(number) {
            item.comments.push(Comment { body, at });
            item.updated_at = at;
        }
        format!("https://forge.example/{number}#new")
    }
}
