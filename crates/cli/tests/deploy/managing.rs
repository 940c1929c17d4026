//! Looking at what is there, and removing it.

use crate::bench::Bench;
use serde_json::json;
use testbed::automation_service::Course;
use testbed::callback::RunStatus;
use testbed::faults::Fault;

#[test]
fn all_automations_are_listed() {
    let bench = Bench::new();
    let ended = bench.deploy(&["list"]).run();
    assert_eq!(
        bench.plain(ended.said(0)),
        "There are no automations at HOST\n"
    );
    bench.reviewer(&["--name", "Reviews"]).run().said(0);
    bench.script("Old \u{1b}[31mdigest", None);
    bench.service.add_automation(
        "Off",
        &json!({"state": "INACTIVE", "entrypoint": "./news-digest"}),
    );
    let ended = bench.deploy(&["list"]).run();
    insta::assert_snapshot!("list", ended.said(0));
    let report = bench.deploy(&["list", "--json"]).run().json();
    let kinds: Vec<&serde_json::Value> = report["automations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["automation"])
        .collect();
    assert_eq!(
        kinds,
        [
            &json!("news-digest"),
            &json!(null),
            &json!("github-pr-reviewer")
        ]
    );
}

#[test]
fn a_long_list_is_read_to_its_end() {
    let bench = Bench::new();
    for number in 0..205 {
        bench
            .service
            .add_automation(&format!("Number {number}"), &json!({}));
    }
    let report = bench.deploy(&["list", "--json"]).run().json();
    assert_eq!(report["automations"].as_array().unwrap().len(), 205);
}

#[test]
fn runs_and_their_output() {
    let bench = Bench::new();
    let id = bench.script("Reviews", None);
    let ended = bench.deploy(&["runs", &id]).run();
    assert_eq!(ended.said(0), "It has not run yet\n");
    assert!(
        bench
            .deploy(&["logs", &id])
            .run()
            .refused(1)
            .contains("has not run yet")
    );
    bench
        .service
        .set_course(Course::fails(&["polling"], "every target failed"));
    bench
        .reviewer(&["--update", &id, "--dispatch"])
        .run()
        .said(1);
    let latest = bench.service.add_run(&id, RunStatus::Running);

    let report = bench.deploy(&["runs", &id, "--json"]).run().json();
    assert_eq!(report["runs"][0]["id"], json!(latest));
    assert_eq!(
        (&report["runs"][1]["status"], &report["runs"][1]["error"]),
        (&json!("FAILED"), &json!("every target failed"))
    );
    let first = report["runs"][1]["id"].as_str().unwrap();
    let table = bench.deploy(&["runs", &id]).run();
    assert!(table.said(0).contains("every target failed"), "{table:?}");

    let ended = bench.deploy(&["logs", &id, "--run", first]).run();
    let said = ended.said(0);
    assert!(
        said.starts_with(&format!("Run {first} failed: every target failed\n")),
        "{said}"
    );
    assert!(
        said.contains("set AGENT_SERVER_URL and SESSION_API_KEY"),
        "{said}"
    );
    assert!(
        bench
            .deploy(&["logs", &id, "--run", "none"])
            .run()
            .refused(1)
            .contains("is not among")
    );
    bench.deploy(&["runs", "none"]).run().refused(2);
}

#[test]
fn output_comes_from_the_agent_server() {
    // Any server that answers this call will do.
    let (bench, agent) = (Bench::new(), Bench::new());
    let id = bench.script("Reviews", None);
    let run = bench.service.add_run(&id, RunStatus::Completed);
    let runs =
        json!({"total": 1, "runs": [{"id": run, "status": "COMPLETED", "bash_command_id": "c 1"}]});
    let known = Fault::status(200).body("application/json", runs.to_string());
    bench
        .service
        .server()
        .faults()
        .add(known.on("GET", "/runs").always());
    let page =
        |body: serde_json::Value| Fault::status(200).body("application/json", body.to_string());
    let faults = agent.service.server().faults();
    faults.add(page(
        json!({"items": [{"stdout": "one\n", "stderr": null}], "next_page_id": "2"}),
    ));
    faults.add(page(json!({
        "items": [{"stdout": "two\u{1b}[2J\n", "stderr": "oops\n"}, {"exit_code": 0}],
        "next_page_id": null,
    })));
    let logs = bench
        .deploy(&["logs", &id])
        .env("AGENT_SERVER_URL", agent.service.host())
        .env("SESSION_API_KEY", "k1");
    let ended = logs.run();
    let said = ended.said(0);
    assert!(
        said.ends_with("Output:\none\ntwo[2J\noops\n[exit code 0]\n"),
        "{said}"
    );
    let calls = agent.service.server().log().all();
    assert_eq!(
        calls[0].target(),
        "/api/bash/bash_events/search?command_id__eq=c+1"
    );
    assert_eq!(calls[1].query_value("page_id").as_deref(), Some("2"));
    assert!(
        calls
            .iter()
            .all(|call| call.header("x-session-api-key") == Some("k1"))
    );
}

#[test]
fn removing_asks_and_takes_the_archive_along() {
    let bench = Bench::new();
    bench.reviewer(&["--name", "Reviews"]).run().said(0);
    let id = bench.service.automations()[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let ended = bench.deploy(&["remove", &id]).run();
    assert!(ended.refused(2).contains("say --yes"), "{ended:?}");
    assert_eq!(bench.service.automations().len(), 1);

    let ended = bench.deploy(&["remove", &id, "--yes"]).run();
    assert_eq!(
        ended.said(0),
        format!("Removed Reviews ({id}), which runs github-pr-reviewer\n")
    );
    bench.is_untouched();
    bench.deploy(&["remove", &id, "--yes"]).run().refused(2);

    bench.reviewer(&[]).run().said(0);
    let id = bench.service.automations()[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let faults = bench.service.server().faults();
    faults.add(Fault::status(500).on("DELETE", "/v1/uploads"));
    let ended = bench.deploy(&["remove", &id, "--yes", "--json"]).run();
    ended.said(1);
    assert!(
        ended.json()["left"]
            .as_str()
            .unwrap()
            .contains("is left behind"),
        "{ended:?}"
    );
    assert!(bench.service.automations().is_empty());
}
