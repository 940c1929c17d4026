//! Whether a server answers at all, and whether its clock agrees with ours.

use super::Patient;
use super::finding::{Finding, Findings};
use crate::commands::plain::span;
use forge_http::CLOCK_SKEW;
use http_client::{HttpError, Request, Url};

/// Asks an address without any credential. Any answer will do.
pub(super) async fn check(
    patient: &Patient<'_>,
    service: &'static str,
    url: Url,
    findings: &mut Findings<'_>,
) -> Result<(), HttpError> {
    let request = Request::get(service, url).retry_statuses(false);
    let response = patient.client.send(request).await?;
    let date = response
        .headers
        .get("date")
        .and_then(news_feeds::parse_date);
    let Some(theirs) = date else {
        return Ok(());
    };
    let difference = theirs - patient.session.now();
    // That much the adapters allow for when they look for what was posted after a moment.
    if difference.abs() > CLOCK_SKEW {
        let way = if difference > 0.0 {
            "behind"
        } else {
            "ahead of"
        };
        findings.add(Finding::warning(
            "clock",
            format!("this machine is {} {way} {service}", span(difference.abs())),
            "Set the clock, for example with NTP: what was posted when is told by it.",
        ));
    }
    Ok(())
}
