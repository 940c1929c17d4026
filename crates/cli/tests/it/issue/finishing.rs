//! Pushing and opening, when GitLab or somebody else has a say in it.

use crate::stage::scenes::{GITLAB_TOKEN, Issues, Scene as _};
use crate::stage::{A_MINUTE, Backend, a_few_at_a_time};
use std::path::Path;
use std::process::Command;
use testbed::agent_server::Deed;
use testbed::faults::Fault;

fn ready() -> Issues {
    let scene = Issues::one_labelled(Backend::LikeSqlite);
    scene.started_and_finished();
    scene
}

#[test]
fn a_push_rule_is_tried_three_times_and_then_told() {
    let scene = ready();
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/git/GL10a-push-rule.stderr.txt");
    let said = std::fs::read_to_string(path).unwrap();
    let rule = said.lines().next().unwrap();
    let rule = rule.split_once("GitLab: ").unwrap().1;
    scene.project.set_push_rule(rule).unwrap();
    for attempt in 1..=3 {
        assert_eq!(
            scene.stage.statuses(),
            ["active"],
            "before attempt {attempt}"
        );
        assert!(scene.notes(1).is_empty());
        scene.stage.run().ok().never_said(GITLAB_TOKEN);
        scene.stage.let_time_pass(A_MINUTE);
    }
    let record = scene.stage.record();
    assert_eq!(
        (&record["status"], &record["finalize_attempts"]),
        (&"failed".into(), &3.into())
    );
    let error = record["error"].as_str().unwrap();
    assert!(error.contains("You cannot push commits for"), "{error}");
    let notes = scene.notes(1);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(
        notes[0].contains("You cannot push commits for"),
        "{notes:?}"
    );
    assert!(!notes[0].contains(GITLAB_TOKEN));
    assert!(scene.branches().is_empty() && scene.merge_requests().is_empty());
    scene.stage.assert_quiet();
    scene.stage.run().ok();
    assert_eq!((scene.notes(1).len(), scene.stage.agent.created()), (1, 1));
    scene.check();
}

#[test]
fn commits_of_ours_carry_the_owner_of_the_token() {
    let scene = ready();
    scene.stage.run().ok();
    let commits = scene.project.commits("main..openhands/issue-1");
    let (ours, agents) = (&commits[0], &commits[1]);
    assert_eq!(agents.author_email, "agent@example.com");
    assert_eq!(ours.author_email, ours.committer_email);
    assert_eq!(ours.author_name, ours.committer_name);
    assert_ne!(ours.committer_email, "agent@example.com");
    assert!(!ours.committer_email.is_empty() && !ours.committer_name.is_empty());
}

#[test]
fn a_merge_request_that_is_refused_right_after_the_push_is_tried_again() {
    let scene = ready();
    scene.project.refuse_merge_requests_after_push(2);
    scene.stage.run().ok();
    scene.is_done().unwrap();
    scene.stage.assert_quiet();
    let posts = scene.gitlab.server().log().count("POST", "/merge_requests");
    assert_eq!(posts, 3, "within the run");
}

#[test]
fn a_merge_request_that_exists_is_adopted() {
    // The answer to ours was lost.
    let scene = ready();
    let lost = Fault::answer_lost().on("POST", "/merge_requests");
    scene.gitlab.server().faults().add(lost);
    scene.stage.run().ok();
    if scene.stage.statuses() == ["active"] {
        scene.stage.let_time_pass(A_MINUTE);
        scene.stage.run().ok();
    }
    scene.is_done().unwrap();
    scene.stage.assert_quiet();

    // Somebody opened one meanwhile: 409, on older instances 422.
    for older in [false, true] {
        let scene = ready();
        scene.gitlab.set_older(older);
        let project = scene.project.clone();
        scene
            .project
            .commit_to("unrelated", "Work", [("x.txt", "x\n")])
            .unwrap();
        // The list does not show it yet when it is asked first.
        let hidden = Fault::wrong_body("application/json", "[]").on("GET", "/merge_requests?");
        scene.gitlab.server().faults().add(hidden);
        project.open_merge_request(
            "Mine",
            "Closes #1",
            "openhands/issue-1",
            "main",
            "issue-bot",
        );
        scene.stage.run().ok();
        let record = scene.stage.record();
        assert_eq!(record["status"], "closed", "{record}");
        assert_eq!(record["merge_request_iid"], 1);
        assert_eq!((scene.merge_requests().len(), scene.notes(1).len()), (1, 1));
        scene.stage.assert_quiet();
    }
}

#[test]
fn a_merge_request_of_the_agent_is_adopted() {
    let scene = Issues::one_labelled(Backend::LikeSqlite);
    let project = scene.project.clone();
    let script = Issues::script().on_finish(Deed::visit(move |visit| {
        let token = visit.secrets.get("GITLAB_TOKEN").ok_or("no token")?;
        let url = project
            .clone_url()
            .replace("://", &format!("://oauth2:{token}@"));
        let pushed = Command::new("git")
            .args(["push", "-q", &url, "HEAD:refs/heads/openhands/issue-1"])
            .current_dir(&visit.working_dir)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .map_err(|error| error.to_string())?;
        if !pushed.status.success() {
            return Err(String::from_utf8_lossy(&pushed.stderr).into_owned());
        }
        let (from, to) = ("openhands/issue-1", "main");
        project.open_merge_request("Draft: Limit", "Closes #1", from, to, "issue-bot");
        Ok(())
    }));
    scene.stage.agent.set_script(script);
    scene.started_and_finished();
    scene.stage.run().ok();
    let record = scene.stage.record();
    assert_eq!(
        (&record["status"], &record["opened_by"]),
        (&"closed".into(), &"agent".into())
    );
    assert_eq!((scene.merge_requests().len(), scene.notes(1).len()), (1, 1));
    assert_eq!(scene.project.pushes().len(), 1, "only the agent pushed");
    scene.stage.assert_quiet();
    scene.check();
}

#[test]
fn an_old_merge_request_of_that_name_is_not_ours() {
    let scene = Issues::none(Backend::Files);
    let day = crate::stage::scenes::now() - 86_400.0;
    scene.gitlab.set_now(day);
    scene
        .project
        .commit_to("openhands/issue-1", "Old", [("old.txt", "x\n")])
        .unwrap();
    let iid = scene
        .project
        .open_merge_request("Old", "", "openhands/issue-1", "main", "issue-bot");
    scene.project.merge(iid).unwrap();
    scene.project.delete_branch("openhands/issue-1").unwrap();
    scene.gitlab.set_now(crate::stage::scenes::now());
    scene.labelled("Raise the limit to 3");
    scene.started_and_finished();
    scene.stage.run().ok();
    assert_eq!(scene.stage.record()["branch"], "openhands/issue-1-2");
    assert_eq!(scene.stage.record()["merge_request_iid"], 2);
    assert_eq!(scene.stage.statuses(), ["closed"]);
}

/// A limit that does not fit into the run, from this request to the REST API on.
fn limited_from(scene: &Issues, step: usize) {
    let limit = Fault::status(429)
        .header("retry-after", "600")
        .on("*", "/api/v4")
        .skip(u32::try_from(step).unwrap())
        .always();
    scene.gitlab.server().faults().add(limit);
}

#[test]
fn a_limit_anywhere_ends_nothing() {
    let steps = |scene: &Issues| {
        scene.gitlab.server().log().clear();
        scene.stage.run().ok();
        scene.gitlab.server().log().count("*", "/api/v4")
    };
    let starting: Vec<usize> = (0..steps(&Issues::one_labelled(Backend::LikeSqlite))).collect();
    a_few_at_a_time(&starting, |step| {
        let scene = Issues::one_labelled(Backend::LikeSqlite);
        limited_from(&scene, *step);
        scene.stage.run().ok();
        if scene.stage.agent.created() == 0 {
            assert!(scene.stage.records().is_empty(), "step {step}");
            assert_eq!(scene.stage.guards(), Vec::<String>::new(), "step {step}");
            assert_eq!(
                scene.stage.left_on_disk(),
                Vec::<String>::new(),
                "step {step}"
            );
        }
        scene.gitlab.server().faults().clear();
        scene.stage.run().ok();
        assert_eq!(scene.stage.statuses(), ["active"], "step {step}");
        assert_eq!(scene.stage.agent.created(), 1);
    });
    let collecting: Vec<usize> = (0..steps(&ready())).collect();
    a_few_at_a_time(&collecting, |step| {
        let scene = ready();
        limited_from(&scene, *step);
        for _ in 0..3 {
            let ran = scene.stage.run().ok();
            assert_eq!(ran.target()["status"], "ok", "{}", ran.all());
        }
        let record = scene.stage.record();
        if scene.notes(1).is_empty() {
            assert_eq!(record["status"], "active", "step {step}");
            assert!(record["workspace_dir"].is_string());
        }
        assert!(
            record["finalize_attempts"].is_null(),
            "a limit is no attempt: {record}"
        );
        scene.gitlab.server().faults().clear();
        scene.stage.let_time_pass(A_MINUTE);
        scene.stage.run().ok();
        scene.is_done().unwrap();
        scene.stage.assert_quiet();
    });
}
