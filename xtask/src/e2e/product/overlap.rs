//! Eight processes at one moment, on a fresh trigger and then on a finished conversation, over the
//! real KV store, whose conditional writes on SQLite are not exclusive.

use lifecycle::document::{ISSUE, NEWS, REVIEW};
use serde_json::json;

use super::{A_MINUTE, Ran, Stage, Subject, issue, killed, news, review};
use crate::e2e::error::E2eError;
use crate::e2e::facts::Facts;

const PROCESSES: usize = 8;

/// Shows it.
pub(in crate::e2e) fn run(stage: &mut Stage, facts: &mut Facts) -> Result<(), E2eError> {
    on_a_day(stage, facts)?;
    on_a_pull_request(stage, facts)?;
    on_an_issue(stage, facts)?;
    killed::check(stage, facts)
}

/// Starts and finishes a task, each time in eight processes at once.
fn overlapped(subject: &Subject<'_>, facts: &mut Facts, what: &str) -> Result<(), E2eError> {
    let starting = subject.run_at_once(PROCESSES)?;
    all_ended_well(&starting, facts, what, (1, 0));
    let conversations = subject.conversations()?;
    facts.check(
        &format!("{what}: eight processes at once create exactly one conversation"),
        conversations.len() == 1,
        &conversations.join(", "),
    );
    let (_, record) = subject.record()?;
    facts.check(
        &format!("{what}: … which the only record names"),
        record["conversation_id"].as_str() == conversations.first().map(String::as_str)
            && record["status"] == "active",
        &record.to_string(),
    );
    subject.wait_for_agent()?;
    subject.date_back(A_MINUTE)?;
    let finishing = subject.run_at_once(PROCESSES)?;
    all_ended_well(&finishing, facts, &format!("{what}, finishing"), (0, 1));
    // Whatever the overlap left for later is done by the next run.
    subject
        .run()?
        .check(facts, &format!("{what}, the run after"));
    Ok(())
}

/// All of them end well, and what they report as started and finished adds up.
fn all_ended_well(runs: &[Ran], facts: &mut Facts, what: &str, wanted: (usize, usize)) {
    let all: Vec<String> = runs.iter().map(Ran::to_string).collect();
    let all = all.join("\n");
    facts.check(
        &format!("{what}: all eight end well, and their callbacks say COMPLETED"),
        runs.len() == PROCESSES && runs.iter().all(Ran::ended_well),
        &all,
    );
    let sum = runs
        .iter()
        .map(Ran::counts)
        .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    facts.check(
        &format!(
            "{what}: together they report {} started and {} finished",
            wanted.0, wanted.1
        ),
        sum == wanted,
        &all,
    );
}

fn on_a_day(stage: &Stage, facts: &mut Facts) -> Result<(), E2eError> {
    let title = "Ferries run all night";
    let (feeds, url) = news::site(title)?;
    news::writes_digest(stage, title);
    let config = json!({"feeds": [url], "wait_seconds": 0});
    let subject = Subject::new(stage, &NEWS, news::KEY, config)?;
    overlapped(&subject, facts, "overlap on a fresh day")?;
    let document = subject.document()?;
    facts.check(
        "overlap on a fresh day: the digest's stories are remembered once",
        document["seen"]
            .as_array()
            .is_some_and(|seen| seen.len() == 2),
        &document.to_string(),
    );
    subject.ended(facts, "completed")?;
    feeds.server().check()?;
    Ok(())
}

fn on_a_pull_request(stage: &Stage, facts: &mut Facts) -> Result<(), E2eError> {
    let repo = "acme/busy";
    let (forge, pull) = review::labelled(stage, repo)?;
    stage.llm.play_for(repo, review::play());
    let (config, key) = review::configured(&forge, repo);
    let subject = Subject::new(stage, &REVIEW, &key, config)?;
    overlapped(
        &subject,
        facts,
        "overlap on a fresh label event of a pull request",
    )?;
    review::one_of_each(facts, &pull);
    subject.ended(facts, "closed")?;
    forge.check()?;
    Ok(())
}

fn on_an_issue(stage: &Stage, facts: &mut Facts) -> Result<(), E2eError> {
    let scene = issue::Scene::new(stage, "group/busy/service")?;
    stage
        .llm
        .play_for("of group/busy/service", issue::commits());
    let (config, key) = scene.configured();
    let subject = Subject::new(stage, &ISSUE, &key, config)?;
    overlapped(
        &subject,
        facts,
        "overlap on a fresh label event of an issue",
    )?;
    scene.one_of_each(facts);
    subject.ended(facts, "closed")?;
    scene.forge.check()?;
    Ok(())
}
