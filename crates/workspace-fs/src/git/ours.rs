//! The repository that we make beside a workspace: our configuration, our references, and objects
//! that were taken over as data.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;

use super::argument::GitRemote;
use super::classify::failure;
use super::objects::{self, ObjectFormat};
use super::process::Input;
use super::runner::{Call, GitRunner, Output, args};
use super::theirs::Theirs;
use crate::beneath::Dir;
use crate::error::WorkspaceError;
use crate::offload::blocking;
use crate::workspace::{FinishDir, Workspace};

/// Our repository. Its directory goes when this value goes.
#[derive(Debug)]
pub(super) struct Ours {
    runner: GitRunner,
    finish: FinishDir,
    workspace: Workspace,
    /// Whether the file system keeps the executable bit.
    pub file_modes: bool,
}

/// Where a command of ours runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In our repository, with no work tree at all.
    Repository,
    /// In our repository, with the workspace as its work tree.
    WorkTree,
    /// The same, started in the workspace's top directory.
    InWorkTree,
}

impl Ours {
    /// Makes an empty repository.
    pub(super) async fn make(
        runner: &GitRunner,
        workspace: &Workspace,
        format: ObjectFormat,
    ) -> Result<Self, WorkspaceError> {
        let finish = {
            let workspace = workspace.clone();
            blocking("preparing to finish", move || workspace.finish_dir()).await?
        };
        let mut ours = Self {
            runner: runner.clone(),
            finish,
            workspace: workspace.clone(),
            file_modes: true,
        };
        let object_format = format!("--object-format={}", format.name());
        ours.ok(
            "git init",
            &["init", "--quiet", "--bare", "--template=", &object_format],
        )
        .await?;
        let config = ours.finish.open()?.read(OsStr::new("config"), 64 << 10);
        let config = config.map_err(|source| ours.io("read", source))?;
        let config = String::from_utf8(config.unwrap_or_default()).unwrap_or_default();
        ours.file_modes = !config.contains("filemode = false");
        Ok(ours)
    }

    pub(super) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    pub(super) fn runner(&self) -> &GitRunner {
        &self.runner
    }

    /// Takes over the objects of the workspace, its exclude list, and the boundary of its history.
    pub(super) async fn take_over(
        &self,
        theirs: Theirs,
        base_sha: &str,
    ) -> Result<(), WorkspaceError> {
        let budget = self.runner.limits().max_object_bytes;
        let (store, ours) = (theirs.objects, self.finish.open()?);
        let path = self.workspace.path().join(".git/objects");
        let format = ObjectFormat::of(base_sha);
        let (exclude, info) = (theirs.exclude, self.finish.path().join("info"));
        let packs = blocking("copying objects", move || {
            write_new(&ours, "info", "exclude", &exclude)
                .map_err(|source| WorkspaceError::io("write", &info, source))?;
            let Some(store) = store else {
                return Ok(Vec::new());
            };
            let failed = |source| WorkspaceError::io("copy", &path, source);
            let own = ours.sub(OsStr::new("objects")).map_err(failed)?;
            objects::take_loose(&store, &own, format, budget).map_err(failed)?;
            objects::packs(&store, budget).map_err(failed)
        })
        .await?;
        for pack in packs {
            // Every object in it is named anew by its content. A damaged pack is passed over: if
            // something in it is needed, that shows later.
            let limit = format!("--max-input-size={budget}");
            let index = ["index-pack", "--stdin", &limit];
            self.run(
                "git index-pack",
                &index,
                Input::File(pack),
                Place::Repository,
            )
            .await?;
        }
        let boundary = self.commits_among(&theirs.shallow).await?;
        self.set_boundary(boundary.into_iter().chain([base_sha.to_owned()]))
    }

    /// Cuts history off at these commits, as if their parents did not exist.
    fn set_boundary(&self, commits: impl Iterator<Item = String>) -> Result<(), WorkspaceError> {
        let list: String = commits.map(|sha| sha + "\n").collect();
        let path = self.finish.path().join("shallow");
        std::fs::write(&path, list).map_err(|source| WorkspaceError::io("write", &path, source))
    }

    /// Those of some object ids that are commits here.
    async fn commits_among(&self, ids: &[String]) -> Result<Vec<String>, WorkspaceError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let input = Input::Bytes((ids.join("\n") + "\n").into_bytes());
        let check = ["cat-file", "--batch-check=%(objecttype) %(objectname)"];
        let output = self
            .run("git cat-file", &check, input, Place::Repository)
            .await?;
        Ok(String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter_map(|line| line.strip_prefix("commit "))
            .map(str::to_owned)
            .collect())
    }

    /// Whether a commit and all that belongs to its tree is here.
    pub(super) async fn has_tree_of(&self, sha: &str) -> Result<bool, WorkspaceError> {
        let all = ["rev-list", "--objects", "--quiet", "--max-count=1", sha];
        self.succeeds("git rev-list", &all).await
    }

    /// Whether a commit descends from the base, with all of its history and content here.
    pub(super) async fn continues(&self, sha: &str, base: &str) -> Result<bool, WorkspaceError> {
        let descends = ["merge-base", "--is-ancestor", base, sha];
        let whole = ["rev-list", "--objects", "--quiet", sha, "--not", base];
        Ok(self.succeeds("git merge-base", &descends).await?
            && self.succeeds("git rev-list", &whole).await?)
    }

    /// Whether `ancestor` is in the history of `sha` (or is `sha`).
    pub(super) async fn is_ancestor(
        &self,
        ancestor: &str,
        sha: &str,
    ) -> Result<bool, WorkspaceError> {
        let call = ["merge-base", "--is-ancestor", ancestor, sha];
        self.succeeds("git merge-base", &call).await
    }

    /// Number of commits after the base.
    pub(super) async fn count(&self, base: &str, sha: &str) -> Result<u64, WorkspaceError> {
        let range = format!("{base}..{sha}");
        let count = self
            .line("git rev-list", &["rev-list", "--count", &range])
            .await?;
        Ok(count.parse().unwrap_or(0))
    }

    /// The tree of a commit.
    pub(super) async fn tree_of(&self, sha: &str) -> Result<String, WorkspaceError> {
        let spec = format!("{sha}^{{tree}}");
        self.line("git rev-parse", &["rev-parse", "--verify", &spec])
            .await
    }

    /// Fetches one commit, without its history.
    pub(super) async fn fetch(&self, remote: &GitRemote, sha: &str) -> Result<(), WorkspaceError> {
        let boundary = self.finish.path().join("shallow");
        let _absent = std::fs::remove_file(&boundary);
        let fetch = [
            "fetch",
            "--quiet",
            "--depth=1",
            "--no-tags",
            "--",
            remote.url(),
            sha,
        ];
        let call = self.call("git fetch", &fetch, Input::Nothing, Place::Repository);
        let output = self
            .runner
            .run(Call {
                remote: Some(remote),
                ..call
            })
            .await?;
        if output.code != Some(0) {
            return Err(failure(&output, None));
        }
        self.set_boundary([sha.to_owned()].into_iter())
    }

    /// Writes a file into our repository's directory that was not there.
    pub(super) fn write(&self, name: &str, content: &[u8]) -> Result<(), WorkspaceError> {
        let path = self.finish.path().join(name);
        std::fs::write(&path, content).map_err(|source| WorkspaceError::io("write", &path, source))
    }

    /// A command whose success is expected; its standard output.
    pub(super) async fn ok(
        &self,
        name: &'static str,
        arguments: &[&str],
    ) -> Result<Vec<u8>, WorkspaceError> {
        self.ok_with(name, arguments, Input::Nothing, Place::Repository)
            .await
    }

    /// The same, with something to read and a place.
    pub(super) async fn ok_with(
        &self,
        name: &'static str,
        arguments: &[&str],
        input: Input,
        place: Place,
    ) -> Result<Vec<u8>, WorkspaceError> {
        let output = self.run(name, arguments, input, place).await?;
        match output.code {
            Some(0) => Ok(output.stdout),
            _ => Err(failure(&output, None)),
        }
    }

    /// A command that answers with one line.
    pub(super) async fn line(
        &self,
        name: &'static str,
        arguments: &[&str],
    ) -> Result<String, WorkspaceError> {
        let output = self.ok(name, arguments).await?;
        Ok(String::from_utf8_lossy(&output).trim().to_owned())
    }

    async fn succeeds(
        &self,
        name: &'static str,
        arguments: &[&str],
    ) -> Result<bool, WorkspaceError> {
        let place = Place::Repository;
        let output = self.run(name, arguments, Input::Nothing, place).await?;
        Ok(output.code == Some(0))
    }

    /// A command, whatever its exit code.
    pub(super) async fn run(
        &self,
        name: &'static str,
        arguments: &[&str],
        input: Input,
        place: Place,
    ) -> Result<Output, WorkspaceError> {
        self.runner
            .run(self.call(name, arguments, input, place))
            .await
    }

    /// A command in our repository, to be changed or run.
    pub(super) fn call(
        &self,
        name: &'static str,
        arguments: &[&str],
        input: Input,
        place: Place,
    ) -> Call<'_> {
        let mut env = vec![("GIT_DIR", self.finish.path().into())];
        if place != Place::Repository {
            env.push(("GIT_WORK_TREE", self.workspace.path().into()));
        }
        Call {
            name,
            args: args(arguments),
            dir: match place {
                Place::InWorkTree => self.workspace.path(),
                _ => self.finish.path(),
            },
            env,
            input,
            remote: None,
        }
    }

    pub(super) fn path(&self) -> &Path {
        self.finish.path()
    }

    fn io(&self, action: &'static str, source: std::io::Error) -> WorkspaceError {
        WorkspaceError::io(action, self.finish.path(), source)
    }
}

/// Writes a file into a directory that is made for it.
fn write_new(dir: &Dir, sub: &str, name: &str, content: &[u8]) -> std::io::Result<()> {
    let sub = OsStr::new(sub);
    dir.make_sub(sub, 0o700)?;
    let mut file = dir.sub(sub)?.create_file(OsStr::new(name), 0o600)?;
    file.write_all(content)
}
