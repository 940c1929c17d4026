//! Rules of the house that no lint knows: modules begin with what they are for, names say what is
//! in a file, snapshots have names and owners, and files stay short.

use crate::console::say;
use crate::error::TaskError;
use crate::process::{command, output, root};
use std::path::{Path, PathBuf};

/// Files that are longer than this are named, so that somebody thinks of splitting them.
const LONG: usize = 400;
/// Names that say nothing.
const EMPTY_NAMES: &[&str] = &[
    "utils.rs",
    "util.rs",
    "helpers.rs",
    "helper.rs",
    "common.rs",
];

/// Checks the files that git knows.
pub(crate) fn run() -> Result<(), TaskError> {
    let mut wrong = Vec::new();
    let files = files()?;
    for file in &files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if EMPTY_NAMES.contains(&name.as_ref()) {
            wrong.push(format!("{}: the name says nothing", file.display()));
        }
        if file.extension().is_some_and(|extension| extension == "rs") {
            check_source(file, &mut wrong)?;
        }
        if name.ends_with(".snap.new") || name.ends_with(".pending-snap") {
            wrong.push(format!(
                "{}: a snapshot that nobody has looked at",
                file.display()
            ));
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(TaskError::found(wrong.join("\n")))
    }
}

fn files() -> Result<Vec<PathBuf>, TaskError> {
    let listed = output(command("git").args(["ls-files", "-z"]))?;
    let names = String::from_utf8_lossy(&listed.stdout);
    Ok(names
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(PathBuf::from)
        .collect())
}

fn check_source(file: &Path, wrong: &mut Vec<String>) -> Result<(), TaskError> {
    let path = root().join(file);
    // A file may be gone in a work tree that is being edited.
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(TaskError::file(path, error)),
    };
    let head = text.lines().find(|line| !line.starts_with("#!["));
    // The tests of a module stand beside it and need no head of their own.
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let of_module = name == "tests.rs" || name.ends_with("_tests.rs");
    if !of_module && !head.unwrap_or_default().starts_with("//!") {
        wrong.push(format!(
            "{}: does not begin with what it is for (//!)",
            file.display()
        ));
    }
    let lines = text.lines().count();
    if lines > LONG {
        say(&format!("long: {} has {lines} lines", file.display()));
    }
    Ok(())
}
