//! What a test does with a repository.

use std::fmt;
use std::sync::Arc;

use super::archive::Archive;
use super::model::{Barrier, PullData, Source};
use super::new_pull::NewPull;
use super::pull::Pull;
use super::{Shared, lock};
use crate::tree::{Entry, files};

/// A repository of a [`GitHub`](super::GitHub).
#[derive(Clone)]
pub struct Repository {
    pub(super) model: Shared,
    pub(super) id: u64,
}

impl Repository {
    fn change<T: Default>(&self, change: impl FnOnce(&mut super::model::Repo) -> T) -> T {
        lock(&self.model)
            .repos
            .get_mut(&self.id)
            .map(change)
            .unwrap_or_default()
    }

    /// Its number, as addresses of the form `/repositories/{id}` have it.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// `owner/name` as it is now.
    pub fn full_name(&self) -> String {
        self.change(|repo| repo.full_name())
    }

    /// The commit at the tip of a branch.
    pub fn branch(&self, name: &str) -> Option<String> {
        self.change(|repo| repo.branches.get(name).cloned())
    }

    /// Commits files to a branch, which is created from the default branch if it is new.
    pub fn commit_to<P: Into<String>, E: Into<Entry>>(
        &self,
        branch: &str,
        changed: impl IntoIterator<Item = (P, E)>,
    ) -> String {
        let changed = files(changed);
        let mut model = lock(&self.model);
        let now = model.now();
        let Some(repo) = model.repos.get_mut(&self.id) else {
            return String::new();
        };
        let tip = repo
            .branches
            .get(branch)
            .or_else(|| repo.branches.get(&repo.default_branch));
        let tip = tip.cloned();
        let sha = repo.commit(tip.as_deref(), changed);
        repo.branches.insert(branch.to_owned(), sha.clone());
        repo.pushed_at = now;
        sha
    }

    /// Opens a pull request.
    pub fn open_pull(&self, new: NewPull) -> Pull {
        let mut model = lock(&self.model);
        let author = new.author.clone();
        if let Some(login) = &author {
            model.person(login);
        }
        let source = match &new.fork {
            None => Source::Same,
            Some(full_name) => {
                model.person(full_name.split('/').next().unwrap_or_default());
                Source::Fork {
                    full_name: full_name.clone(),
                    id: model.fresh_id(),
                }
            }
        };
        let (id, now) = (model.fresh_id(), model.now());
        let mut number = 0;
        if let Some(repo) = model.repos.get_mut(&self.id) {
            number = new.number.unwrap_or(repo.last_number + 1);
            repo.last_number = repo.last_number.max(number);
            let base_ref = new
                .base
                .clone()
                .unwrap_or_else(|| repo.default_branch.clone());
            let base_sha = repo.resolve(Some(&base_ref)).unwrap_or_default().to_owned();
            let changed = if new.files.is_empty() {
                vec![(
                    format!("change-{number}.txt"),
                    Entry::from(format!("{}\n", new.title)),
                )]
            } else {
                new.files
            };
            let mut head_sha = repo.commit(Some(&base_sha), changed);
            if let Some(sha) = new.sha {
                let tree = repo.tree(&head_sha);
                repo.commits.remove(&head_sha);
                head_sha = repo.store(sha, tree, Some(&base_sha));
            }
            let head_ref = new.branch.unwrap_or_else(|| format!("topic-{number}"));
            if source == Source::Same {
                repo.branches.insert(head_ref.clone(), head_sha.clone());
            }
            let pull = PullData {
                id,
                number,
                title: new.title,
                body: new.body,
                author,
                open: true,
                merged_at: None,
                closed_at: None,
                draft: new.draft,
                labels: Vec::new(),
                source,
                head_ref,
                heads: vec![head_sha.clone()],
                head_sha,
                base_ref,
                base_sha,
                created_at: now,
                updated_at: now,
                vanished: false,
                diff: None,
                size: None,
                events: Vec::new(),
                comments: Vec::new(),
                reviews: Vec::new(),
            };
            repo.pulls.insert(number, pull);
        }
        Pull {
            model: Arc::clone(&self.model),
            repo: self.id,
            number,
        }
    }

    /// The pull request of that number, if there is one.
    pub fn pull(&self, number: u64) -> Option<Pull> {
        let known = self.change(|repo| repo.pulls.contains_key(&number));
        known.then(|| Pull {
            model: Arc::clone(&self.model),
            repo: self.id,
            number,
        })
    }

    /// All pull requests, by number.
    pub fn pulls(&self) -> Vec<Pull> {
        let numbers: Vec<u64> = self.change(|repo| repo.pulls.keys().copied().collect());
        numbers
            .into_iter()
            .filter_map(|number| self.pull(number))
            .collect()
    }

    /// Gives it another name, `owner/name`: the former one answers 301 to reads and 307 to writes.
    pub fn rename(&self, full_name: &str) {
        let mut model = lock(&self.model);
        let (owner, name) = full_name.split_once('/').unwrap_or(("acme", full_name));
        model.person(owner);
        if let Some(repo) = model.repos.get_mut(&self.id) {
            let former = repo.full_name().to_lowercase();
            owner.clone_into(&mut repo.owner);
            name.clone_into(&mut repo.name);
            model.moved.remove(&full_name.to_lowercase());
            model.moved.insert(former, self.id);
        }
    }

    /// Makes it private: whoever is neither owner nor member sees a 404.
    pub fn make_private<'a>(&self, members: impl IntoIterator<Item = &'a str>) {
        self.change(|repo| {
            repo.private = true;
            repo.members = members.into_iter().map(str::to_lowercase).collect();
        });
    }

    /// Puts something between tokens and it, or takes it away.
    pub fn set_barrier(&self, barrier: Barrier) {
        self.change(|repo| repo.barrier = barrier);
    }

    /// Archives it: reads go on, writes are a 403.
    pub fn archive(&self) {
        self.change(|repo| repo.archived = true);
    }

    /// Deletes it: 404 from now on.
    pub fn delete(&self) {
        lock(&self.model).repos.remove(&self.id);
    }

    /// What the download host sends for a commit instead of its files.
    pub fn set_archive(&self, sha: &str, archive: Archive) {
        self.change(|repo| repo.archives.insert(sha.to_owned(), archive));
    }
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Repository({})", self.full_name())
    }
}
