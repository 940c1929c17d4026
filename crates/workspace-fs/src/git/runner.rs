//! The one place that runs git: which git, and what becomes of a command.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::argument::GitRemote;
use super::credential::clean_git_output;
use super::process::{self, Input, Spec};
use super::settings::{GitLimits, GitSettings, environment};
use crate::error::WorkspaceError;

/// The oldest git that takes all its settings from the environment.
const MINIMUM: &str = "2.32";
/// Runs git. The only thing in the project that does.
#[derive(Clone, Debug)]
pub struct GitRunner {
    program: PathBuf,
    settings: GitSettings,
}

/// A git command to be run.
pub(super) struct Call<'a> {
    /// For error texts, such as `git push`.
    pub name: &'static str,
    pub args: Vec<OsString>,
    /// Working directory.
    pub dir: &'a Path,
    pub env: Vec<(&'static str, OsString)>,
    pub input: Input,
    /// Where the command talks to, if it does.
    pub remote: Option<&'a GitRemote>,
}

/// What became of it.
#[derive(Debug)]
pub(super) struct Output {
    pub name: &'static str,
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    /// Standard error, cleaned.
    pub stderr: String,
}

impl GitRunner {
    /// Finds git on the search path and checks its version.
    pub async fn find(settings: GitSettings) -> Result<Self, WorkspaceError> {
        let dirs = std::env::split_paths(&settings.search_path);
        let program = dirs
            .filter(|dir| dir.is_absolute())
            .map(|dir| dir.join("git"))
            .find(|file| is_executable(file))
            .ok_or(WorkspaceError::GitMissing { minimum: MINIMUM })?;
        let runner = Self { program, settings };
        let output = runner
            .run(Call {
                name: "git version",
                args: vec!["version".into()],
                dir: Path::new("/"),
                env: Vec::new(),
                input: Input::Nothing,
                remote: None,
            })
            .await?;
        let found = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if version(&found) < version(MINIMUM) {
            return Err(WorkspaceError::GitTooOld {
                path: runner.program,
                found,
                minimum: MINIMUM,
            });
        }
        Ok(runner)
    }

    pub(super) fn limits(&self) -> &GitLimits {
        &self.settings.limits
    }

    /// Runs a command to its end, whatever its exit code.
    pub(super) async fn run(&self, call: Call<'_>) -> Result<Output, WorkspaceError> {
        let credential = call.remote.and_then(GitRemote::credential);
        let local = call.remote.is_some_and(GitRemote::is_local);
        if local && !self.settings.local_remotes {
            return Err(WorkspaceError::GitArgument {
                what: "address",
                value: call
                    .remote
                    .map(GitRemote::url)
                    .unwrap_or_default()
                    .to_owned(),
                reason: "only https and http are used",
            });
        }
        let mut env = environment(&self.settings, call.remote);
        env.extend(
            call.env
                .into_iter()
                .map(|(name, value)| (name.into(), value)),
        );
        let ended = process::run(Spec {
            program: self.program.clone(),
            args: call.args,
            dir: call.dir.to_owned(),
            env,
            input: call.input,
            timeout: self.settings.timeout,
        })
        .await
        .map_err(|source| WorkspaceError::io("run", &self.program, source))?;
        let ended = ended.ok_or(WorkspaceError::GitTimeout {
            call: call.name,
            seconds: self.settings.timeout.as_secs(),
        })?;
        Ok(Output {
            name: call.name,
            code: ended.status.code(),
            stdout: ended.stdout,
            stderr: clean_git_output(&String::from_utf8_lossy(&ended.stderr), credential),
        })
    }
}

/// Arguments, from text.
pub(super) fn args<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Vec<OsString> {
    args.into_iter()
        .map(|arg| arg.as_ref().to_owned())
        .collect()
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// The first two numbers of a version text.
fn version(text: &str) -> (u32, u32) {
    let mut numbers = text
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare() {
        assert!(version("git version 2.47.3") > version(MINIMUM));
        assert!(version("git version 2.32.0.windows.1") >= version(MINIMUM));
        assert!(version("git version 2.9.5") < version(MINIMUM));
        assert!(version("git version 3.0") > version(MINIMUM));
        assert!(version("") < version(MINIMUM));
    }
}
