//! Runs in a sandbox of their own, which ends with them: the agent server with all its conversations
//! and the disk.

use crate::stage::scenes::{
    GITHUB_TOKEN, GITLAB_TOKEN, Issues, NewsDay, PullRequests, Scene, fresh_work,
};
use crate::stage::{A_WHILE, Automation, Backend, Stage, TOO_LONG};
use rustix::process::Signal;
use testbed::agent_server::{AgentServer, Pace};
use testbed::faults::Fault;
use testbed::github::ReviewState;

/// The stage of a fresh sandbox; what the one before held is gone.
fn fresh_sandbox(scene: &mut dyn Scene) {
    let stage = scene.stage_mut();
    let before = stage.scratch.root().join("sandbox");
    let _ = std::fs::remove_dir_all(&before);
    stage.sandbox = Some(before);
    let fresh = AgentServer::start().unwrap();
    let old = std::mem::replace(&mut stage.agent, fresh);
    for (name, token) in [
        ("GITHUB_PERSONAL_ACCESS_TOKEN", GITHUB_TOKEN),
        ("GITLAB_TOKEN", GITLAB_TOKEN),
    ] {
        stage.agent.set_secret(name, token);
    }
    stage.agent.set_script(match stage.automation {
        Automation::News => NewsDay::script(),
        Automation::Review => PullRequests::script(),
        Automation::Issue => Issues::script(),
    });
    drop(old);
}

fn in_a_sandbox(automation: Automation) -> Box<dyn Scene> {
    let mut scene = fresh_work(automation, Backend::LikeSqlite);
    fresh_sandbox(scene.as_mut());
    scene
}

#[test]
fn a_run_in_a_sandbox_finishes_its_work_within_itself() {
    std::thread::scope(|scope| {
        for automation in [Automation::News, Automation::Review, Automation::Issue] {
            scope.spawn(move || {
                let mut scene = in_a_sandbox(automation);
                let script = match automation {
                    Automation::News => NewsDay::script(),
                    Automation::Review => PullRequests::script(),
                    Automation::Issue => Issues::script(),
                };
                scene.stage().agent.set_script(script.pace(Pace::Looks(1)));
                let ran = scene.stage().run().ok();
                assert_eq!(
                    (ran.count("started"), ran.count("finished")),
                    (1, 1),
                    "{}",
                    ran.all()
                );
                scene.is_done().unwrap();
                scene.stage().assert_quiet();
                // The next sandbox finds nothing to do.
                fresh_sandbox(scene.as_mut());
                let ran = scene.stage().run().ok();
                assert_eq!(ran.count("started"), 0, "{}", ran.all());
                assert_eq!(scene.stage().agent.created(), 0);
            });
        }
    });
}

/// A run whose conversation has begun and that is then killed, with everything around it.
fn interrupted(automation: Automation, recorded: bool) -> Box<dyn Scene> {
    let scene = in_a_sandbox(automation);
    let stage = scene.stage();
    let agent = stage.agent.server();
    let (mut process, waiting) = if recorded {
        // It waits for its conversation.
        (stage.begin(), None)
    } else {
        let fault = Fault::hang()
            .after_effect()
            .on("POST", "/api/conversations");
        let id = agent.faults().add(fault);
        (stage.begin(), Some(id))
    };
    let status = if recorded { "active" } else { "starting" };
    let is_there = process.wait_until(|| {
        let begun = waiting.is_none_or(|id| agent.faults().hits(id) > 0);
        begun && stage.statuses() == [status]
    });
    assert!(is_there, "{}", process.log());
    process.signal(Signal::KILL);
    process.end(stage);
    scene
}

fn run(stage: &Stage) -> crate::stage::process::Ran {
    stage.run().ok()
}

#[test]
fn what_an_interrupted_sandbox_left_is_neither_repeated_nor_forgotten() {
    std::thread::scope(|scope| {
        for automation in [Automation::News, Automation::Review, Automation::Issue] {
            for recorded in [true, false] {
                scope.spawn(move || {
                    let mut scene = interrupted(automation, recorded);
                    fresh_sandbox(scene.as_mut());
                    // Its conversation is not here; that proves nothing for two hours.
                    for _ in 0..3 {
                        scene.stage().let_time_pass(A_WHILE);
                        let ran = run(scene.stage());
                        assert_eq!(ran.count("started"), 0, "{}", ran.all());
                        assert_eq!(scene.stage().records().len(), 1, "{}", ran.all());
                    }
                    scene.stage().let_time_pass(TOO_LONG);
                    run(scene.stage());
                    scene.stage().let_time_pass(A_WHILE);
                    let ran = run(scene.stage());
                    assert_eq!(scene.stage().statuses(), ["expired"], "{}", ran.all());
                    scene.stage().assert_quiet();
                    assert_eq!(scene.stage().agent.created(), 0, "nothing is repeated");
                    scene.doubled().unwrap();
                });
            }
        }
    });
}

#[test]
fn a_review_that_was_published_before_the_end_of_its_sandbox_counts() {
    let mut scene = PullRequests::one_labelled(Backend::LikeSqlite);
    fresh_sandbox(&mut scene);
    let stage = &scene.stage;
    let mut process = stage.begin();
    assert!(process.wait_until(|| stage.statuses() == ["active"]));
    // The agent has published, and the run is killed before it looks.
    scene
        .pull(1)
        .review("review-bot", ReviewState::Commented, "Fine.", None);
    process.signal(Signal::KILL);
    process.end(stage);
    fresh_sandbox(&mut scene);
    scene.stage.let_time_pass(A_WHILE);
    run(&scene.stage);
    assert_eq!(scene.stage.statuses(), ["closed"]);
    assert_eq!(scene.results(1), 0, "the review is the result");
    // Its checkout went with the other sandbox: the next run forgets it.
    run(&scene.stage);
    scene.stage.assert_quiet();
}
