//! A day's news: three feeds, one of them down, become a digest.

use super::stage::Stage;
use crate::error::TaskError;
use serde_json::json;
use testbed::agent_server::{Pace, Script, Status};
use testbed::feeds::{Feeds, Format, Story};

const KEY: &str = "state";

const DIGEST: &str = "The harbour bridge is open again after four months, two weeks early.

## City

- [Harbour bridge reopens](https://news.example.com/bridge): traffic has been running since six this
  morning, the city says.

## Technology

- [A tiny compiler](https://tech.example.com/compiler): its author describes how it fits into one file.
";

pub(super) fn play() -> Result<(), TaskError> {
    let stage = Stage::new("news-digest")?;
    let feeds = Feeds::start().map_err(TaskError::found)?;
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64());
    let hour = 3600.0;
    let city = feeds.feed(
        "/city.xml",
        "City News",
        Format::Rss,
        &[
            Story::new(
                "city-1",
                "Harbour bridge reopens",
                "https://news.example.com/bridge",
            )
            .published(now - hour)
            .summary("<p>Traffic has been running since six this morning, the city says.</p>"),
            Story::new(
                "city-2",
                "Bakers end their strike",
                "https://news.example.com/bakers",
            )
            .published(now - 70.0 * hour)
            .summary("<p>An old story: it is outside the lookback of 48 hours.</p>"),
        ],
    );
    let tech = feeds.feed(
        "/tech.json",
        "Tech Notes",
        Format::JsonFeed,
        &[Story::new(
            "tech-1",
            "A tiny compiler",
            "https://tech.example.com/compiler",
        )
        .published(now - 3.0 * hour)
        .summary("How a whole compiler came to fit into one readable file of code.")],
    );
    let down = feeds.status("/down.xml", 500);
    let config = json!({
        "feeds": [city, tech, down],
        "topics": ["City", "Technology"],
        "wait_seconds": 0,
    });
    let script = Script::of([Status::Idle, Status::Running, Status::Finished])
        .pace(Pace::Told)
        .writes("digest.md", DIGEST)
        .response("The digest is in digest.md.");
    stage.agent.next_script(script);

    stage.show_document("before", KEY);
    stage.run(
        "first run: read the feeds, claim the day, start a conversation",
        &config,
    )?;
    stage.expect_status(KEY, "tasks", "active")?;
    stage.show_document("now", KEY);
    stage.agent.run_to_end(&only_conversation(&stage)?);
    stage.let_time_pass(KEY, "tasks");
    stage.run(
        "second run: collect the digest, remember its stories, clean up",
        &config,
    )?;
    stage.expect_status(KEY, "tasks", "completed")?;
    stage.show_document("after", KEY);
    stage.expect_clean("news-digest", KEY)
}

/// The id of the only conversation.
pub(super) fn only_conversation(stage: &Stage) -> Result<String, TaskError> {
    match stage.agent.created_ids().as_slice() {
        [id] => Ok(id.clone()),
        ids => Err(TaskError::found(format!(
            "expected one conversation, found {}",
            ids.len()
        ))),
    }
}
