//! Services that are mute: every call has a limit, the run ends within its own and says so.

use crate::stage::scenes::{Scene, fresh_work};
use crate::stage::{A_MINUTE, Automation, Backend};
use serde_json::json;
use std::time::Duration;
use testbed::faults::Fault;

/// The least that can be configured.
const BUDGET: u64 = 30;
/// The budget, one call that hangs, and the report.
const LIMIT: Duration = Duration::from_secs(90);

/// A service that is mute during one run.
struct Mute {
    automation: Automation,
    /// The run that collects, not the one that starts.
    collects: bool,
    service: &'static str,
    /// Only requests of this method with this in their path.
    requests: (&'static str, &'static str),
}

fn mute(
    automation: Automation,
    collects: bool,
    service: &'static str,
    requests: (&'static str, &'static str),
) -> Mute {
    Mute {
        automation,
        collects,
        service,
        requests,
    }
}

fn listens_in_vain(mute: &Mute) {
    let mut scene: Box<dyn Scene> = fresh_work(mute.automation, Backend::Strict);
    if mute.collects {
        scene.stage().run().ok();
        scene.stage().agents_finish();
        scene.stage().let_time_pass(A_MINUTE);
    }
    scene.stage_mut().config["time_budget_seconds"] = json!(BUDGET);
    let (method, path) = mute.requests;
    let services = scene.services();
    let server = services
        .iter()
        .find(|one| one.name() == mute.service)
        .unwrap();
    server.faults().add(Fault::hang().on(method, path).always());
    let ran = scene.stage().run();
    let of = format!("{} {method} {path}: {}", mute.service, ran.all());
    assert!(matches!(ran.status.code(), Some(0 | 1)), "{of}");
    assert!(ran.took < LIMIT, "{:?}: {of}", ran.took);
    if mute.service != "callback receiver" {
        assert_eq!(ran.told.callbacks.len(), 1, "{of}");
        assert!(
            ran.log.contains("warning") || ran.told.error.is_some(),
            "{of}"
        );
    }
    server.faults().clear();
    scene.stage_mut().config["time_budget_seconds"] = json!(480);
    scene
        .polls_until_quiet()
        .unwrap_or_else(|why| panic!("{why}\nafter {of}"));
}

#[test]
fn a_mute_service_costs_no_more_than_the_time_of_the_run() {
    use Automation::{Issue, News, Review};
    let any = ("*", "");
    let all = [
        mute(News, false, "agent server", any),
        mute(News, true, "agent server", any),
        mute(News, false, "KV store", any),
        mute(News, false, "feeds", any),
        mute(News, false, "callback receiver", any),
        mute(Review, false, "GitHub", any),
        mute(Review, true, "GitHub", any),
        mute(Review, false, "GitHub download", any),
        mute(
            Review,
            false,
            "agent server",
            ("POST", "/api/conversations"),
        ),
        mute(Review, false, "GitHub", ("POST", "/comments")),
        mute(Issue, false, "GitLab", ("*", "/api/v4")),
        mute(Issue, true, "GitLab", ("*", "/api/v4")),
        mute(Issue, false, "GitLab", ("*", ".git/")),
        mute(Issue, true, "GitLab", ("*", ".git/")),
        mute(Issue, true, "GitLab", ("POST", "/merge_requests")),
    ];
    // Waiting costs nothing, so they all wait at once.
    std::thread::scope(|scope| {
        for one in &all {
            scope.spawn(|| listens_in_vain(one));
        }
    });
}
