//! What a scripted agent does: files, git commands, calls to other services, anything a test says.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::Value;

use crate::call::Call;

/// The conversation a deed is done in.
#[derive(Debug, Clone)]
pub struct Visit {
    /// The conversation's id.
    pub id: String,
    /// The directory the agent works in.
    pub working_dir: PathBuf,
    /// The text of the initial message.
    pub prompt: String,
    /// The whole start body.
    pub body: Value,
    /// The values of the secrets that the start body grants and the server has.
    pub secrets: BTreeMap<String, String>,
}

type Action = Arc<dyn Fn(&Visit) -> Result<(), String> + Send + Sync>;

/// One thing that a scripted agent does. A deed that fails is reported by the final check.
#[derive(Clone)]
pub enum Deed {
    /// Writes a file; the path is relative to the workspace, folders are made.
    Write {
        /// Where.
        path: String,
        /// What.
        text: String,
    },
    /// Runs git in the workspace without system or user configuration, as "Agent
    /// <agent@example.com>".
    Git(Vec<String>),
    /// Makes a call; an answer other than 2xx is a failure.
    Http(Call),
    /// Does what the test says.
    Visit(Action),
}

impl Deed {
    /// Writes a file in the workspace.
    pub fn write(path: &str, text: &str) -> Self {
        Self::Write {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    /// Runs git in the workspace.
    pub fn git(arguments: &[&str]) -> Self {
        Self::Git(
            arguments
                .iter()
                .map(|&argument| argument.to_owned())
                .collect(),
        )
    }

    /// Makes a call.
    pub fn http(call: Call) -> Self {
        Self::Http(call)
    }

    /// Does what the closure says; it may block.
    pub fn visit(action: impl Fn(&Visit) -> Result<(), String> + Send + Sync + 'static) -> Self {
        Self::Visit(Arc::new(action))
    }

    pub(super) fn perform(&self, visit: &Visit) -> Result<(), String> {
        match self {
            Self::Write { path, text } => write(&visit.working_dir.join(path), text),
            Self::Git(arguments) => git(&visit.working_dir, arguments),
            Self::Http(call) => {
                let answer = call.send().map_err(|error| error.to_string())?;
                if (200..300).contains(&answer.status) {
                    return Ok(());
                }
                Err(format!(
                    "{call:?} was answered with {}: {}",
                    answer.status,
                    answer.text()
                ))
            }
            Self::Visit(action) => action(visit),
        }
    }
}

impl fmt::Debug for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write { path, .. } => write!(f, "write {path}"),
            Self::Git(arguments) => write!(f, "git {}", arguments.join(" ")),
            Self::Http(call) => write!(f, "{call:?}"),
            Self::Visit(_) => f.write_str("a deed of the test"),
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(path, text).map_err(failed)
}

pub(super) fn git(directory: &Path, arguments: &[String]) -> Result<(), String> {
    let run = Command::new("git")
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::null())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_AUTHOR_NAME", "Agent")
        .env("GIT_AUTHOR_EMAIL", "agent@example.com")
        .env("GIT_COMMITTER_NAME", "Agent")
        .env("GIT_COMMITTER_EMAIL", "agent@example.com")
        .output()
        .map_err(|error| format!("git in {}: {error}", directory.display()))?;
    if run.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&run.stderr);
    Err(format!(
        "git {} in {}: {}",
        arguments.join(" "),
        directory.display(),
        words.trim()
    ))
}
