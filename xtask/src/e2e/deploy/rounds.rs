//! From `deploy` to the end of a task, for all three automations: one run after the other; and two
//! dispatches at once each time, with the service stopped and started in between.

use std::fs;

use serde_json::json;

use super::command::{Deployer, archive};
use super::scene::Scene;
use super::{Deployed, NAMES, UPLOAD_LIMIT};
use crate::e2e::error::E2eError;
use crate::e2e::facts::Facts;
use crate::e2e::product::{A_MINUTE, Stage};

/// What a task of each automation is in the end.
const ENDS: [&str; 3] = ["completed", "closed", "closed"];

/// Deploys all three with `--dispatch`, and dispatches each once more.
pub(super) fn plain(
    stage: &Stage,
    scene: &Scene,
    facts: &mut Facts,
) -> Result<Vec<Deployed>, E2eError> {
    let services = &stage.services;
    let mut all = Vec::new();
    for name in NAMES {
        let (one, report) = deployed(stage, scene, name, &["--dispatch"], facts)?;
        let run = &report["run"];
        facts.check(
            &format!(
                "deploy --dispatch follows the first run of {name} to its end, with its phases"
            ),
            run["status"] == "COMPLETED"
                && run["phases"]
                    .as_array()
                    .is_some_and(|phases| !phases.is_empty())
                && run["conversation_id"].is_string(),
            &report.to_string(),
        );
        all.push(one);
    }
    for one in &all {
        one.wait_for_agents(services)?;
        services.date_back(&one.id, A_MINUTE)?;
    }
    finished(stage, scene, &all, 1, facts)?;
    Ok(all)
}

/// Deploys all three under other names and dispatches each twice at once, stops and starts the
/// service, and dispatches each twice at once again.
pub(super) fn overlapped(
    stage: &mut Stage,
    scene: &Scene,
    facts: &mut Facts,
) -> Result<Vec<Deployed>, E2eError> {
    let mut all = Vec::new();
    for name in NAMES {
        let other = format!("{name} once more");
        all.push(deployed(stage, scene, name, &["--name", &other], facts)?.0);
    }
    dispatched(
        stage,
        &all,
        2,
        "two dispatched at once on a fresh trigger",
        facts,
    )?;
    for one in &all {
        one.wait_for_agents(&stage.services)?;
    }
    stage.services.stop_automation_service()?;
    stage.services.start_automation_service()?;
    for one in &all {
        stage.services.date_back(&one.id, A_MINUTE)?;
    }
    finished(stage, scene, &all, 2, facts)?;
    Ok(all)
}

/// Deploys an automation and says what the command reported.
fn deployed(
    stage: &Stage,
    scene: &Scene,
    name: &str,
    more: &[&str],
    facts: &mut Facts,
) -> Result<(Deployed, serde_json::Value), E2eError> {
    let deployer = Deployer::new(&stage.services)?;
    let config = scene.config(name);
    let file = deployer.write("config.json", &config)?;
    let packed = archive(name);
    let packed_name = packed.display().to_string();
    let mut arguments = vec![name, "--config", &file, "--archive", &packed_name, "--json"];
    arguments.extend(more);
    let made = deployer.run(&arguments)?;
    let Some(id) = made.report["id"].as_str().map(str::to_owned) else {
        return Err(E2eError::Setup(format!("deploy {name}: {made}")));
    };
    let bytes = made.report["archive"]["bytes"].as_u64().unwrap_or(u64::MAX);
    let size = fs::metadata(&packed).map_or(u64::MAX, |file| file.len());
    facts.check(
        &format!("deploy {name}: the service takes the archive of {bytes} bytes"),
        made.exit == Some(0)
            && made.report["status"] == "created"
            && size <= UPLOAD_LIMIT
            && bytes <= UPLOAD_LIMIT,
        &format!("{made}; the packaged one has {size} bytes"),
    );
    let again = deployer.run(&arguments)?;
    facts.check(
        &format!("deploy {name} a second time is noticed: exit code 2"),
        again.exit == Some(2) && again.log.contains(&id),
        &again.to_string(),
    );
    Ok((Deployed::new(name, &id, &config), made.report))
}

/// Dispatches all of them so many times at one moment.
fn dispatched(
    stage: &Stage,
    all: &[Deployed],
    times: usize,
    what: &str,
    facts: &mut Facts,
) -> Result<(), E2eError> {
    let mut begun = Vec::new();
    for one in all {
        begun.push(one.begin(&stage.services, times)?);
    }
    for (one, runs) in all.iter().zip(&begun) {
        let runs = one.finish(&stage.services, runs)?;
        one.check_runs(&stage.services, &runs, what, facts);
    }
    Ok(())
}

/// Dispatches all of them when their agents have ended, and checks how everything ends.
fn finished(
    stage: &Stage,
    scene: &Scene,
    all: &[Deployed],
    times: usize,
    facts: &mut Facts,
) -> Result<(), E2eError> {
    let what = if times == 1 {
        "the next run"
    } else {
        "two dispatched at once to finish"
    };
    dispatched(stage, all, times, what, facts)?;
    for (one, end) in all.iter().zip(ENDS) {
        one.check_end(&stage.services, (1, end), facts)?;
    }
    let digest = match all.first() {
        Some(news) => news.document(&stage.services)?["last_digest"].clone(),
        None => json!(null),
    };
    scene.check(&digest, facts)
}
