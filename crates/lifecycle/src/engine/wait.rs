//! Staying for the conversations that this run started, to collect each as it ends.

use super::poll::Watched;
use super::{Engine, World};
use crate::decide::DEBOUNCE_SECONDS;
use crate::document::Status;
use crate::error::TargetError;
use crate::policy::Policy;
use crate::ports::{Agents, Clock};

/// Seconds between looks: short at first, longer later.
const FIRST_PAUSE_SECONDS: f64 = 2.0;
const LONGEST_PAUSE_SECONDS: f64 = 10.0;
/// Seconds kept back for collecting and writing.
const CLOSING_SECONDS: f64 = 30.0;

impl<X: World, P: Policy> Engine<'_, X, P> {
    /// Waits for `tasks`, within the configured time and the time that the run has left.
    pub(super) async fn wait_for(
        &self,
        tasks: Vec<String>,
        survey: &P::Survey,
    ) -> Result<(), TargetError> {
        let clock = self.world.clock();
        let allowed = if self.world.agents().is_sandbox() {
            // They end with this run, so the run stays as long as it may.
            f64::INFINITY
        } else {
            self.run.wait_seconds
        };
        if tasks.is_empty() || allowed <= 0.0 {
            return Ok(());
        }
        let until = clock.now() + allowed.min(clock.time_left() - CLOSING_SECONDS);
        let mut pause = FIRST_PAUSE_SECONDS;
        self.note("", &format!("waiting for {} conversation(s)", tasks.len()));
        loop {
            let document = self.desk.current();
            let waiting: Vec<(&String, _)> = tasks
                .iter()
                .filter_map(|task| Some((task, document.record(task)?)))
                .filter(|(_, record)| record.status() == Status::Active)
                .collect();
            let now = clock.now();
            if waiting.is_empty() || now >= until {
                return Ok(());
            }
            let oldest = waiting
                .iter()
                .map(|(_, record)| crate::decide::age(record, now));
            let settling = DEBOUNCE_SECONDS - oldest.fold(0.0, f64::max);
            clock.sleep(settling.max(pause).min(until - now)).await;
            pause = (pause * 1.5).min(LONGEST_PAUSE_SECONDS);
            let at = clock.now();
            let waiting: Vec<(&String, _)> = waiting
                .into_iter()
                .filter(|(task, _)| {
                    // After a failed attempt it is left alone for a while.
                    let retry = document.retry(task);
                    retry.is_none_or(|retry| retry.next_try <= at)
                })
                .collect();
            let ids: Vec<String> = waiting
                .iter()
                .map(|(task, record)| self.conversation_of(task, record))
                .collect();
            let seen = self.world.agents().observe(&ids).await;
            for ((task, record), seen) in waiting.into_iter().zip(seen) {
                let one = Watched {
                    task: task.clone(),
                    record,
                    seen,
                    at,
                };
                self.settle(&one, Some(survey)).await?;
            }
        }
    }
}
