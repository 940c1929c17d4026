//! Automations that are replaced in place.

use crate::bench::Bench;
use serde_json::json;
use std::time::Duration;
use testbed::callback::RunStatus;

#[test]
fn a_script_is_replaced_and_the_rest_stays() {
    let bench = Bench::new();
    let config =
        json!({"repos": ["acme/widget", "acme/new"], "trigger_label": "please", "site": 7});
    let id = bench.script("Team reviews", Some(&config));
    bench
        .service
        .set_keys(&id, &["cache:x", "state:acme__widget", "state:acme__old"]);
    let before = bench.service.automation(&id).unwrap();
    let ended = bench.bring("github-pr-reviewer", &["--update", &id]).run();
    insta::assert_snapshot!("updated", bench.plain(ended.said(0)));
    assert!(
        ended
            .stderr
            .contains("warning: nothing is remembered of acme/new"),
        "{ended:?}"
    );
    let after = bench.service.automation(&id).unwrap();
    for kept in [
        "id",
        "name",
        "trigger",
        "timeout",
        "keep_alive",
        "enabled",
        "state",
    ] {
        assert_eq!(after[kept], before[kept], "{kept}");
    }
    assert_eq!(after["entrypoint"], "./bin/github-pr-reviewer");
    assert_eq!(bench.config_of(&after), config);
    // The old archive stays, so that one can go back.
    assert!(
        bench
            .service
            .upload(before["tarball_path"].as_str().unwrap())
            .is_some()
    );
    assert_eq!(bench.service.automations().len(), 1);
    bench.service.server().check().unwrap();
}

#[test]
fn documents_are_found_behind_many_other_keys() {
    let bench = Bench::new();
    let id = bench.script("Reviews", None);
    let names: Vec<String> = (0..1500)
        .map(|number| format!("guard:{number:04}"))
        .collect();
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.push("state:acme__widget");
    bench.service.set_keys(&id, &names);
    let ended = bench
        .reviewer(&["--update", &id, "--dry-run", "--json"])
        .run();
    assert_eq!(ended.json()["documents"], json!(["state:acme__widget"]));
}

#[test]
fn what_is_said_is_changed() {
    let bench = Bench::new();
    let more = ["--name", "Reviews", "--trigger-label", "please"];
    bench.reviewer(&more).run().said(0);
    let id = bench.service.automations()[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let more = [
        "--update",
        &id,
        "--repo",
        "acme/gadget",
        "--name",
        "All reviews",
        "--timezone",
        "Asia/Tokyo",
        "--timeout",
        "900",
        "--json",
    ];
    let ended = bench.bring("github-pr-reviewer", &more).run();
    ended.said(0);
    let after = bench.service.automation(&id).unwrap();
    assert_eq!(
        (
            &after["name"],
            &after["timeout"],
            &after["trigger"]["schedule"],
            &after["trigger"]["timezone"]
        ),
        (
            &json!("All reviews"),
            &json!(900),
            &json!("*/5 * * * *"),
            &json!("Asia/Tokyo")
        )
    );
    assert_eq!(
        bench.config_of(&after),
        json!({"repos": ["acme/gadget"], "trigger_label": "please"})
    );
    let report = ended.json();
    assert_eq!(report["replaced"]["entrypoint"], "./bin/github-pr-reviewer");
    assert_eq!(report["status"], "updated");
}

#[test]
fn a_run_that_is_under_way_is_waited_for() {
    let bench = Bench::new();
    let id = bench.script("Reviews", None);
    let run = bench.service.add_run(&id, RunStatus::Running);
    std::thread::scope(|scope| {
        let deployed = scope.spawn(|| bench.reviewer(&["--update", &id]).run());
        let log = bench.service.server().log();
        while log.count("GET", "/runs") < 3 {
            std::thread::sleep(Duration::from_millis(2));
        }
        assert_eq!(log.count("PATCH", ""), 0);
        bench.service.end_run(&run, RunStatus::Completed, "");
        let ended = deployed.join().unwrap();
        ended.said(0);
        assert!(
            ended
                .stderr
                .contains(&format!("waiting for run {run}, which is running")),
            "{ended:?}"
        );
    });
    assert_eq!(bench.service.server().log().count("PATCH", ""), 1);
}

#[test]
fn what_is_no_script_and_none_of_ours_is_left_alone() {
    let bench = Bench::new();
    let prompt = bench.service.add_automation(
        "Prompt",
        &json!({
            "preset_metadata": {"preset_type": "prompt", "prompt": "Say hello"},
        }),
    );
    let plugin = bench
        .service
        .add_automation("Plugin", &json!({"plugin_spec": {"plugin": {}}}));
    let news = bench
        .service
        .add_automation("News", &json!({"entrypoint": "./news-digest"}));
    for (id, words) in [
        (prompt.as_str(), "Prompt"),
        (&plugin, "is made from a plugin"),
        (&news, "is a news-digest; a github-pr-reviewer in its place"),
        (
            "00000000-0000-4000-8000-00000000dead",
            "there is no automation",
        ),
        ("../../v1/uploads", "there is no automation"),
    ] {
        let ended = bench.reviewer(&["--update", id]).run();
        let error = ended.refused(2);
        assert!(error.contains(words), "{id}: {error}");
    }
    assert_eq!(bench.service.server().log().count("PATCH", ""), 0);
    assert_eq!(bench.service.uploads(), 0);
}

#[test]
fn a_script_with_its_settings_in_constants_needs_a_configuration() {
    let bench = Bench::new();
    let id = bench.script("Reviews", None);
    let ended = bench.bring("github-pr-reviewer", &["--update", &id]).run();
    let error = ended.refused(2);
    assert!(
        error.contains("there is no configuration to keep") && error.contains("--repo"),
        "{error}"
    );
    let ended = bench.reviewer(&["--update", &id, "--dry-run"]).run();
    assert!(
        ended.said(0).starts_with("github-pr-reviewer\n"),
        "{ended:?}"
    );
    assert_eq!(
        bench.service.automation(&id).unwrap()["entrypoint"],
        "python3 main.py"
    );
    assert_eq!(bench.service.uploads(), 1);
}

#[test]
fn what_is_odd_about_it_is_said() {
    let bench = Bench::new();
    let id = bench.service.add_automation(
        "Reviews",
        &json!({
            "state": "INACTIVE", "enabled": false, "disabled_reason": "unhealthy",
            "trigger": {"type": "event", "source": "github", "on": "pull_request.*"},
            "timeout": 120,
        }),
    );
    bench.service.set_kv_store(false);
    let ended = bench.reviewer(&["--update", &id]).run();
    ended.said(0);
    for words in [
        "is switched off (unhealthy)",
        "has no schedule",
        "no KV store",
    ] {
        assert!(ended.stderr.contains(words), "{words}: {ended:?}");
    }
    let after = bench.service.automation(&id).unwrap();
    assert_eq!(
        (&after["trigger"]["type"], &after["timeout"]),
        (&json!("event"), &json!(600))
    );
}
