//! A service without a KV secret: deploying says so and makes nothing, unless files will do; then
//! eight runs at once still start and finish once. And an agent server without room for more.

use std::fs;
use std::path::{Path, PathBuf};

use lifecycle::document::{Document, NEWS};
use serde_json::{Value, json};
use testbed::scripted_llm::Play;

use super::command::{Deployer, archive};
use super::deployed::Deployed;
use super::packaged;
use crate::e2e::documents::{move_back, only_record};
use crate::e2e::error::E2eError;
use crate::e2e::facts::Facts;
use crate::e2e::product::{A_MINUTE, CONVERSATION_LIMIT, Stage, news};
use crate::e2e::services::Options;

const RUNS: usize = 8;
const BUSY: &str = "44444444-4444-4444-8444-444444444444";
const STORY: &str = "The library opens on Sundays";

/// Shows it.
pub(in crate::e2e) fn run(python: &Path, logs: &Path, facts: &mut Facts) -> Result<(), E2eError> {
    packaged(&[NEWS.automation])?;
    let options = Options {
        kv_store: false,
        max_concurrent_runs: 1,
        ..Options::new(python, logs)
    };
    let stage = Stage::start(&options)?;
    let (feeds, feed) = news::site(STORY)?;
    news::writes_digest(&stage, STORY);
    let config = json!({"feeds": [feed], "wait_seconds": 0});
    let one = deployed(&stage, &config, facts)?;
    full(&stage, &one, facts)?;

    let begun = one.dispatch(&stage.services, RUNS)?;
    one.check_runs(&stage.services, &begun, "eight dispatched at once", facts);
    let file = Path::new("automation-state").join(format!("news_digest_{}.json", one.id));
    let file = stage.services.workspaces().join(file);
    let mut document = read(&file)?;
    let (_, record) = only_record(&document, NEWS.records)?;
    let conversations = one.conversations(&stage.services)?;
    facts.check(
        "files: eight runs at once create exactly one conversation, which the document names",
        record["status"] == "active"
            && conversations.len() == 1
            && record["conversation_id"].as_str() == conversations.first().map(String::as_str),
        &format!("{document}, {conversations:?}"),
    );
    for id in &conversations {
        stage
            .services
            .wait_for_conversation(id, CONVERSATION_LIMIT)?;
    }
    move_back(&mut document, A_MINUTE);
    fs::write(&file, document.to_string())
        .map_err(E2eError::io(format!("write {}", file.display())))?;
    let ended = one.dispatch(&stage.services, RUNS)?;
    one.check_runs(
        &stage.services,
        &ended,
        "eight dispatched at once to finish",
        facts,
    );
    let document = read(&file)?;
    let (_, record) = only_record(&document, NEWS.records)?;
    facts.check(
        "files: the day is completed, and its stories are remembered once",
        record["status"] == "completed"
            && record.get("workspace_dir").is_none()
            && record.get("lease_owner").is_none()
            && document["seen"]
                .as_array()
                .is_some_and(|seen| seen.len() == 2),
        &document.to_string(),
    );
    facts.none(
        "files: no workspace is left on the disk",
        &one.workspaces(&stage.services)?,
    );
    feeds.server().check()?;
    stage.stop()
}

/// A run for which the agent server has no room: it ends well and leaves the day open.
fn full(stage: &Stage, one: &Deployed, facts: &mut Facts) -> Result<(), E2eError> {
    let prompt = "The only one that may run";
    let busy = Play::new().finish("Late.").slowly(CONVERSATION_LIMIT);
    stage.llm.play_for(prompt, busy);
    let services = &stage.services;
    let directory = services.workspaces().join("busy");
    services.start_conversation(BUSY, &directory, prompt, "NONE")?;
    let runs = one.dispatch(services, 1)?;
    one.check_runs(services, &runs, "while the agent server is full", facts);
    let printed: String = runs.iter().map(|run| services.run_output(run)).collect();
    let left = one.workspaces(services)?;
    facts.check(
        "a run finds the agent server full, says so, and leaves neither claim nor workspace",
        printed.contains("agent-server-full")
            && one.conversations(services)?.is_empty()
            && left.is_empty(),
        &format!("{printed}, {left:?}"),
    );
    services.interrupt(BUSY)?;
    services
        .wait_for_conversation(BUSY, CONVERSATION_LIMIT)
        .map(drop)
}

/// Deploys it, once as usual and once accepting files.
fn deployed(stage: &Stage, config: &Value, facts: &mut Facts) -> Result<Deployed, E2eError> {
    let deployer = Deployer::new(&stage.services)?;
    let file = deployer.write("config.json", config)?;
    let packed = archive(NEWS.automation).display().to_string();
    let usual = [
        NEWS.automation,
        "--config",
        &file,
        "--archive",
        &packed,
        "--json",
    ];
    let refused = deployer.run(&usual)?;
    let made = stage.services.automations()?;
    facts.check(
        "deploy to a service without a KV store says so and makes nothing",
        matches!(refused.exit, Some(1 | 2)) && refused.log.contains("KV") && made.is_empty(),
        &format!("{refused}, {made:?}"),
    );
    let accepted = deployer.run(&[usual.as_slice(), &["--file-state"]].concat())?;
    facts.check(
        "deploy --file-state makes it all the same",
        accepted.exit == Some(0) && accepted.report["status"] == "created",
        &accepted.to_string(),
    );
    let id = accepted.report["id"].as_str().unwrap_or_default();
    Ok(Deployed::new(NEWS.automation, id, config))
}

fn read(file: &PathBuf) -> Result<Value, E2eError> {
    let bytes = fs::read(file).map_err(E2eError::io(format!("read {}", file.display())))?;
    let document = Document::parse(&NEWS, &bytes);
    let document = document.map_err(|error| E2eError::Setup(error.to_string()))?;
    Ok(document.to_value())
}
