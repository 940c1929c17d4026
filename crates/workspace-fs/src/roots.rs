//! Which directories are ours: the folder of one automation below the current `WORKSPACE_BASE`, and
//! below those of earlier runs.
//!
//! Source of the rules: the `workspace_dir` sections of the schema documents and rule 7 of the
//! architecture. In local mode the base is `{root}/automation-runs/{run_id}` and differs from run
//! to run, so a record may name a directory below a sibling of the current base.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::beneath::Kind;
use crate::error::WorkspaceError;
use crate::names::{finish_name, safe_name};
use crate::offload::blocking;
use crate::place::{Place, create_at, open_parents, open_step, replaced};
use crate::tree;
use crate::workspace::{Workspace, read_beneath};

/// Name of the directory that holds one directory per run in local mode.
const RUNS: &str = "automation-runs";
/// How often a creation is tried while somebody else tidies up the folder it goes into.
const CREATE_ATTEMPTS: usize = 8;

/// Folder of an automation below the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// `news-digest/{date}`.
    NewsDigest,
    /// `repositories/{owner}__{repo}/pr-{n}-{sha12}`.
    Repositories,
    /// `issue-to-mr/{group}__{project}/issue-{iid}-{event}`.
    IssueToMr,
}

impl Area {
    /// The folder's name.
    pub fn folder(self) -> &'static str {
        match self {
            Self::NewsDigest => "news-digest",
            Self::Repositories => "repositories",
            Self::IssueToMr => "issue-to-mr",
        }
    }

    /// Number of name parts of a workspace below the folder.
    pub fn parts(self) -> usize {
        match self {
            Self::NewsDigest => 1,
            Self::Repositories | Self::IssueToMr => 2,
        }
    }
}

/// The roots of one automation. Everything it makes or removes lies below them.
#[derive(Clone, Debug)]
pub struct WorkspaceRoots {
    area: Area,
    base: PathBuf,
    runs: Option<PathBuf>,
}

impl WorkspaceRoots {
    /// Roots for an automation. `workspace_base` is the value of `WORKSPACE_BASE`; it need not
    /// exist yet.
    pub fn new(workspace_base: impl Into<PathBuf>, area: Area) -> Result<Self, WorkspaceError> {
        let given: PathBuf = workspace_base.into();
        let Some(base) = plain_absolute(&given) else {
            return Err(WorkspaceError::InvalidBase { path: given });
        };
        let parent = base.parent();
        let runs = parent.filter(|parent| parent.file_name() == Some(OsStr::new(RUNS)));
        Ok(Self {
            area,
            runs: runs.map(Path::to_owned),
            base,
        })
    }

    /// The path that [`create`](Self::create) gives for these name parts.
    pub fn path_of(&self, parts: &[impl AsRef<str>]) -> PathBuf {
        let mut path = self.base.join(self.area.folder());
        path.extend(parts.iter().map(|part| safe_name(part.as_ref())));
        path
    }

    /// Makes an empty workspace, private to its owner. The parts are made safe, whatever they are.
    ///
    /// What stands there already was left by a run that died; the caller holds the claim, so it is
    /// removed first. A crash in between leaves at most an empty directory, which the next call or
    /// [`remove`](Self::remove) deals with.
    pub async fn create(&self, parts: &[impl AsRef<str>]) -> Result<Workspace, WorkspaceError> {
        let names: Vec<String> = parts.iter().map(|part| safe_name(part.as_ref())).collect();
        let roots = self.clone();
        blocking("making a workspace", move || roots.create_now(&names)).await
    }

    /// Removes a workspace and what finishing left beside it. `false` when it was gone already.
    ///
    /// Only a workspace below our own roots is removed: never a root, never a target's folder that
    /// still holds others (an empty one is tidied away), nothing behind a link. The caller knows
    /// that the conversation has stopped (rule 7). May be repeated; a crash leaves less to remove.
    pub async fn remove(&self, dir: &Path) -> Result<bool, WorkspaceError> {
        let (roots, dir) = (self.clone(), dir.to_owned());
        blocking("removing a workspace", move || roots.remove_now(&dir)).await
    }

    /// The workspace at a path that a record names; `None` when it is gone.
    pub async fn find(&self, dir: &Path) -> Result<Option<Workspace>, WorkspaceError> {
        let (roots, dir) = (self.clone(), dir.to_owned());
        blocking("looking for a workspace", move || roots.find_now(&dir)).await
    }

    /// Reads a regular file below a workspace as text (lossily), never through a link; `None` when
    /// there is none. A longer one is cut at `max` bytes. `relative` must not go up with `..`.
    pub async fn read_file(
        &self,
        dir: &Path,
        relative: &Path,
        max: u64,
    ) -> Result<Option<String>, WorkspaceError> {
        let (roots, dir, relative) = (self.clone(), dir.to_owned(), relative.to_owned());
        blocking("reading a file", move || {
            let Some(workspace) = roots.find_now(&dir)? else {
                return Ok(None);
            };
            read_beneath(&workspace, &relative, max)
        })
        .await
    }

    fn create_now(&self, names: &[String]) -> Result<Workspace, WorkspaceError> {
        if names.len() != self.area.parts() {
            return Err(WorkspaceError::NameParts {
                area: self.area.folder(),
                expected: self.area.parts(),
                found: names.len(),
            });
        }
        std::fs::create_dir_all(&self.base)
            .map_err(|source| WorkspaceError::io("create", &self.base, source))?;
        let mut steps = vec![OsString::from(self.area.folder())];
        steps.extend(names.iter().map(OsString::from));
        let place = Place {
            anchor: self.base.clone(),
            steps,
        };
        for _ in 1..CREATE_ATTEMPTS {
            match create_at(&place) {
                // An empty target folder was tidied away under our feet.
                Err(WorkspaceError::Io { source, .. })
                    if source.kind() == io::ErrorKind::NotFound => {}
                other => return other,
            }
        }
        create_at(&place)
    }

    fn remove_now(&self, dir: &Path) -> Result<bool, WorkspaceError> {
        let place = self.place(dir)?;
        let Some(chain) = open_parents(&place)? else {
            return Ok(false);
        };
        let (Some(parent), Some(name)) = (chain.last(), place.steps.last()) else {
            return Err(self.outside(dir));
        };
        let finish = finish_name(name);
        tree::remove(parent, &finish, &dir.with_file_name(&finish))?;
        let failed = |source| WorkspaceError::io("examine", dir, source);
        let existed = match parent.kind(name).map_err(failed)? {
            Some(Kind::Link) => return Err(replaced(dir, Kind::Link)),
            found => found.is_some(),
        };
        tree::remove(parent, name, dir)?;
        // The target's folder goes when it is empty; the automation's folder stays.
        if self.area.parts() == 2
            && let [.., above, _] = chain.as_slice()
            && let [.., target, _] = place.steps.as_slice()
        {
            let _still_in_use = above.remove_dir(target);
        }
        Ok(existed)
    }

    fn find_now(&self, dir: &Path) -> Result<Option<Workspace>, WorkspaceError> {
        let mut place = self.place(dir)?;
        let Some(mut chain) = open_parents(&place)? else {
            return Ok(None);
        };
        let (Some(parent), Some(name)) = (chain.pop(), place.steps.pop()) else {
            return Err(self.outside(dir));
        };
        let opened = open_step(&parent, &name, dir)?;
        Ok(opened.map(|opened| Workspace::new(dir.to_owned(), name, parent, opened)))
    }

    /// Takes a path apart, if it is that of a workspace below one of our roots.
    fn place(&self, dir: &Path) -> Result<Place, WorkspaceError> {
        let plain = plain_absolute(dir).ok_or_else(|| self.outside(dir))?;
        // A root is trusted, also when the path to it goes over links.
        for base in spellings(&self.base) {
            if let Ok(below) = plain.strip_prefix(&base)
                && let Some(steps) = self.steps(below, 0)
            {
                return Ok(Place {
                    anchor: base,
                    steps,
                });
            }
        }
        for runs in self.runs.iter().flat_map(|runs| spellings(runs)) {
            if let Ok(below) = plain.strip_prefix(&runs)
                && let Some(steps) = self.steps(below, 1)
            {
                return Ok(Place {
                    anchor: runs,
                    steps,
                });
            }
        }
        Err(self.outside(dir))
    }

    /// The names of `{before…}/{area}/{parts…}`, or `None` for any other shape.
    fn steps(&self, below: &Path, before: usize) -> Option<Vec<OsString>> {
        let steps: Vec<OsString> = below.iter().map(OsStr::to_owned).collect();
        let fits =
            steps.len() == before + 1 + self.area.parts() && steps[before] == self.area.folder();
        fits.then_some(steps)
    }

    fn outside(&self, dir: &Path) -> WorkspaceError {
        let base = self.base.join(self.area.folder());
        let below = if self.area.parts() == 1 { "*" } else { "*/*" };
        let mut expected = format!("{}/{below}", base.display());
        if let Some(runs) = &self.runs {
            let folder = self.area.folder();
            expected.push_str(&format!(" or {}/*/{folder}/{below}", runs.display()));
        }
        WorkspaceError::OutsideRoots {
            dir: dir.to_owned(),
            expected,
        }
    }
}

/// The path without `.` and doubled slashes; `None` when it is relative or goes up.
fn plain_absolute(path: &Path) -> Option<PathBuf> {
    let plain: PathBuf = path.components().collect();
    let up = plain.components().any(|part| part == Component::ParentDir);
    (plain.is_absolute() && !up).then_some(plain)
}

/// A root as it was given, and as it is once its links are resolved.
fn spellings(root: &Path) -> Vec<PathBuf> {
    let mut all = vec![root.to_owned()];
    all.extend(std::fs::canonicalize(root).ok().filter(|real| real != root));
    all
}
