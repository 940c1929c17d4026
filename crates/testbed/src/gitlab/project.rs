//! What a test does with a project: members, switches, moves, issues.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::git::Bare;
use super::issue::{Issue, NewIssue};
use super::model::{self, IssueData};
use super::{Shared, lock};
use crate::TestbedError;

/// A project of a [`GitLab`](super::GitLab).
#[derive(Clone)]
pub struct Project {
    pub(super) model: Shared,
    pub(super) id: u64,
}

impl Project {
    pub(super) fn change<T: Default>(&self, change: impl FnOnce(&mut model::Project) -> T) -> T {
        lock(&self.model)
            .projects
            .get_mut(&self.id)
            .map(change)
            .unwrap_or_default()
    }

    /// Its repository, to be asked without holding up the socket.
    pub(super) fn bare(&self) -> Result<Bare, TestbedError> {
        let model = lock(&self.model);
        let bare = model
            .projects
            .get(&self.id)
            .map(|project| project.bare.clone());
        bare.ok_or_else(|| TestbedError::Deeds {
            failures: vec![format!("project {} was deleted", self.id)],
        })
    }

    /// Its number.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Its full path as it is now.
    pub fn path(&self) -> String {
        self.change(|project| project.path.clone())
    }

    /// Its page for people.
    pub fn web_url(&self) -> String {
        let path = self.path();
        format!("{}/{path}", lock(&self.model).base)
    }

    /// The address to clone from.
    pub fn clone_url(&self) -> String {
        format!("{}.git", self.web_url())
    }

    /// Gives a user a role of its own: 10 guest, 20 reporter, 30 developer, 40 maintainer, 50 owner.
    pub fn set_member(&self, username: &str, level: u32) {
        let user = lock(&self.model).user_id(username);
        self.change(|project| project.members.insert(user, level));
    }

    /// Gives a user a role that comes from the group.
    pub fn set_group_member(&self, username: &str, level: u32) {
        let user = lock(&self.model).user_id(username);
        self.change(|project| project.group_members.insert(user, level));
    }

    /// Takes a user's roles away.
    pub fn remove_member(&self, username: &str) {
        let user = lock(&self.model).user_id(username);
        self.change(|project| {
            project.members.remove(&user);
            project.group_members.remove(&user);
        });
    }

    /// Leaves the roles in `permissions` unstated (both `null`); they count as before.
    pub fn leave_roles_unstated(&self) {
        self.change(|project| project.roles_unstated = true);
    }

    /// Lets everybody read it.
    pub fn make_public(&self) {
        self.change(|project| project.public = true);
    }

    /// Archives it: reads go on, nothing can be written or pushed.
    pub fn archive(&self) {
        self.change(|project| project.archived = true);
    }

    /// Switches issues on or off.
    pub fn enable_issues(&self, enabled: bool) {
        self.change(|project| project.issues_enabled = enabled);
    }

    /// Switches the repository on or off: without it there is no `default_branch` at all.
    pub fn enable_repository(&self, enabled: bool) {
        self.change(|project| project.repository_enabled = enabled);
    }

    /// Names another default branch.
    pub fn set_default_branch(&self, branch: &str) {
        self.change(|project| project.default_branch = Some(branch.to_owned()));
    }

    /// Moves it: the former path answers 301 to reads, 405 to writes, 301 to git.
    pub fn rename(&self, path: &str) {
        let mut model = lock(&self.model);
        let id = self.id;
        if let Some(project) = model.projects.get_mut(&id) {
            let former = std::mem::replace(&mut project.path, path.to_owned());
            model.moved.remove(&path.to_lowercase());
            model.moved.insert(former.to_lowercase(), id);
        }
    }

    /// Deletes it: 404 from now on.
    pub fn delete(&self) {
        lock(&self.model).projects.remove(&self.id);
    }

    /// Sends git elsewhere: `info/refs` answers 301 to the same path below `base`.
    pub fn redirect_git_to(&self, base: &str) {
        self.change(|project| project.git_redirect = Some(base.to_owned()));
    }

    /// Refuses the first `times` merge requests after each push with a 400: the branch is said not
    /// to exist yet.
    pub fn refuse_merge_requests_after_push(&self, times: u32) {
        self.change(|project| project.refused_after_push = times);
    }

    /// Lets the first `answers` about each fresh merge request lack its commit (`sha` is `null`).
    pub fn prepare_merge_requests_slowly(&self, answers: u32) {
        self.change(|project| project.unprepared_answers = answers);
    }

    /// The commands that texts carried out, as they were written.
    pub fn quick_actions(&self) -> Vec<String> {
        self.change(|project| project.quick_actions.clone())
    }

    /// Opens an issue.
    pub fn open_issue(&self, new: NewIssue) -> Issue {
        let mut model = lock(&self.model);
        let author = model.user_id(&new.author);
        let (id, now) = (model.fresh_id(), model.now());
        let mut iid = 0;
        if let Some(project) = model.projects.get_mut(&self.id) {
            let next = project.issues.keys().last().copied().unwrap_or(0) + 1;
            iid = new.iid.unwrap_or(next);
            let issue = IssueData {
                id,
                iid,
                title: new.title,
                description: new.description,
                author,
                open: true,
                confidential: new.confidential,
                labels: Vec::new(),
                created_at: now,
                updated_at: now,
                closed_at: None,
                events: Vec::new(),
                notes: Vec::new(),
            };
            project.issues.insert(iid, issue);
        }
        Issue {
            model: Arc::clone(&self.model),
            project: self.id,
            iid,
        }
    }

    /// The issue of that number, if there is one.
    pub fn issue(&self, iid: u64) -> Option<Issue> {
        let known = self.change(|project| project.issues.contains_key(&iid));
        known.then(|| Issue {
            model: Arc::clone(&self.model),
            project: self.id,
            iid,
        })
    }

    /// Creates a label without putting it on anything; it is the project's own.
    pub fn create_label(&self, name: &str) {
        let id = lock(&self.model).fresh_id();
        self.change(|project| {
            if project.label_id(name).is_none() {
                project.labels.insert(id, name.to_owned());
            }
        });
    }

    /// Creates a label that belongs to a group above.
    pub fn create_group_label(&self, name: &str) {
        self.create_label(name);
        self.change(|project| {
            let id = project.label_id(name);
            project.group_labels.extend(id);
        });
    }

    /// Deletes a label: it goes from all issues, and events about it say `null`.
    pub fn delete_label(&self, name: &str) {
        self.change(|project| {
            let Some(id) = project.label_id(name) else {
                return;
            };
            project.labels.remove(&id);
            for issue in project.issues.values_mut() {
                issue.labels.retain(|label| *label != id);
            }
        });
    }
}

impl model::Project {
    /// A private project with everything switched on.
    pub(super) fn new(id: u64, path: &str, bare: Bare, now: f64) -> Self {
        Self {
            id,
            path: path.to_owned(),
            public: false,
            archived: false,
            issues_enabled: true,
            repository_enabled: true,
            default_branch: None,
            members: BTreeMap::new(),
            group_members: BTreeMap::new(),
            roles_unstated: false,
            protected: std::collections::BTreeSet::new(),
            labels: BTreeMap::new(),
            group_labels: std::collections::BTreeSet::new(),
            issues: BTreeMap::new(),
            merge_requests: BTreeMap::new(),
            bare,
            refused_after_push: 0,
            refused_now: 0,
            unprepared_answers: 0,
            git_redirect: None,
            quick_actions: Vec::new(),
            created_at: now,
            last_activity: now,
        }
    }
}

impl fmt::Debug for Project {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Project({})", self.path())
    }
}
