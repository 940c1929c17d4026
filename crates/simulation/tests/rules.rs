//! Whole simulations: all is well with every safeguard on, each is missed when it is off, and a seed
//! is one schedule for ever.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says so when it fails"
)]

use simulation::{Automation, Mutation, Options, Report, run};

/// Each safeguard, a seed that breaks without it, and the words of the rule that it breaks.
const SAFEGUARDS: [(Mutation, u64, &str); 14] = [
    (Mutation::CompareAndSwap, 67, "was lost"),
    (Mutation::GuardExclusivity, 328, "was removed while"),
    (Mutation::DeterministicId, 1, "a second conversation"),
    (Mutation::Adoption, 36, "was removed while"),
    (Mutation::Lease, 104, "a second comment of kind Result"),
    (Mutation::Marker, 35, "a second comment of kind Result"),
    (Mutation::Debounce, 28, "was removed while"),
    (Mutation::PruneGuard, 2, "was lost"),
    (Mutation::RootCheck, 0, "is not ours and was removed"),
    (Mutation::Interrupt, 2, "was removed while"),
    (Mutation::ReadBack, 635, "a second conversation"),
    (Mutation::Collision, 57, "was removed while"),
    (Mutation::RecordFirst, 2, "is left behind"),
    (Mutation::Certainty, 0, "was removed while"),
];

fn one(seed: u64, options: Options) -> Report {
    run(seed..seed + 1, &options)
}

#[test]
fn every_safeguard_is_missed() {
    for (mutation, seed, rule) in SAFEGUARDS {
        let off = Options {
            mutation: Some(mutation),
            ..Options::default()
        };
        let name = mutation.name();
        let report = one(seed, off);
        let Some(failure) = report.failures.first() else {
            panic!("without {name}, seed {seed} breaks nothing");
        };
        assert!(failure.violation.contains(rule), "{name}: {report}");
        assert!(
            failure.schedule.iter().any(|line| line.contains("BROKEN")),
            "{name}: the schedule does not say where it broke"
        );
        let on = Options {
            only_ground: true,
            ..off
        };
        let report = one(seed, on);
        assert!(report.failures.is_empty(), "{name}, left on: {report}");
    }
}

#[test]
fn every_safeguard_is_named() {
    for mutation in Mutation::ALL {
        assert_eq!(Mutation::from_name(mutation.name()), Some(mutation));
        assert!(SAFEGUARDS.iter().any(|(named, _, _)| *named == mutation));
    }
    for automation in Automation::ALL {
        assert_eq!(Automation::from_name(automation.name()), Some(automation));
    }
}

#[test]
fn no_rule_is_broken() {
    let report = run(0..150, &Options::default());
    assert!(report.failures.is_empty(), "{report}");
    let counts = report.counts;
    // It would prove nothing if nothing happened.
    for (what, count) in [
        ("kills", counts.kills),
        ("refusals", counts.refused),
        ("lost answers", counts.lost),
        ("conversations", counts.conversations),
        ("ended tasks", counts.ended),
        ("things told", counts.told),
        ("removed workspaces", counts.removed),
    ] {
        assert!(count > 100, "only {count} {what}: {report}");
    }
}

#[test]
fn a_seed_is_one_schedule() {
    let options = Options {
        schedules: true,
        ..Options::default()
    };
    let together = run(20..40, &options);
    for (seed, schedule) in &together.schedules {
        let alone = one(*seed, options);
        assert_eq!(alone.schedules, [(*seed, schedule.clone())], "seed {seed}");
    }
}

#[test]
fn an_automation_may_be_chosen() {
    for automation in Automation::ALL {
        let options = Options {
            automation: Some(automation),
            schedules: true,
            ..Options::default()
        };
        let report = run(3..6, &options);
        assert!(report.failures.is_empty(), "{report}");
        let named = format!("automation: {automation:?}");
        let is_named = |(_, lines): &(u64, Vec<String>)| lines[0].contains(&named);
        assert!(report.schedules.iter().all(is_named));
    }
}
