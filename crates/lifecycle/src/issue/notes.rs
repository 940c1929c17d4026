//! What the issue automation writes: commit message, merge request, notes.

use super::closing::without_closing;
use crate::decide::Ending;
use crate::document::{Field, Record};
use crate::identity::{self, Kind};
use crate::ports::Conversation;
use crate::review::without_marks;
use crate::text::{cut_chars, fit_markdown, one_line};

/// Characters of a merge request's title that the forge accepts.
pub const MAX_TITLE_CHARS: usize = 255;
/// Characters of a description, far below the forge's limit of 1,048,576.
pub const MAX_DESCRIPTION_CHARS: usize = 60_000;
/// Characters of an error that are told.
const MAX_ERROR_CHARS: usize = 2000;
const CUT: &str = "\n\n*The agent's text was long and has been cut here.*";
const DRAFT: &str = "Draft: ";

/// The agent's words as plain text: no line is a quick action of the forge, nothing closes an issue
/// with the merge, nothing passes for a mark of ours.
pub fn plain_text(text: &str) -> String {
    let mut lines = Vec::new();
    // The forge drops carriage returns before it looks for commands: `/` and `close` would meet.
    let text = text.replace('\r', "");
    for line in without_marks(text.trim()).lines() {
        let indent = line.len() - line.trim_start().len();
        let (blank, words) = line.split_at(indent);
        let action = words.strip_prefix('/').and_then(|rest| rest.chars().next());
        if action.is_some_and(|first| first.is_alphanumeric() || first == '_') {
            // A backslash makes it text; the forge shows the line without it.
            lines.push(format!("{blank}\\{words}"));
        } else {
            lines.push(line.to_owned());
        }
    }
    without_closing(&lines.join("\n"))
}

/// The title of the merge request: at most 255 characters, the draft prefix once. Merged as one
/// commit, it is the first line of its message.
pub fn title(issue_title: &str, iid: u64, draft: bool) -> String {
    let mut words = without_closing(&one_line(issue_title));
    while let Some(rest) = strip_draft(&words) {
        words = rest;
    }
    if words.is_empty() {
        words = format!("Resolve issue #{iid}");
    }
    let prefix = if draft { DRAFT } else { "" };
    format!(
        "{prefix}{}",
        cut_chars(&words, MAX_TITLE_CHARS - prefix.len())
    )
}

/// The forge takes `Draft:`, `[Draft]` and `(Draft)` in any case for the prefix.
fn strip_draft(title: &str) -> Option<String> {
    let lower = title.to_ascii_lowercase();
    let length = ["draft:", "[draft]", "(draft)", "wip:", "[wip]"]
        .iter()
        .find(|prefix| lower.starts_with(**prefix))?
        .len();
    Some(title[length..].trim_start().to_owned())
}

/// The description of the merge request.
pub fn description(task: &str, iid: u64, answer: &str, conversation_url: &str) -> String {
    let answer = if answer.trim().is_empty() {
        "The agent left no summary of its work."
    } else {
        answer
    };
    let parts = Parts {
        task,
        before: "",
        answer,
        after: &format!("Closes #{iid}"),
        conversation_url,
    };
    parts.joined()
}

/// The message of the commit of what the agent left uncommitted.
pub(super) fn commit_message(record: &Record, iid: u64) -> String {
    let title = one_line(record.text(Field::IssueTitle).unwrap_or_default());
    let title = without_closing(&title);
    let title = if title.is_empty() {
        format!("Resolve issue #{iid}")
    } else {
        title
    };
    format!("{}\n\nCloses #{iid}\n", cut_chars(&title, 100))
}

/// "The merge request is here."
pub(super) fn linked(task: &str, merge_request: &str, conversation_url: &str) -> String {
    let parts = Parts {
        task,
        before: &format!(
            "An AI agent has worked on this issue. Its merge request: {merge_request}"
        ),
        answer: "",
        after: "",
        conversation_url,
    };
    parts.joined()
}

/// "Nothing was changed, and this is why."
pub(super) fn no_changes(task: &str, answer: &str, conversation_url: &str) -> String {
    let silent = answer.trim().is_empty();
    let parts = Parts {
        task,
        before: if silent {
            "An AI agent has looked at this issue and changed nothing. It left no explanation."
        } else {
            "An AI agent has looked at this issue and changed nothing. This is its answer."
        },
        answer,
        after: "Answer or edit the issue, then remove and re-apply the label to have it look again.",
        conversation_url,
    };
    parts.joined()
}

/// What is known of a task without a merge request.
pub(super) struct WithoutResult<'a> {
    pub(super) task: &'a str,
    pub(super) ending: Ending,
    pub(super) error: Option<&'a str>,
    pub(super) answer: &'a str,
    /// The branch with what there was, and its commits.
    pub(super) kept: Option<(&'a str, u64)>,
    pub(super) conversation_url: &'a str,
}

/// "It did not work out, and this is what there is."
pub(super) fn without_result(facts: &WithoutResult<'_>) -> String {
    let why = match facts.ending {
        Ending::Done => "its work could not be turned into a merge request",
        Ending::Expired { .. } => "it did not come to an end within two hours",
        Ending::Gone => "its conversation was deleted before it ended",
        Ending::Failed(Conversation::Stuck) => "it went round in circles and was stopped",
        _ => "its conversation ended with an error",
    };
    let mut before = format!("An AI agent has worked on this issue, but {why}.");
    if let Some(error) = facts.error {
        if facts.ending != Ending::Done && facts.kept.is_none() {
            before.push_str(" What it left could not be kept.");
        }
        before.push_str(&format!("\n\nThe last error:\n\n{}", quoted(error)));
    }
    if let Some((branch, commits)) = facts.kept {
        let commits = match commits {
            1 => "1 commit".to_owned(),
            more => format!("{more} commits"),
        };
        before.push_str(&format!(
            "\n\nIts unfinished work ({commits}) is on the branch `{branch}`, without a merge \
             request."
        ));
    }
    if !facts.answer.trim().is_empty() {
        before.push_str("\n\nWhat the agent left:");
    }
    let parts = Parts {
        task: facts.task,
        before: &before,
        answer: facts.answer,
        after: "Remove and re-apply the label to try again.",
        conversation_url: facts.conversation_url,
    };
    parts.joined()
}

fn quoted(error: &str) -> String {
    let lines: Vec<String> = plain_text(&cut_chars(error, MAX_ERROR_CHARS))
        .lines()
        .map(|line| format!("> {line}"))
        .collect();
    lines.join("\n")
}

/// The parts of a text of ours, in order. If it gets too long, the agent's words give way.
struct Parts<'a> {
    task: &'a str,
    before: &'a str,
    answer: &'a str,
    after: &'a str,
    conversation_url: &'a str,
}

impl Parts<'_> {
    fn joined(&self) -> String {
        let disclosure = if self.answer.trim().is_empty() {
            "*Posted by the automation that runs the AI agent.*"
        } else {
            "*Written by an AI agent; it may be wrong.*"
        };
        let closing = format!(
            "---\n{disclosure} [Conversation]({})\n{}",
            self.conversation_url,
            identity::marker(self.task, Kind::Result)
        );
        let fixed = [self.before, self.after, &closing];
        let taken: usize = fixed.iter().map(|part| part.chars().count() + 2).sum();
        let room = MAX_DESCRIPTION_CHARS.saturating_sub(taken);
        let answer = fit_markdown(&plain_text(self.answer), room, CUT);
        let parts: Vec<&str> = [self.before, &answer, self.after, &closing]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect();
        parts.join("\n\n")
    }
}
