//! What a test does with an issue, and what it sees of it.

use std::fmt;

use super::model::{IssueData, LabelEvent, Project};
use super::{Shared, lock};

/// An issue that is about to be opened: by `reporter`, with a short description, unless said
/// otherwise.
#[derive(Clone, Debug)]
pub struct NewIssue {
    pub(super) title: String,
    pub(super) description: Option<String>,
    pub(super) author: String,
    pub(super) iid: Option<u64>,
    pub(super) confidential: bool,
}

impl NewIssue {
    /// An issue with this title.
    pub fn titled(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            description: Some("It does not work.".to_owned()),
            author: "reporter".to_owned(),
            iid: None,
            confidential: false,
        }
    }

    /// Its description; `None` is `null`.
    #[must_use]
    pub fn description<'a>(mut self, text: impl Into<Option<&'a str>>) -> Self {
        self.description = text.into().map(str::to_owned);
        self
    }

    /// Who opens it.
    #[must_use]
    pub fn by(mut self, username: &str) -> Self {
        username.clone_into(&mut self.author);
        self
    }

    /// The number that it gets.
    #[must_use]
    pub fn iid(mut self, iid: u64) -> Self {
        self.iid = Some(iid);
        self
    }

    /// Hides it from strangers.
    #[must_use]
    pub fn confidential(mut self) -> Self {
        self.confidential = true;
        self
    }
}

/// An issue of a [`Project`](super::Project).
#[derive(Clone)]
pub struct Issue {
    pub(super) model: Shared,
    pub(super) project: u64,
    pub(super) iid: u64,
}

/// A note on an issue.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Its id.
    pub id: u64,
    /// Username of its author; `None` for an account that is gone.
    pub author: Option<String>,
    /// The text.
    pub body: String,
    /// When it was written, seconds since the epoch.
    pub created_at: f64,
    /// Whether GitLab wrote it itself.
    pub system: bool,
}

impl Issue {
    fn change(&self, change: impl FnOnce(&mut IssueData, f64)) {
        let mut model = lock(&self.model);
        let now = model.now();
        let project = model.projects.get_mut(&self.project);
        if let Some(issue) = project.and_then(|project| project.issues.get_mut(&self.iid)) {
            issue.updated_at = now;
            change(issue, now);
        }
    }

    fn read<T: Default>(&self, read: impl FnOnce(&Project, &IssueData) -> T) -> T {
        let model = lock(&self.model);
        let found = model
            .projects
            .get(&self.project)
            .and_then(|project| Some(read(project, project.issues.get(&self.iid)?)));
        found.unwrap_or_default()
    }

    /// Its number in the project.
    pub fn iid(&self) -> u64 {
        self.iid
    }

    /// Whether it is open.
    pub fn is_open(&self) -> bool {
        self.read(|_, issue| issue.open)
    }

    /// The labels that it carries.
    pub fn labels(&self) -> Vec<String> {
        self.read(Project::label_names)
    }

    /// Puts a label on it, which the project gets if it has none of exactly that name, and returns
    /// the id of the event. `None` is an account that is gone.
    pub fn label<'a>(&self, name: &str, by: impl Into<Option<&'a str>>) -> u64 {
        self.record(name, by.into(), true)
    }

    /// Takes a label off and returns the id of the event.
    pub fn unlabel<'a>(&self, name: &str, by: impl Into<Option<&'a str>>) -> u64 {
        self.record(name, by.into(), false)
    }

    fn record(&self, name: &str, by: Option<&str>, add: bool) -> u64 {
        let mut model = lock(&self.model);
        let user = by.map(|username| model.user_id(username));
        let (label, id, at) = (model.fresh_id(), model.fresh_id(), model.now());
        if let Some(project) = model.projects.get_mut(&self.project) {
            let label = project.label_id(name).unwrap_or(label);
            project.labels.insert(label, name.to_owned());
            if let Some(issue) = project.issues.get_mut(&self.iid) {
                issue.labels.retain(|have| *have != label);
                if add {
                    issue.labels.push(label);
                }
                issue.updated_at = at;
                issue.events.push(LabelEvent {
                    id,
                    user,
                    at,
                    label,
                    add,
                });
            }
        }
        id
    }

    /// Fills the list of label events with `count` about another label.
    pub fn add_noise(&self, count: usize) {
        for number in 0..count {
            self.record("noise", Some("triage"), number % 2 == 0);
        }
    }

    /// Writes a note and returns its id.
    pub fn comment(&self, body: &str, by: &str) -> u64 {
        let mut model = lock(&self.model);
        let author = model.user_id(by);
        model.add_note(self.project, self.iid, Some(author), body, false)
    }

    /// Its notes, oldest first, those of GitLab itself included.
    pub fn notes(&self) -> Vec<Note> {
        let model = lock(&self.model);
        let issue = model
            .projects
            .get(&self.project)
            .and_then(|p| p.issues.get(&self.iid));
        let username = |id: Option<u64>| Some(model.users.get(&id?)?.username.clone());
        let notes = issue.map(|issue| issue.notes.iter()).into_iter().flatten();
        notes
            .map(|note| Note {
                id: note.id,
                author: username(note.author),
                body: note.body.clone(),
                created_at: note.at,
                system: note.system,
            })
            .collect()
    }

    /// Closes it.
    pub fn close(&self) {
        self.change(|issue, now| {
            issue.open = false;
            issue.closed_at = Some(now);
        });
    }

    /// Opens it again.
    pub fn reopen(&self) {
        self.change(|issue, _| {
            issue.open = true;
            issue.closed_at = None;
        });
    }

    /// Gives it another title.
    pub fn set_title(&self, title: &str) {
        self.change(|issue, _| title.clone_into(&mut issue.title));
    }

    /// Deletes it: 404 from now on.
    pub fn delete(&self) {
        let mut model = lock(&self.model);
        if let Some(project) = model.projects.get_mut(&self.project) {
            project.issues.remove(&self.iid);
        }
    }
}

impl fmt::Debug for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Issue({} of project {})", self.iid, self.project)
    }
}
