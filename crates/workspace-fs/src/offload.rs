//! Work that may take long, on a thread for blocking work.

use crate::error::WorkspaceError;

/// Runs what may take long on a thread for blocking work.
pub(crate) async fn blocking<T: Send + 'static>(
    action: &'static str,
    work: impl FnOnce() -> Result<T, WorkspaceError> + Send + 'static,
) -> Result<T, WorkspaceError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or(Err(WorkspaceError::Interrupted { action }))
}
