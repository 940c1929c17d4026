//! What a test does with the repository and the merge requests of a project.

use std::collections::BTreeMap;

use super::git::Signature;
use super::history::{Commit, Push};
use super::{Project, lock, merge_requests, model, render_code};
use crate::TestbedError;
use crate::tree::{Entry, Tree, files};

/// A merge request.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeRequest {
    /// Its number in the project.
    pub iid: u64,
    /// Its title, the mark of a draft included.
    pub title: String,
    /// Its description.
    pub description: Option<String>,
    /// Username of its author; `None` for an account that is gone.
    pub author: Option<String>,
    /// `opened`, `closed` or `merged`.
    pub state: &'static str,
    /// Whether its title makes it a draft.
    pub draft: bool,
    /// The branch that it comes from.
    pub source_branch: String,
    /// The branch that it goes to.
    pub target_branch: String,
    /// The last commit of the source branch that it knows.
    pub sha: String,
    /// When it was opened, seconds since the epoch.
    pub created_at: f64,
}

impl Project {
    /// Protects a branch: only maintainers push to it.
    ///
    /// # Errors
    /// [`TestbedError::Scratch`] when the hook's list cannot be written.
    pub fn protect(&self, branch: &str) -> Result<(), TestbedError> {
        let all = self.change(|project| {
            project.protected.insert(branch.to_owned());
            let names: Vec<&str> = project.protected.iter().map(String::as_str).collect();
            names.join(
                "
",
            ) + "
"
        });
        self.bare()?.set_rule("protected", &all)
    }

    /// Refuses every push with this text (the prefix `GitLab: ` is added to each line); `""` ends
    /// that.
    ///
    /// # Errors
    /// [`TestbedError::Scratch`] when the hook's text cannot be written.
    pub fn set_push_rule(&self, text: &str) -> Result<(), TestbedError> {
        let text = if text.is_empty() {
            String::new()
        } else {
            format!("{text}\n")
        };
        self.bare()?.set_rule("push-rule", &text)
    }

    /// Refuses pushes of commits that somebody else than this mail address committed.
    ///
    /// # Errors
    /// [`TestbedError::Scratch`] when the hook's address cannot be written.
    pub fn require_committer(&self, email: &str) -> Result<(), TestbedError> {
        self.bare()?.set_rule("committer", email)
    }

    /// Commits files on top of a branch, which starts at the default branch if it is new, and
    /// returns the commit.
    ///
    /// # Errors
    /// [`TestbedError::Deeds`] when git cannot.
    pub fn commit_to<P: Into<String>, E: Into<Entry>>(
        &self,
        branch: &str,
        message: &str,
        changed: impl IntoIterator<Item = (P, E)>,
    ) -> Result<String, TestbedError> {
        let bare = self.bare()?;
        let default = self.change(|project| project.default_branch.clone());
        if bare.tip(branch).is_none()
            && let Some(tip) = default.and_then(|name| bare.tip(&name))
        {
            bare.set_branch(branch, &tip)?;
        }
        let at = lock(&self.model).now();
        let who = Signature {
            name: "Dev",
            email: "dev@example.org",
            at,
        };
        let sha = bare.commit(branch, message, &who, &files(changed))?;
        let mut model = lock(&self.model);
        let refused = model
            .projects
            .get(&self.id)
            .map_or(0, |project| project.refused_now);
        model.pushed(self.id);
        // Nobody pushed: what follows a push does not follow this.
        if let Some(project) = model.projects.get_mut(&self.id) {
            project.refused_now = refused;
        }
        Ok(sha)
    }

    /// Deletes a branch.
    ///
    /// # Errors
    /// [`TestbedError::Deeds`] when git cannot.
    pub fn delete_branch(&self, branch: &str) -> Result<(), TestbedError> {
        self.bare()?.delete_branch(branch)
    }

    /// All branches and their tips.
    pub fn branches(&self) -> BTreeMap<String, String> {
        self.bare().map(|bare| bare.branches()).unwrap_or_default()
    }

    /// The tip of a branch.
    pub fn tip(&self, branch: &str) -> Option<String> {
        self.bare().ok()?.tip(branch)
    }

    /// The commits of a branch, of a commit id, or of a range such as `main..topic`, newest first.
    pub fn commits(&self, range: &str) -> Vec<Commit> {
        self.bare()
            .map(|bare| bare.log(range, 10_000))
            .unwrap_or_default()
    }

    /// What a branch or commit holds; nothing if there is none of that name.
    pub fn files(&self, name: &str) -> Tree {
        self.bare().map(|bare| bare.files(name)).unwrap_or_default()
    }

    /// The pushes that were taken, oldest first.
    pub fn pushes(&self) -> Vec<Push> {
        self.bare().map(|bare| bare.pushes()).unwrap_or_default()
    }

    /// Opens a merge request, as a person or an agent does, and returns its number.
    pub fn open_merge_request(
        &self,
        title: &str,
        description: &str,
        source_branch: &str,
        target_branch: &str,
        by: &str,
    ) -> u64 {
        let mut model = lock(&self.model);
        let author = model.user_id(by);
        let branches = (source_branch, target_branch);
        model.open_merge_request(self.id, author, title, Some(description), branches)
    }

    /// Its merge requests, by number.
    pub fn merge_requests(&self) -> Vec<MergeRequest> {
        let model = lock(&self.model);
        let Some(project) = model.projects.get(&self.id) else {
            return Vec::new();
        };
        let shown = |one: &model::MergeRequestData| MergeRequest {
            iid: one.iid,
            title: one.title.clone(),
            description: one.description.clone(),
            author: model
                .users
                .get(&one.author)
                .map(|user| user.username.clone()),
            state: one.state,
            draft: render_code::is_draft(&one.title),
            source_branch: one.source_branch.clone(),
            target_branch: one.target_branch.clone(),
            sha: one.sha.clone(),
            created_at: one.created_at,
        };
        project.merge_requests.values().map(shown).collect()
    }

    /// Closes a merge request.
    pub fn close_merge_request(&self, iid: u64) {
        self.end(iid, "closed");
    }

    /// Merges a merge request: the target branch moves to its commit, and the issues that its
    /// description closes are closed.
    ///
    /// # Errors
    /// [`TestbedError::Deeds`] when git cannot move the branch.
    pub fn merge(&self, iid: u64) -> Result<(), TestbedError> {
        let found = self.merge_requests().into_iter().find(|one| one.iid == iid);
        let Some(request) = found else { return Ok(()) };
        self.bare()?
            .set_branch(&request.target_branch, &request.sha)?;
        self.end(iid, "merged");
        let description = request.description.unwrap_or_default();
        let closing = description.split("Closes ").skip(1);
        for issue in closing.flat_map(merge_requests::named_issues) {
            if let Some(issue) = self.issue(issue) {
                issue.close();
            }
        }
        Ok(())
    }

    fn end(&self, iid: u64, state: &'static str) {
        let now = lock(&self.model).now();
        self.change(|project| {
            if let Some(request) = project.merge_requests.get_mut(&iid) {
                request.state = state;
                request.ended_at = Some(now);
                request.updated_at = now;
            }
        });
    }
}
