//! Names of the exclusive entries of a task.

/// The guard of a claim. Attempts are numbered so that a late deletion never hits a newer claim.
pub(super) fn claim(task: &str, attempt: u64) -> String {
    format!("claim:{task}:{attempt}")
}

/// The guard of a lease; each take-over of a lapsed lease has the next number.
pub(super) fn lease(task: &str, number: u32) -> String {
    format!("lease:{task}:{number}")
}
