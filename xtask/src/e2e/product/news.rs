//! The news digest: two runs take a day from nothing to completed, or one that waits.

use std::time::{SystemTime, UNIX_EPOCH};

use lifecycle::document::NEWS;
use serde_json::{Value, json};
use testbed::feeds::{Feeds, Format, Story};
use testbed::scripted_llm::Play;

use super::{A_MINUTE, Stage, Subject};
use crate::e2e::error::E2eError;
use crate::e2e::facts::Facts;

/// The key of its document.
pub(in crate::e2e) const KEY: &str = "state";
const HOUR: f64 = 3600.0;

/// Shows it.
pub(in crate::e2e) fn run(stage: &mut Stage, facts: &mut Facts) -> Result<(), E2eError> {
    two_runs(stage, facts)?;
    one_run(stage, facts)
}

/// A site with one story of that title.
pub(in crate::e2e) fn site(title: &str) -> Result<(Feeds, String), E2eError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let published = now.map_or(0.0, |since| since.as_secs_f64()) - HOUR;
    let feeds = Feeds::start()?;
    let story = Story::new(title, title, "https://news.example.com/story")
        .published(published)
        .summary("Traffic has been running since six this morning, the city says.");
    let url = feeds.feed("/city.xml", "City News", Format::Rss, &[story]);
    Ok((feeds, url))
}

/// What an agent does with that story: it writes the digest and finishes.
pub(in crate::e2e) fn writes_digest(stage: &Stage, title: &str) {
    let write = format!("printf '%s\\n' '{title}: it is open.' '' '## City' > digest.md");
    let play = Play::new()
        .terminal(&write)
        .finish("The digest is written.");
    stage.llm.play_for(title, play);
}

fn two_runs(stage: &Stage, facts: &mut Facts) -> Result<(), E2eError> {
    let title = "Harbour bridge reopens";
    let (feeds, url) = site(title)?;
    let down = feeds.status("/down.xml", 500);
    writes_digest(stage, title);
    let config = json!({"feeds": [url, down], "topics": ["City"], "wait_seconds": 0});
    let subject = Subject::new(stage, &NEWS, KEY, config)?;

    let first = subject.run()?;
    first.check(facts, "news, first run");
    let (task, record) = subject.record()?;
    let day = record["period"].as_str().unwrap_or_default().to_owned();
    let workspace = first.directory.join("news-digest").join(&day);
    facts.check(
        "news, first run: the day is active, with its conversation, workspace and stories",
        first.counts() == (1, 0)
            && task == format!("news:{day}")
            && record["status"] == "active"
            && record["workspace_dir"] == json!(workspace)
            && record["item_count"] == 1
            && record["item_keys"]
                .as_array()
                .is_some_and(|keys| !keys.is_empty()),
        &record.to_string(),
    );
    first.names_conversation(facts, &record["conversation_id"]);
    let id = record["conversation_id"].as_str().unwrap_or_default();
    let conversation = stage.services.conversation(id)?.unwrap_or_default();
    facts.check(
        "news: the conversation works in that workspace and was granted no secret",
        conversation["workspace"]["working_dir"] == json!(workspace)
            && !conversation.to_string().contains("LookupSecret"),
        &conversation.to_string(),
    );
    let ended = subject.wait_for_agent()?;
    facts.check(
        "news: the agent writes digest.md into it and finishes",
        ended == "finished" && workspace.join("digest.md").is_file(),
        &ended,
    );

    subject.date_back(A_MINUTE)?;
    let keys = record["item_keys"].clone();
    let second = subject.run()?;
    second.check(facts, "news, second run");
    subject.ended(facts, "completed")?;
    let document = subject.document()?;
    told(facts, &document, &keys, &day, title);
    facts.check(
        "… and the feed that was down is named",
        document["last_feed_errors"][0]
            .as_str()
            .is_some_and(|error| error.starts_with(&down)),
        &document.to_string(),
    );

    let third = subject.run()?;
    third.check(facts, "news, third run");
    facts.check(
        "news, third run: the day is done, and no feed is read",
        third.counts() == (0, 0) && feeds.hits("/city.xml") == 1,
        &format!("{:?}, {} hits", third.counts(), feeds.hits("/city.xml")),
    );
    feeds.server().check()?;
    Ok(())
}

/// The document of a day that was told.
fn told(facts: &mut Facts, document: &Value, keys: &Value, day: &str, title: &str) {
    facts.check(
        "news: the document remembers digest and stories, and the record has dropped its list",
        document["version"] == 1
            && document["seen"] == *keys
            && document["last_digest"]["period"] == day
            && document["last_digest"]["text"]
                .as_str()
                .is_some_and(|text| text.starts_with(title))
            && document["last_funnel"] == json!({"fetched": 1, "unseen": 1, "fresh": 1})
            && document["last_checked"].is_number()
            && document["updated_at"].is_number()
            && document["tasks"][format!("news:{day}")]
                .get("item_keys")
                .is_none(),
        &document.to_string(),
    );
}

/// A run that stays until the digest is there. Nothing is collected in the first 15 seconds.
fn one_run(stage: &Stage, facts: &mut Facts) -> Result<(), E2eError> {
    let title = "A tiny compiler";
    let (feeds, url) = site(title)?;
    writes_digest(stage, title);
    let subject = Subject::new(
        stage,
        &NEWS,
        KEY,
        json!({"feeds": [url], "wait_seconds": 60}),
    )?;
    let only = subject.run()?;
    only.check(facts, "news, a run that waits");
    facts.check(
        "news, a run that waits: it starts and collects in one run",
        only.counts() == (1, 1),
        &only.to_string(),
    );
    subject.ended(facts, "completed")?;
    feeds.server().check()?;
    Ok(())
}
