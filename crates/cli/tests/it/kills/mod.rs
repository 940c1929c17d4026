//! Runs that are killed at any moment, and what later runs make of what they left: one conversation,
//! one result, nothing on disk, no key.
//!
//! A few moments of each kind run with every test; all of them are
//! `cargo xtask kills`, which runs the test that is ignored here.

mod matrix;
mod moments;

use crate::stage::{Automation, Backend};
use matrix::{Cell, Killing, survives};

const AUTOMATIONS: [Automation; 3] = [Automation::News, Automation::Review, Automation::Issue];
const BACKENDS: [Backend; 2] = [Backend::LikeSqlite, Backend::Files];
const SIGNALS: [Killing; 2] = [Killing::Kill, Killing::Term];

/// Moments of each cell in every test run.
const FEW: usize = 6;
/// Moments of each cell in the whole matrix, unless `KILL_MOMENTS` says otherwise.
const ALL: usize = 50;

fn cells(automation: Automation) -> Vec<Cell> {
    let with = |backend| SIGNALS.map(|signal| Cell::new(automation, backend, signal));
    BACKENDS.into_iter().flat_map(with).collect()
}

#[track_caller]
fn a_few(automation: Automation) {
    let outcomes = survives(&cells(automation), FEW);
    let failures: Vec<String> = outcomes
        .iter()
        .flat_map(|one| one.failures.clone())
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn a_killed_news_digest_is_finished_by_later_runs() {
    a_few(Automation::News);
}

#[test]
fn a_killed_reviewer_is_finished_by_later_runs() {
    a_few(Automation::Review);
}

#[test]
fn a_killed_issue_automation_is_finished_by_later_runs() {
    a_few(Automation::Issue);
}

#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "a test that is ignored has no other argument than the environment"
)]
#[ignore = "takes minutes: cargo xtask kills"]
fn the_whole_matrix() {
    let asked = std::env::var("KILL_MOMENTS").ok();
    let moments = asked.and_then(|text| text.parse().ok()).unwrap_or(ALL);
    let cells: Vec<Cell> = AUTOMATIONS.into_iter().flat_map(cells).collect();
    let outcomes = survives(&cells, moments);
    println!(
        "\n{:<20} {:<11} {:<7} {:>7} {:>10} {:>9} {:>9}  outcome",
        "automation", "state", "signal", "moments", "in flight", "runs", "failures"
    );
    for outcome in &outcomes {
        println!("{outcome}");
    }
    let failures: Vec<String> = outcomes
        .iter()
        .flat_map(|one| one.failures.clone())
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
