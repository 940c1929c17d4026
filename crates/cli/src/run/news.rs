//! Wiring of the news digest.

use super::wiring::{Wiring, with_notes};
use super::{Automation, Given, RunError, RunReport};
use crate::clock::RunClock;
use crate::config::NewsConfig;
use crate::ports::FeedsPort;
use futures_util::future;
use lifecycle::document::NEWS;
use lifecycle::engine::{Parts, poll};
use lifecycle::news::{Interests, NewsPolicy, TARGET};

pub(crate) async fn run(
    config: &NewsConfig,
    given: &Given<'_>,
    clock: RunClock,
) -> Result<RunReport, RunError> {
    let wiring = Wiring::new(Automation::News, &config.shared, given, clock).await?;
    let store = wiring.store(&NEWS, TARGET, 1)?;
    let feeds = FeedsPort {
        client: wiring.client.clone(),
        feeds: config.feeds.clone(),
        lookback_hours: u32::try_from(config.lookback_hours).unwrap_or(48),
        max_items: config.max_items,
    };
    let policy = NewsPolicy {
        feeds: &feeds,
        interests: Interests {
            topics: config.topics.clone(),
        },
    };
    let world = Parts {
        store: &store,
        agents: &wiring.agents,
        workspaces: &wiring.workspaces,
        clock: &wiring.clock,
        journal: wiring.console,
    };
    let phase = wiring.phase("reading feeds");
    let ((), report) = future::join(phase, poll(&wiring.run, &world, &policy)).await;
    let report = with_notes(report, &store, wiring.console);
    Ok(wiring.report(vec![report]))
}
