//! The deployable archives (being written).
use crate::error::TaskError;

/// Builds the archives.
pub(crate) fn run(_automations: &[String]) -> Result<(), TaskError> {
    Ok(())
}
