//! Which of several targets is meant.

use super::error::CommandError;

/// The one that was named (compared without case, as forges do), or the only one there is.
pub(super) fn one(targets: &[String], named: Option<&str>) -> Result<String, CommandError> {
    let list = targets.join(", ");
    match (named, targets) {
        (None, [only]) => Ok(only.clone()),
        (None, _) => Err(CommandError::Usage(format!(
            "several targets are configured; name one with --target: {list}"
        ))),
        (Some(named), _) => targets
            .iter()
            .find(|target| target.eq_ignore_ascii_case(named.trim()))
            .cloned()
            .ok_or_else(|| {
                CommandError::Usage(format!(
                    "the configuration has no target {}; it has {list}",
                    named.trim()
                ))
            }),
    }
}

/// The one that was named, or all of them.
pub(super) fn some(targets: Vec<String>, named: Option<&str>) -> Result<Vec<String>, CommandError> {
    match named {
        None => Ok(targets),
        Some(_) => one(&targets, named).map(|one| vec![one]),
    }
}
