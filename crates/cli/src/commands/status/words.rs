//! A status in words and tables.

use super::look::{AutomationStatus, NewsStatus, TargetStatus, TaskStatus};
use crate::commands::plain::{counted, harmless, relative, span, table};
use lifecycle::news::MAX_SEEN;

/// The status of an automation, as of `now` (seconds since the epoch).
pub(super) fn of(status: &AutomationStatus, now: f64) -> String {
    let heading = format!(
        "{} (automation id {})",
        status.automation, status.automation_id
    );
    let targets = status
        .targets
        .iter()
        .map(|target| target_in_words(target, now));
    std::iter::once(heading)
        .chain(targets)
        .collect::<Vec<_>>()
        .join("\n\n")
}

fn target_in_words(status: &TargetStatus, now: f64) -> String {
    let mut lines = vec![status.target.clone()];
    if !status.place.is_empty() {
        lines.push(format!("  document   {}", status.place));
    }
    for note in &status.notes {
        lines.push(format!("  note       {}", harmless(note, 400)));
    }
    if let Some(error) = &status.error {
        lines.push(format!("  ERROR      {}", harmless(error, 600)));
        return lines.join("\n");
    }
    if !status.found {
        lines.push(
            "  There is no document: no run has written one here under this automation id."
                .to_owned(),
        );
        return lines.join("\n");
    }
    let written = status
        .updated_at
        .map_or("at an unknown time".to_owned(), |at| relative(at, now));
    lines.push(format!(
        "  written    {written}, {} of at most {} bytes",
        status.bytes, status.budget
    ));
    if let Some(news) = &status.news {
        lines.extend(news_in_words(news, now));
    }
    if status.tasks.is_empty() {
        lines.push("  tasks      none".to_owned());
    } else {
        lines.push(String::new());
        let head = ["task", "status", "age", "workspace", "conversation"].map(str::to_owned);
        let rows = status.tasks.iter().map(task_row);
        let rows: Vec<Vec<String>> = std::iter::once(head.to_vec()).chain(rows).collect();
        lines.push(table("  ", &rows));
    }
    if !status.retries.is_empty() {
        lines.push(String::new());
        let head = ["tried again", "attempts", "next try", "last error"].map(str::to_owned);
        let rows = status.retries.iter().map(|retry| {
            vec![
                harmless(&retry.task, 60),
                retry.attempts.to_string(),
                relative(retry.next_try, now),
                harmless(&retry.last_error, 200),
            ]
        });
        let rows: Vec<Vec<String>> = std::iter::once(head.to_vec()).chain(rows).collect();
        lines.push(table("  ", &rows));
    }
    lines.join("\n")
}

fn task_row(task: &TaskStatus) -> Vec<String> {
    let conversation = task
        .conversation_url
        .as_ref()
        .or(task.conversation_id.as_ref());
    vec![
        harmless(&task.task, 60),
        harmless(&task.status, 30),
        task.age_seconds.map_or("unknown".to_owned(), span),
        task.workspace
            .as_deref()
            .map_or("-".to_owned(), |text| harmless(text, 60)),
        conversation.map_or("-".to_owned(), |text| harmless(text, 300)),
    ]
}

fn news_in_words(news: &NewsStatus, now: f64) -> Vec<String> {
    let mut lines = Vec::new();
    match news.last_checked {
        Some(at) => lines.push(format!("  feeds      read {}", relative(at, now))),
        None => lines.push("  feeds      never read".to_owned()),
    }
    if let Some(funnel) = &news.last_funnel {
        let count = |stage: &str| funnel.get(stage).and_then(serde_json::Value::as_u64);
        let count = |stage| count(stage).map_or("?".to_owned(), |count| count.to_string());
        lines.push(format!(
            "  funnel     {} fetched, {} of them unseen, {} of those fresh",
            count("fetched"),
            count("unseen"),
            count("fresh")
        ));
    }
    for error in &news.last_feed_errors {
        lines.push(format!("  failed     {}", harmless(error, 300)));
    }
    let seen = counted(news.seen, "fingerprint", "fingerprints");
    lines.push(format!("  told       {seen} of at most {MAX_SEEN}"));
    let digest = news.last_digest.as_deref().unwrap_or("none yet");
    lines.push(format!("  digest     {}", harmless(digest, 40)));
    lines
}
