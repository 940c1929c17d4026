//! `deploy --update` on an automation that runs a script: what the script wrote is taken over, and
//! nothing that it did is done again. The documents are ones that the deployed scripts wrote.

use std::fs;
use std::path::Path;

use lifecycle::document::{NEWS, REVIEW};
use lifecycle::moment;
use serde_json::{Value, json};
use testbed::github::{GitHub, NewPull, Pull, ReviewState};
use testbed::scripted_llm::Play;

use super::command::{Deployer, archive};
use super::deployed::Deployed;
use super::script::ENTRYPOINT;
use crate::e2e::documents::{move_back, records};
use crate::e2e::error::E2eError;
use crate::e2e::facts::Facts;
use crate::e2e::files::files_below;
use crate::e2e::kv::seconds_since_epoch;
use crate::e2e::product::{CONVERSATION_LIMIT, Stage, news, review};
use crate::process::root;

/// A day that is told, and which day that was.
const DAY: &str = "fixtures/state/news-digest/written-by-script-completed.json";
const DAY_OF: &str = "2026-11-30";
/// One task of each kind, all with their checkouts.
const REVIEWS: &str =
    "fixtures/state/github-pr-reviewer/written-by-script-stale-closed-active.json";
const REPO: &str = "acme/repo0";
/// Numbers, heads and events in it.
const EVENTS: [(u64, &str, &str); 3] = [
    (1, "dbf8308823e1df915c297b36231ce03e1649a743", "9000012"),
    (2, "aed001738aaf303c0561b1808b2e77137acc9186", "9000025"),
    (3, "0317bc6d05b5572c5bce4bd43c8e26db894d77bd", "9000038"),
];
/// Where its workspaces lie.
const WORKSPACES: &str = "/home/user/.openhands/workspaces";
/// Seconds since it was written.
const AGO: f64 = 600.0;

/// Reviews: one that was overtaken, one that is done, one whose agent is at work.
pub(super) fn reviews(stage: &Stage, facts: &mut Facts) -> Result<Deployed, E2eError> {
    let forge = GitHub::start()?;
    forge.token(review::TOKEN, review::BOT);
    stage.services.set_secret(review::SECRET, review::TOKEN)?;
    let pulls = EVENTS.map(|(number, head, _)| {
        let new = NewPull::titled("A change").number(number).at_sha(head);
        forge.repo(REPO).open_pull(new)
    });
    let document = written(stage, &pulls)?;
    let (config, _) = review::configured(&forge, REPO);
    let old = Deployed::of_script(&stage.services, REVIEW.automation, &config, &document)?;
    let workspaces = workspaces(&document)?;
    under_way(stage, &forge, &document)?;
    updated(stage, &old, &config, facts)?;
    let runs = old.dispatch(&stage.services, 1)?;
    old.check_runs(&stage.services, &runs, "the run after the update", facts);
    taken_over(stage, &old, &document, &pulls, facts)?;
    let mut left = Vec::new();
    for directory in workspaces {
        left.extend(files_below(Path::new(&directory))?);
    }
    facts.none("the script's checkouts are gone", &left);
    forge.check()?;
    Ok(old)
}

/// A day whose digest the script has delivered.
pub(super) fn day(stage: &Stage, facts: &mut Facts) -> Result<Deployed, E2eError> {
    let (feeds, feed) = news::site("Told by the script")?;
    let config = json!({"feeds": [feed], "wait_seconds": 0});
    let mut document = read(DAY)?;
    let today = moment::day(now());
    document =
        serde_json::from_str(&document.to_string().replace(DAY_OF, &today)).unwrap_or_default();
    let old = Deployed::of_script(&stage.services, NEWS.automation, &config, &document)?;
    updated(stage, &old, &config, facts)?;
    let after = old.document(&stage.services)?;
    facts.check(
        "the script's day is done: no feed is read, nothing is started, and nothing is forgotten",
        feeds.hits("/city.xml") == 1
            && old.conversations(&stage.services)?.is_empty()
            && after["seen"] == document["seen"]
            && after["tasks"] == document["tasks"],
        &format!("{} hits, {after}", feeds.hits("/city.xml")),
    );
    feeds.server().check()?;
    Ok(old)
}

/// Replaces the script by what is packaged, and runs it.
fn updated(
    stage: &Stage,
    old: &Deployed,
    config: &Value,
    facts: &mut Facts,
) -> Result<(), E2eError> {
    let deployer = Deployer::new(&stage.services)?;
    let (file, packed) = (
        deployer.write("config.json", config)?,
        archive(old.name()).display().to_string(),
    );
    let made = deployer.run(&[
        old.name(),
        "--update",
        &old.id,
        "--config",
        &file,
        "--archive",
        &packed,
        "--dispatch",
        "--json",
    ])?;
    facts.check(
        &format!(
            "deploy --update replaces a script by {}: same id, and its document is named",
            old.name()
        ),
        made.exit == Some(0)
            && made.report["status"] == "updated"
            && made.report["id"] == json!(old.id)
            && made.report["documents"] == json!([old.key])
            && made.report["replaced"]["entrypoint"] == ENTRYPOINT
            && made.report["run"]["status"] == "COMPLETED",
        &made.to_string(),
    );
    Ok(())
}

fn read(fixture: &str) -> Result<Value, E2eError> {
    let path = root().join(fixture);
    let text = fs::read_to_string(&path);
    let text = text.map_err(E2eError::io(format!("read {}", path.display())))?;
    serde_json::from_str(&text).map_err(|error| E2eError::Setup(error.to_string()))
}

fn now() -> f64 {
    u32::try_from(seconds_since_epoch()).map_or(0.0, f64::from)
}

/// The script's document, as if it had been written a while ago about these pull requests.
fn written(stage: &Stage, pulls: &[Pull]) -> Result<Value, E2eError> {
    let ours = stage.services.workspaces().display().to_string();
    let mut text = read(REVIEWS)?.to_string().replace(WORKSPACES, &ours);
    for (pull, (_, _, event)) in pulls.iter().zip(EVENTS) {
        let ours = pull.label(review::LABEL, "maintainer");
        text = text.replace(event, &ours.to_string());
    }
    let mut document: Value = serde_json::from_str(&text).unwrap_or_default();
    let then = document["updated_at"].as_f64().unwrap_or_default();
    move_back(&mut document, then - now() + AGO);
    Ok(document)
}

/// Makes the checkouts that the document names.
fn workspaces(document: &Value) -> Result<Vec<String>, E2eError> {
    let mut made = Vec::new();
    for (_, record) in records(document, "reviews") {
        let directory = record["workspace_dir"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let file = Path::new(&directory).join("README.md");
        fs::create_dir_all(&directory)
            .and_then(|()| fs::write(&file, "# repo0\n"))
            .map_err(E2eError::io(format!("write {}", file.display())))?;
        made.push(directory);
    }
    Ok(made)
}

/// The conversation that the script has started and not collected: its agent publishes a review.
fn under_way(stage: &Stage, forge: &GitHub, document: &Value) -> Result<(), E2eError> {
    let all = records(document, "reviews");
    let active = all.iter().find(|(_, record)| record["status"] == "active");
    let record = active.map(|(_, record)| record.clone()).unwrap_or_default();
    let text = |field: &str| record[field].as_str().unwrap_or_default().to_owned();
    let prompt = "Review number 3, says the script";
    let review = json!({"commit_id": text("head_sha"), "event": "COMMENT", "body": "Fine."});
    let publish = format!(
        "curl --silent --show-error --fail-with-body --request POST --header \"Authorization: \
         Bearer ${}\" --data '{review}' '{}/repos/{REPO}/pulls/3/reviews'",
        review::SECRET,
        forge.api_url(),
    );
    stage
        .llm
        .play_for(prompt, Play::new().terminal(&publish).finish("Published."));
    let (id, directory) = (text("conversation_id"), text("workspace_dir"));
    let services = &stage.services;
    services.start_conversation(&id, Path::new(&directory), prompt, review::SECRET)?;
    services
        .wait_for_conversation(&id, CONVERSATION_LIMIT)
        .map(drop)
}

/// Everything that the script knew is still known, and what it had begun is finished once.
fn taken_over(
    stage: &Stage,
    old: &Deployed,
    before: &Value,
    pulls: &[Pull],
    facts: &mut Facts,
) -> Result<(), E2eError> {
    let after = old.document(&stage.services)?;
    let statuses = |document: &Value| -> Vec<String> {
        let all = records(document, "reviews").into_iter();
        all.map(|(task, record)| format!("{task} {}", record["status"]))
            .collect()
    };
    let wanted: Vec<String> = statuses(before)
        .iter()
        .map(|status| status.replace("active", "closed"))
        .collect();
    facts.check(
        "what the script had finished stays as it was, and what it had begun is closed",
        statuses(&after) == wanted
            && after["version"] == 3
            && !after.to_string().contains("workspace_dir"),
        &after.to_string(),
    );
    facts.check(
        "no conversation was started for what the script had done",
        old.conversations(&stage.services)?.is_empty(),
        &format!("{:?}", old.conversations(&stage.services)?),
    );
    let reviews: Vec<usize> = pulls.iter().map(|pull| pull.reviews().len()).collect();
    let comments: usize = pulls.iter().map(|pull| pull.comments().len()).sum();
    let published = pulls[2]
        .reviews()
        .iter()
        .all(|one| one.state == ReviewState::Commented);
    facts.check(
        "the pull requests have the one review of the script's agent, and no comment",
        reviews == [0, 0, 1] && comments == 0 && published,
        &format!("{reviews:?} reviews, {comments} comments"),
    );
    Ok(())
}
