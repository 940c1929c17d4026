//! Eight runs at once: one conversation, one of everything.

use crate::stage::scenes::{Scene, fresh_work};
use crate::stage::{A_MINUTE, A_WHILE, Automation, Backend};
use std::time::Duration;

const RUNS: usize = 8;

fn eight_at_once(automation: Automation) {
    for backend in Backend::ALL {
        for spread in [Duration::ZERO, Duration::from_millis(8)] {
            let scene = fresh_work(automation, backend);
            overlap(scene.as_ref(), spread);
            println!("{automation:?} on {backend:?}: one of everything");
        }
    }
}

fn overlap(scene: &dyn Scene, spread: Duration) {
    let stage = scene.stage();
    let all = |what: &str| {
        let begun: Vec<_> = (0..RUNS)
            .map(|_| {
                std::thread::sleep(spread);
                stage.begin()
            })
            .collect();
        for process in begun {
            process.end(stage).ok();
        }
        scene
            .doubled()
            .unwrap_or_else(|why| panic!("{what}: {why}"));
    };
    all("on fresh work");
    assert_eq!(stage.agent.created(), 1);
    assert_eq!(stage.statuses(), ["active"], "{:#}", stage.document());
    // While the agent is at work, and just after it has begun.
    all("on running work");
    stage.agents_finish();
    stage.let_time_pass(A_MINUTE);
    all("on finished work");
    // Whoever came to a lease that was just given back leaves the rest to the next.
    for _ in 0..2 {
        if stage.is_quiet().is_err() {
            stage.let_time_pass(A_WHILE);
            stage.run().ok();
        }
    }
    stage.assert_quiet();
    scene.is_done().unwrap();
    all("on ended work");
    scene.is_done().unwrap();
    stage.assert_quiet();
    stage.check();
}

#[test]
fn eight_runs_on_a_fresh_day() {
    eight_at_once(Automation::News);
}

#[test]
fn eight_runs_on_a_fresh_label_of_a_pull_request() {
    eight_at_once(Automation::Review);
}

#[test]
fn eight_runs_on_a_fresh_label_of_an_issue() {
    eight_at_once(Automation::Issue);
}
