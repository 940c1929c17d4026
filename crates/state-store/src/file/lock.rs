//! The lock that makes a transaction on files exclusive: one lock file beside each document.
//!
//! The system gives a lock back when its holder ends, however it ends, so a lock is never stale.
//! Lock files are not removed: a file that is removed while somebody waits for it locks nothing.

use super::disk::failed;
use lifecycle::ports::StoreError;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// The right to change a document. Whoever writes takes it along, so that a transaction that is
/// given up in the middle keeps the lock until the last write has ended.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

/// Waits for the lock without blocking the thread: other targets run on it.
pub(super) async fn acquire(path: &Path, wait: Duration) -> Result<Lock, StoreError> {
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(lock) = try_acquire(path)? {
            return Ok(lock);
        }
        if started.elapsed() >= wait {
            return Err(StoreError::Unavailable {
                place: path.display().to_string(),
                detail: format!(
                    "another run has held this lock for {:.1} s",
                    started.elapsed().as_secs_f64()
                ),
            });
        }
        tokio::time::sleep(pause.mul_f64(0.5 + fastrand::f64())).await;
        pause = (pause * 2).min(Duration::from_millis(25));
    }
}

/// `None` when somebody else holds it.
fn try_acquire(path: &Path) -> Result<Option<Lock>, StoreError> {
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(|error| failed(path, "opening the lock file", &error))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(failed(path, "locking", &error)),
    }
    // Somebody may have removed the file since it was opened, and others lock the one that took
    // its place.
    let identity = |meta: std::fs::Metadata| (meta.dev(), meta.ino());
    let ours = file.metadata().ok().map(identity);
    let is_the_one = ours.is_some() && ours == std::fs::metadata(path).ok().map(identity);
    Ok(is_the_one.then_some(Lock { _file: file }))
}
