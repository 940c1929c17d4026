//! Projects as they are: deep in groups, behind a private authority, empty, archived, not for
//! everybody.

use crate::stage::Backend;
use crate::stage::scenes::{Issues, Scene as _};
use serde_json::json;
use testbed::gitlab::NewIssue;

#[test]
fn three_groups_deep_below_a_path_behind_a_private_authority() {
    for backend in [Backend::LikeSqlite, Backend::Files] {
        let path = "group/team/backend/service";
        let scene = Issues::behind_a_private_authority(backend, path);
        assert!(
            scene.gitlab.url().starts_with("https://") && scene.gitlab.url().ends_with("/gitlab")
        );
        scene.labelled("Raise the limit to 3");
        scene.started_and_finished();
        scene.stage.run().ok();
        scene.is_done().unwrap();
        scene.stage.assert_quiet();
        if let Some(kv) = &scene.stage.kv {
            let keys = kv.keys(scene.stage.setup().automation_id());
            assert!(
                keys.contains(&"state:group__team__backend__service".to_owned()),
                "{keys:?}"
            );
        }
        scene.check();
    }
    // Without it the certificate is of nobody.
    let mut scene = Issues::behind_a_private_authority(Backend::Files, "group/service");
    scene.stage.variables.clear();
    scene.labelled("Raise the limit to 3");
    let error = scene.stage.run().failed(1);
    assert!(error.to_lowercase().contains("certificate"), "{error}");
}

#[test]
fn a_project_that_cannot_be_worked_on_is_one_clear_line_and_stops_no_other() {
    let mut scene = Issues::one_labelled(Backend::LikeSqlite);
    let empty = scene.gitlab.empty_project("group/empty").unwrap();
    let archived = scene.gitlab.project("group/archived").unwrap();
    let without_issues = scene.gitlab.project("group/without-issues").unwrap();
    let without_code = scene.gitlab.project("group/without-code").unwrap();
    let guest = scene.gitlab.project("group/guest").unwrap();
    for project in [&empty, &archived, &without_issues, &without_code] {
        project.set_member("issue-bot", 30);
        let issue = project.open_issue(NewIssue::titled("Do it").by("maintainer"));
        issue.label("openhands", "maintainer");
    }
    guest.set_member("issue-bot", 10);
    archived.archive();
    without_issues.enable_issues(false);
    without_code.enable_repository(false);
    let expected = [
        ("group/empty", "empty"),
        ("group/archived", "archived"),
        ("group/without-issues", "issues are switched off"),
        ("group/without-code", "repository is switched off"),
        ("group/guest", "Developer"),
        ("group/nowhere", "no such project"),
    ];
    let mut names = vec!["group/service"];
    names.extend(expected.iter().map(|(name, _)| *name));
    scene.stage.config["projects"] = json!(names);
    for _ in 0..2 {
        let ran = scene.stage.run().ok();
        for (name, words) in expected {
            let target = ran.target_named(name);
            assert_eq!(target["status"], "failed", "{name}");
            let error = target["error"].as_str().unwrap();
            assert!(error.contains(words), "{name}: {error}");
            assert!(!error.contains('\n'), "{name}: {error}");
        }
        assert_eq!(ran.target_named("group/service")["status"], "ok");
    }
    assert_eq!(scene.stage.statuses(), ["active"]);
    for project in [&empty, &archived, &without_issues, &without_code] {
        let notes = project.issue(1).unwrap().notes();
        assert!(notes.iter().all(|note| note.system), "{notes:?}");
    }
    assert_eq!(scene.stage.agent.created(), 1);
}

#[test]
fn who_may_not_ask_is_not_worked_for() {
    let mut scene = Issues::none(Backend::LikeSqlite);
    scene.project.make_public();
    scene.project.set_member("guest", 10);
    scene.project.set_member("project_1_bot_2", 20);
    let ask = |by: Option<&str>| {
        let issue = scene.project.open_issue(NewIssue::titled("Do it"));
        issue.label("openhands", by);
    };
    ask(Some("stranger"));
    ask(Some("guest"));
    ask(None);
    ask(Some("project_1_bot_2"));
    let ran = scene.stage.run().ok();
    for item in ["1", "2", "3"] {
        assert_eq!(ran.skipped(item), "not-allowed", "{}", ran.all());
    }
    assert_eq!(ran.count("started"), 1, "{}", ran.all());
    assert!(!scene.record_of(4).is_null());
    for iid in 1..=3 {
        assert!(scene.notes(iid).is_empty());
    }
    scene.stage.config["trigger_role"] = json!("none");
    let ran = scene.stage.run().ok();
    assert_eq!(ran.count("started"), 3, "{}", ran.all());
    scene.check();
}

#[test]
fn an_unchanged_project_costs_few_requests() {
    let scene = Issues::none(Backend::LikeSqlite);
    scene.gitlab.set_now(crate::stage::scenes::now() - 600.0);
    for number in 1..=3 {
        scene.labelled(&format!("Work {number}"));
    }
    scene.stage.run().ok();
    scene
        .stage
        .set_status(testbed::agent_server::Status::Running);
    scene.stage.let_time_pass(crate::stage::A_MINUTE);
    scene.stage.run().ok();
    scene.gitlab.server().log().clear();
    let ran = scene.stage.run().ok();
    assert_eq!(ran.target()["in_flight"], 3);
    let lines = scene.gitlab.server().log().lines();
    assert!(lines.len() <= 4, "{lines:#?}");
}
