//! What an agent left in a clone: which commit its work ends with, and what it did not commit.

use std::fmt;

use super::argument::{GitRemote, check_branch, check_sha};
use super::objects::ObjectFormat;
use super::ours::Ours;
use super::runner::GitRunner;
use super::snapshot::snapshot;
use super::theirs::{self, Theirs};
use crate::error::WorkspaceError;
use crate::offload::blocking;
use crate::workspace::Workspace;

/// The work found in a clone, held in a repository of ours until this value goes.
#[derive(Debug)]
pub struct Work {
    pub(super) ours: Ours,
    pub(super) base: String,
    /// The commit to push, or to put the leftovers on.
    pub(super) tip: String,
    /// The tree to commit on top of it, if it is another one.
    pub(super) leftovers: Option<String>,
    commits: u64,
    rebuilt: Option<&'static str>,
    left_out: LeftOut,
}

/// Entries of the work tree that are not taken along, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Repositories inside the work tree that are no submodules.
    pub nested_repositories: u64,
    /// FIFOs, sockets and devices. They were removed, since opening one waits for ever.
    pub special_files: u64,
    /// Files over [`GitLimits::max_file_bytes`](crate::GitLimits::max_file_bytes).
    pub too_large: u64,
    /// Files that may not be read.
    pub unreadable: u64,
    /// Names that git or a host would refuse (`.GIT`, a link named `.gitmodules`).
    pub unsafe_names: u64,
}

impl LeftOut {
    /// How many entries there are.
    pub fn total(&self) -> u64 {
        self.counts().iter().map(|(count, _)| count).sum()
    }

    fn counts(&self) -> [(u64, &'static str); 5] {
        [
            (self.nested_repositories, "nested repositories"),
            (self.special_files, "special files"),
            (self.too_large, "files that are too large"),
            (self.unreadable, "unreadable files"),
            (self.unsafe_names, "names that git refuses"),
        ]
    }
}

/// In words for the log: `nested repositories: 1`, or `nothing`.
impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (count, what) in self.counts() {
            if count > 0 {
                write!(f, "{separator}{what}: {count}")?;
                separator = ", ";
            }
        }
        if separator.is_empty() {
            f.write_str("nothing")?;
        }
        Ok(())
    }
}

impl Work {
    /// Commits on top of the base. Of a history that could not be taken over, none count.
    pub fn commits(&self) -> u64 {
        self.commits
    }

    /// Whether there are changes that were not committed. Ignored files do not count.
    pub fn uncommitted(&self) -> bool {
        self.leftovers.is_some()
    }

    /// Whether there is nothing to push.
    pub fn is_empty(&self) -> bool {
        self.commits == 0 && self.leftovers.is_none()
    }

    /// Why the agent's own commits are not used and its files become one commit on the base, if
    /// that is so.
    pub fn rebuilt(&self) -> Option<&'static str> {
        self.rebuilt
    }

    /// What is not taken along.
    pub fn left_out(&self) -> &LeftOut {
        &self.left_out
    }
}

/// What to build on, and what to compare the work tree with.
struct Choice {
    tip: String,
    /// The commit that the work tree was checked out from, as far as can be told.
    checked_out: String,
    rebuilt: Option<&'static str>,
}

impl GitRunner {
    /// Reads what an agent left in a clone that [`clone_shallow`](Self::clone_shallow) made, without
    /// obeying anything in it. Nothing is pushed; the workspace stays as it is, except that special
    /// files are removed and permissions repaired.
    ///
    /// The work is what `HEAD` names, or what `branch` names if the agent has left it for something
    /// that holds no work. If neither descends from `base_sha` (history rewritten, `.git` replaced,
    /// objects missing or borrowed from elsewhere), the files as they are become one commit on the
    /// base: nothing is lost, and what is pushed still starts at the base. Only when the base itself
    /// is not in the clone any more is it fetched from `remote`; without a remote that is an error.
    ///
    /// May be repeated. A crash leaves a directory beside the workspace that goes with it.
    pub async fn inspect(
        &self,
        workspace: &Workspace,
        base_sha: &str,
        branch: Option<&str>,
        remote: Option<&GitRemote>,
    ) -> Result<Work, WorkspaceError> {
        check_sha(base_sha)?;
        branch.map_or(Ok(()), check_branch)?;
        let ours = Ours::make(self, workspace, ObjectFormat::of(base_sha)).await?;
        let mut theirs = {
            let (workspace, branch) = (workspace.clone(), branch.map(str::to_owned));
            blocking("reading the clone", move || {
                theirs::read(&workspace, branch.as_deref())
            })
            .await?
        };
        let (head, named, sparse) = (theirs.head.take(), theirs.branch.take(), theirs.sparse);
        ours.take_over(theirs, base_sha).await?;
        if !ours.has_tree_of(base_sha).await? {
            let Some(remote) = remote else {
                return Err(WorkspaceError::CloneUnreadable {
                    dir: workspace.path().to_owned(),
                    reason: format!("the commit {base_sha} that it started from is not in it"),
                });
            };
            ours.fetch(remote, base_sha).await?;
        }
        let theirs = Theirs {
            head,
            branch: named,
            ..Theirs::default()
        };
        let mut choice = choose(&ours, &theirs, base_sha).await?;
        let taken = snapshot(&ours, &choice.checked_out, sparse).await?;
        let mut changed = taken.tree != ours.tree_of(&choice.checked_out).await?;
        // The agent went back to look at something and left its branch with the work.
        if !changed
            && let Some(named) = &theirs.branch
            && *named != choice.tip
            && !ours.is_ancestor(named, &choice.tip).await?
            && ours.continues(named, base_sha).await?
        {
            choice = Choice {
                tip: named.clone(),
                checked_out: named.clone(),
                rebuilt: None,
            };
        } else if choice.tip != choice.checked_out {
            changed = taken.tree != ours.tree_of(&choice.tip).await?;
        }
        Ok(Work {
            commits: ours.count(base_sha, &choice.tip).await?,
            base: base_sha.to_owned(),
            tip: choice.tip,
            leftovers: changed.then_some(taken.tree),
            rebuilt: choice.rebuilt,
            left_out: taken.left_out,
            ours,
        })
    }
}

/// Decides what to build on from what `HEAD` and the branch name.
async fn choose(ours: &Ours, theirs: &Theirs, base: &str) -> Result<Choice, WorkspaceError> {
    let choice = |tip: &str, checked_out: &str, rebuilt| Choice {
        tip: tip.to_owned(),
        checked_out: checked_out.to_owned(),
        rebuilt,
    };
    let head = theirs.head.as_deref();
    if let Some(head) = head {
        if ours.continues(head, base).await? {
            return Ok(choice(head, head, None));
        }
        if ours.has_tree_of(head).await? {
            let why = "its history does not start at the base commit";
            return Ok(choice(base, head, Some(why)));
        }
    }
    // The files are all there is; they are compared with the branch, if that is whole.
    if let Some(named) = &theirs.branch
        && head != Some(named)
        && ours.continues(named, base).await?
    {
        return Ok(choice(named, named, None));
    }
    let why = match head {
        Some(_) => "its commits are not whole",
        None => "its .git is not that of the clone any more",
    };
    Ok(choice(base, base, Some(why)))
}
