//! From label to merge request, and every other way out.

use crate::stage::process::Ran;
use crate::stage::scenes::{GITLAB_TOKEN, Issues, Scene as _};
use crate::stage::{A_MINUTE, Backend, TOO_LONG};
use serde_json::json;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use testbed::agent_server::{Deed, Pace, Script, Status};
use testbed::tree::Entry;

/// The next run, a minute later.
fn a_minute_later(scene: &Issues) -> Ran {
    scene.stage.let_time_pass(A_MINUTE);
    scene.stage.run().ok()
}

fn text(entry: &Entry) -> String {
    String::from_utf8_lossy(entry.bytes()).into_owned()
}

#[test]
fn a_label_becomes_one_merge_request() {
    for backend in Backend::ALL {
        let scene = Issues::one_labelled(backend);
        let first = scene.stage.run().ok();
        let conversation = scene.stage.agent.conversations().pop().unwrap();
        let record = scene.stage.record();
        let dir = Path::new(&conversation.working_dir);
        let event = record["trigger_label_event_id"].as_u64().unwrap();
        assert!(dir.ends_with(format!("issue-to-mr/group__service/issue-1-{event}")));
        assert_eq!(record["branch"], "openhands/issue-1");
        assert_eq!(record["base_branch"], "main");
        assert_eq!(
            record["base_sha"],
            scene.project.tip("main").unwrap().as_str()
        );
        let secrets = conversation.body["secrets"].as_object().unwrap();
        assert_eq!(secrets.keys().collect::<Vec<_>>(), ["GITLAB_TOKEN"]);
        scene.stage.agents_finish();
        let second = a_minute_later(&scene);
        scene.is_done().unwrap();
        scene.stage.assert_quiet();

        let request = scene.merge_requests().pop().unwrap();
        assert!(request.draft && request.title.contains("Raise the limit to 3"));
        assert_eq!(
            (
                request.source_branch.as_str(),
                request.target_branch.as_str()
            ),
            ("openhands/issue-1", "main")
        );
        let description = request.description.unwrap();
        assert!(description.contains("Closes #1") && description.contains("The limit is 3 now."));
        let files = scene.project.files("openhands/issue-1");
        assert_eq!(text(&files["limit.txt"]), "3\n");
        assert_eq!(text(&files["CHANGES.md"]), "- The limit is 3.\n");
        let note = scene.notes(1).pop().unwrap();
        let record = scene.stage.record();
        assert!(
            note.contains(record["merge_request_url"].as_str().unwrap()),
            "{note}"
        );
        assert_eq!(record["merge_request_iid"], 1);
        assert_eq!(record["opened_by"], "automation");
        assert!(record["completed_at"].is_f64());

        for ran in [first, second] {
            ran.never_said(GITLAB_TOKEN);
        }
        scene.stage.never_remembered(GITLAB_TOKEN);
        let texts = format!("{}{note}{description}", conversation.body);
        assert!(!texts.contains(GITLAB_TOKEN));
        scene.check();
    }
}

#[test]
fn the_token_is_in_no_file_and_no_argument_of_a_process() {
    let scene = Issues::one_labelled(Backend::Files);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Whoever looks at the list of processes meanwhile sees no token.
        let watch = scope.spawn(|| {
            let mut looks = 0_usize;
            while !over.load(Ordering::Relaxed) {
                for process in std::fs::read_dir("/proc").unwrap().flatten() {
                    let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
                    let line = String::from_utf8_lossy(&line);
                    assert!(!line.contains(GITLAB_TOKEN), "{line}");
                    looks += usize::from(line.contains("git"));
                }
                std::thread::yield_now();
            }
            looks
        });
        scene.stage.run().ok();
        for file in scene.stage.scratch.files().unwrap() {
            let path = scene.stage.scratch.root().join(&file);
            if path.is_file() && !path.is_symlink() {
                let bytes = std::fs::read(&path).unwrap();
                let found = bytes
                    .windows(GITLAB_TOKEN.len())
                    .any(|part| part == GITLAB_TOKEN.as_bytes());
                assert!(!found, "{file}");
            }
        }
        scene.stage.agents_finish();
        a_minute_later(&scene);
        over.store(true, Ordering::Relaxed);
        assert!(watch.join().unwrap() > 0, "git was never seen at work");
    });
    scene.is_done().unwrap();
}

#[test]
fn the_label_put_on_again_is_another_branch_and_merge_request() {
    let scene = Issues::one_labelled(Backend::LikeSqlite);
    scene.started_and_finished();
    scene.stage.run().ok();
    scene.is_done().unwrap();
    let first = scene.merge_requests().pop().unwrap();
    let issue = scene.project.issue(1).unwrap();
    issue.unlabel("openhands", "maintainer");
    issue.label("openhands", "maintainer");
    let ran = a_minute_later(&scene);
    assert_eq!(ran.count("started"), 1, "{}", ran.all());
    scene.stage.agents_finish();
    a_minute_later(&scene);
    assert_eq!(
        scene.branches(),
        ["openhands/issue-1", "openhands/issue-1-2"]
    );
    let requests = scene.merge_requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0], first, "the first is as it was");
    assert_eq!(requests[1].source_branch, "openhands/issue-1-2");
    assert_eq!(scene.notes(1).len(), 2);
    assert!(
        scene
            .project
            .pushes()
            .iter()
            .all(|push| !push.forced && push.before.is_none())
    );
    scene.stage.assert_quiet();
    scene.check();
}

#[test]
fn a_branch_of_others_is_never_touched() {
    let scene = Issues::one_labelled(Backend::Files);
    let theirs = scene
        .project
        .commit_to(
            "openhands/issue-1",
            "Work of others",
            [("theirs.txt", "x\n")],
        )
        .unwrap();
    scene.stage.run().ok();
    assert_eq!(scene.stage.record()["branch"], "openhands/issue-1-2");
    // And one that appears while the agent is at work.
    scene
        .project
        .commit_to("openhands/issue-1-2", "More of it", [("theirs.txt", "y\n")])
        .unwrap();
    scene.stage.agents_finish();
    a_minute_later(&scene);
    assert_eq!(
        scene.stage.statuses(),
        ["closed"],
        "{:#}",
        scene.stage.document()
    );
    assert_eq!(scene.stage.record()["branch"], "openhands/issue-1-3");
    assert_eq!(scene.project.tip("openhands/issue-1").unwrap(), theirs);
    assert_eq!(scene.project.commits("openhands/issue-1-2").len(), 2);
    scene.stage.assert_quiet();
}

#[test]
fn an_issue_that_was_closed_meanwhile_ends_without_a_word() {
    for ended in [true, false] {
        let scene = Issues::one_labelled(Backend::LikeSqlite);
        scene.stage.run().ok();
        if ended {
            scene.stage.agents_finish();
        } else {
            scene.stage.set_status(Status::Running);
        }
        scene.project.issue(1).unwrap().close();
        a_minute_later(&scene);
        assert_eq!(scene.stage.statuses(), ["issue-closed"]);
        if !ended {
            assert!(
                scene.stage.is_quiet().is_err(),
                "its agent is still at work"
            );
            scene.stage.set_status(Status::Finished);
            a_minute_later(&scene);
        }
        assert!(scene.notes(1).is_empty() && scene.branches().is_empty());
        scene.stage.assert_quiet();
    }
}

#[test]
fn an_agent_that_changes_nothing_is_heard() {
    let scene = Issues::one_labelled(Backend::Files);
    let script = Script::of([Status::Idle, Status::Running, Status::Finished])
        .pace(Pace::Told)
        .response("Which limit do you mean?\n/close\n/label ~done");
    scene.stage.agent.set_script(script);
    scene.started_and_finished();
    scene.stage.run().ok();
    assert_eq!(scene.stage.statuses(), ["no-changes"]);
    let note = scene.notes(1).pop().unwrap();
    assert!(note.contains("Which limit do you mean?"), "{note}");
    assert_eq!(
        scene.project.quick_actions(),
        Vec::<String>::new(),
        "{note}"
    );
    assert!(scene.branches().is_empty());
    scene.stage.assert_quiet();
    scene.check();
}

/// Work that was done before the conversation broke off.
fn broken_off(keep: bool, status: Option<Status>) -> Issues {
    let mut scene = Issues::one_labelled(Backend::LikeSqlite);
    scene.stage.config["keep_failed_work"] = json!(keep);
    let end = status.unwrap_or(Status::Error);
    scene.stage.agent.set_script(
        Script::of([Status::Idle, Status::Running, end])
            .pace(Pace::Told)
            .on_start(Deed::write("limit.txt", "2\n"))
            .on_start(Deed::git(&["commit", "-qam", "Half of it"]))
            .response("I could not finish."),
    );
    scene.stage.run().ok();
    if status.is_some() {
        scene.stage.agents_finish();
        scene.stage.let_time_pass(A_MINUTE);
    } else {
        // It runs on for ever.
        scene.stage.agent.advance(&scene.stage.only_conversation());
        scene.stage.let_time_pass(TOO_LONG);
    }
    scene.stage.run().ok();
    scene
}

#[test]
fn work_of_a_conversation_that_failed_is_kept_on_its_branch() {
    for status in [Some(Status::Error), Some(Status::Stuck), None] {
        let scene = broken_off(true, status);
        let expected = if status.is_some() {
            "failed"
        } else {
            "expired"
        };
        assert_eq!(scene.stage.statuses(), [expected]);
        assert_eq!(scene.branches(), ["openhands/issue-1"]);
        assert_eq!(
            text(&scene.project.files("openhands/issue-1")["limit.txt"]),
            "2\n"
        );
        assert!(scene.merge_requests().is_empty());
        let notes = scene.notes(1);
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].contains("openhands/issue-1"), "{notes:?}");
        scene.stage.assert_quiet();
        scene.check();
    }
    for status in [Some(Status::Error), None] {
        let scene = broken_off(false, status);
        assert!(scene.branches().is_empty());
        assert_eq!(scene.notes(1).len(), 1);
        scene.stage.assert_quiet();
    }
}

#[test]
fn a_deleted_conversation_releases_its_clone() {
    let scene = Issues::one_labelled(Backend::LikeSqlite);
    scene.stage.run().ok();
    scene.stage.agent.delete(&scene.stage.only_conversation());
    a_minute_later(&scene);
    assert_eq!(scene.stage.statuses(), ["failed"]);
    assert_eq!(scene.notes(1).len(), 1);
    scene.stage.assert_quiet();
    a_minute_later(&scene);
    assert_eq!(scene.stage.agent.created(), 1);
}
