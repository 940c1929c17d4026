//! Reading and replacing files so that a crash or a power cut at any point leaves a whole
//! document, old or new.

use crate::location::name::digest;
use lifecycle::ports::StoreError;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// More than any document that was ever written; what is longer is not read.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

pub(crate) fn failed(path: &Path, action: &'static str, error: &std::io::Error) -> StoreError {
    StoreError::Io {
        place: path.display().to_string(),
        action,
        detail: error.to_string(),
    }
}

/// Runs blocking work away from the thread of the run.
pub(super) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        // It does not panic, so the runtime is going down.
        Err(error) => Err(StoreError::Unavailable {
            place: "state folder".into(),
            detail: error.to_string(),
        }),
    }
}

/// The bytes of a file; `None` when there is none.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    let fail = |error: &std::io::Error| failed(path, "reading", error);
    let opened = std::fs::metadata(path).and_then(|meta| {
        // A pipe would never answer.
        if meta.is_file() {
            File::open(path)
        } else {
            Err(std::io::Error::other("it is no regular file"))
        }
    });
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(&error)),
    };
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| fail(&error))?;
    Ok(Some(bytes))
}

/// What a file holds as JSON, or why it is none.
pub(crate) fn parse(bytes: &[u8]) -> Result<serde_json::Value, String> {
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("longer than {MAX_BYTES} bytes"));
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if text.is_empty() {
        return Err("the file is empty".into());
    }
    if text.iter().all(|byte| *byte == 0) {
        return Err("the file holds nothing but zero bytes".into());
    }
    serde_json::from_slice(text).map_err(|error| error.to_string())
}

/// How a document is put in place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Care {
    /// On the disk before the old one goes.
    Synced,
    /// Whole or not there; a power cut may take it.
    Atomic,
}

/// Puts `bytes` in place of a file in one step. The temporary file lies in the same folder, is its
/// writer's own, and is gone when this fails. `keep` is a name that the old file gets, once the
/// new one is whole.
pub(super) fn replace(
    path: &Path,
    bytes: &[u8],
    care: Care,
    keep: Option<&Path>,
) -> Result<(), StoreError> {
    let temporary = temporary_beside(path);
    let placed = write_new(&temporary, bytes, care)
        .map_err(|error| failed(path, "writing a new version", &error))
        .and_then(|()| keep.map_or(Ok(()), |keep| second_name(path, keep)))
        .and_then(|()| {
            std::fs::rename(&temporary, path)
                .map_err(|error| failed(path, "putting the new version in place", &error))
        });
    if placed.is_err() {
        // What is left would only take room.
        let _ = std::fs::remove_file(&temporary);
    }
    placed?;
    if care == Care::Synced {
        sync_folder(path)
    } else {
        Ok(())
    }
}

fn write_new(path: &Path, bytes: &[u8], care: Care) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    if care == Care::Synced {
        file.sync_all()
    } else {
        Ok(())
    }
}

/// A rename is on the disk when its folder is.
fn sync_folder(path: &Path) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(path);
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some file systems cannot; then there is nothing to wait for.
        Err(error)
            if !matches!(
                error.kind(),
                ErrorKind::InvalidInput | ErrorKind::Unsupported
            ) =>
        {
            Err(failed(folder, "flushing the folder", &error))
        }
        _ => Ok(()),
    }
}

/// Makes `copy` the same file as `path` without ever lacking either: a second name for it, or
/// where the file system has no such thing, a file with the same bytes.
pub(super) fn second_name(path: &Path, copy: &Path) -> Result<(), StoreError> {
    let temporary = temporary_beside(path);
    if std::fs::hard_link(path, &temporary).is_ok() {
        let renamed = std::fs::rename(&temporary, copy)
            .map_err(|error| failed(copy, "keeping the generation before", &error));
        // Renaming onto another name of the same file leaves both.
        let _ = std::fs::remove_file(&temporary);
        return renamed;
    }
    match read(path)? {
        Some(bytes) => replace(copy, &bytes, Care::Synced, None),
        None => Ok(()),
    }
}

/// Keeps the bytes of a file under another name as well, as a copy of its own: whoever mends the
/// file in place does not change it. What is too long to be read is kept as a second name.
pub(super) fn copy(path: &Path, bytes: &[u8], copy: &Path) -> Result<(), StoreError> {
    if bytes.len() as u64 > MAX_BYTES {
        return second_name(path, copy);
    }
    replace(copy, bytes, Care::Synced, None)
}

/// Removes what killed writers of this file have left. Only for who holds its lock.
pub(super) fn clean_up(path: &Path) {
    let folder = path.parent().map(std::fs::read_dir);
    let Some(Ok(entries)) = folder else { return };
    let prefix = temporary_prefix(path);
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name
            .to_str()
            .is_some_and(|n| n.starts_with(&prefix) && n.ends_with(TEMPORARY))
        {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// How the names of temporary files end.
pub(super) const TEMPORARY: &str = ".tmp";

/// Short, so that it fits beside the longest name, and the document's own, so that who holds its
/// lock knows leftovers from the work of others.
fn temporary_prefix(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    format!(".{}-", digest(name.as_encoded_bytes()))
}

fn temporary_beside(path: &Path) -> PathBuf {
    let name = format!(
        "{}{:016x}{TEMPORARY}",
        temporary_prefix(path),
        fastrand::u64(..)
    );
    path.with_file_name(name)
}
