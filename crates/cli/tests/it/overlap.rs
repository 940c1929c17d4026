//! Eight runs at once: one conversation, one of everything.

use crate::stage::scenes::{Scene, fresh_work};
use crate::stage::{A_MINUTE, A_WHILE, Automation, Backend, a_few_at_a_time};
use rustix::process::Signal;
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

/// Eight at once, half of them killed a little later; then later runs.
fn half_of_eight_killed(automation: Automation) {
    let cases: Vec<(Backend, bool, u64)> = Backend::ALL
        .into_iter()
        .flat_map(|backend| [(backend, false, 60), (backend, true, 30)])
        .collect();
    a_few_at_a_time(&cases, |(backend, collects, after)| {
        let scene = fresh_work(automation, *backend);
        let stage = scene.stage();
        if *collects {
            stage.run().ok();
            stage.agents_finish();
            stage.let_time_pass(A_MINUTE);
        }
        let begun: Vec<_> = (0..RUNS).map(|_| stage.begin()).collect();
        for (number, process) in begun.iter().enumerate() {
            if number % 2 == 0 {
                std::thread::sleep(Duration::from_millis(*after));
                process.signal(Signal::KILL);
            }
        }
        for process in begun {
            process.end(stage);
        }
        scene
            .doubled()
            .and_then(|()| scene.polls_until_quiet().map(|_| ()))
            .unwrap_or_else(|why| panic!("{automation:?} on {backend:?}: {why}"));
    });
}

#[test]
fn half_of_eight_runs_killed() {
    half_of_eight_killed(Automation::News);
    half_of_eight_killed(Automation::Review);
    half_of_eight_killed(Automation::Issue);
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
