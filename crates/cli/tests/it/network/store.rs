//! A store that is out of reach: the run ends with a message and never looks elsewhere.

use crate::stage::scenes::fresh_work;
use crate::stage::{Automation, Backend, a_few_at_a_time};
use serde_json::json;
use testbed::ClosedPort;
use testbed::faults::Fault;

const AUTOMATIONS: [Automation; 3] = [Automation::News, Automation::Review, Automation::Issue];

#[test]
fn a_store_that_fails_is_neither_replaced_by_files_nor_taken_for_empty() {
    for automation in AUTOMATIONS {
        for failing in ["500", "401", "503", "refused"] {
            let mut scene = fresh_work(automation, Backend::Strict);
            scene.stage_mut().config["time_budget_seconds"] = json!(30);
            let nobody = ClosedPort::take().unwrap();
            if failing == "refused" {
                let url = format!("{}/api/automation", nobody.base_url());
                scene.stage_mut().set("AUTOMATION_API_URL", &url);
            } else {
                let status = failing.parse().unwrap();
                let kv = scene.stage().kv.as_ref().unwrap().server();
                let fault = Fault::status(status)
                    .body("application/json", r#"{"detail":"token expired"}"#)
                    .on("*", "/v1/kv/")
                    .always();
                kv.faults().add(fault);
            }
            let ran = scene.stage().run();
            let error = ran.failed(1);
            assert!(!error.is_empty(), "{failing}: {}", ran.all());
            assert_eq!(scene.stage().agent.created(), 0, "{failing}: {}", ran.all());
            assert!(
                !scene.stage().scratch.state_dir().exists(),
                "{failing}: no local copy"
            );
            assert_eq!(scene.stage().left_on_disk(), Vec::<String>::new());
        }
    }
}

#[test]
fn a_token_that_expires_in_the_middle_loses_nothing() {
    // From each request on, the store says no.
    let with = |automation| (0..8).map(move |step| (automation, step));
    let all: Vec<(Automation, u32)> = AUTOMATIONS.into_iter().flat_map(with).collect();
    a_few_at_a_time(&all, |(automation, step)| {
        let scene = fresh_work(*automation, Backend::LikeSqlite);
        let kv = scene.stage().kv.as_ref().unwrap().server();
        let fault = Fault::status(401).on("*", "/v1/kv/").skip(*step).always();
        kv.faults().add(fault);
        let ran = scene.stage().run();
        assert!(matches!(ran.status.code(), Some(0 | 1)), "{}", ran.all());
        assert_eq!(ran.told.callbacks.len(), 1, "{}", ran.all());
        kv.faults().clear();
        scene
            .polls_until_quiet()
            .unwrap_or_else(|why| panic!("{automation:?} from {step}: {why}"));
    });
}

#[test]
fn a_document_that_is_too_large_for_the_service_starts_nothing() {
    use testbed::kv::SizeLimit;
    for automation in AUTOMATIONS {
        let scene = fresh_work(automation, Backend::Strict);
        let kv = scene.stage().kv.as_ref().unwrap();
        kv.set_size_limit(SizeLimit::PerValue, 200);
        let ran = scene.stage().run();
        assert_eq!(scene.stage().agent.created(), 0, "{}", ran.all());
        assert_eq!(scene.stage().left_on_disk(), Vec::<String>::new());
        kv.set_size_limit(SizeLimit::PerValue, 65_536);
        scene.polls_until_quiet().unwrap();
    }
}

#[test]
fn a_folder_of_documents_that_cannot_be_used_starts_nothing() {
    for automation in AUTOMATIONS {
        let scene = fresh_work(automation, Backend::Files);
        let folder = scene.stage().scratch.state_dir();
        std::fs::write(&folder, "a file in its place").unwrap();
        let ran = scene.stage().run();
        let error = ran.failed(1);
        assert!(error.contains("automation-state"), "{error}");
        assert_eq!(scene.stage().agent.created(), 0);
        assert_eq!(scene.stage().left_on_disk(), Vec::<String>::new());
        std::fs::remove_file(&folder).unwrap();
        scene.polls_until_quiet().unwrap();
    }
}
