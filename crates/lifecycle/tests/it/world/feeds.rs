//! Feeds in memory.

use super::{Log, NOW, World, others};
use lifecycle::news::{Interests, NewsPolicy};
use lifecycle::ports::{FeedFailure, Feeds, Funnel, News, Story};
use std::cell::RefCell;

pub struct NewsFeeds {
    pub stories: RefCell<Vec<Story>>,
    pub failures: RefCell<Vec<FeedFailure>>,
    pub configured: usize,
    log: Log,
}

impl NewsFeeds {
    pub fn new(world: &World) -> Self {
        Self {
            stories: RefCell::default(),
            failures: RefCell::default(),
            configured: 2,
            log: world.log.clone(),
        }
    }

    pub fn policy(&self) -> NewsPolicy<'_, Self> {
        NewsPolicy {
            feeds: self,
            interests: Interests::default(),
        }
    }

    /// Publishes stories, named by their fingerprints.
    pub fn publish(&self, keys: &[&str]) {
        for key in keys {
            self.stories.borrow_mut().push(Story {
                title: format!("Story {key}"),
                link: format!("https://example.test/{key}"),
                published: Some(NOW),
                summary: String::new(),
                source: "Example".into(),
                keys: vec![(*key).into(), format!("{key}-link")],
            });
        }
    }

    pub fn fail(&self, count: usize) {
        for n in 0..count {
            self.failures.borrow_mut().push(FeedFailure {
                url: format!("https://example.test/feed-{n}"),
                error: "HTTP 500".into(),
            });
        }
    }
}

impl Feeds for NewsFeeds {
    async fn read(&self, seen: &[String], _now: f64) -> News {
        self.log.add("read feeds");
        others().await;
        let all = self.stories.borrow();
        let new = |story: &&Story| !story.keys.iter().any(|key| seen.contains(key));
        let stories: Vec<Story> = all.iter().filter(new).cloned().collect();
        News {
            funnel: Funnel {
                fetched: all.len(),
                unseen: stories.len(),
                fresh: stories.len(),
            },
            stories,
            failures: self.failures.borrow().clone(),
            warnings: Vec::new(),
            configured: self.configured,
        }
    }
}
