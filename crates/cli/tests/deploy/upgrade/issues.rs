//! Issues that a script has turned into merge requests, or was about to.

use super::world::{World, dispatch, with_binary};
use crate::bench::Bench;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::process::Command;
use testbed::agent_server::{Script, Status};
use testbed::gitlab::{GitLab, Issue, NewIssue, Project};

const TOKEN: &str = "glpat-SECRETSECRETSECRET1";
const LABEL: &str = "openhands";
const AT_WORK: &str = "542c7841-99d3-4ae6-93e2-3e14895cc934";

fn labelled(project: &Project, title: &str) -> (Issue, u64) {
    let issue = project.open_issue(NewIssue::titled(title).by("maintainer"));
    let event = issue.label(LABEL, "maintainer");
    (issue, event)
}

fn task((issue, event): &(Issue, u64)) -> String {
    format!("{}:label:{event}", issue.iid())
}

/// A record as the script writes it when it claims.
fn record((issue, event): &(Issue, u64), status: &str, conversation: &str) -> Map<String, Value> {
    let record = json!({
        "base_branch": "main", "conversation_id": conversation, "issue_iid": issue.iid(),
        "branch": format!("openhands/issue-{}", issue.iid()), "issue_title": "Some title",
        "last_activity": cli::clock::system_now() - 600.25, "status": status,
        "trigger_label_event_created_at": "2026-11-29T11:07:40Z", "trigger_label_event_id": event,
        "web_url": "https://gitlab.example.com/group/service/-/issues/1",
    });
    record.as_object().unwrap().clone()
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    let who = [
        "-c",
        "user.name=Agent",
        "-c",
        "user.email=agent@example.com",
    ];
    let done = git
        .current_dir(folder)
        .args(who)
        .args(arguments)
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
}

/// The script's clone, with the token in its address, in which the agent has committed something.
fn worked_in(project: &Project, folder: &Path) {
    let address = project.clone_url();
    let address = address.replacen("://", &format!("://oauth2:{TOKEN}@"), 1);
    git(folder, &["clone", "-q", &address, "."]);
    git(folder, &["checkout", "-q", "-b", "openhands/issue-2"]);
    std::fs::write(folder.join("limit.txt"), "3\n").unwrap();
    git(folder, &["commit", "-qam", "Raise the limit"]);
}

#[test]
fn issues_that_a_script_has_worked_on_are_not_worked_on_again() {
    let gitlab = GitLab::start().unwrap();
    gitlab.token(TOKEN, "issue-bot");
    let project = gitlab
        .project_with("group/service", [("limit.txt", "1\n")])
        .unwrap();
    project.set_member("issue-bot", 30);
    project.set_member("maintainer", 40);
    let [ended, active, new] = ["One", "Two", "Three"].map(|title| labelled(&project, title));
    let bench = Bench::new();
    with_binary(
        &bench,
        "gitlab-issue-to-mr",
        env!("CARGO_BIN_EXE_gitlab-issue-to-mr"),
    );
    let config = json!({
        "projects": ["group/service"], "gitlab_api_url": gitlab.url(), "wait_seconds": 0,
    });
    let id = bench.script("Issues", Some(&config));
    let script = Script::of([Status::Running, Status::Finished]).response("The limit is 3 now.");
    let world = World::new(true, script);
    world.agent.set_secret("GITLAB_TOKEN", TOKEN);
    world.serve(&bench);

    let dir = world.conversation(AT_WORK, "issue-to-mr/group__service/issue-2-7");
    worked_in(&project, Path::new(&dir));
    let mut closed = record(&ended, "closed", "82c67cd0-e5a8-4f05-8843-89533a915d21");
    closed.insert(
        "completed_at".into(),
        json!(cli::clock::system_now() - 300.5),
    );
    closed.insert("merge_request_iid".into(), json!(57));
    let mut at_work = record(&active, "active", AT_WORK);
    at_work.insert("base_sha".into(), json!(project.tip("main")));
    at_work.insert("workspace_dir".into(), json!(dir));
    let document = json!({
        "version": 1, "project": "group/service", "trigger_label": LABEL, "note": "kept",
        "updated_at": 1_796_033_321.099_349_7,
        "tasks": {task(&ended): closed, task(&active): at_work},
    });
    let key = "state:group__service";
    world.remember(&id, key, "", &document);
    bench.service.set_keys(&id, &[key]);

    let updated = bench
        .bring(
            "gitlab-issue-to-mr",
            &["--update", &id, "--dispatch", "--json"],
        )
        .run();
    updated.said(0);
    let report = updated.json();
    assert_eq!(
        (&report["id"], &report["run"]["status"]),
        (&json!(id), &json!("COMPLETED"))
    );
    // The script's own conversation, and one for the issue that is new.
    assert_eq!(world.agent.created(), 2);
    dispatch(&bench, &id);
    dispatch(&bench, &id);
    assert_eq!(world.agent.created(), 2);

    let found = world.remembered(&id, key, "");
    assert_eq!(
        (&found["version"], &found["note"]),
        (&json!(1), &json!("kept"))
    );
    let tasks = &found["tasks"];
    assert_eq!(tasks[task(&ended)], document["tasks"][task(&ended)]);
    assert_eq!(tasks[task(&active)]["conversation_id"], AT_WORK);
    assert_eq!(tasks[task(&active)]["status"], "closed");
    assert!(tasks[task(&new)]["conversation_id"].is_string());
    let [request] = project.merge_requests().try_into().unwrap();
    assert_eq!(request.source_branch, "openhands/issue-2");
    assert_eq!(tasks[task(&active)]["merge_request_iid"], request.iid);
    assert_eq!(project.commits("main..openhands/issue-2").len(), 1);
    assert!(!Path::new(&dir).exists(), "the script's clone is left");
    gitlab.check().unwrap();
}
