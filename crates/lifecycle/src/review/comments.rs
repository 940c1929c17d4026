//! What the reviewer writes on pull requests.

use crate::decide::Ending;
use crate::document::{Field, Record};
use crate::identity::{self, Kind};
use crate::ports::Conversation;
use crate::text::fit_markdown;

/// Characters of a comment, with room below the forge's limit of 65,536.
pub const MAX_COMMENT_CHARS: usize = 65_000;
/// What stands in front of the closing lines of every comment.
const RULE: &str = "\n\n---\n";
const CUT: &str = "\n\n*The text was longer than a comment may be and has been cut here.*";

/// "A review has started."
pub fn acknowledgement(task: &str, record: &Record, conversation_url: &str) -> String {
    let head = record.text(Field::HeadSha).unwrap_or_default();
    let event = record.count(Field::LabelEventId).unwrap_or_default();
    let at = record.text(Field::LabelEventCreatedAt).unwrap_or_default();
    format!(
        "An AI agent is reviewing commit `{head}`.\n\n\
         - Label event: {event} ({at})\n\
         - Conversation: {conversation_url}{RULE}{}\n{}",
        "*Started by the trigger label. Remove and re-apply it to ask for another review.*",
        identity::marker(task, Kind::Acknowledgement)
    )
}

/// The result, where no review was published.
pub fn outcome(
    task: &str,
    record: &Record,
    ending: Ending,
    agent_text: &str,
    conversation_url: &str,
) -> String {
    let head = record.text(Field::HeadSha).unwrap_or_default();
    let text = without_marks(agent_text.trim());
    let trouble = match ending {
        Ending::Failed(Conversation::Stuck) => {
            Some("the agent went round in circles and was stopped")
        }
        Ending::Failed(_) => Some("its conversation ended with an error"),
        Ending::Gone => Some("its conversation was deleted before it ended"),
        Ending::Done | Ending::Elsewhere | Ending::Overtaken | Ending::Expired { .. } => text
            .is_empty()
            .then_some("the agent neither published a review nor left a final message"),
    };
    let said = match trouble {
        Some(why) => {
            let left = if text.is_empty() {
                String::new()
            } else {
                format!("\n\nWhat the agent left:\n\n{text}")
            };
            format!(
                "The AI review of commit `{head}` did not succeed: {why}. Remove and re-apply \
                 the label to try again.{left}"
            )
        }
        None => format!(
            "An AI agent has reviewed commit `{head}` but published no review. This is its final \
             message.\n\n{text}"
        ),
    };
    let disclosure = if text.is_empty() {
        "*Posted by the automation that runs the AI agent.*"
    } else {
        "*Written by an AI agent; it may be wrong.*"
    };
    let closing = format!(
        "{RULE}{disclosure} [Conversation]({conversation_url})\n{}",
        identity::marker(task, Kind::Result)
    );
    fitted(&said, &closing, MAX_COMMENT_CHARS)
}

/// A comment of ours cut to about `max` characters; its closing lines survive.
pub(super) fn shorten(body: &str, max: usize) -> String {
    let at = body.rfind(RULE).unwrap_or(body.len());
    let (text, closing) = body.split_at(at);
    fitted(text.trim_end_matches(CUT), closing, max)
}

fn fitted(text: &str, closing: &str, max: usize) -> String {
    let room = max.saturating_sub(closing.chars().count());
    format!("{}{closing}", fit_markdown(text, room, CUT))
}

/// The agent's words must not pass for a mark of ours.
pub(crate) fn without_marks(text: &str) -> String {
    text.replace(
        "<!-- openhands-automation",
        "<!-- (quoted) openhands-automation",
    )
}
