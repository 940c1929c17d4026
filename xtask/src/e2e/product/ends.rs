//! What a conversation is given, and its ends that are not good ones: an error, no end at all.

use std::thread::sleep;
use std::time::{Duration, Instant};

use lifecycle::document::{ISSUE, NEWS, REVIEW};
use serde_json::{Value, json};
use testbed::scripted_llm::{Play, Turn};

use super::{A_MINUTE, CONVERSATION_LIMIT, Stage, Subject, issue, news, review};
use crate::e2e::error::E2eError;
use crate::e2e::facts::Facts;

/// After this a conversation is given up.
const TWO_HOURS: f64 = 7_260.0;

/// Shows it.
pub(in crate::e2e) fn run(stage: &mut Stage, facts: &mut Facts) -> Result<(), E2eError> {
    profile_and_error(stage, facts)?;
    servers(stage, facts)?;
    error_with_work(stage, facts)?;
    no_end(stage, facts)
}

/// An LLM profile, and a model that refuses.
fn profile_and_error(stage: &Stage, facts: &mut Facts) -> Result<(), E2eError> {
    let title = "A model that refuses";
    let (feeds, url) = news::site(title)?;
    let play = Play::new().turn(Turn::Refuse(400));
    stage.llm.play_for(title, play);
    let (api, model) = (stage.llm.api_url(), "openai/other");
    stage.services.save_profile("other", model, &api)?;
    let config = json!({"feeds": [url], "wait_seconds": 0});
    let subject = Subject::new(stage, &NEWS, news::KEY, config)?
        .with_variable("AUTOMATION_MODEL", Some("other"));
    subject.run()?.check(facts, "news with AUTOMATION_MODEL");
    let used = subject.conversation()?["agent"]["llm"]["model"].clone();
    facts.equal(
        "the conversation uses the LLM profile that AUTOMATION_MODEL names",
        &used,
        &json!(model),
    );
    let ended = subject.wait_for_agent()?;
    facts.equal(
        "a model that refuses ends it as error",
        &json!(ended),
        &json!("error"),
    );
    subject.date_back(A_MINUTE)?;
    subject.run()?.check(facts, "news, the run after an error");
    subject.ended(facts, "failed")?;
    let document = subject.document()?;
    facts.check(
        "news: what failed was not told: its stories stay new",
        document["seen"].as_array().is_none_or(Vec::is_empty),
        &document.to_string(),
    );
    feeds.server().check()?;
    Ok(())
}

/// MCP servers: forwarded only if the configuration says so. And a profile that is gone.
fn servers(stage: &Stage, facts: &mut Facts) -> Result<(), E2eError> {
    stage
        .services
        .set_mcp_servers(&json!({"probe": {"command": "/bin/cat"}}))?;
    let mut found = Vec::new();
    for forward in [false, true] {
        let title = format!("Servers are forwarded: {forward}");
        let (_feeds, url) = news::site(&title)?;
        news::writes_digest(stage, &title);
        let config = json!({"feeds": [url], "wait_seconds": 0, "forward_mcp_servers": forward});
        let subject = Subject::new(stage, &NEWS, news::KEY, config)?
            .with_variable("AUTOMATION_MODEL", Some("gone"));
        let ran = subject.run()?;
        let conversation = subject.conversation()?;
        found.push(conversation["agent"]["mcp_config"]["probe"]["command"].clone());
        facts.check(
            "a profile that is gone is warned about, and the default LLM is used",
            conversation["agent"]["llm"]["model"] == "openai/scripted"
                && ran.ended_well()
                && ran.to_string().contains("\"gone\""),
            &format!("{ran}, {}", conversation["agent"]),
        );
        subject.wait_for_agent()?;
    }
    stage.services.set_mcp_servers(&json!({"probe": null}))?;
    facts.check(
        "MCP servers are forwarded if the configuration says so, and not otherwise",
        found == [Value::Null, json!("/bin/cat")],
        &format!("{found:?}"),
    );
    Ok(())
}

/// An agent that ends in an error with work in its clone.
fn error_with_work(stage: &Stage, facts: &mut Facts) -> Result<(), E2eError> {
    let path = "group/unlucky/service";
    let scene = issue::Scene::new(stage, path)?;
    let play = Play::new()
        .terminal("printf '3\\n' > limit.txt")
        .turn(Turn::Refuse(400));
    stage.llm.play_for(&format!("of {path}"), play);
    let (config, key) = scene.configured();
    let subject = Subject::new(stage, &ISSUE, &key, config)?;
    subject
        .run()?
        .check(facts, "issue, a run whose agent ends in an error");
    subject.wait_for_agent()?;
    subject.date_back(A_MINUTE)?;
    subject.run()?.check(facts, "issue, the run after an error");
    subject.ended(facts, "failed")?;
    let branch = format!("openhands/issue-{}", scene.issue.iid());
    let commits = scene.project.commits(&format!("main..{branch}"));
    let notes = scene.issue.notes();
    let notes: Vec<&str> = notes
        .iter()
        .filter(|note| !note.system)
        .map(|note| note.body.as_str())
        .collect();
    facts.check(
        "issue: what a failed agent left is on its branch, without a merge request, and one note says so",
        commits.len() == 1
            && scene.project.merge_requests().is_empty()
            && matches!(notes.as_slice(), [note] if note.contains(&branch)),
        &format!("{commits:?}, {notes:?}"),
    );
    scene.forge.check()?;
    Ok(())
}

/// An agent that comes to no end: it is interrupted after two hours.
fn no_end(stage: &Stage, facts: &mut Facts) -> Result<(), E2eError> {
    let repo = "acme/endless";
    let (forge, pull) = review::labelled(stage, repo)?;
    let play = Play::new().terminal("touch begun; sleep 600");
    stage.llm.play_for(repo, play);
    let (config, key) = review::configured(&forge, repo);
    let subject = Subject::new(stage, &REVIEW, &key, config)?;
    subject
        .run()?
        .check(facts, "review, a run whose agent comes to no end");
    let (_, record) = subject.record()?;
    let workspace = record["workspace_dir"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let begun = std::path::Path::new(&workspace).join("begun");
    let since = Instant::now();
    while !begun.exists() && since.elapsed() < CONVERSATION_LIMIT {
        sleep(Duration::from_millis(50));
    }
    subject.date_back(A_MINUTE)?;
    let early = subject.run()?;
    early.check(facts, "review, a run while it works");
    facts.check(
        "review: an agent at work is left alone",
        early.counts() == (0, 0) && begun.exists(),
        &early.to_string(),
    );
    subject.date_back(TWO_HOURS)?;
    subject.run()?.check(facts, "review, a run after two hours");
    let status = subject.wait_for_agent()?;
    let (_, record) = subject.record()?;
    facts.check(
        "review: after two hours the agent is interrupted, and the task expires without posting",
        status == "paused"
            && record["status"] == "expired"
            && record["expired_after"]
                .as_f64()
                .is_some_and(|after| after > 7_200.0)
            && pull.comments().len() == 1
            && pull.reviews().is_empty(),
        &format!("{status}, {record}, {:?}", pull.comments()),
    );
    subject.run()?.check(facts, "review, the run after that");
    subject.ended(facts, "expired")?;
    forge.check()?;
    Ok(())
}
