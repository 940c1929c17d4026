//! The project's repository: commits, branches and merge requests.

use super::{SECOND, World};
use lifecycle::ports::{MergeRequest, MergeRequestDraft, PushError, PushRequest, Pushed, Work};
use std::collections::BTreeMap;

/// A moment after a push the forge does not know the branch yet.
const UNKNOWN_FOR: u64 = SECOND * 3 / 2;

/// Commits, branches, merge requests.
#[derive(Debug, Default)]
pub(crate) struct Git {
    /// Each commit and its parent.
    commits: BTreeMap<String, String>,
    /// Each branch, its commit, and since when it exists.
    pub(crate) branches: BTreeMap<String, (String, u64)>,
    pub(crate) merge_requests: Vec<MergeRequest>,
}

/// A name for something, as long as a commit's.
pub(crate) fn sha_of(text: &str) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    let low = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("{hash:016x}{low:016x}{:08x}", hash >> 32)
}

impl Git {
    pub(crate) fn commit(&mut self, parent: &str, content: &str) -> String {
        let sha = sha_of(&format!("{parent}\n{content}"));
        self.commits.insert(sha.clone(), parent.to_owned());
        sha
    }

    /// How many steps it is from a commit back to another; `None` when that is no ancestor.
    pub(crate) fn distance(&self, from: &str, to: &str) -> Option<u64> {
        let mut at = from;
        let mut steps = 0;
        while at != to {
            at = self.commits.get(at)?;
            steps += 1;
        }
        Some(steps)
    }

    /// Moves a branch forward, never by force.
    pub(crate) fn advance(&mut self, branch: &str, sha: &str, now: u64) -> bool {
        match self.branches.get(branch) {
            None => {
                self.branches
                    .insert(branch.to_owned(), (sha.to_owned(), now));
                true
            }
            Some((head, since)) if self.distance(sha, head).is_some() => {
                let since = *since;
                self.branches
                    .insert(branch.to_owned(), (sha.to_owned(), since));
                true
            }
            Some(_) => false,
        }
    }
}

impl World {
    /// The clone in a directory of a run.
    fn clone_in(&self, run: usize, dir: &str) -> Result<&super::Checkout, PushError> {
        let home = self.home_of(run);
        self.disk
            .folders
            .get(&(home, dir.to_owned()))
            .and_then(|folder| folder.clone.as_ref())
            .ok_or_else(|| PushError::Clone(format!("{dir} is gone")))
    }

    pub(crate) fn inspect(&self, run: usize, dir: &str, base: &str) -> Result<Work, PushError> {
        let clone = self.clone_in(run, dir)?;
        let commits = self.git.distance(&clone.tip, base).unwrap_or(0);
        Ok(Work {
            commits,
            uncommitted: clone.has_leftovers,
        })
    }

    pub(crate) fn push(&mut self, run: usize, request: &PushRequest) -> Result<Pushed, PushError> {
        let clone = self.clone_in(run, &request.dir)?.clone();
        let sha = if clone.has_leftovers {
            let content = format!("{} {}", request.message, request.committed_at);
            self.git.commit(&clone.tip, &content)
        } else {
            clone.tip
        };
        let Some(commits) = self.git.distance(&sha, &request.base_sha) else {
            return Err(PushError::Clone("no common history".into()));
        };
        if commits == 0 {
            return Err(PushError::Refused("nothing to push".into()));
        }
        let now = self.now;
        if self.git.advance(&request.branch, &sha, now) {
            Ok(Pushed { sha, commits })
        } else {
            Err(PushError::Taken(request.branch.clone()))
        }
    }

    /// Opens a merge request, or says with which status not.
    pub(crate) fn open_merge_request(
        &mut self,
        draft: &MergeRequestDraft,
        author: &str,
        task: Option<&str>,
    ) -> Result<MergeRequest, u16> {
        let Some((head, since)) = self.git.branches.get(&draft.source_branch).cloned() else {
            return Err(400);
        };
        if self.now < since + UNKNOWN_FOR {
            return Err(400);
        }
        let is_open = |opened: &MergeRequest| {
            opened.source_branch == draft.source_branch && opened.state == "opened"
        };
        if self.git.merge_requests.iter().any(is_open) {
            return Err(409);
        }
        let iid = self.git.merge_requests.len() as u64 + 1;
        let request = MergeRequest {
            iid,
            web_url: format!(
                "https://forge.example/{}/-/merge_requests/{iid}",
                super::TARGET
            ),
            state: "opened".into(),
            created_at: lifecycle::moment::rfc3339(self.forge_time()),
            source_branch: draft.source_branch.clone(),
            same_project: true,
            sha: Some(head),
            author: Some(author.to_owned()),
            description: draft.description.clone(),
        };
        self.check_text("the description of a merge request", &draft.description);
        self.check_text("the title of a merge request", &draft.title);
        self.counts.told += 1;
        self.watch_merge_request(task, iid);
        self.git.merge_requests.push(request.clone());
        Ok(request)
    }
}
