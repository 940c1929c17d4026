//! A day with feeds.

use super::{Scene, at_most_one, exactly_one};
use crate::stage::{Automation, Backend, Stage};
use cli::clock::system_now as now;
use serde_json::json;
use testbed::StandIn;
use testbed::agent_server::{Pace, Script, Status};
use testbed::feeds::{Feeds, Format, Story};

/// A news digest and the sites that it reads.
pub struct NewsDay {
    pub stage: Stage,
    pub feeds: Feeds,
}

pub const DIGEST: &str = "# Today\n\n- Story number 1, by all accounts.";

impl NewsDay {
    /// Three feeds in three formats with fresh stories; the agent writes a digest, in its own time.
    pub fn with_three_feeds(backend: Backend) -> Self {
        let feeds = Feeds::start().unwrap();
        let formats = [Format::Rss, Format::Atom, Format::JsonFeed];
        let urls: Vec<String> = formats
            .into_iter()
            .enumerate()
            .map(|(index, format)| {
                let stories = [1, 2].map(|n| Story::numbered(10 * index + n, now() - 3600.0));
                let path = format!("/feed-{}", index + 1);
                feeds.feed(&path, &format!("Site {}", index + 1), format, &stories)
            })
            .collect();
        let config = json!({"feeds": urls, "topics": ["software"], "wait_seconds": 0});
        let stage = Stage::new(Automation::News, backend, "news", config);
        stage.agent.set_script(Self::script());
        Self { stage, feeds }
    }

    /// The agent writes a digest and is done, when the test says so.
    pub fn script() -> Script {
        Script::of([Status::Idle, Status::Running, Status::Finished])
            .pace(Pace::Told)
            .writes("digest.md", DIGEST)
            .response("The digest is written.")
    }

    pub fn feed_requests(&self) -> usize {
        self.feeds.server().log().len()
    }

    /// Nobody was asked what nobody expected.
    pub fn check(&self) {
        self.stage.check();
        self.feeds.server().check().unwrap();
    }
}

impl Scene for NewsDay {
    fn stage(&self) -> &Stage {
        &self.stage
    }

    fn stage_mut(&mut self) -> &mut Stage {
        &mut self.stage
    }

    fn around(&self) -> Vec<&StandIn> {
        vec![self.feeds.server()]
    }

    fn doubled(&self) -> Result<(), String> {
        at_most_one("conversations", self.stage.agent.created())
    }

    fn is_done(&self) -> Result<(), String> {
        exactly_one("conversations", self.stage.agent.created())?;
        let document = self.stage.document();
        let statuses = self.stage.statuses();
        let told = document["seen"].as_array().map_or(0, Vec::len);
        if statuses != ["completed"] || document["last_digest"]["text"] != DIGEST || told != 12 {
            return Err(format!("no digest: {document:#}"));
        }
        Ok(())
    }
}
