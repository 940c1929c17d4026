//! Which stories go into today's digest.
//!
//! Stages, each counted in the [`Funnel`]: everything that was fetched, what no earlier digest
//! has covered, what of that is fresh. Relevance is not decided here.

use std::collections::HashSet;

use http_client::redact;

use crate::feed::{Entry, Feed};

/// What makes a story one for now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Criteria {
    /// The time of the run, in seconds since the epoch.
    pub now: f64,
    /// How far back a story may have been published.
    pub lookback_hours: u32,
    /// How many stories are taken at most.
    pub max_items: usize,
}

/// One story of the shortlist.
#[derive(Debug, Clone, PartialEq)]
pub struct Story {
    /// The entry as its feed has it.
    pub entry: Entry,
    /// The feed's title, or the host of its address if it has none.
    pub source: String,
    /// The configured address of the feed, without passwords and tokens.
    pub feed: String,
}

/// How many stories each stage left. Whichever is zero explains an empty digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Funnel {
    /// Entries of all feeds that could be read.
    pub fetched: usize,
    /// Those of which no fingerprint has been seen.
    pub unseen: usize,
    /// Those of the unseen that are fresh or undated, the same story counted once.
    pub fresh: usize,
}

/// The shortlist, newest first, and how it came about.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Selection {
    /// At most `max_items` stories.
    pub stories: Vec<Story>,
    /// What each stage left.
    pub funnel: Funnel,
}

/// A story this far ahead of the clock is not mistaken about its zone: its time has not come.
const MAX_AHEAD: f64 = 24.0 * 3600.0;
/// Dates before 1971 stand for "no date" in the software that writes them.
const FIRST_DATE: f64 = 365.0 * 86_400.0;

/// Chooses the stories of a run from `feeds`, each with its configured address.
///
/// A story is known if `seen` holds for any of its fingerprints, or if it has been taken already
/// in this run. Undated stories count as published now, as they will not be taken twice; but
/// where there are more stories than `max_items`, they get no more than half of the places that
/// dated ones could fill, or a feed without dates would push out the day's news with its archive.
pub fn select<'a>(
    feeds: impl IntoIterator<Item = (&'a str, &'a Feed)>,
    seen: &dyn Fn(&str) -> bool,
    criteria: Criteria,
) -> Selection {
    let oldest = criteria.now - f64::from(criteria.lookback_hours) * 3600.0;
    let mut funnel = Funnel::default();
    let mut taken = HashSet::new();
    let mut fresh: Vec<(Option<f64>, Story)> = Vec::new();
    for (url, feed) in feeds {
        let source = if feed.title.is_empty() {
            host(url)
        } else {
            &feed.title
        };
        for entry in &feed.entries {
            funnel.fetched += 1;
            if entry.keys.iter().any(|key| seen(key)) {
                continue;
            }
            funnel.unseen += 1;
            let published = entry.published.filter(|published| *published >= FIRST_DATE);
            let in_time = published.is_none_or(|published| {
                published >= oldest && published <= criteria.now + MAX_AHEAD
            });
            if !in_time {
                continue;
            }
            // Also the keys of a repetition: they tell the next one.
            let known = entry.keys.iter().any(|key| taken.contains(key.as_str()));
            taken.extend(entry.keys.iter().map(String::as_str));
            if !known {
                let story = Story {
                    entry: entry.clone(),
                    source: source.to_owned(),
                    feed: redact(url, &[]),
                };
                fresh.push((published, story));
            }
        }
    }
    funnel.fresh = fresh.len();
    Selection {
        stories: shortlist(fresh, criteria),
        funnel,
    }
}

fn shortlist(mut fresh: Vec<(Option<f64>, Story)>, criteria: Criteria) -> Vec<Story> {
    let dated = fresh
        .iter()
        .filter(|(published, _)| published.is_some())
        .count();
    let mut undated_places = (criteria.max_items / 2).max(criteria.max_items.saturating_sub(dated));
    if fresh.len() > criteria.max_items {
        fresh.retain(|(published, _)| {
            let place = published.is_some() || undated_places > 0;
            undated_places -= usize::from(published.is_none() && place);
            place
        });
    }
    let time = |published: Option<f64>| published.unwrap_or(criteria.now);
    fresh.sort_by(|(a, _), (b, _)| time(*b).total_cmp(&time(*a)));
    fresh.truncate(criteria.max_items);
    fresh.into_iter().map(|(_, story)| story).collect()
}

/// The host in an address, or the address itself.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or(host);
    if host.is_empty() { url } else { host }
}
