//! What is known of an item, in sentences. Pure.

use super::facts::{Facts, Found};
use super::item::Item;
use super::reasons::{meaning, why};
use super::{Known, Recorded, Task};
use crate::commands::plain::{counted, harmless, relative};
use crate::commands::status::known_age;
use crate::run::Automation;
use lifecycle::document::Field;
use lifecycle::identity::parse_label_task;
use lifecycle::moment::{day, parse_rfc3339};
use lifecycle::report::{SkipReason, TargetReport};

/// The whole explanation, a paragraph for each question.
pub(super) fn of(known: &Known) -> String {
    let paragraphs = [
        what_it_is(known),
        what_is_recorded(known),
        what_would_be_done(known),
    ];
    paragraphs.join("\n\n")
}

impl Known {
    /// What people call such an item.
    fn kind(&self) -> &'static str {
        match self.automation {
            Automation::News => "the day",
            Automation::Review => "pull request",
            Automation::Issue => "issue",
        }
    }

    fn when(&self, moment: f64) -> String {
        format!(
            "{} ({})",
            lifecycle::moment::rfc3339(moment),
            relative(moment, self.now)
        )
    }
}

fn what_it_is(known: &Known) -> String {
    let name = format!("{}, {} {}", known.target, known.kind(), known.item.name());
    match &known.facts {
        Err(error) => format!(
            "{name}\nThe forge cannot be asked about it: {}",
            harmless(error, 600)
        ),
        Ok(Facts::Gone) => format!("{name}\nThere is no such item, or the token cannot see it."),
        Ok(Facts::Day) => {
            let today = day(known.now);
            let text = match known.item.name() {
                day if day == today => "That is today (days are those of UTC).".to_owned(),
                day if day > today => format!("That day has not come: today is {today} (UTC)."),
                _ => format!("That day is over: today is {today} (UTC)."),
            };
            format!("{name}\n{text}")
        }
        Ok(Facts::Found(found)) => {
            let title = harmless(&found.title, 120);
            let mut lines = vec![format!("{name}: {title}"), harmless(&found.url, 300)];
            lines.push(condition(found));
            lines.push(trigger(known, found));
            lines.join("\n")
        }
    }
}

fn condition(found: &Found) -> String {
    let mut words = vec![
        if found.open {
            "open"
        } else {
            "closed or merged"
        }
        .to_owned(),
    ];
    if found.draft {
        words.push("a draft".to_owned());
    }
    if found.from_fork {
        words.push("from a fork".to_owned());
    }
    if !found.head.is_empty() {
        words.push(format!(
            "at commit {}",
            found.head.get(..12).unwrap_or(&found.head)
        ));
    }
    format!("It is {}.", words.join(", "))
}

fn trigger(known: &Known, found: &Found) -> String {
    let label = &known.label;
    let carried = if found.labelled {
        format!("It carries the label {label}")
    } else {
        format!("It does not carry the label {label}")
    };
    let Some(event) = &found.event else {
        return format!("{carried}, and no event says that it was ever put on.");
    };
    let who = event
        .actor
        .as_deref()
        .map_or("somebody whose account is gone", |name| name);
    let at = parse_rfc3339(&event.created_at).map_or(event.created_at.clone(), |at| known.when(at));
    format!(
        "{carried}. Label event {}: put on by {} at {}.",
        event.id,
        harmless(who, 60),
        harmless(&at, 60)
    )
}

fn what_is_recorded(known: &Known) -> String {
    let place = &known.place;
    let recorded = match &known.recorded {
        Ok(recorded) => recorded,
        Err(error) => {
            return format!(
                "The state document cannot be read: {}",
                harmless(error, 600)
            );
        }
    };
    if recorded.tasks.is_empty() && recorded.retries.is_empty() {
        return format!("Nothing is recorded of it in {place}.");
    }
    let mut lines = vec![format!("Recorded in {place}:")];
    lines.extend(recorded.tasks.iter().map(|task| task_in_words(known, task)));
    for (key, retry) in &recorded.retries {
        lines.push(format!(
            "  {}: failed {}, tried again {}. The last time: {}",
            harmless(key, 60),
            counted(
                usize::try_from(retry.attempts).unwrap_or(usize::MAX),
                "time",
                "times"
            ),
            relative(retry.next_try, known.now),
            harmless(&retry.last_error, 300)
        ));
    }
    lines.join("\n")
}

fn task_in_words(known: &Known, task: &Task) -> String {
    let record = &task.record;
    let status = record.status();
    let written = record.text(Field::Status).unwrap_or("no status");
    let since = if let Some(age) = known_age(record, known.now) {
        format!("since {}", known.when(known.now - age))
    } else {
        "since nobody knows when".to_owned()
    };
    let head = format!(
        "  {}: {} {since}: {}.",
        harmless(&task.key, 60),
        harmless(written, 30),
        meaning(status)
    );
    let mut lines = vec![head];
    let mut fact = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            lines.push(format!("    {name}: {}", harmless(value, 400)));
        }
    };
    fact(
        "conversation",
        task.conversation.as_deref().or(record.conversation_id()),
    );
    fact("workspace", task.workspace.as_deref());
    fact("branch", record.text(Field::Branch));
    fact("merge request", record.text(Field::MergeRequestUrl));
    fact("why stale", record.text(Field::StaleReason));
    fact("error", record.text(Field::Error));
    lines.join("\n")
}

fn what_would_be_done(known: &Known) -> String {
    let report = match &known.plan {
        Ok(report) => report,
        Err(error) => {
            return format!(
                "What the next run would do cannot be told: {}",
                harmless(error, 600)
            );
        }
    };
    if let Some(error) = &report.error {
        return format!("The next run would fail here: {}", harmless(error, 600));
    }
    let mut sentences = planned(known, report);
    let started = report
        .started
        .iter()
        .find(|started| known.item.owns(&started.task));
    let skipped = report
        .skipped
        .iter()
        .find(|skipped| skipped.item == known.item.name());
    if let Some(started) = started {
        let id = &started.conversation_id;
        sentences.push(format!(
            "The next run would start conversation {id} for it."
        ));
        if known.others > 0 {
            sentences.push(
                "It shares `max_new_per_run` and `max_active` with the other targets, which may \
                 be served first."
                    .to_owned(),
            );
        }
    } else if let Some(skipped) = skipped {
        sentences.push("Nothing new would be started for it.".to_owned());
        sentences.push(why(skipped.reason, ask_again(known)));
        if !skipped.detail.is_empty() && skipped.reason != SkipReason::AlreadyTracked {
            sentences.push(format!("({})", harmless(&skipped.detail, 400)));
        }
    } else {
        sentences.push("Nothing new would be started for it.".to_owned());
        sentences.push(not_looked_at(known));
    }
    sentences.retain(|sentence| !sentence.is_empty());
    let mut paragraph = sentences.join(" ");
    if is_today(known) {
        paragraph.push_str(&funnel(report));
    }
    for warning in &report.warnings {
        paragraph.push_str(&format!("\nwarning: {}", harmless(warning, 400)));
    }
    paragraph
}

fn planned(known: &Known, report: &TargetReport) -> Vec<String> {
    let own = report
        .planned
        .iter()
        .filter(|step| known.item.owns(&step.task));
    own.map(|step| format!("The next run would {} (task {}).", step.step, step.task))
        .collect()
}

fn has_record(known: &Known) -> bool {
    matches!(&known.recorded, Ok(recorded) if !recorded.tasks.is_empty())
}

fn is_today(known: &Known) -> bool {
    known.item == Item::Day(day(known.now))
}

fn funnel(report: &TargetReport) -> String {
    let mut text = String::new();
    if let Some(funnel) = report.funnel {
        text.push_str(&format!(
            "\nThe feeds hold {}: {} not told yet, {} of those fresh.",
            counted(funnel.fetched, "story", "stories"),
            funnel.unseen,
            funnel.fresh
        ));
    }
    for error in report.feed_errors.iter().flatten() {
        text.push_str(&format!("\nfailed: {}", harmless(error, 400)));
    }
    text
}

/// How to ask for work once more.
fn ask_again(known: &Known) -> &'static str {
    let at_work = match &known.recorded {
        Ok(Recorded { tasks, .. }) => tasks
            .iter()
            .max_by_key(|task| parse_label_task(&task.key).map(|(_, event)| event))
            .is_some_and(|task| task.record.status().is_live()),
        Err(_) => false,
    };
    match known.automation {
        _ if at_work => "The work is under way.",
        Automation::News => "A day is told once; what comes later is told tomorrow.",
        Automation::Review => "To ask for another review, take the label off and put it on again.",
        Automation::Issue => "To ask for more work, take the label off and put it on again.",
    }
}

/// Why an item did not come up at all.
fn not_looked_at(known: &Known) -> String {
    let kind = known.kind();
    match &known.facts {
        Ok(Facts::Gone) | Err(_) => String::new(),
        Ok(Facts::Day) if is_today(known) => String::new(),
        Ok(Facts::Day) if known.item.name() > day(known.now) => "Its time will come.".to_owned(),
        Ok(Facts::Day) if has_record(known) => "Every day is told once.".to_owned(),
        Ok(Facts::Day) => {
            "A run tells the stories of today only. A day without a record had no run, or nothing \
             new, or is forgotten: the last 14 are kept."
                .to_owned()
        }
        Ok(Facts::Found(found)) if !found.open => {
            format!("Only what is open is looked at, and this {kind} is not.")
        }
        Ok(Facts::Found(found)) if !found.labelled => {
            format!("Put the label {} on it to ask for work.", known.label)
        }
        Ok(Facts::Found(_)) => {
            "The listing of the forge does not show it yet; the run after that will.".to_owned()
        }
    }
}
