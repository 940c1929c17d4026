//! From label to result, and every other way out.

use crate::stage::scenes::{GITHUB_TOKEN, PullRequests, Reviewing, Scene as _};
use crate::stage::{A_MINUTE, Backend, TOO_LONG};
use serde_json::json;
use testbed::agent_server::{Pace, Script, Status};
use testbed::github::ReviewState;

/// One pull request whose review has been started.
fn started(backend: Backend) -> PullRequests {
    let scene = PullRequests::one_labelled(backend);
    scene.stage.run().ok();
    assert_eq!(scene.stage.statuses(), ["active"]);
    scene
}

/// The next run, a minute later.
fn a_minute_later(scene: &PullRequests) -> crate::stage::process::Ran {
    scene.stage.let_time_pass(A_MINUTE);
    scene.stage.run().ok()
}

#[test]
fn a_label_becomes_one_published_review() {
    for backend in Backend::ALL {
        let scene = PullRequests::one_labelled(backend);
        scene.agents(Reviewing::Publishes);
        let first = scene.stage.run().ok();
        let conversation = scene.stage.agent.conversations().pop().unwrap();
        let pull = scene.pull(1);
        let head = pull.head_sha();

        // The workspace is the commit, and the agent may use the token and nothing else.
        let dir = std::path::Path::new(&conversation.working_dir);
        assert!(dir.ends_with(format!("repositories/acme__widget/pr-1-{}", &head[..12])));
        let text = std::fs::read_to_string(dir.join("src/lib.rs")).unwrap();
        assert_eq!(text, "pub fn start() {}\n");
        let secrets = conversation.body["secrets"].as_object().unwrap();
        assert_eq!(
            secrets.keys().collect::<Vec<_>>(),
            ["GITHUB_PERSONAL_ACCESS_TOKEN"]
        );
        assert!(
            conversation.prompt.contains(&head),
            "{}",
            conversation.prompt
        );
        let acknowledged = scene.marked(1, "acknowledgement").pop().unwrap();
        assert!(acknowledged.body.contains(&head) && acknowledged.body.contains(&conversation.id));

        scene.stage.agents_finish();
        let second = a_minute_later(&scene);
        assert_eq!(second.count("finished"), 1, "{}", second.all());
        assert_eq!(scene.stage.statuses(), ["closed"]);
        assert_eq!((pull.reviews().len(), pull.comments().len()), (1, 1));
        scene.stage.assert_quiet();

        for ran in [first, second] {
            ran.never_said(GITHUB_TOKEN);
        }
        scene.stage.never_remembered(GITHUB_TOKEN);
        assert!(!conversation.prompt.contains(GITHUB_TOKEN));
        assert!(!conversation.body.to_string().contains(GITHUB_TOKEN));
        scene.check();
    }
}

#[test]
fn what_is_no_published_review_of_this_commit_proves_nothing() {
    let scene = started(Backend::LikeSqlite);
    let pull = scene.pull(1);
    let head = pull.head_sha();
    pull.review("somebody", ReviewState::Approved, "fine", head.as_str());
    pull.review(
        "review-bot",
        ReviewState::Pending,
        "not sent yet",
        head.as_str(),
    );
    let older = scene.repo.branch("main").unwrap();
    pull.review(
        "review-bot",
        ReviewState::Commented,
        "of another commit",
        older.as_str(),
    );
    scene.stage.agents_finish();
    a_minute_later(&scene);
    scene.is_done().unwrap();
    let result = scene.marked(1, "result").pop().unwrap().body;
    assert!(result.contains("nothing to object to"), "{result}");
}

#[test]
fn a_conversation_that_failed_is_told_once() {
    for (script, words) in [
        (Script::fails(), "error"),
        (
            Script::of([Status::Idle, Status::Running, Status::Stuck]),
            "circles",
        ),
    ] {
        let scene = PullRequests::one_labelled(Backend::Files);
        let script = script.pace(Pace::Told).response("I got as far as src.");
        scene.stage.agent.set_script(script);
        scene.stage.run().ok();
        scene.stage.agents_finish();
        a_minute_later(&scene);
        scene.is_done().unwrap();
        let result = scene.marked(1, "result").pop().unwrap().body;
        assert!(
            result.contains(words) && result.contains("as far as src"),
            "{result}"
        );
        scene.stage.assert_quiet();
    }
}

#[test]
fn what_is_overtaken_ends_without_a_word() {
    // Closed, merged, gone, moved on: the conversation has ended or still runs.
    for ended in [true, false] {
        for overtaken in ["closed", "merged", "vanished", "moved on"] {
            let scene = started(Backend::LikeSqlite);
            let pull = scene.pull(1);
            let status = match overtaken {
                "closed" => {
                    pull.close("alice");
                    "closed"
                }
                "merged" => {
                    pull.merge("alice");
                    "closed"
                }
                "vanished" => {
                    pull.vanish();
                    "closed"
                }
                _ => {
                    pull.push_commit([("src/lib.rs", "// better\n")]);
                    "stale"
                }
            };
            if ended {
                scene.stage.agents_finish();
            } else {
                scene.stage.set_status(Status::Running);
            }
            a_minute_later(&scene);
            assert_eq!(scene.stage.statuses(), [status], "{overtaken}");
            assert_eq!(scene.results(1), 0, "{overtaken}");
            if !ended {
                // A workspace goes only when its conversation has stopped.
                let dir = scene.stage.record()["workspace_dir"]
                    .as_str()
                    .unwrap()
                    .to_owned();
                assert!(std::path::Path::new(&dir).join("src/lib.rs").exists());
                scene.stage.set_status(Status::Finished);
                a_minute_later(&scene);
            }
            scene.stage.assert_quiet();
            if status == "stale" {
                let reason = scene.stage.record()["stale_reason"].clone();
                assert!(
                    reason.as_str().unwrap().contains(&pull.head_sha()),
                    "{reason}"
                );
            }
        }
    }
}

#[test]
fn what_takes_too_long_is_interrupted_and_its_checkout_goes() {
    let scene = started(Backend::Strict);
    scene.stage.set_status(Status::Running);
    scene.stage.let_time_pass(TOO_LONG);
    scene.stage.run().ok();
    assert_eq!(scene.stage.statuses(), ["expired"]);
    assert!(scene.stage.record()["expired_after"].as_f64().unwrap() > 7200.0);
    assert_eq!(scene.stage.agent.conversations()[0].status, Status::Paused);
    assert_eq!(scene.results(1), 0);
    scene.stage.assert_quiet();
}

#[test]
fn a_deleted_conversation_releases_its_checkout() {
    for backend in Backend::ALL {
        let scene = started(backend);
        let id = scene.stage.only_conversation();
        let dir = scene.stage.record()["workspace_dir"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(std::path::Path::new(&dir).exists());
        scene.stage.agent.delete(&id);
        a_minute_later(&scene);
        assert_eq!(scene.stage.statuses(), ["closed"]);
        assert!(!std::path::Path::new(&dir).exists());
        assert_eq!(
            scene.results(1),
            1,
            "people are told that it came to nothing"
        );
        scene.stage.assert_quiet();
        // And nothing is started again for the same label.
        a_minute_later(&scene);
        assert_eq!(scene.stage.agent.created(), 1);
    }
}

#[test]
fn a_checkout_of_another_run_is_removed_and_one_outside_our_roots_stays() {
    // Every run has a base of its own: the checkout is below that of the first.
    let scene = started(Backend::LikeSqlite);
    let dir = scene.stage.record()["workspace_dir"]
        .as_str()
        .unwrap()
        .to_owned();
    scene.stage.agents_finish();
    let ran = a_minute_later(&scene);
    assert!(!dir.contains(&ran.id));
    assert!(!std::path::Path::new(&dir).exists());
    assert_eq!(ran.target()["released"], 1);

    let outside = tempfile::tempdir().unwrap();
    let places = [
        outside.path().to_owned(),
        outside
            .path()
            .join("repositories/acme__widget/pr-1-0123456789ab"),
        scene.stage.scratch.root().to_owned(),
        scene.stage.scratch.root().join("automation-state"),
        scene
            .stage
            .scratch
            .root()
            .join("automation-runs/../automation-state"),
    ];
    std::fs::create_dir_all(&places[1]).unwrap();
    std::fs::create_dir_all(&places[3]).unwrap();
    std::fs::write(outside.path().join("precious.txt"), "precious").unwrap();
    for place in places {
        scene.stage.edit(|document| {
            let reviews = document["reviews"].as_object_mut().unwrap();
            reviews.values_mut().next().unwrap()["workspace_dir"] = json!(place);
        });
        let ran = scene.stage.run().ok();
        let warnings = ran.target()["warnings"].to_string();
        assert!(
            warnings.contains("outside"),
            "{}: {}",
            place.display(),
            ran.all()
        );
        assert_eq!(scene.stage.record()["workspace_dir"], json!(place));
        assert!(place.exists(), "{}", place.display());
    }
    assert!(outside.path().join("precious.txt").exists());
}

#[test]
fn a_link_to_the_outside_is_not_followed_by_a_removal() {
    let scene = started(Backend::Files);
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("precious.txt"), "precious").unwrap();
    let dir = scene.stage.record()["workspace_dir"]
        .as_str()
        .unwrap()
        .to_owned();
    std::os::unix::fs::symlink(outside.path(), format!("{dir}/way-out")).unwrap();
    scene.stage.agents_finish();
    a_minute_later(&scene);
    scene.stage.assert_quiet();
    assert!(outside.path().join("precious.txt").exists());

    // The checkout itself has become a link.
    let scene = started(Backend::Files);
    let dir = scene.stage.record()["workspace_dir"]
        .as_str()
        .unwrap()
        .to_owned();
    std::fs::remove_dir_all(&dir).unwrap();
    std::os::unix::fs::symlink(outside.path(), &dir).unwrap();
    scene.stage.agents_finish();
    a_minute_later(&scene);
    assert!(outside.path().join("precious.txt").exists());
}

#[test]
fn the_label_put_on_again_is_another_review() {
    let scene = started(Backend::LikeSqlite);
    scene.stage.agents_finish();
    a_minute_later(&scene);
    let pull = scene.pull(1);
    pull.unlabel("openhands-review", "alice");
    let ran = a_minute_later(&scene);
    assert_eq!(ran.count("started"), 0);
    pull.label("OpenHands-Review", "alice");
    let ran = a_minute_later(&scene);
    assert_eq!(ran.count("started"), 1, "{}", ran.all());
    assert_eq!(scene.stage.agent.created(), 2);
    scene.stage.agents_finish();
    a_minute_later(&scene);
    assert_eq!((scene.acknowledgements(1), scene.results(1)), (2, 2));
    assert_eq!(scene.stage.statuses(), ["closed", "closed"]);
    scene.stage.assert_quiet();
}

#[test]
fn a_server_without_room_is_asked_once() {
    let scene = PullRequests::none(Backend::LikeSqlite);
    for title in ["One", "Two", "Three"] {
        scene.labelled(title);
    }
    scene.stage.agent.set_capacity(Some(1));
    let ran = scene.stage.run().ok();
    assert_eq!(ran.count("started"), 1, "{}", ran.all());
    assert_eq!(ran.skipped("2"), "agent-server-full");
    assert_eq!(ran.skipped("3"), "agent-server-full");
    let posts = scene
        .stage
        .agent
        .server()
        .log()
        .count("POST", "/api/conversations");
    assert_eq!(posts, 2, "the third is not tried");
    assert_eq!(scene.stage.records().len(), 1);
    assert_eq!(scene.stage.guards().len(), 1, "that of the one at work");
    assert!(scene.pull(2).comments().is_empty() && scene.pull(3).comments().is_empty());
    // Room again: the next poll tries again, oldest first.
    scene.stage.agents_finish();
    scene.stage.agent.set_capacity(Some(1));
    a_minute_later(&scene);
    assert_eq!(scene.acknowledgements(2), 1);
    scene.check();
}
