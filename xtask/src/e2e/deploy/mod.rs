//! From the packaged archives to automations that run: all three are deployed with the real
//! command, dispatched and looked at in the run history, in the KV store, on the forges and on the
//! disk; alone, two at once with the service restarted in between, and in place of a script.

mod command;
mod deployed;
mod rounds;
mod scene;
mod script;
mod takeover;
pub(super) mod without_kv;

use serde_json::json;

use super::error::E2eError;
use super::facts::Facts;
use super::product::Stage;
use crate::package;
use command::{Deployer, archive};
use deployed::Deployed;
use scene::Scene;

/// The automations, as `deploy` and `package` name them.
const NAMES: [&str; 3] = ["news-digest", "github-pr-reviewer", "gitlab-issue-to-mr"];
/// The most bytes that the service takes as an upload.
const UPLOAD_LIMIT: u64 = 1_048_576;

/// Shows it.
pub(in crate::e2e) fn run(stage: &mut Stage, facts: &mut Facts) -> Result<(), E2eError> {
    packaged(&[])?;
    let scene = Scene::new(stage, "deployed")?;
    refusals(stage, &scene, facts)?;
    let mut all = rounds::plain(stage, &scene, facts)?;
    listed(stage, &all, facts)?;
    let scene = Scene::new(stage, "crowded")?;
    all.extend(rounds::overlapped(stage, &scene, facts)?);
    all.push(takeover::day(stage, facts)?);
    all.push(takeover::reviews(stage, facts)?);
    removed(stage, &all, facts)
}

/// Makes the archives of these automations, or of all.
fn packaged(names: &[&str]) -> Result<(), E2eError> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    package::run(&names).map_err(|error| E2eError::Setup(error.to_string()))
}

/// What is refused, and leaves nothing behind.
fn refusals(stage: &Stage, scene: &Scene, facts: &mut Facts) -> Result<(), E2eError> {
    let deployer = Deployer::new(&stage.services)?;
    let [news, reviewer] = [NAMES[0], NAMES[1]];
    let packed = [news, reviewer].map(|name| archive(name).display().to_string());
    let config = deployer.write("config.json", &scene.config(news))?;
    let usual = [news, "--archive", &packed[0], "--config", &config];
    let before = stage.services.automations()?.len();

    let wrong = deployer.with_key("wrong").run(&usual)?;
    facts.check(
        "deploy with a wrong key: a clear message, exit code 1",
        wrong.exit == Some(1) && wrong.log.contains("key"),
        &wrong.to_string(),
    );
    let mistake = deployer.write("mistake.json", &json!({"feeds": []}))?;
    let wrong = deployer.run(&[news, "--archive", &packed[0], "--config", &mistake])?;
    facts.check(
        "deploy with a mistake in the configuration: its key is named, exit code 2",
        wrong.exit == Some(2) && wrong.log.contains("feeds"),
        &wrong.to_string(),
    );
    let unseen = deployer.write("unseen.json", &scene.config_of_unseen())?;
    let wrong = deployer.run(&[reviewer, "--archive", &packed[1], "--config", &unseen])?;
    facts.check(
        "deploy with a repository that the token cannot see: it is named, exit code 1",
        wrong.exit == Some(1) && wrong.log.contains("acme/unseen"),
        &wrong.to_string(),
    );
    let checked = deployer.run(&[usual.as_slice(), &["--dry-run", "--json"]].concat())?;
    facts.check(
        "deploy --dry-run checks everything and says what would be made",
        checked.exit == Some(0) && checked.report["status"] == "checked",
        &checked.to_string(),
    );
    let after = stage.services.automations()?.len();
    facts.check(
        "… and nothing of all that made an automation",
        before == after,
        &format!("{before}, then {after}"),
    );
    Ok(())
}

/// `deploy list` and `deploy runs`.
fn listed(stage: &Stage, deployed: &[Deployed], facts: &mut Facts) -> Result<(), E2eError> {
    let deployer = Deployer::new(&stage.services)?;
    let list = deployer.run(&["list", "--json"])?;
    let automations = list.report["automations"].as_array();
    let ours = |one: &Deployed| {
        automations.into_iter().flatten().any(|listed| {
            listed["id"] == json!(one.id) && listed["automation"] == json!(one.name())
        })
    };
    facts.check(
        "deploy list names all three",
        list.exit == Some(0) && deployed.iter().all(ours),
        &list.to_string(),
    );
    for one in deployed {
        let runs = deployer.run(&["runs", &one.id, "--json"])?;
        let all = runs.report["runs"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        facts.check(
            &format!("deploy runs shows what {} did", one.name()),
            runs.exit == Some(0)
                && all.len() == 2
                && all.iter().all(|run| run["status"] == "COMPLETED"),
            &runs.to_string(),
        );
        let logs = deployer.run(&["logs", &one.id, "--json"])?;
        let output = logs.report["output"].as_str().unwrap_or_default();
        facts.check(
            &format!("deploy logs shows what {} printed", one.name()),
            logs.exit == Some(0) && output.contains(one.name()),
            &logs.to_string(),
        );
    }
    Ok(())
}

/// `deploy remove`.
fn removed(stage: &Stage, all: &[Deployed], facts: &mut Facts) -> Result<(), E2eError> {
    let deployer = Deployer::new(&stage.services)?;
    for one in all {
        let removed = deployer.run(&["remove", &one.id, "--yes", "--json"])?;
        let left = stage.services.automations()?;
        facts.check(
            &format!("deploy remove takes {} away, with its archive", one.name()),
            removed.exit == Some(0)
                && removed.report["status"] == "removed"
                && removed.report["left"].is_null()
                && !left
                    .iter()
                    .any(|automation| automation["id"] == json!(one.id)),
            &removed.to_string(),
        );
    }
    Ok(())
}
