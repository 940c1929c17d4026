//! The feeds, as a run sees them.

use super::Link;
use crate::world::Service;
use lifecycle::ports::{FeedFailure, Feeds, News};

/// Stories on a shortlist.
const MAX_STORIES: usize = 5;

impl Feeds for Link {
    async fn read(&self, seen: &[String], _now: f64) -> News {
        let seen = seen.to_vec();
        let call = Self::call_of(Service::Feeds, false, "reads the feeds".into());
        let read = self.call(call, move |world, _| world.read_news(&seen, MAX_STORIES));
        read.await.unwrap_or_else(|fault| {
            let failure = |number: u8| FeedFailure {
                url: format!("https://news.example/{number}"),
                error: format!("{fault:?}"),
            };
            News {
                failures: vec![failure(1), failure(2)],
                configured: 2,
                ..News::default()
            }
        })
    }
}
