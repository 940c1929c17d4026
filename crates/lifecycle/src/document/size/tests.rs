//! Documents of any history fit, as the service counts, and what must stay stays.

use super::*;
use crate::document::{ISSUE, NEWS, REVIEW, Retry, Schema, Status};
use crate::fixtures;
use serde_json::json;

/// Counts as the service does: a program of its own writes the JSON, with blanks and escapes.
fn counted(value: &Value) -> usize {
    let text = |text: &str| -> usize {
        let plain = serde_json::to_string(text).unwrap();
        let escaped = plain.chars().map(|c| {
            if c.is_ascii() && c != '\u{7f}' {
                1
            } else {
                6 * c.len_utf16()
            }
        });
        escaped.sum()
    };
    let joined = |count: usize| 2 + 2 * count.saturating_sub(1);
    match value {
        Value::String(string) => text(string),
        Value::Array(items) => joined(items.len()) + items.iter().map(counted).sum::<usize>(),
        Value::Object(fields) => {
            let members = fields
                .iter()
                .map(|(name, value)| text(name) + 2 + counted(value));
            joined(fields.len()) + members.sum::<usize>()
        }
        other => other.to_string().len(),
    }
}

/// Fits a document and checks all that must hold of any that was fitted.
fn check(
    document: &mut Document,
    budget: usize,
    in_force: &dyn Fn(&str, &Record) -> bool,
) -> Result<(), Overfull> {
    let before = document.clone();
    let outcome = fit(document, budget, in_force);
    if outcome.is_ok() {
        let bytes = counted(&document.to_value()) + reserved(document);
        assert!(bytes <= budget, "{bytes} bytes in {budget}");
    }
    for (task, old) in before.records() {
        let Some(new) = document.record(task) else {
            assert!(
                !must_stay(&old) && !in_force(task, &old),
                "{task} was dropped"
            );
            continue;
        };
        assert_eq!(new.status(), old.status());
        assert_eq!(new.workspace_dir(), old.workspace_dir());
        if old.status().is_live() {
            assert_eq!(new, old, "{task} is at work and was cut");
        }
        if old.workspace_dir().is_some() {
            assert_eq!(new.conversation_id(), old.conversation_id(), "{task}");
        }
    }
    // Fitting what fits changes nothing.
    let fitted = document.clone();
    assert_eq!(fit(document, budget, in_force), outcome);
    assert_eq!(*document, fitted);
    outcome
}

fn record(status: Status, number: u64, at: f64) -> Record {
    let mut record = Record::default();
    record
        .set_status(status)
        .set(Field::PrNumber, number)
        .set(Field::HeadSha, format!("{number:040x}"))
        .set(Field::LabelEventId, 20_000_000_000 + number)
        .set(Field::LabelEventCreatedAt, "2026-08-18T09:12:00Z")
        .set(
            Field::HtmlUrl,
            format!("https://github.com/acme/widget/pull/{number}"),
        )
        .set(
            Field::ConversationId,
            format!("550e8400-e29b-41d4-a716-{number:012}"),
        )
        .set(Field::LastActivity, at);
    record
}

fn task(number: u64) -> String {
    crate::identity::label_task(number, 20_000_000_000 + number)
}

fn snapshot(document: &mut Document, number: u64, present: bool, labels: &[String], seen: f64) {
    let all = document.fields.entry("prs").or_insert_with(|| json!({}));
    all[number.to_string()] = json!({
        "head_sha": format!("{number:040x}"),
        "label_present": present,
        "labels": labels,
        "last_seen": seen,
    });
}

fn snapshots(document: &Document) -> Map<String, Value> {
    let all = document.get("prs").and_then(Value::as_object);
    all.cloned().unwrap_or_default()
}

const NOTHING: &dyn Fn(&str, &Record) -> bool = &|_, _| false;
const EVERYTHING: &dyn Fn(&str, &Record) -> bool = &|_, _| true;

#[test]
fn bytes_are_counted_as_the_service_counts_them() {
    let cases = [
        json!(null),
        json!([true, false, 0, -1.5, 1_787_044_320.331_256_4]),
        json!({"a": {}, "b": []}),
        json!("\"quoted\" \\ and\nlines\t"),
        json!("ö 漢字 🚀 \u{7f} \u{1}"),
    ];
    for value in cases {
        let (ours, theirs) = (wire_size(&value), counted(&value));
        // A list or map is counted with one separator too many.
        assert!(
            ours >= theirs && ours <= theirs + 6,
            "{value}: {ours}, {theirs}"
        );
    }
}

#[test]
fn what_fits_is_left_alone() {
    let mut document = Document::empty(&REVIEW, "acme/widget");
    document.put_record(&task(1), record(Status::Closed, 1, 1.0));
    snapshot(&mut document, 1, false, &["bug".into()], 1.0);
    let before = document.clone();
    assert_eq!(check(&mut document, ONE_BYTES, NOTHING), Ok(()));
    assert_eq!(document, before);
}

#[test]
fn shares_are_even_and_bounded() {
    assert_eq!(
        [share(0), share(1), share(2), share(20)],
        [49_152, 49_152, 30_720, 3_072]
    );
}

#[test]
fn a_document_that_has_grown_over_the_limit_loses_what_nothing_depends_on() {
    let case = fixtures::json("fixtures/lifecycle/document-grown-over-the-limit.json");
    let number = |name: &str| case[name].as_u64().unwrap();
    let mut document = Document::empty(&REVIEW, "acme/widget");
    for n in 1..=number("closed_records") {
        document.put_record(&task(n), record(Status::Closed, n, 1000.0 + n as f64));
    }
    // Three of the oldest must stay, for three reasons.
    document.put_record(&task(1), record(Status::Active, 1, 1.0));
    document.put_record(&task(2), record(Status::Starting, 2, 1.0));
    let mut waiting = record(Status::Stale, 3, 1.0);
    waiting.set(
        Field::WorkspaceDir,
        "/workspace/repositories/acme__widget/pr-3-0123456789ab",
    );
    document.put_record(&task(3), waiting);
    let labels: Vec<String> = (0..number("labels_each"))
        .map(|n| format!("area/{n}"))
        .collect();
    for n in 1..=number("snapshots") {
        snapshot(&mut document, n, n % 10 == 0, &labels, n as f64);
    }
    assert!(counted(&document.to_value()) as u64 > number("limit"));

    assert_eq!(check(&mut document, ONE_BYTES, NOTHING), Ok(()));

    for n in 1..=3 {
        assert!(document.has_record(&task(n)), "{n}");
    }
    let left: Vec<u64> = document
        .records()
        .filter_map(|(_, r)| r.count(Field::PrNumber))
        .collect();
    let oldest_closed = left.iter().copied().filter(|n| *n > 3).min().unwrap();
    let expected = 3 + number("closed_records") + 1 - oldest_closed;
    assert_eq!(
        left.len() as u64,
        expected,
        "the oldest went first, and no more than needed"
    );
    // Snapshots without the label go before any record, those with it after them.
    let shown = snapshots(&document);
    assert!(shown.values().all(|s| s["label_present"] == json!(true)));
    assert_eq!(shown.len() as u64, number("snapshots") / 10);
}

/// Labels of 50 characters in several scripts.
fn labels(n: u64) -> Vec<String> {
    let alphabets = [
        "abcdefghij",
        "äöüßéèàçñø",
        "漢字仮名交文表記法",
        "🚀🔥🐛💡📦🧪🔒📝",
        "ابتثجحخدذر",
    ];
    let n = usize::try_from(n).unwrap();
    let letters = alphabets[n % 5].chars().cycle();
    let label = |skipped| letters.clone().skip(n % 7 + skipped).take(50).collect();
    vec![label(0), label(3), "openhands-review".into()]
}

#[test]
fn two_thousand_pull_requests_with_six_hundred_labelled_over_time_fit() {
    let mut document = Document::empty(&REVIEW, "acme/widget");
    for n in 1..=2000 {
        let labelled = n <= 600;
        let labels = labels(n);
        let shown = if labelled { &labels[..] } else { &labels[..2] };
        snapshot(&mut document, n, labelled, shown, n as f64);
        if labelled {
            let status = if n > 590 {
                Status::Active
            } else {
                Status::Closed
            };
            document.put_record(&task(n), record(status, n, n as f64));
            // Every poll leaves a document that fits.
            if n % 100 == 0 {
                assert_eq!(
                    check(&mut document, ONE_BYTES, EVERYTHING),
                    Ok(()),
                    "after {n}"
                );
            }
        }
    }
    assert_eq!(check(&mut document, ONE_BYTES, EVERYTHING), Ok(()));
    assert_eq!(
        document.records().count(),
        600,
        "every trigger is still in force"
    );
    let handled = document
        .records()
        .all(|(_, record)| record.status() != Status::Unknown);
    assert!(handled, "what is left of a record says that it is done");
}

#[test]
fn twenty_repositories_share_one_store_that_counts_the_sum() {
    let budget = share(20);
    let mut sum = 0;
    for repo in 0..20 {
        let mut document = Document::empty(&REVIEW, &format!("organization/repository-{repo}"));
        document.set("trigger_label", "openhands-review");
        document.set("updated_at", 1_787_044_320.331_256_4);
        document.set("written_by", "550e8400-e29b-41d4-a716-446655440000");
        for n in 1..=30 {
            let labels = labels(n);
            snapshot(
                &mut document,
                n,
                n <= 15,
                &labels[..if n <= 15 { 3 } else { 2 }],
                1.0,
            );
            if n <= 15 {
                document.put_record(&task(n), record(Status::Closed, n, n as f64));
            }
        }
        assert_eq!(check(&mut document, budget, EVERYTHING), Ok(()), "{repo}");
        assert_eq!(document.records().count(), 15);
        sum += counted(&document.to_value());
    }
    assert!(sum <= ALL_BYTES && ALL_BYTES < 65_536, "{sum}");
}

#[test]
fn records_in_force_are_cut_before_they_are_lost() {
    let mut document = Document::empty(&REVIEW, "acme/widget");
    for n in 1..=100 {
        document.put_record(&task(n), record(Status::Closed, n, n as f64));
    }
    let full = counted(&document.to_value());
    assert_eq!(check(&mut document, full - 1000, EVERYTHING), Ok(()));
    let oldest = document.record(&task(1)).unwrap();
    assert_eq!(oldest.get(Field::HtmlUrl), None, "the oldest is cut first");
    assert_eq!(oldest.count(Field::PrNumber), Some(1));
    let newest = document.record(&task(100)).unwrap();
    assert!(newest.get(Field::HtmlUrl).is_some());
    let most = 64 * 100;
    assert_eq!(check(&mut document, most, EVERYTHING), Ok(()));
    assert_eq!(
        document.record(&task(1)).unwrap().to_value(),
        json!({"status": "closed"})
    );
    // And when even that is too much, it is said.
    let error = check(&mut document, 2000, EVERYTHING).unwrap_err();
    assert!(error.needed > error.budget);
    assert_eq!(document.records().count(), 100);
}

#[test]
fn live_records_keep_room_for_their_end() {
    let mut document = Document::empty(&REVIEW, "acme/widget");
    document.put_record(&task(1), record(Status::Starting, 1, 1.0));
    let bytes = wire_size(&document.to_value());
    assert!(check(&mut document, bytes + LIVE_RESERVE_BYTES - 1, EVERYTHING).is_err());
    assert!(check(&mut document, bytes + LIVE_RESERVE_BYTES, EVERYTHING).is_ok());
    // The reserve is enough for what starting and finishing add.
    let mut ended = document.record(&task(1)).unwrap();
    ended
        .set_status(Status::Expired)
        .set(Field::BaseSha, "0123456789012345678901234567890123456789")
        .set(Field::Branch, "openhands/issue-12345-11")
        .set(Field::CompletedAt, 1_787_044_320.331_256_4)
        .set(Field::ExpiredAfter, 7_213.433_125)
        .set(Field::LeaseOwner, "550e8400-e29b-41d4-a716-446655440000")
        .set(Field::LeaseUntil, 1_787_044_320.331_256_4);
    document.put_record(&task(1), ended);
    assert!(wire_size(&document.to_value()) <= bytes + LIVE_RESERVE_BYTES);
}

#[test]
fn failures_of_many_tasks_do_not_fill_the_document() {
    let mut document = Document::empty(&REVIEW, "acme/widget");
    document.put_record(&task(1), record(Status::Active, 1, 1.0));
    for n in 1..=1000 {
        let retry = Retry {
            attempts: 3,
            next_try: n as f64,
            last_error: "x".repeat(200),
        };
        document.put_retry(&task(n), &retry);
    }
    assert_eq!(check(&mut document, ONE_BYTES, EVERYTHING), Ok(()));
    assert!(
        document.retry(&task(1)).is_some(),
        "attempts at finishing are not forgotten"
    );
    assert!(document.retry(&task(2)).is_none(), "what is due soonest is");
    assert_eq!(
        document.retry(&task(1000)).map(|retry| retry.attempts),
        Some(3)
    );
}

/// A digest document with everything at its cap.
fn full_news() -> Document {
    let mut document = Document::empty(&NEWS, "news");
    let keys = |from: u64, to: u64| -> Vec<String> {
        (from..to)
            .map(|n| format!("{:016x}", n.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
            .collect()
    };
    document.set("seen", keys(0, 1000));
    let text = "大事なことから順に、今日の出来事を短くまとめます🚀"
        .chars()
        .cycle();
    document.set(
        "last_digest",
        json!({
            "period": "2026-08-20",
            "conversation_url": "https://app.example.com/conversations/550e8400",
            "written_at": 1_787_044_320.5,
            "text": text.take(4000).collect::<String>(),
        }),
    );
    let error = "https://beispiel.example/größe: ".chars().cycle().take(200);
    document.set("last_feed_errors", vec![error.collect::<String>(); 10]);
    for day in 1..=14 {
        let mut record = Record::default();
        record
            .set_status(if day > 12 {
                Status::Active
            } else {
                Status::Completed
            })
            .set(Field::Period, format!("2026-08-{day:02}"))
            .set(Field::LastActivity, f64::from(day))
            .set(
                Field::ConversationUrl,
                "https://app.example.com/conversations/550e8400",
            )
            .set(Field::ItemCount, 200);
        if day > 12 {
            record.set(Field::ItemKeys, keys(5000, 5400));
        }
        document.put_record(&format!("news:2026-08-{day:02}"), record);
    }
    document
}

#[test]
fn a_digest_document_with_everything_at_its_cap_fits() {
    let mut document = full_news();
    assert!(counted(&document.to_value()) > ONE_BYTES);
    assert_eq!(check(&mut document, ONE_BYTES, EVERYTHING), Ok(()));
    let told = document.get("seen").and_then(Value::as_array).unwrap();
    assert_eq!(told.len(), 1000, "texts go before what was told");
    let text = document.get("last_digest").unwrap()["text"]
        .as_str()
        .unwrap();
    assert!(text.chars().count() >= 500 && text.ends_with('…'));
    assert_eq!(document.records().count(), 14);
    // With hardly any room, what was told long ago goes, and never what was told lately.
    assert!(check(&mut document, 1024, EVERYTHING).is_err());
    let told = document.get("seen").and_then(Value::as_array).unwrap();
    assert_eq!(told.len(), 500);
}

#[test]
fn whatever_the_history_what_must_stay_stays() {
    for seed in 0..30 {
        let mut random = fastrand::Rng::with_seed(seed);
        let schema: &'static Schema = [&REVIEW, &ISSUE][random.usize(..2)];
        let mut document = Document::empty(schema, "acme/widget");
        for n in 1..=random.u64(1..80) {
            let status = schema.statuses[random.usize(..schema.statuses.len())];
            let mut record = record(status, n, random.f64() * 1000.0);
            if random.u8(..) < 60 {
                record.set(
                    Field::WorkspaceDir,
                    format!("/workspace/{}", "d".repeat(random.usize(..80))),
                );
            }
            if random.bool() {
                record.set(Field::IssueTitle, labels(n).join(" "));
            }
            document.put_record(&task(n), record);
            snapshot(&mut document, n, random.bool(), &labels(n), random.f64());
            if random.bool() {
                let retry = Retry {
                    attempts: 1,
                    next_try: random.f64(),
                    last_error: "ß".repeat(90),
                };
                document.put_retry(&task(n), &retry);
            }
        }
        let salt = random.usize(1..5);
        let in_force = move |task: &str, _: &Record| task.len().is_multiple_of(salt);
        for budget in [60_000, 20_000, 9_000, 3_000, 500] {
            let _ = check(&mut document, budget, &in_force);
        }
    }
}
