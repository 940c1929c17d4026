//! The feeds of the news digest.

use super::Patient;
use super::finding::{Finding, Findings};
use crate::commands::plain::{counted, relative};
use crate::config::NewsConfig;
use http_client::redact;
use news_feeds::{Feed, FetchLimits, fetch_all};

const CHECK: &str = "feed";

pub(super) async fn check(patient: &Patient<'_>, config: &NewsConfig, findings: &mut Findings<'_>) {
    let now = patient.session.now();
    for (url, read) in fetch_all(&patient.client, &config.feeds, FetchLimits::default()).await {
        let shown = redact(&url, &[]);
        let finding = match read {
            Ok(feed) if feed.entries.is_empty() => Finding::warning(
                CHECK,
                "it has no entries",
                "That is fine for a new feed; else it may have moved.",
            ),
            Ok(feed) if !feed.warnings.is_empty() => Finding::warning(
                CHECK,
                format!("{}; {}", told(&feed, now), feed.warnings.join("; ")),
                format!("`feeds inspect {shown}` shows how it is read."),
            ),
            Ok(feed) => Finding::ok(CHECK, told(&feed, now)),
            Err(error) => {
                // It names the address again.
                let error = error.to_string();
                let error = error.strip_prefix(&format!("{shown}: ")).unwrap_or(&error);
                let advice = format!(
                    "Open it in a browser; correct or remove it. `feeds inspect {shown}` tries it \
                     again."
                );
                Finding::failed(CHECK, error, advice)
            }
        };
        findings.add(finding.of(&shown));
    }
}

fn told(feed: &Feed, now: f64) -> String {
    let dates = feed.entries.iter().filter_map(|entry| entry.published);
    let newest = dates.fold(f64::NEG_INFINITY, f64::max);
    let newest = if newest.is_finite() {
        format!("the newest {}", relative(newest, now))
    } else {
        "undated".to_owned()
    };
    let entries = counted(feed.entries.len(), "entry", "entries");
    format!(
        "{} ({}): {entries}, {newest}",
        feed.title,
        feed.dialect.name()
    )
}
