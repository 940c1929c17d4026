//! What is left on the disk.

use std::fs;
use std::io;
use std::path::Path;

use super::error::E2eError;

/// The paths of all files below a directory, which need not exist.
pub(super) fn files_below(directory: &Path) -> Result<Vec<String>, E2eError> {
    let mut found = Vec::new();
    match collect(directory, &mut found) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(E2eError::io(format!("list {}", directory.display()))(error))
        }
        _ => Ok(found),
    }
}

fn collect(directory: &Path, found: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), found)?;
        } else {
            found.push(entry.path().display().to_string());
        }
    }
    Ok(())
}
