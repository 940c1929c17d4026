//! The report of a run, as JSON and in words.

use crate::console::Console;
use http_client::Counters;
use lifecycle::report::TargetReport;
use serde::Serialize;

/// What a run says about itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunReport {
    /// Name of the automation.
    pub automation: &'static str,
    /// Id of the run.
    pub run_id: String,
    /// `completed` or `failed`.
    pub status: &'static str,
    /// Whether nothing was written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// How long it took.
    pub duration_ms: u64,
    /// What happened to each target.
    pub targets: Vec<TargetReport>,
    /// Requests made.
    pub http: HttpReport,
}

/// Requests of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HttpReport {
    /// All of them, repetitions included.
    pub requests: u64,
    /// Repetitions.
    pub retries: u64,
    /// Answered with "not modified".
    pub not_modified: u64,
}

impl From<Counters> for HttpReport {
    fn from(counters: Counters) -> Self {
        Self {
            requests: counters.requests,
            retries: counters.retries,
            not_modified: counters.not_modified,
        }
    }
}

impl RunReport {
    /// Whether every target failed.
    pub fn all_failed(&self) -> bool {
        !self.targets.is_empty() && self.targets.iter().all(TargetReport::failed)
    }

    /// Whether some target failed.
    pub fn some_failed(&self) -> bool {
        self.targets.iter().any(TargetReport::failed)
    }

    /// The errors of all failed targets, one line each.
    pub fn errors(&self) -> String {
        let lines: Vec<String> = self
            .targets
            .iter()
            .filter_map(|target| Some(format!("{}: {}", target.target, target.error.as_ref()?)))
            .collect();
        lines.join("\n")
    }

    /// The conversation that a run is about, if it started exactly one.
    pub fn only_conversation(&self) -> Option<&str> {
        let mut started = self.targets.iter().flat_map(|target| &target.started);
        let first = started.next()?;
        started
            .next()
            .is_none()
            .then_some(first.conversation_id.as_str())
    }

    /// Tells the outcome in a few lines.
    pub fn tell(&self, console: &Console) {
        for target in &self.targets {
            for skipped in &target.skipped {
                let reason = serde_json::to_value(skipped.reason).unwrap_or_default();
                let reason = reason.as_str().unwrap_or_default().to_owned();
                let detail = if skipped.detail.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", skipped.detail)
                };
                let item = &skipped.item;
                console.line(&format!(
                    "{} {item}: skipped, {reason}{detail}",
                    target.target
                ));
            }
            if let Some(funnel) = target.funnel {
                console.line(&format!(
                    "{}: {} stories fetched, {} unseen, {} fresh",
                    target.target, funnel.fetched, funnel.unseen, funnel.fresh
                ));
            }
            for error in target.feed_errors.iter().flatten() {
                console.warning(&format!("{}: {error}", target.target));
            }
            for story in target.shortlist.iter().flatten() {
                let published = story.published.as_deref().unwrap_or("undated");
                console.line(&format!("  {published}  {}  {}", story.title, story.link));
            }
            let would = if self.dry_run { "would be " } else { "" };
            console.line(&format!(
                "{}: {}, {} discovered, {} {would}started, {} finished, {} in flight, {} released",
                target.target,
                target.status,
                target.discovered,
                target.started.len(),
                target.finished.len(),
                target.in_flight,
                target.released,
            ));
        }
        console.line(&format!(
            "{} {} in {} ms, {} requests ({} repeated, {} not modified)",
            self.automation,
            self.status,
            self.duration_ms,
            self.http.requests,
            self.http.retries,
            self.http.not_modified,
        ));
    }
}
