//! The Rust files of the project, for the checks that read them.

use crate::error::TaskError;
use std::path::{Path, PathBuf};

/// All Rust files below a folder.
pub(crate) fn below(folder: &Path) -> Result<Vec<PathBuf>, TaskError> {
    let mut found = Vec::new();
    for path in entries(folder)? {
        if path.is_dir() {
            found.extend(below(&path)?);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    Ok(found)
}

/// What is in a folder itself.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, TaskError> {
    let entries = std::fs::read_dir(folder).map_err(|error| TaskError::file(folder, error))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let paths: Result<Vec<PathBuf>, _> = paths.collect();
    paths.map_err(|error| TaskError::file(folder, error))
}

/// The text of a file.
pub(crate) fn read(file: &Path) -> Result<String, TaskError> {
    std::fs::read_to_string(file).map_err(|error| TaskError::file(file, error))
}
