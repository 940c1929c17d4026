//! A run that is killed between the creation of its conversation and the record of it: while the
//! forge is slow to take the acknowledgement, which comes between the two.

use std::thread::sleep;
use std::time::{Duration, Instant};

use lifecycle::document::REVIEW;
use testbed::faults::Fault;

use super::{A_MINUTE, Stage, Subject, review};
use crate::e2e::error::E2eError;
use crate::e2e::facts::Facts;

/// A claim is looked into after a quarter of an hour.
const STALLED: f64 = 16.0 * 60.0;
const LIMIT: Duration = Duration::from_secs(30);

pub(super) fn check(stage: &Stage, facts: &mut Facts) -> Result<(), E2eError> {
    let repo = "acme/killed";
    let (forge, pull) = review::labelled(stage, repo)?;
    stage.llm.play_for(repo, review::play());
    let (config, key) = review::configured(&forge, repo);
    let subject = Subject::new(stage, &REVIEW, &key, config)?;
    let comments = format!("/issues/{}/comments", pull.number());
    forge
        .server()
        .faults()
        .add(Fault::hang().on("POST", &comments));

    let mut child = subject.start()?;
    let since = Instant::now();
    while forge.server().log().count("POST", &comments) == 0 && since.elapsed() < LIMIT {
        sleep(Duration::from_millis(10));
    }
    child.kill().map_err(E2eError::io("kill the automation"))?;
    child
        .wait()
        .map_err(E2eError::io("wait for the automation"))?;
    let (_, record) = subject.record()?;
    let conversations = subject.conversations()?;
    facts.check(
        "a run killed after creating its conversation leaves a claim that names it",
        record["status"] == "starting"
            && conversations.len() == 1
            && record["conversation_id"].as_str() == conversations.first().map(String::as_str),
        &format!("{record}, {conversations:?}"),
    );

    let soon = subject.run()?;
    soon.check(facts, "killed: a run soon after");
    facts.check(
        "killed: … leaves the claim alone",
        soon.counts() == (0, 0) && subject.record()?.1["status"] == "starting",
        &soon.to_string(),
    );
    subject.date_back(STALLED)?;
    subject
        .run()?
        .check(facts, "killed: a run a quarter of an hour later");
    let (_, record) = subject.record()?;
    facts.check(
        "killed: … adopts the conversation",
        matches!(record["status"].as_str(), Some("active" | "closed"))
            && record["conversation_id"].as_str() == conversations.first().map(String::as_str),
        &record.to_string(),
    );
    subject.wait_for_agent()?;
    subject.date_back(A_MINUTE)?;
    subject.run()?.check(facts, "killed: the run that finishes");
    review::one_of_each(facts, &pull);
    subject.ended(facts, "closed")?;
    forge.check()?;
    Ok(())
}
