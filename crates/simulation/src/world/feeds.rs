//! The news: stories that appear, and the feeds that carry them.

use super::World;
use lifecycle::ports::{FeedFailure, Funnel, News, Story};

/// All stories so far.
#[derive(Debug, Default)]
pub(crate) struct Newsroom {
    pub(crate) stories: u64,
}

/// The keys of a story.
fn keys(story: u64) -> Vec<String> {
    vec![
        format!("{:016x}", 0xaaaa_0000 + story),
        format!("{:016x}", 0xbbbb_0000 + story),
    ]
}

impl World {
    /// Reads the feeds and leaves out what is known.
    pub(crate) fn read_news(&mut self, seen: &[String], max: usize) -> News {
        let troubled = !self.is_quiet;
        let fails = troubled && self.rng.chance(self.plan.trouble.refuse);
        let fetched = usize::try_from(self.newsroom.stories).unwrap_or(0);
        let unseen: Vec<u64> = (0..self.newsroom.stories)
            .filter(|story| !keys(*story).iter().any(|key| seen.contains(key)))
            .collect();
        let funnel = Funnel {
            fetched,
            unseen: unseen.len(),
            fresh: unseen.len(),
        };
        let stories = unseen.into_iter().rev().take(max).map(|story| Story {
            title: format!("Story {story}"),
            link: format!("https://news.example/{story}"),
            published: None,
            summary: "What happened.".into(),
            source: "Example".into(),
            keys: keys(story),
        });
        let failure = FeedFailure {
            url: "https://news.example/feed".into(),
            error: "no answer".into(),
        };
        News {
            stories: stories.collect(),
            funnel,
            failures: if fails { vec![failure] } else { Vec::new() },
            warnings: Vec::new(),
            configured: 2,
        }
    }

    /// Whether there is a story that nobody has been told.
    pub(crate) fn has_news(&self, seen: &[String]) -> bool {
        (0..self.newsroom.stories).any(|story| !keys(story).iter().any(|key| seen.contains(key)))
    }
}
