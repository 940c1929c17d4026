//! The report as `--json` prints it.

use super::*;
use crate::fixtures;
use serde_json::Value;

fn pretty(report: &TargetReport) -> String {
    serde_json::to_string_pretty(report).unwrap()
}

#[test]
fn a_repository() {
    let mut report = TargetReport::new("owner/repo");
    report.discovered = 3;
    report.started.push(StartedTask {
        task: "42:label:123".into(),
        conversation_id: "88cca966-d491-5284-af5f-c0cc9c836d60".into(),
    });
    report.finished.push(FinishedTask {
        task: "41:label:99".into(),
        status: "closed",
    });
    report.skip("43", SkipReason::CapReached, "max_new_per_run is 1");
    report.skip("41", SkipReason::AlreadyTracked, "");
    report.in_flight = 1;
    report.released = 1;
    report
        .warnings
        .push("44: the label events could not be read".into());
    assert!(!report.failed());
    fixtures::shown("report-of-a-repository", &pretty(&report));
}

#[test]
fn a_failed_target() {
    let mut report = TargetReport::new("owner/gone");
    report.status = "failed";
    report.error = Some("GET /repos/owner/gone/pulls: not found (Not Found)".into());
    assert!(report.failed());
    fixtures::shown("report-of-a-failed-target", &pretty(&report));
}

#[test]
fn a_dry_run_of_the_news() {
    let mut report = TargetReport::new("news");
    report.funnel = Some(Funnel {
        fetched: 60,
        unseen: 12,
        fresh: 2,
    });
    report.feed_errors = Some(vec!["https://example.test/feed: HTTP 500".into()]);
    let story = |title: &str, published| Story {
        title: title.into(),
        link: "https://example.test/a".into(),
        published,
        summary: "Not shown here.".into(),
        source: "Example".into(),
        keys: vec!["3f2a9c1b7d4e8a05".into()],
    };
    let stories = [
        story("Dated", Some(1_787_044_320.5)),
        story("Undated", None),
    ];
    report.shortlist = Some(stories.iter().map(Into::into).collect());
    report.planned.push(PlannedStep {
        task: "news:2026-08-17".into(),
        step: "collect its result".into(),
    });
    fixtures::shown("report-of-a-dry-run-of-the-news", &pretty(&report));
}

/// Programs match on these words: the list is closed, and a new one is added here on purpose.
#[test]
fn the_reasons_for_not_working_on_an_item() {
    use SkipReason as Reason;
    let all = [
        (Reason::AlreadyTracked, "already-tracked"),
        (Reason::NoLabelEvent, "no-label-event"),
        (Reason::LostLabel, "lost-label"),
        (Reason::NoLongerOpen, "no-longer-open"),
        (Reason::HeadMoved, "head-moved"),
        (Reason::Draft, "draft"),
        (Reason::NotAllowed, "not-allowed"),
        (Reason::CapReached, "cap-reached"),
        (Reason::MaxActive, "max-active"),
        (Reason::BackingOff, "backing-off"),
        (Reason::ClaimedElsewhere, "claimed-elsewhere"),
        (Reason::NoRoom, "no-room"),
        (Reason::AgentServerFull, "agent-server-full"),
        (Reason::OutOfTime, "out-of-time"),
        (Reason::RateLimited, "rate-limited"),
        (Reason::NothingNew, "nothing-new"),
        (Reason::SetupFailed, "setup-failed"),
    ];
    for (reason, word) in all {
        assert_eq!(serde_json::to_value(reason).unwrap(), Value::from(word));
        // Without a wildcard, so that a reason that is missing above does not compile.
        match reason {
            Reason::AlreadyTracked
            | Reason::NoLabelEvent
            | Reason::LostLabel
            | Reason::NoLongerOpen
            | Reason::HeadMoved
            | Reason::Draft
            | Reason::NotAllowed
            | Reason::CapReached
            | Reason::MaxActive
            | Reason::BackingOff
            | Reason::ClaimedElsewhere
            | Reason::NoRoom
            | Reason::AgentServerFull
            | Reason::OutOfTime
            | Reason::RateLimited
            | Reason::NothingNew
            | Reason::SetupFailed => {}
        }
    }
}
