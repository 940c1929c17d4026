//! Every decision, as a table to read, and the edges of each rule.

use super::*;
use crate::document::Status;
use crate::fixtures;
use std::fmt::Write as _;

const NOW: f64 = 1_787_044_320.0;
const ME: &str = "run-2";
const MINUTE: f64 = 60.0;
const HOUR: f64 = 3600.0;

const CONVERSATIONS: [Conversation; 10] = [
    Conversation::IdleFresh,
    Conversation::IdleDone,
    Conversation::Running,
    Conversation::Paused,
    Conversation::WaitingForConfirmation,
    Conversation::Finished,
    Conversation::Error,
    Conversation::Stuck,
    Conversation::Deleting,
    Conversation::Other,
];

const ENDED: [Status; 9] = [
    Status::Completed,
    Status::Empty,
    Status::Failed,
    Status::Expired,
    Status::Closed,
    Status::Stale,
    Status::IssueClosed,
    Status::NoChanges,
    Status::Unknown,
];

fn observations() -> Vec<Observation> {
    let seen = CONVERSATIONS.into_iter().map(Observation::Seen);
    let others = [
        Observation::Unknown,
        Observation::Unavailable("timeout".into()),
    ];
    seen.chain(others).collect()
}

/// A record of that age with a conversation and a workspace.
fn record(status: Status, age: f64) -> Record {
    let mut record = Record::default();
    record
        .set_status(status)
        .set(
            Field::ConversationId,
            "550e8400-e29b-41d4-a716-446655440000",
        )
        .set(
            Field::WorkspaceDir,
            "/workspace/repositories/acme__widget/pr-4-0123456789ab",
        )
        .set(Field::LastActivity, NOW - age);
    record
}

/// The decision in one word or two.
fn step(record: &Record, seen: &Observation, sandbox: bool) -> &'static str {
    match decide(record, seen, sandbox, ME, NOW) {
        Step::Leave(Waiting::Claiming) => "claiming",
        Step::Leave(Waiting::Settling) => "settling",
        Step::Leave(Waiting::Working) => "working",
        Step::Leave(Waiting::Paused) => "paused",
        Step::Leave(Waiting::ServerSilent) => "silent",
        Step::Leave(Waiting::Leased) => "leased",
        Step::Rest => "rest",
        Step::Adopt => "adopt",
        Step::DropClaim(_) => "drop claim",
        Step::Collect(Ending::Done) => "collect",
        Step::Collect(Ending::Failed(_)) => "failed",
        Step::Collect(Ending::Gone) => "gone",
        Step::Collect(Ending::Elsewhere) => "elsewhere",
        Step::Collect(Ending::Overtaken | Ending::Expired { .. }) => "never decided here",
        Step::Expire {
            interrupt: true, ..
        } => "stop+expire",
        Step::Expire {
            interrupt: false, ..
        } => "expire",
        Step::Release(_) => "release",
        Step::Interrupt => "interrupt",
        Step::ForgetIfAbsent => "if absent",
        Step::Tidy => "tidy",
    }
}

#[test]
fn every_decision() {
    let ages = [
        ("5 s", 5.0),
        ("1 min", MINUTE),
        ("20 min", 20.0 * MINUTE),
        ("2 h 5", 2.0 * HOUR + 5.0 * MINUTE),
        ("2 h 20", 2.0 * HOUR + 20.0 * MINUTE),
    ];
    let mut table = String::new();
    for status in [
        Status::Starting,
        Status::Active,
        Status::Closed,
        Status::Expired,
    ] {
        for (mode, sandbox) in [("local", false), ("sandbox", true)] {
            let title = format!("{}, {mode}", status.name());
            write!(table, "{title:24}").unwrap();
            for (age, _) in ages {
                write!(table, "{age:13}").unwrap();
            }
            table.push('\n');
            for seen in observations() {
                let name = match &seen {
                    Observation::Seen(conversation) => format!("{conversation:?}"),
                    Observation::Unknown => "(unknown)".into(),
                    Observation::Unavailable(_) => "(no answer)".into(),
                };
                write!(table, "{name:24}").unwrap();
                for (_, age) in ages {
                    write!(table, "{:13}", step(&record(status, age), &seen, sandbox)).unwrap();
                }
                table.push('\n');
            }
            table.push('\n');
        }
    }
    let table: Vec<&str> = table.lines().map(str::trim_end).collect();
    fixtures::shown("decisions", &table.join("\n"));
}

/// Every ended status but `expired` is treated alike.
#[test]
fn ended_statuses_differ_only_in_whether_they_were_given_up() {
    for status in ENDED {
        let like = if status == Status::Expired {
            Status::Expired
        } else {
            Status::Closed
        };
        for seen in observations() {
            for sandbox in [false, true] {
                for age in [1.0, HOUR, 3.0 * HOUR] {
                    let expected = step(&record(like, age), &seen, sandbox);
                    let found = step(&record(status, age), &seen, sandbox);
                    assert_eq!(found, expected, "{} {seen:?} {age}", status.name());
                }
            }
        }
    }
}

/// Nothing is collected in the first 15 seconds, whatever it looks like.
#[test]
fn a_fresh_conversation_is_left_to_settle() {
    for seen in observations() {
        assert_eq!(step(&record(Status::Active, 0.0), &seen, false), "settling");
        assert_eq!(step(&record(Status::Active, 14.9), &seen, true), "settling");
    }
    let finished = Observation::Seen(Conversation::Finished);
    assert_eq!(
        step(&record(Status::Active, 15.0), &finished, false),
        "collect"
    );
}

/// The recorded life of one conversation: idle before it runs, collected once, at the end.
#[test]
fn a_conversation_that_is_idle_before_it_runs_is_collected_at_its_end() {
    let case = fixtures::json("fixtures/runtime/conversation-is-idle-before-it-runs.json");
    let ages = case["seconds_after_start"].as_array().unwrap();
    let looks = case["observed"].as_array().unwrap();
    let mut steps = Vec::new();
    for (age, look) in ages.iter().zip(looks) {
        let conversation = CONVERSATIONS
            .into_iter()
            .find(|conversation| format!("{conversation:?}") == look.as_str().unwrap())
            .unwrap();
        let record = record(Status::Active, age.as_f64().unwrap());
        steps.push(step(&record, &Observation::Seen(conversation), false));
    }
    assert_eq!(
        steps,
        ["settling", "settling", "settling", "working", "collect"]
    );
}

/// A claim is looked up before it is dropped, and only once it is 15 minutes old.
#[test]
fn a_claim_is_stalled_after_fifteen_minutes() {
    let unknown = Observation::Unknown;
    let almost = record(Status::Starting, STALLED_CLAIM_SECONDS - 0.1);
    let stalled = record(Status::Starting, STALLED_CLAIM_SECONDS);
    assert_eq!(step(&almost, &unknown, false), "claiming");
    assert_eq!(step(&stalled, &unknown, false), "drop claim");
    // In sandbox mode unknown means "not here": the claim is kept for two hours.
    assert_eq!(step(&stalled, &unknown, true), "elsewhere");
    assert_eq!(
        step(
            &record(Status::Starting, MAX_ACTIVE_SECONDS),
            &unknown,
            true
        ),
        "expire"
    );
}

#[test]
fn two_hours_are_counted_to_the_second() {
    let running = Observation::Seen(Conversation::Running);
    let almost = record(Status::Active, MAX_ACTIVE_SECONDS - 0.1);
    let over = record(Status::Active, MAX_ACTIVE_SECONDS);
    assert_eq!(step(&almost, &running, false), "working");
    assert_eq!(step(&over, &running, false), "stop+expire");
    let step = decide(&over, &running, false, ME, NOW);
    assert!(matches!(
        step,
        Step::Expire {
            after: MAX_ACTIVE_SECONDS,
            ..
        }
    ));
}

#[test]
fn somebody_elses_lease_is_respected_while_it_lasts() {
    let finished = Observation::Seen(Conversation::Finished);
    let leased = |owner: &str, until: f64| {
        let mut record = record(Status::Active, MINUTE);
        record
            .set(Field::LeaseOwner, owner)
            .set(Field::LeaseUntil, until);
        step(&record, &finished, false)
    };
    assert_eq!(leased("run-1", NOW + 1.0), "leased");
    assert_eq!(leased("run-1", NOW + LEASE_SECONDS), "leased");
    assert_eq!(leased("run-1", NOW), "collect", "it has lapsed");
    assert_eq!(leased(ME, NOW + 1.0), "collect", "it is ours");
    assert_eq!(
        leased("run-1", NOW + HOUR),
        "collect",
        "no lease is that long: nonsense"
    );
    // Half a lease is none.
    let mut record = record(Status::Active, MINUTE);
    record.set(Field::LeaseUntil, NOW + 1.0);
    assert_eq!(step(&record, &finished, false), "collect");
}

#[test]
fn an_ended_task_with_nothing_left_rests() {
    for status in ENDED {
        let mut record = record(status, MINUTE);
        record.unset(Field::WorkspaceDir);
        for seen in observations() {
            assert_eq!(step(&record, &seen, false), "rest");
        }
        record.set(Field::LeaseOwner, "run-1");
        assert_eq!(step(&record, &Observation::Unknown, false), "tidy");
    }
}

#[test]
fn a_workspace_without_a_conversation_is_released() {
    let mut record = record(Status::Closed, MINUTE);
    record.unset(Field::ConversationId);
    for seen in observations() {
        assert_eq!(step(&record, &seen, false), "release");
    }
}

#[test]
fn a_record_without_a_moment_counts_as_very_old() {
    let mut record = record(Status::Active, 0.0);
    record.unset(Field::LastActivity);
    assert_eq!(
        step(&record, &Observation::Seen(Conversation::Running), false),
        "stop+expire"
    );
}

#[test]
fn clocks_that_differ_a_little_make_nothing_old() {
    let aged = |seconds| Some(age(&record(Status::Active, seconds), NOW));
    assert_eq!(aged(-5.0 * MINUTE), Some(0.0));
    assert_eq!(aged(90.0), Some(90.0));
    // A moment days ahead is no clock that differs a little: it would never expire.
    assert_eq!(aged(-48.0 * HOUR), Some(f64::INFINITY));
}
