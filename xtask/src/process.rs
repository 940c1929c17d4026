//! Running other programs, always from the project's root.

use crate::console;
use crate::error::TaskError;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The project's root.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Where cargo puts what it builds.
pub(crate) fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A command that runs in the project's root.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// A command of the cargo that runs this task.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = command(program);
    command.args(arguments);
    // The cargo that runs this task tells it about its package. Handed on, that would make build
    // scripts run anew which look at these variables, and everything that depends on them.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&*name);
        }
    }
    command
}

fn shown(command: &Command) -> String {
    let words: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| {
            let word = Path::new(word);
            let name = word.file_name().filter(|_| word.is_absolute());
            name.unwrap_or(word.as_os_str())
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    words.join(" ")
}

/// Runs a command to its end, its output passed through.
pub(crate) fn run(command: &mut Command) -> Result<(), TaskError> {
    let line = shown(command);
    console::say(&format!("$ {line}"));
    let status = command.status().map_err(|error| TaskError::Program {
        command: line.clone(),
        status: error.to_string(),
    })?;
    if status.success() {
        Ok(())
    } else {
        Err(TaskError::Program {
            command: line,
            status: status.to_string(),
        })
    }
}

/// Runs a command to its end and keeps its output.
pub(crate) fn output(command: &mut Command) -> Result<Output, TaskError> {
    let line = shown(command);
    command.output().map_err(|error| TaskError::Program {
        command: line,
        status: error.to_string(),
    })
}
