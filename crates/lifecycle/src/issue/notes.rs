//! What the issue automation writes: commit message, merge request, notes.

use crate::decide::Ending;
use crate::document::{Field, Record};
use crate::identity::{self, Kind};
use crate::review::without_marks;
use crate::text::{cut_chars, one_line};

/// Characters of a merge request's title that the forge accepts.
pub const MAX_TITLE_CHARS: usize = 255;
/// Characters of a description, far below the forge's limit of 1,048,576.
pub const MAX_DESCRIPTION_CHARS: usize = 60_000;
const DRAFT: &str = "Draft: ";
const DISCLOSURE: &str = "*Written by an AI agent; it may be wrong.*";

/// The agent's words as plain text: no line is a quick action of the forge, nothing passes for a
/// mark of ours.
pub fn plain_text(text: &str) -> String {
    let mut lines = Vec::new();
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
    lines.join("\n")
}

/// The title of the merge request: at most 255 characters, the draft prefix once.
pub fn title(issue_title: &str, iid: u64, draft: bool) -> String {
    let mut words = one_line(issue_title);
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
    let closing = format!(
        "\n\nCloses #{iid}\n\n---\n{DISCLOSURE} [Conversation]({conversation_url})\n{}",
        identity::marker(task, Kind::Result)
    );
    let text = plain_text(answer);
    let room = MAX_DESCRIPTION_CHARS - closing.chars().count();
    if text.chars().count() <= room {
        return format!("{text}{closing}");
    }
    let note = "\n\n*The summary was long and has been cut here.*";
    format!(
        "{}{note}{closing}",
        cut_chars(&text, room - note.chars().count())
    )
}

/// The message of the commit of what the agent left uncommitted.
pub(super) fn commit_message(record: &Record, iid: u64) -> String {
    let title = one_line(record.text(Field::IssueTitle).unwrap_or_default());
    let title = if title.is_empty() {
        format!("Resolve issue #{iid}")
    } else {
        title
    };
    format!("{}\n\nCloses #{iid}\n", cut_chars(&title, 100))
}

/// "The merge request is here."
pub(super) fn linked(task: &str, merge_request: &str, conversation_url: &str) -> String {
    note(
        task,
        &format!("An AI agent has worked on this issue: {merge_request}"),
        "",
        conversation_url,
    )
}

/// "Nothing was changed, and this is why."
pub(super) fn no_changes(task: &str, answer: &str, conversation_url: &str) -> String {
    let said = if answer.trim().is_empty() {
        "It left no explanation.".to_owned()
    } else {
        plain_text(answer)
    };
    note(
        task,
        "An AI agent has looked at this issue and changed nothing.",
        &said,
        conversation_url,
    )
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
    let why = match (facts.error, facts.ending) {
        (Some(_), _) => "the work could not be turned into a merge request",
        (None, Ending::Expired { .. }) => "it did not come to an end within two hours",
        (None, Ending::Gone) => "its conversation was deleted before it ended",
        (None, _) => "its conversation ended with an error",
    };
    let mut said = Vec::new();
    if let Some(error) = facts.error {
        said.push(format!("The last error:\n\n{}", quoted(error)));
    }
    if let Some((branch, commits)) = facts.kept {
        said.push(format!(
            "What there was is on branch `{branch}` ({commits} commit(s)), without a merge request."
        ));
    }
    if !facts.answer.trim().is_empty() {
        said.push(format!(
            "What the agent left:\n\n{}",
            plain_text(facts.answer)
        ));
    }
    said.push("Remove and re-apply the label to try again.".to_owned());
    note(
        facts.task,
        &format!("An AI agent has worked on this issue, but {why}."),
        &said.join("\n\n"),
        facts.conversation_url,
    )
}

fn quoted(error: &str) -> String {
    let lines: Vec<String> = plain_text(error)
        .lines()
        .map(|line| format!("> {line}"))
        .collect();
    lines.join("\n")
}

fn note(task: &str, first: &str, said: &str, conversation_url: &str) -> String {
    let closing = format!(
        "\n\n---\n{DISCLOSURE} [Conversation]({conversation_url})\n{}",
        identity::marker(task, Kind::Result)
    );
    if said.is_empty() {
        return format!("{first}{closing}");
    }
    let cut = cut_chars(said, MAX_DESCRIPTION_CHARS);
    format!("{first}\n\n{cut}{closing}")
}
