//! GitHub on a bad day: limits in the middle of a run, a repository that moved, a head that moves,
//! comments that are too long, repositories that cannot be read.

use crate::stage::scenes::{PullRequests, Scene as _};
use crate::stage::{A_MINUTE, Backend};
use serde_json::{Value, json};
use std::path::Path;
use testbed::faults::Fault;
use testbed::github::{Archive, Barrier, NewPull};

pub fn fixture(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/github");
    serde_json::from_slice(&std::fs::read(path.join(name)).unwrap()).unwrap()
}

#[test]
fn a_moved_repository_goes_on_under_its_configured_name() {
    let scene = PullRequests::one_labelled(Backend::LikeSqlite);
    scene.repo.rename("acme/gadget");
    let first = scene.stage.run().ok();
    assert_eq!(
        first.log.matches("acme/gadget now").count(),
        1,
        "{}",
        first.log
    );
    assert_eq!(
        scene.acknowledgements(1),
        1,
        "the comment went through the redirect"
    );
    // Moved on while the review ran.
    scene.repo.rename("other/gadget");
    scene.stage.agents_finish();
    scene.stage.let_time_pass(A_MINUTE);
    let second = scene.stage.run().ok();
    assert!(second.log.contains("other/gadget now"), "{}", second.log);
    scene.is_done().unwrap();
    assert_eq!(scene.stage.document()["repo"], "acme/widget");
    scene.stage.assert_quiet();
    scene.check();
}

#[test]
fn a_head_that_moves_before_the_download_costs_nothing() {
    let scene = PullRequests::none(Backend::LikeSqlite);
    let input = fixture("head-moved-before-download.json");
    let listed = input["listed"]["head"].as_str().unwrap();
    let pull = scene
        .repo
        .open_pull(NewPull::titled("Moving").number(4).at_sha(listed));
    pull.label("openhands-review", "alice");
    scene.repo.set_archive(listed, Archive::Missing);
    let ran = scene.stage.run().ok();
    assert_eq!(ran.skipped("4"), "head-moved", "{}", ran.all());
    assert!(
        scene.stage.records().is_empty(),
        "{:#}",
        scene.stage.document()
    );
    assert_eq!(scene.stage.guards(), Vec::<String>::new());
    assert_eq!(scene.stage.left_on_disk(), Vec::<String>::new());
    assert!(pull.comments().is_empty());
    pull.force_push([("src/lib.rs", "// the new head\n")]);
    let ran = scene.stage.run().ok();
    assert_eq!(ran.count("started"), 1, "{}", ran.all());
    assert_eq!(scene.record_of(4)["head_sha"], pull.head_sha().as_str());
}

#[test]
fn a_head_that_moves_between_listing_and_confirming_is_the_one_reviewed() {
    let scene = PullRequests::one_labelled(Backend::Files);
    let pull = scene.pull(1);
    let github = scene.github.server();
    let slow = github
        .faults()
        .add(Fault::hang().on("GET", "/issues/1/events"));
    let mut process = scene.stage.begin();
    assert!(process.wait_until(|| github.faults().hits(slow) == 1));
    // The first look hangs and is repeated; meanwhile somebody pushes.
    pull.push_commit([("src/lib.rs", "// newer\n")]);
    let _ = process.is_running();
    process.signal(rustix::process::Signal::TERM);
    process.end(&scene.stage).failed(1);
    github.faults().clear();
    scene.stage.run().ok();
    assert_eq!(scene.record_of(1)["head_sha"], pull.head_sha().as_str());
    assert!(scene.acknowledgements(1) == 1 && scene.stage.agent.created() == 1);
}

#[test]
fn a_result_that_is_too_long_is_cut_and_keeps_its_closing_lines() {
    let input = fixture("comment-too-long.json");
    let chars = usize::try_from(input["body_chars"].as_u64().unwrap()).unwrap();
    let limit = usize::try_from(input["limit"].as_u64().unwrap()).unwrap();
    for refused_once in [false, true] {
        let scene = PullRequests::one_labelled(Backend::LikeSqlite);
        scene.stage.run().ok();
        scene.stage.agents_finish();
        let id = scene.stage.only_conversation();
        scene
            .stage
            .agent
            .set_response(&id, &"word ".repeat(chars / 5));
        if refused_once {
            let answer = &input["answer"];
            let refusal = Fault::status(answer["status"].as_u64().unwrap().try_into().unwrap())
                .body("application/json", answer["body"].to_string())
                .on("POST", "/comments");
            scene.github.server().faults().add(refusal);
        }
        scene.stage.let_time_pass(A_MINUTE);
        scene.stage.run().ok();
        scene.is_done().unwrap();
        let result = scene.marked(1, "result").pop().unwrap().body;
        let length = result.chars().count();
        assert!(length <= limit, "{length}");
        assert_eq!(length < limit / 2 + 2000, refused_once, "{length}");
        let end = &result[result.len() - 600..];
        assert!(
            end.contains("has been cut here") && end.contains("AI agent"),
            "{end}"
        );
        scene.stage.assert_quiet();
    }
}

#[test]
fn a_result_that_cannot_be_posted_is_recorded_after_three_attempts() {
    let scene = PullRequests::one_labelled(Backend::LikeSqlite);
    scene.stage.run().ok();
    scene.stage.agents_finish();
    scene.stage.let_time_pass(A_MINUTE);
    let refusal = Fault::status(403)
        .body(
            "application/json",
            r#"{"message":"Resource not accessible by personal access token"}"#,
        )
        .on("POST", "/comments")
        .always();
    scene.github.server().faults().add(refusal);
    for attempt in 1..=3 {
        assert_eq!(
            scene.stage.statuses(),
            ["active"],
            "before attempt {attempt}"
        );
        let ran = scene.stage.run().ok();
        assert!(ran.log.contains("not accessible"), "{}", ran.log);
    }
    let record = scene.stage.record();
    assert_eq!(record["status"], "closed");
    assert!(
        record["error"].as_str().unwrap().contains("not accessible"),
        "{record}"
    );
    scene.stage.assert_quiet();
}

#[test]
fn one_of_three_repositories_that_cannot_be_read_stops_no_other() {
    let mut scene = PullRequests::one_labelled(Backend::LikeSqlite);
    let third = scene.github.repo("acme/three");
    let pull = third.open_pull(NewPull::titled("Third"));
    pull.label("openhands-review", "alice");
    scene.stage.config["repos"] = json!(["acme/widget", "acme/gone", "acme/three"]);
    let ran = scene.stage.run().ok();
    assert_eq!(ran.target_named("acme/gone")["status"], "failed");
    assert!(ran.log.contains("acme/gone"), "{}", ran.log);
    for name in ["acme/widget", "acme/three"] {
        assert_eq!(
            ran.target_named(name)["started"].as_array().unwrap().len(),
            1,
            "{name}"
        );
        assert_eq!(scene.stage.records_of(name).len(), 1);
    }
    // Told apart from each other.
    scene.repo.set_barrier(Barrier::Sso);
    third.set_barrier(Barrier::IpAllowList);
    let error = scene.stage.run().failed(1);
    for words in ["acme/gone", "single sign-on", "IP allow list"] {
        assert!(error.contains(words), "{words}: {error}");
    }
    scene.github.revoke(crate::stage::scenes::GITHUB_TOKEN);
    let error = scene.stage.run().failed(1);
    assert!(error.contains("401") || error.contains("token"), "{error}");
    assert_eq!(scene.stage.agent.created(), 2);
}
