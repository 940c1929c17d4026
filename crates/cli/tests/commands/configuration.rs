//! A wrong configuration or wrong usage: exit code 2, and the service is told the same words.

use crate::process::{DEPLOYABLE, Process, tree};
use serde_json::json;
use std::path::{Path, PathBuf};
use testbed::callback::{CALLBACK_KEY, Callbacks, RunStatus};

/// A process in the environment of a run.
fn run_of(binary: &str, callbacks: &Callbacks, run: &str, folder: &Path) -> Process {
    callbacks.begin(run, "a1");
    Process::new(binary)
        .current_dir(folder)
        .env("HOME", folder)
        .env("AUTOMATION_RUN_ID", run)
        .env("AUTOMATION_CALLBACK_URL", callbacks.callback_url(run))
        .env("AUTOMATION_CALLBACK_API_KEY", CALLBACK_KEY)
}

#[test]
fn the_service_hears_what_people_read() {
    let callbacks = Callbacks::start().unwrap();
    for (automation, binary) in DEPLOYABLE {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config.json");
        std::fs::write(
            &config,
            r#"{"feeds": [], "repos": {"a": 1}, "projects": 7}"#,
        )
        .unwrap();
        let before = tree(folder.path());
        for (run, arguments) in [("plain", [].as_slice()), ("json", &["--json"])] {
            let run = format!("{automation}-{run}");
            let ended = run_of(binary, &callbacks, &run, folder.path())
                .args(arguments)
                .run();
            assert_eq!(ended.code, 2, "{ended:?}");
            let told = callbacks.run(&run).unwrap();
            assert_eq!(told.status, RunStatus::Failed);
            assert_eq!(told.callbacks.len(), 1);
            let words = told.error.unwrap().as_str().unwrap().to_owned();
            assert!(words.contains(&config.display().to_string()), "{words}");
            if arguments.is_empty() {
                assert_eq!(ended.stdout, format!("error: {words}\n"));
            } else {
                assert_eq!(ended.stderr, format!("error: {words}\n"));
                let expected = json!({
                    "automation": automation, "status": "failed", "error": words, "targets": [],
                });
                assert_eq!(ended.json(), expected);
            }
        }
        assert_eq!(tree(folder.path()), before);
    }
    callbacks.server().check().unwrap();
}

#[test]
fn wrong_usage_ends_the_run_as_well() {
    let callbacks = Callbacks::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (automation, binary) in DEPLOYABLE {
        let cases = [
            ["--colour"].as_slice(),
            &["--now", "2026-08-20T06:00:00Z"],
            &["--dry-run", "--now", "yesterday"],
            &["--config"],
            &["surplus"],
        ];
        for (index, arguments) in cases.into_iter().enumerate() {
            let run = format!("{automation}-{index}");
            let ended = run_of(binary, &callbacks, &run, folder.path())
                .args(arguments)
                .run();
            assert_eq!(ended.code, 2, "{arguments:?} {ended:?}");
            let told = callbacks.run(&run).unwrap();
            assert_eq!(told.status, RunStatus::Failed, "{arguments:?}");
            let words = told.error.unwrap().as_str().unwrap().to_owned();
            let start = words.lines().next().unwrap();
            assert!(
                ended.stderr.contains(start),
                "{words} is not in {}",
                ended.stderr
            );
        }
    }
    let ended = Process::people(&["run", "news-digest", "--now", "yesterday"]).run();
    assert_eq!(ended.code, 2, "{ended:?}");
}

#[test]
fn help_and_version_are_no_failure() {
    let callbacks = Callbacks::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (_, binary) = DEPLOYABLE[0];
    for argument in ["--help", "--version"] {
        let ended = run_of(binary, &callbacks, "run-1", folder.path())
            .args([argument])
            .run();
        assert_eq!(ended.code, 0, "{ended:?}");
        assert_eq!(callbacks.run("run-1").unwrap().status, RunStatus::Running);
    }
}

/// A configuration that says by its mistake which one it is.
fn telling(folder: &Path) -> PathBuf {
    std::fs::create_dir_all(folder).unwrap();
    let path = folder.join("config.json");
    std::fs::write(&path, r#"{"feeds": 1}"#).unwrap();
    path
}

#[test]
fn the_configuration_is_looked_for_in_order() {
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (name, binary) = DEPLOYABLE[0];
    let beside = root.path().join("archive");
    std::fs::create_dir_all(&beside).unwrap();
    let executable = beside.join(name);
    std::fs::hard_link(binary, &executable).unwrap();
    let working = root.path().join("working");
    std::fs::create_dir_all(&working).unwrap();
    let named = telling(&root.path().join("named"));
    let variable = telling(&root.path().join("variable"));
    let run = |by_name: bool, by_variable: bool| {
        let mut process = Process::new(executable.to_str().unwrap())
            .args(["--dry-run"])
            .current_dir(&working)
            .env("HOME", root.path());
        if by_name {
            process = process.args([Path::new("--config"), &named]);
        }
        if by_variable {
            process = process.env("AUTOMATION_CONFIG", &variable);
        }
        let ended = process.run();
        ended.said(2).to_owned()
    };
    let says = |said: &str, path: &Path| {
        let start = format!("error: {}: `feeds` should be", path.display());
        assert!(said.starts_with(&start), "{said} instead of {start}");
    };
    let said = run(false, false);
    assert!(
        said.starts_with("error: the default configuration"),
        "{said}"
    );
    let in_working = telling(&working);
    says(&run(false, false), &in_working);
    let in_archive = telling(&beside);
    says(&run(false, false), &in_archive);
    says(&run(false, true), &variable);
    says(&run(true, true), &named);
}
