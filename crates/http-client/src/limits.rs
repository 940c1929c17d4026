//! How a service says "slow down": `Retry-After` (RFC 9110), `x-ratelimit-*` (GitHub) and
//! `RateLimit-*` (GitLab, and the draft of the IETF).

use std::time::Duration;

use crate::response::Headers;

/// How long a service asks to be left alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RateLimit {
    /// For this long, counted from the answer.
    After(Duration),
    /// Until this moment, in seconds since the epoch.
    Until(f64),
    /// It is a limit, without a word about its end.
    Unspecified,
}

impl RateLimit {
    pub(crate) fn in_words(&self) -> String {
        match self {
            Self::After(wait) => format!(" for {} s", wait.as_secs()),
            Self::Until(moment) => format!(" until {moment:.0} (seconds since the epoch)"),
            Self::Unspecified => String::new(),
        }
    }
}

/// A moment this many seconds after the epoch or more is no period of seconds (2001-09-09).
const SURELY_A_MOMENT: f64 = 1e9;

/// The limit that an answer states, if it states one. `says_limit`: the body speaks of a limit.
pub(crate) fn read(status: u16, headers: &Headers, says_limit: bool) -> Option<RateLimit> {
    if status != 403 && status != 429 {
        return None;
    }
    if let Some(limit) = headers.get("retry-after").and_then(retry_after) {
        return Some(limit);
    }
    for (remaining, reset) in [
        ("x-ratelimit-remaining", "x-ratelimit-reset"),
        ("ratelimit-remaining", "ratelimit-reset"),
    ] {
        let used_up = headers
            .get(remaining)
            .and_then(number)
            .is_some_and(|left| left <= 0.0);
        if used_up {
            return Some(headers.get(reset).and_then(number).map_or(
                RateLimit::Unspecified,
                |reset| {
                    if reset >= SURELY_A_MOMENT {
                        RateLimit::Until(reset)
                    } else {
                        after_seconds(reset)
                    }
                },
            ));
        }
    }
    (status == 429 || says_limit).then_some(RateLimit::Unspecified)
}

/// `Retry-After` as seconds or as a date.
pub(crate) fn retry_after(value: &str) -> Option<RateLimit> {
    number(value)
        .map(after_seconds)
        .or_else(|| http_date(value).map(RateLimit::Until))
}

/// How long to wait from the answer on. A moment is counted from the `Date` of the same answer:
/// the clock of the service set it, so no clock of ours has to agree.
pub(crate) fn wait_from(limit: RateLimit, headers: &Headers) -> Option<Duration> {
    match limit {
        RateLimit::After(wait) => Some(wait),
        RateLimit::Until(moment) => {
            let now = headers.get("date").and_then(http_date)?;
            // A second on top: the date is cut to the second.
            Some(Duration::from_secs_f64(
                (moment - now).clamp(0.0, 1e7) + 1.0,
            ))
        }
        RateLimit::Unspecified => None,
    }
}

fn number(value: &str) -> Option<f64> {
    value
        .trim()
        .parse::<f64>()
        .ok()
        .filter(|number| number.is_finite())
}

fn after_seconds(seconds: f64) -> RateLimit {
    RateLimit::After(Duration::from_secs_f64(seconds.clamp(0.0, 1e7)))
}

/// The preferred form of a date in HTTP, `Sun, 06 Nov 1994 08:49:37 GMT`, in seconds since the
/// epoch. The two obsolete forms are not read.
pub(crate) fn http_date(value: &str) -> Option<f64> {
    let (_, rest) = value.trim().split_once(", ")?;
    let mut parts = rest.split_ascii_whitespace();
    let day: i64 = parts.next()?.parse().ok()?;
    let month = parts.next()?;
    let month = i64::try_from(
        [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        .iter()
        .position(|name| *name == month)?,
    )
    .ok()?;
    let year: i64 = parts.next()?.parse().ok()?;
    let mut clock = parts
        .next()?
        .split(':')
        .map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    if !(1970..=9999).contains(&year) || !(1..=31).contains(&day) {
        return None;
    }
    // Days since the epoch, with March as the first month so that the leap day comes last.
    let shifted = (month + 10) % 12;
    let year = year - i64::from(month < 2);
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * shifted + 2) / 5 + day
        - 1
        - 719_468;
    Some((days * 86_400 + hour * 3_600 + minute * 60 + second) as f64)
}

#[cfg(test)]
mod tests;
