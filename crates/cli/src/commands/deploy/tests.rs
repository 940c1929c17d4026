//! Deployments with a person at the terminal, whose answers are given here.

use super::arguments::Order;
use super::bring::bring;
use super::questions::{Questions, items};
use crate::commands::arguments::Whose;
use crate::commands::error::CommandError;
use crate::commands::session::{Session, block_on};
use crate::config::ConfigError;
use crate::environment::Environment;
use crate::run::Automation;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::rc::Rc;
use testbed::automation_service::{API_KEY, AutomationService};

/// A service, a person, and what was asked.
struct Talk {
    service: AutomationService,
    folder: tempfile::TempDir,
    asked: Rc<RefCell<Vec<String>>>,
}

impl Talk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for name in ["news-digest", "github-pr-reviewer", "gitlab-issue-to-mr"] {
            let mut header = tar::Header::new_gnu();
            header.set_size(0);
            header.set_mode(0o755);
            let path = format!("bin/{name}");
            builder.append_data(&mut header, path, &[][..]).unwrap();
        }
        let bytes = builder.into_inner().unwrap().finish().unwrap();
        std::fs::write(folder.path().join("all.tar.gz"), bytes).unwrap();
        Self {
            service: AutomationService::start().unwrap(),
            folder,
            asked: Rc::default(),
        }
    }

    fn order(&self, automation: Option<Automation>) -> Order {
        let archive = self.folder.path().join("all.tar.gz").display().to_string();
        Order {
            automation,
            archive: Some(archive),
            json: true,
            ..Order::default()
        }
    }

    /// Deploys, and answers in this order. Only the key is in the environment.
    fn deploy(&self, order: Order, answers: &[&str]) -> Result<u8, CommandError> {
        let environment = Environment::from_lookup(|name| {
            (name == "OPENHANDS_AUTOMATION_API_KEY").then(|| API_KEY.to_owned())
        });
        let session = Session::new(environment, &Whose::default()).silenced();
        let mut answers = answers.iter().map(|answer| (*answer).to_owned());
        let asked = Rc::clone(&self.asked);
        let mut questions = Questions::to(Some(Box::new(move |question| {
            asked.borrow_mut().push(question.to_owned());
            answers
                .next()
                .ok_or_else(|| std::io::Error::other("no more answers"))
        })));
        block_on(bring(order, &session, &mut questions))
    }

    fn config(&self) -> Value {
        let [made] = self.service.automations().try_into().unwrap();
        let bytes = self
            .service
            .upload(made["tarball_path"].as_str().unwrap())
            .unwrap();
        let archive = super::archive::Archive::of_bytes("made", bytes).unwrap();
        serde_json::from_str(&archive.config().unwrap()).unwrap()
    }
}

#[test]
fn what_is_missing_is_asked_for() {
    let talk = Talk::new();
    let answers = [
        "news-digest",
        talk.service.host(),
        "https://127.0.0.1:9/a, https://127.0.0.1:9/b",
        "Rust, Linux",
        "0 6 * * *",
        "",
    ];
    assert_eq!(talk.deploy(talk.order(None), &answers), Ok(0));
    assert_eq!(talk.asked.borrow().len(), answers.len());
    insta::assert_snapshot!("questions", talk.asked.borrow().join("\n"));
    assert_eq!(
        talk.config(),
        json!({"feeds": ["https://127.0.0.1:9/a", "https://127.0.0.1:9/b"], "topics": "Rust, Linux"})
    );
    let [made] = talk.service.automations().try_into().unwrap();
    assert_eq!(
        made["trigger"],
        json!({"type": "cron", "schedule": "0 6 * * *", "timezone": "UTC"})
    );
}

#[test]
fn what_is_known_is_not_asked_for() {
    let talk = Talk::new();
    let mut order = talk.order(Some(Automation::Review));
    order.place.host = Some(talk.service.host().to_owned());
    order.keys.repo = vec!["acme/widget".into()];
    assert_eq!(talk.deploy(order, &[]), Ok(0));
    assert!(talk.asked.borrow().is_empty(), "{:?}", talk.asked);
}

#[test]
fn an_empty_answer_is_none() {
    let talk = Talk::new();
    let mut order = talk.order(Some(Automation::Issue));
    order.place.host = Some(talk.service.host().to_owned());
    let error = talk.deploy(order, &["", "", ""]).unwrap_err();
    assert!(matches!(error, CommandError::Usage(_)), "{error}");
    assert!(
        error
            .to_string()
            .contains("projects as group/project: --project"),
        "{error}"
    );
    assert!(talk.service.server().log().is_empty());
}

#[test]
fn an_answer_may_be_wrong_as_well() {
    let talk = Talk::new();
    let mut order = talk.order(None);
    order.place.host = Some(talk.service.host().to_owned());
    let error = talk.deploy(order.clone(), &["reviewer"]).unwrap_err();
    assert!(matches!(error, CommandError::Usage(_)), "{error:?}");
    assert!(
        error
            .to_string()
            .contains("there is no automation reviewer"),
        "{error}"
    );
    let answers = ["github-pr-reviewer", "acme/widget", "every day"];
    let error = talk.deploy(order.clone(), &answers).unwrap_err();
    assert!(
        error.to_string().contains("should have five fields"),
        "{error}"
    );
    let error = talk.deploy(order, &["github-pr-reviewer"]).unwrap_err();
    assert!(matches!(error, CommandError::Failed(_)), "{error:?}");
    assert!(error.to_string().contains("nobody answered"), "{error}");
    assert!(talk.service.server().log().is_empty());
}

#[test]
fn a_configuration_that_is_wrong_ends_it_before_anything_is_asked() {
    let talk = Talk::new();
    let missing = talk.folder.path().join("config.json");
    let mut order = talk.order(Some(Automation::Review));
    order.place.host = Some(talk.service.host().to_owned());
    order.keys.config = Some(missing.clone());
    let error = talk.deploy(order.clone(), &[]).unwrap_err();
    assert!(
        matches!(&error, CommandError::Config(ConfigError::Unreadable { path, .. })
            if *path == missing.display().to_string()),
        "{error:?}"
    );
    assert_eq!(error.exit_code(), 2);
    std::fs::write(
        &missing,
        r#"{"repos": ["acme/widget"], "max_active": "two"}"#,
    )
    .unwrap();
    let error = talk.deploy(order, &[]).unwrap_err();
    assert!(
        matches!(&error, CommandError::Config(ConfigError::Wrong { key, .. }) if *key == "max_active"),
        "{error:?}"
    );
    assert!(talk.asked.borrow().is_empty() && talk.service.server().log().is_empty());
}

#[test]
fn lists_are_answered_in_any_way() {
    assert_eq!(items(" a/b,c/d  e/f "), ["a/b", "c/d", "e/f"]);
    assert!(items(" ,").is_empty());
}

#[test]
fn every_flag_is_documented() {
    use clap::Args as _;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/deploying.md");
    let text = std::fs::read_to_string(path).unwrap();
    let command = super::Arguments::augment_args(clap::Command::new("deploy"));
    let flags = command.get_arguments().filter_map(clap::Arg::get_long);
    let missing: Vec<&str> = flags
        .filter(|flag| !text.contains(&format!("--{flag}")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
