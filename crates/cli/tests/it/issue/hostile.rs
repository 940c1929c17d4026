//! Clones as an agent could leave them, on the path of a real run: nothing of it is carried out,
//! nothing goes anywhere but to the one branch.

use crate::stage::scenes::{GITLAB_TOKEN, Issues};
use crate::stage::{A_MINUTE, Backend, a_few_at_a_time};
use std::path::{Path, PathBuf};
use std::process::Command;
use testbed::ClosedPort;
use testbed::agent_server::{Deed, Pace, Script, Status};
use testbed::tree::Entry;

/// Attacks of `fixtures/git/agent.sh`, each after a piece of honest work.
const ATTACKS: &[&str] = &[
    "hooks",
    "hooks-path",
    "fsmonitor",
    "ssh-command",
    "credential-helper",
    "filters",
    "drivers",
    "editor-pager",
    "gpg",
    "include",
    "server-side-commands",
    "instead-of",
    "push-instead-of",
    "push-url",
    "http",
    "core-worktree",
    "git-file",
    "git-link",
    "common-dir",
    "objects-link",
    "alternates",
    "replace",
    "nested-repository",
    "submodules",
    "links-outside",
    "unsafe-names",
    "locks",
];

fn script_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/git/agent.sh")
}

fn attack(case: &'static str) {
    let scene = Issues::none(Backend::LikeSqlite);
    let files = [
        ("a.txt", Entry::from("one\n")),
        ("sub/b.txt", Entry::from("b\n")),
        ("sub/windows.bat", Entry::from("first\r\nsecond\r\n")),
        ("bin/tool", Entry::Executable(b"#!/bin/sh\n".to_vec())),
    ];
    scene.project.commit_to("main", "Files", files).unwrap();
    // The script calls the branch by this number.
    let issue = scene.project.open_issue(
        testbed::gitlab::NewIssue::titled("Change it")
            .iid(42)
            .by("maintainer"),
    );
    issue.label("openhands", "maintainer");
    let out = tempfile::tempdir().unwrap();
    let nowhere = ClosedPort::take().unwrap();
    let (place, proxy) = (out.path().to_owned(), nowhere.base_url().to_owned());
    let script = Script::of([Status::Idle, Status::Running, Status::Finished])
        .pace(Pace::Told)
        .response("Changed.")
        .on_finish(Deed::visit(move |visit| {
            let done = Command::new("sh")
                .arg(script_path())
                .args([Path::new(case), &visit.working_dir, &place])
                .env("HOSTILE_PROXY", &proxy)
                .output()
                .map_err(|error| error.to_string())?;
            if done.status.success() {
                return Ok(());
            }
            Err(String::from_utf8_lossy(&done.stderr).into_owned())
        }));
    scene.stage.agent.set_script(script);
    let main = scene.project.tip("main").unwrap();
    scene.started_and_finished();
    scene.stage.agent.check().unwrap();
    for _ in 0..4 {
        scene.stage.run().ok().never_said(GITLAB_TOKEN);
        scene.stage.let_time_pass(A_MINUTE);
    }

    let canary = std::fs::read_to_string(out.path().join("canary")).unwrap_or_default();
    assert!(canary.is_empty(), "{case}: {canary}");
    let stolen = Command::new("git")
        .args(["for-each-ref"])
        .current_dir(out.path().join("evil.git"))
        .output()
        .unwrap();
    assert!(stolen.stdout.is_empty(), "{case}: {stolen:?}");
    assert_eq!(scene.project.tip("main").unwrap(), main, "{case}");
    for push in scene.project.pushes() {
        assert_eq!(push.reference, "refs/heads/openhands/issue-42", "{case}");
        assert!(!push.forced, "{case}");
    }
    for (path, entry) in scene.project.files("openhands/issue-42") {
        let text = String::from_utf8_lossy(entry.bytes()).into_owned();
        assert!(
            !text.contains("secret\n") && text != "secret",
            "{case}: {path} was carried out"
        );
    }
    // The honest work arrives.
    let record = scene.record_of(42);
    assert_eq!(record["status"], "closed", "{case}: {record}");
    assert_eq!(scene.notes(42).len(), 1, "{case}");
    scene.stage.assert_quiet();
    scene.check();
}

#[test]
fn nothing_that_an_agent_planted_is_carried_out() {
    a_few_at_a_time(ATTACKS, |case| attack(case));
}
