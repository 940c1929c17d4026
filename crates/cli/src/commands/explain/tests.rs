//! Explanations of items in every condition.

use super::facts::Found;
use super::*;
use lifecycle::document::{Field, Status};
use lifecycle::ports::{Funnel, LabelEvent};
use lifecycle::report::{PlannedStep, SkipReason, StartedTask};

/// 2026-08-20T06:00:00Z.
const NOW: f64 = 1_787_205_600.0;

fn pull(number: u64) -> Known {
    Known {
        automation: Automation::Review,
        target: "acme/widget".to_owned(),
        item: Item::Number(number),
        label: "openhands-review".to_owned(),
        facts: Ok(Facts::Found(Found {
            title: "Retry\nuploads".to_owned(),
            url: format!("https://github.com/acme/widget/pull/{number}"),
            open: true,
            head: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            labelled: true,
            event: Some(LabelEvent {
                id: 123,
                created_at: "2026-08-20T04:00:00Z".to_owned(),
                actor_id: Some(7),
                actor: Some("alice".to_owned()),
            }),
            ..Found::default()
        })),
        place: "KV key state:acme__widget".to_owned(),
        recorded: Ok(Recorded::default()),
        plan: Ok(TargetReport::new("acme/widget")),
        others: 0,
        now: NOW,
    }
}

fn day(day: &str) -> Known {
    Known {
        automation: Automation::News,
        target: "news".to_owned(),
        item: Item::Day(day.to_owned()),
        label: String::new(),
        facts: Ok(Facts::Day),
        plan: Ok(TargetReport::new("news")),
        place: "KV key state".to_owned(),
        ..pull(1)
    }
}

fn task(key: &str, status: Status, ago: f64) -> Task {
    let mut record = Record::default();
    record.set_status(status);
    record.set(Field::LastActivity, NOW - ago);
    record.set(
        Field::ConversationId,
        "88cca966-d491-5284-af5f-c0cc9c836d60",
    );
    Task {
        key: key.to_owned(),
        record,
        conversation: None,
        workspace: None,
    }
}

fn recorded(tasks: Vec<Task>) -> Recorded {
    let retries = Vec::new();
    Recorded { tasks, retries }
}

fn report(change: impl FnOnce(&mut TargetReport)) -> TargetReport {
    let mut report = TargetReport::new("acme/widget");
    change(&mut report);
    report
}

#[test]
fn what_would_be_started() {
    let mut known = pull(42);
    known.others = 1;
    known.plan = Ok(report(|report| {
        report.started.push(StartedTask {
            task: "42:label:123".to_owned(),
            conversation_id: "88cca966-d491-5284-af5f-c0cc9c836d60".to_owned(),
        });
        report.skip("43", SkipReason::CapReached, "");
    }));
    insta::assert_snapshot!("would-be-started", sentences::of(&known));
}

#[test]
fn what_was_handled_already() {
    let mut known = pull(42);
    known.recorded = Ok(recorded(vec![
        task("42:label:99", Status::Stale, 300_000.0),
        task("42:label:123", Status::Closed, 5400.0),
    ]));
    known.plan = Ok(report(|report| {
        report.skip("42", SkipReason::AlreadyTracked, "");
    }));
    insta::assert_snapshot!("handled-already", sentences::of(&known));
}

#[test]
fn what_is_at_work() {
    let mut known = pull(42);
    let mut task = task("42:label:123", Status::Active, 600.0);
    task.conversation = Some("https://openhands.example/conversations/88cca966".to_owned());
    task.workspace = Some("/workspace/repositories/acme__widget/pr-42-0123 (on disk)".to_owned());
    known.recorded = Ok(recorded(vec![task]));
    known.plan = Ok(report(|report| {
        report.skip("42", SkipReason::AlreadyTracked, "");
        report.planned.push(PlannedStep {
            task: "42:label:123".to_owned(),
            step: "collect its result".to_owned(),
        });
    }));
    insta::assert_snapshot!("at-work", sentences::of(&known));
}

#[test]
fn what_failed_before_and_what_is_not_looked_at() {
    let mut known = pull(42);
    let retry = Retry {
        attempts: 2,
        next_try: NOW + 600.0,
        last_error: "the archive could not be unpacked".to_owned(),
    };
    known.recorded = Ok(Recorded {
        tasks: Vec::new(),
        retries: vec![("42:label:123".to_owned(), retry)],
    });
    known.plan = Ok(report(|report| {
        report.skip("42", SkipReason::BackingOff, "2 attempts so far");
    }));
    let backing_off = sentences::of(&known);
    let change = |change: fn(&mut Found)| {
        let mut known = pull(42);
        if let Ok(Facts::Found(found)) = &mut known.facts {
            change(found);
        }
        sentences::of(&known)
    };
    let closed = change(|found| found.open = false);
    let unlabelled = change(|found| {
        found.labelled = false;
        found.event = None;
    });
    let mut gone = pull(42);
    gone.facts = Ok(Facts::Gone);
    let mut failing = pull(42);
    failing.facts = Err("GET /repos/acme/widget/pulls/42: not allowed".to_owned());
    failing.recorded = Err("the state document does not parse".to_owned());
    failing.plan = Ok(report(|report| {
        report.error = Some("not allowed".to_owned());
    }));
    let all = [
        backing_off,
        closed,
        unlabelled,
        sentences::of(&gone),
        sentences::of(&failing),
    ];
    insta::assert_snapshot!("not-looked-at", all.join("\n\n----\n\n"));
}

#[test]
fn days() {
    let mut today = day("2026-08-20");
    today.plan = Ok(report(|report| {
        report.skip(
            "2026-08-20",
            SkipReason::NothingNew,
            "3 fetched, none unseen",
        );
        report.funnel = Some(Funnel {
            fetched: 3,
            unseen: 0,
            fresh: 0,
        });
        report.feed_errors = Some(vec!["https://example.org/feed: HTTP 500".to_owned()]);
    }));
    let mut yesterday = day("2026-08-19");
    yesterday.recorded = Ok(recorded(vec![task(
        "news:2026-08-19",
        Status::Completed,
        80_000.0,
    )]));
    let days = [today, yesterday, day("2026-08-01"), day("2026-08-21")];
    let all: Vec<String> = days.iter().map(sentences::of).collect();
    insta::assert_snapshot!("days", all.join("\n\n----\n\n"));
}

#[test]
fn items_are_written_in_many_ways() {
    let number = |text| Item::parse(text, Automation::Review, NOW);
    for text in [
        "42",
        "#42",
        "!42",
        "https://github.com/acme/widget/pull/42",
        "https://gitlab.com/a/b/-/issues/42#note_1",
        " 42/ ",
    ] {
        assert_eq!(number(text), Ok(Item::Number(42)), "{text}");
    }
    for text in ["", "forty-two", "-1", "2026-08-20", "#"] {
        assert!(number(text).is_err(), "{text}");
    }
    let day = |text| Item::parse(text, Automation::News, NOW);
    assert_eq!(day("today"), Ok(Item::Day("2026-08-20".to_owned())));
    assert_eq!(day("2024-02-29"), Ok(Item::Day("2024-02-29".to_owned())));
    for text in ["2026-02-30", "20 August", "42", "2026-8-1"] {
        assert!(day(text).is_err(), "{text}");
    }
}

#[test]
fn every_reason_says_something() {
    // The list is closed: a reason that is added does not compile until it has its sentence.
    let text = reasons::why(SkipReason::AlreadyTracked, "Ask again.");
    assert!(text.ends_with("Ask again."));
}
