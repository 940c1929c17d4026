//! What git's words mean: which kind of failure, and what a person can change.
//!
//! The words are those of git 2.32 to 2.5x in the C locale, and of GitLab 15 to 18 for what comes
//! after `remote:`.

use super::runner::Output;
use crate::error::WorkspaceError;

/// Longest text of git that an error carries, in characters.
const MAX_TEXT: usize = 1500;

/// The error for a command that failed. `branch` is the one it asked for, if any.
pub(super) fn failure(output: &Output, branch: Option<&str>) -> WorkspaceError {
    let call = output.name;
    let text = shorten(&output.stderr);
    let lower = output.stderr.to_lowercase();
    let any = |signs: &[&str]| signs.iter().any(|sign| lower.contains(sign));
    if let Some(branch) = branch
        && any(&["couldn't find remote ref", "not found in upstream"])
    {
        return WorkspaceError::GitBranchMissing {
            branch: branch.to_owned(),
        };
    }
    // A refused token makes git ask for another, which it may not.
    if any(&[
        "could not read username",
        "could not read password",
        "authentication failed",
        "access denied",
        "returned error: 401",
        "invalid credentials",
    ]) {
        return WorkspaceError::GitAuth { call, text };
    }
    if any(&["returned error: 403", "not allowed to", "forbidden"]) {
        return WorkspaceError::GitForbidden { call, text };
    }
    if any(&["returned error: 30", "redirect"]) {
        return WorkspaceError::GitRedirected { call, text };
    }
    if any(&[
        "returned error: 404",
        "not found",
        "could not be found",
        "does not appear to be a git repository",
        "does not exist",
    ]) {
        return WorkspaceError::GitNotFound { call, text };
    }
    if any(&[
        "could not resolve",
        "couldn't resolve",
        "failed to connect",
        "couldn't connect",
        "connection refused",
        "connection reset",
        "recv failure",
        "send failure",
        "timed out",
        "too slow",
        "less than 1000 bytes/sec",
        "certificate",
        "ssl",
        "tls",
        "early eof",
        "hung up",
        "empty reply",
        "unexpected disconnect",
        "transfer closed",
        "returned error: 5",
        "returned error: 429",
        "proxy",
    ]) {
        return WorkspaceError::GitUnreachable { call, text };
    }
    WorkspaceError::GitFailed {
        call,
        code: output
            .code
            .map_or_else(|| "a signal".to_owned(), |code| code.to_string()),
        text,
    }
}

/// What a push came to.
#[derive(Debug)]
pub(super) enum PushOutcome {
    /// The branch points to our commit, now or already.
    Done,
    /// It did not work.
    Failed(WorkspaceError),
}

/// Reads the answer of `git push --porcelain` with one refspec.
pub(super) fn push_outcome(output: &Output, branch: &str) -> PushOutcome {
    let stdout = String::from_utf8_lossy(&output.stdout);
    // `flag TAB from:to TAB summary`; the flag of a failure is `!`.
    let line = stdout.lines().find(|line| line.contains(":refs/heads/"));
    let Some(line) = line else {
        return PushOutcome::Failed(match failure(output, None) {
            // The transport says where it failed, the host why.
            WorkspaceError::GitForbidden { text, .. } if is_protected(&text) => {
                protected(branch, &text)
            }
            other => other,
        });
    };
    if !line.starts_with('!') {
        return PushOutcome::Done;
    }
    let summary = line.rsplit('\t').next().unwrap_or(line);
    let taken = [
        "fetch first",
        "non-fast-forward",
        "already exists",
        "stale info",
    ];
    if taken.iter().any(|reason| summary.contains(reason)) {
        return PushOutcome::Failed(WorkspaceError::BranchTaken {
            branch: branch.to_owned(),
        });
    }
    let words = rule(&output.stderr, summary);
    let lower = words.to_lowercase();
    PushOutcome::Failed(if is_protected(&words) {
        protected(branch, &words)
    } else if [
        "storage",
        "size limit",
        "quota",
        "no space left",
        "too large",
    ]
    .iter()
    .any(|sign| lower.contains(sign))
    {
        WorkspaceError::StorageFull {
            branch: branch.to_owned(),
            rule: words,
        }
    } else {
        WorkspaceError::PushRejected {
            branch: branch.to_owned(),
            rule: words,
        }
    })
}

fn is_protected(text: &str) -> bool {
    text.to_lowercase().contains("protected branch")
}

fn protected(branch: &str, rule: &str) -> WorkspaceError {
    WorkspaceError::BranchProtected {
        branch: branch.to_owned(),
        rule: rule.to_owned(),
    }
}

/// What the host itself said, without the frame around it; the summary when it said nothing.
fn rule(stderr: &str, summary: &str) -> String {
    let said: Vec<&str> = stderr
        .lines()
        .filter_map(|line| line.strip_prefix("remote:"))
        .map(str::trim)
        .filter(|line| line.contains(char::is_alphanumeric))
        .collect();
    if said.is_empty() {
        return shorten(summary);
    }
    shorten(said.join(" ").trim_end_matches('.'))
}

/// The last part of a long text: git ends with what matters.
fn shorten(text: &str) -> String {
    let text = text.trim();
    let length = text.chars().count();
    if length <= MAX_TEXT {
        return text.to_owned();
    }
    let end: String = text.chars().skip(length - MAX_TEXT).collect();
    format!("…{end}")
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;
