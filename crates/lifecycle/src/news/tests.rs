//! What the agent is told about a day's news.

use super::*;
use crate::fixtures;
use crate::ports::{FeedFailure, Funnel, Story};

fn story(title: &str, source: &str, published: Option<f64>, summary: &str) -> Story {
    Story {
        title: title.into(),
        link: format!("https://{source}.example/{}", title.len()),
        published,
        summary: summary.into(),
        source: source.into(),
        keys: vec![format!("{:016x}", title.len())],
    }
}

fn failure(url: &str) -> FeedFailure {
    FeedFailure {
        url: url.into(),
        error: "HTTP 410".into(),
    }
}

fn topics(topics: &[&str]) -> Interests {
    Interests {
        topics: topics.iter().map(ToString::to_string).collect(),
    }
}

fn news(stories: Vec<Story>) -> News {
    News {
        funnel: Funnel {
            fetched: 60,
            unseen: 12,
            fresh: stories.len(),
        },
        stories,
        configured: 3,
        ..News::default()
    }
}

#[test]
fn a_day_with_topics_and_a_feed_that_failed() {
    let mut news = news(vec![
        story(
            "Parliament passes the energy act",
            "herald",
            Some(1_787_044_320.0),
            "The act was passed with 312 votes to 298. It takes effect in January.",
        ),
        story("Größere Akkus für alle", "zeitung", None, ""),
    ]);
    news.failures = vec![
        failure("https://gone.example/feed.xml"),
        failure("https://reader:secret@paid.example/feed?token=secret"),
    ];
    let topics = topics(&["energy policy", "batteries and\n storage"]);
    fixtures::shown("news-prompt", &prompt("2026-08-18", &topics, &news));
}

#[test]
fn a_day_without_topics() {
    let news = news(vec![story("One story", "herald", None, "")]);
    let text = prompt("2026-08-18", &Interests::default(), &news);
    fixtures::shown("news-prompt-without-topics", &text);
}

/// Whatever a stranger puts into a feed stays within its own line.
#[test]
fn stories_that_try_to_break_out_stay_one_line_each() {
    let hostile = fixtures::text("fixtures/lifecycle/text-that-tries-to-break-out.md");
    let mut news = news(vec![story(&hostile, &hostile, None, &hostile)]);
    news.failures.push(FeedFailure {
        url: format!("https://gone.example/{hostile}"),
        error: hostile.clone(),
    });
    let text = prompt("2026-08-18", &topics(&["anything"]), &news);
    let clean = prompt(
        "2026-08-18",
        &topics(&["anything"]),
        &News {
            stories: vec![story("t", "s", None, "x")],
            failures: vec![failure("https://gone.example/")],
            ..news.clone()
        },
    );
    assert_eq!(text.lines().count(), clean.lines().count());
    let (before, after) = (lines_outside(&text), lines_outside(&clean));
    assert_eq!(before, after, "no line of ours has changed");
    let line = text.lines().find(|line| line.starts_with('{')).unwrap();
    let read: Value = serde_json::from_str(line).unwrap();
    assert_eq!(read["title"], Value::from(hostile));
}

/// The lines that hold no text of strangers.
fn lines_outside(text: &str) -> Vec<&str> {
    let strange = |line: &&str| line.starts_with('{') || line.starts_with("- \"https://gone");
    text.lines().filter(|line| !strange(line)).collect()
}

#[test]
fn what_was_told_is_remembered_oldest_first_and_at_most_a_thousand() {
    let mut document = Document::empty(&NEWS, TARGET);
    let keys = |range: std::ops::Range<u32>| -> Vec<Value> {
        range.map(|n| format!("{n:016x}").into()).collect()
    };
    widen_seen(&mut document, &keys(0..600));
    widen_seen(&mut document, &keys(500..700));
    assert_eq!(seen(&document).len(), 700, "what is known is not repeated");
    widen_seen(&mut document, &keys(700..1500));
    let told = seen(&document);
    assert_eq!(told.len(), MAX_SEEN);
    assert_eq!(told.first().unwrap(), &format!("{:016x}", 500));
    assert_eq!(told.last().unwrap(), &format!("{:016x}", 1499));
    let before = document.clone();
    widen_seen(&mut document, &keys(700..1500));
    assert_eq!(document, before, "it may be applied twice");
}

#[test]
fn errors_of_feeds_are_kept_short() {
    let news = News::default();
    let errors = (0..20)
        .map(|n| format!("{n}: {}", "ö".repeat(500)))
        .collect();
    let mut document = Document::empty(&NEWS, TARGET);
    remember_look(&news, errors, 100.0)(&mut document);
    let kept = document
        .get("last_feed_errors")
        .unwrap()
        .as_array()
        .unwrap()
        .clone();
    assert_eq!(kept.len(), MAX_FEED_ERRORS);
    let short = |error: &Value| error.as_str().unwrap().chars().count() <= 200;
    assert!(kept.iter().all(short));
    // An older look of another run does not replace a newer one.
    let before = document.clone();
    remember_look(&news, Vec::new(), 50.0)(&mut document);
    assert_eq!(document, before);
}

/// At most 14 days, oldest first, and never one that is at work or holds a directory.
#[test]
fn days_are_pruned() {
    struct NoFeeds;
    impl Feeds for NoFeeds {
        async fn read(&self, _seen: &[String], _now: f64) -> News {
            News::default()
        }
    }
    let policy = NewsPolicy {
        feeds: &NoFeeds,
        interests: Interests::default(),
    };
    let mut document = Document::empty(&NEWS, TARGET);
    for day in 1..=20 {
        let mut record = Record::default();
        record.set_status(if day == 2 {
            Status::Active
        } else {
            Status::Completed
        });
        if day == 3 {
            record.set(Field::WorkspaceDir, "/workspace/news-digest/2026-08-03");
        }
        document.put_record(&format!("news:2026-08-{day:02}"), record);
    }
    policy.tidy(&mut document);
    let days: Vec<String> = document
        .records()
        .map(|(task, _)| task[13..].to_owned())
        .collect();
    assert_eq!(days.len(), MAX_TASKS);
    assert_eq!(days[..3], ["02", "03", "09"]);
    let before = document.clone();
    policy.tidy(&mut document);
    assert_eq!(document, before);
}
