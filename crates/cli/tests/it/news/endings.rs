//! The ends of a day that bring no digest, and what becomes of its stories.

use crate::stage::scenes::{NewsDay, Scene as _};
use crate::stage::{A_MINUTE, Backend};
use rustix::process::Signal;
use serde_json::json;
use testbed::agent_server::{Pace, Script, Status};
use testbed::faults::Fault;

#[test]
fn a_signal_in_the_middle_is_reported_and_a_later_run_finishes() {
    for backend in [Backend::LikeSqlite, Backend::Files] {
        let day = NewsDay::with_three_feeds(backend);
        let agent = day.stage.agent.server();
        let stuck = agent.faults().add(
            Fault::hang()
                .after_effect()
                .on("POST", "/api/conversations"),
        );
        let mut process = day.stage.begin();
        assert!(
            process
                .wait_until(|| agent.faults().hits(stuck) == 1 && day.stage.agent.created() == 1)
        );
        process.signal(Signal::TERM);
        let error = process.end(&day.stage).failed(1);
        assert!(error.contains("signal"), "{error}");
        assert_eq!(day.stage.record()["status"], "starting");
        agent.faults().clear();
        day.polls_until_quiet().unwrap();
        day.check();
    }
}

#[test]
fn an_agent_server_without_room_leaves_nothing_behind() {
    for backend in Backend::ALL {
        let day = NewsDay::with_three_feeds(backend);
        day.stage.agent.set_capacity(Some(0));
        let ran = day.stage.run().ok();
        let reasons = ran.target()["skipped"].to_string();
        assert!(reasons.contains("agent-server-full"), "{}", ran.all());
        assert!(day.stage.records().is_empty(), "{:#}", day.stage.document());
        assert_eq!(day.stage.guards(), Vec::<String>::new());
        assert_eq!(day.stage.left_on_disk(), Vec::<String>::new());
        day.stage.agent.set_capacity(None);
        assert_eq!(day.stage.run().ok().count("started"), 1);
    }
}

#[test]
fn every_end_but_a_digest_leaves_its_stories_new() {
    let endings = [
        (Script::fails(), "failed"),
        (
            Script::of([Status::Idle, Status::Running, Status::Stuck]),
            "failed",
        ),
        (
            Script::of([Status::Idle, Status::Running, Status::Finished]),
            "empty",
        ),
    ];
    for (script, status) in endings {
        let day = NewsDay::with_three_feeds(Backend::Strict);
        day.stage.agent.set_script(script.pace(Pace::Told));
        day.stage.run().ok();
        day.stage.agents_finish();
        day.stage.let_time_pass(A_MINUTE);
        day.stage.run().ok();
        assert_eq!(day.stage.statuses(), [status]);
        assert!(
            day.stage.document()["seen"]
                .as_array()
                .is_none_or(Vec::is_empty)
        );
        day.stage.assert_quiet();
    }
    // Given up after two hours: interrupted first.
    let day = NewsDay::with_three_feeds(Backend::Strict);
    day.stage
        .agent
        .set_script(Script::never_ends().pace(Pace::Told));
    day.stage.run().ok();
    day.stage.agents_finish();
    day.stage.let_time_pass(crate::stage::TOO_LONG);
    day.stage.run().ok();
    assert_eq!(day.stage.statuses(), ["expired"]);
    assert_eq!(
        day.stage.agent.server().log().count("POST", "/interrupt"),
        1
    );
    day.stage.assert_quiet();
}

#[test]
fn a_profile_that_is_gone_falls_back_to_the_default() {
    let mut day = NewsDay::with_three_feeds(Backend::Strict);
    day.stage.set("AUTOMATION_MODEL", "large");
    day.stage
        .agent
        .set_profile("large", json!({"model": "openai/large"}));
    day.stage.run().ok();
    let body = day.stage.agent.conversations().pop().unwrap().body;
    assert_eq!(body["agent"]["llm"]["model"], "openai/large");

    let mut day = NewsDay::with_three_feeds(Backend::Strict);
    day.stage.set("AUTOMATION_MODEL", "gone");
    let ran = day.stage.run().ok();
    assert!(ran.log.contains("gone"), "{}", ran.log);
    let body = day.stage.agent.conversations().pop().unwrap().body;
    assert_eq!(body["agent"]["llm"]["model"], "openai/scripted");
}
