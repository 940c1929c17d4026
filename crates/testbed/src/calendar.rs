//! Dates as the forges write them: seconds since the epoch to RFC 3339 in UTC, and back. Proleptic
//! Gregorian calendar, no leap seconds; only what the stand-ins put into their answers.

/// Seconds in a day.
const DAY: i64 = 86_400;

/// `2026-08-18T09:00:00Z`, the way GitHub writes a time (whole seconds).
///
/// ```
/// assert_eq!(testbed::calendar::seconds(1_787_043_600.9), "2026-08-18T09:00:00Z");
/// ```
pub fn seconds(epoch: f64) -> String {
    format!("{}Z", date_and_time(whole(epoch)))
}

/// `2026-08-18T09:00:00.250Z`, the way GitLab writes a time (milliseconds).
///
/// ```
/// assert_eq!(testbed::calendar::milliseconds(1_787_043_600.25), "2026-08-18T09:00:00.250Z");
/// ```
pub fn milliseconds(epoch: f64) -> String {
    let millis = whole((epoch * 1_000.0).round());
    format!(
        "{}.{:03}Z",
        date_and_time(millis.div_euclid(1_000)),
        millis.rem_euclid(1_000)
    )
}

/// The whole part towards the past; a figure no calendar holds becomes the epoch.
#[expect(
    clippy::cast_possible_truncation,
    reason = "checked to be in range just before"
)]
fn whole(value: f64) -> i64 {
    let floor = value.floor();
    if floor.is_finite() && floor.abs() < 1e15 {
        floor as i64
    } else {
        0
    }
}

/// Year, month, day and time of day without a zone.
fn date_and_time(epoch: i64) -> String {
    let (days, rest) = (epoch.div_euclid(DAY), epoch.rem_euclid(DAY));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (rest / 3_600, rest % 3_600 / 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

/// Day number (0 = 1970-01-01) to year, month, day. Counts in years that begin on the first of
/// March, so that the leap day is the last one.
fn civil(days: i64) -> (i64, i64, i64) {
    let from_era_start = days + 719_468;
    let era = from_era_start.div_euclid(146_097);
    let day_of_era = from_era_start.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (epoch, expected) in [
            (0.0, "1970-01-01T00:00:00Z"),
            (-1.0, "1969-12-31T23:59:59Z"),
            (951_782_400.0, "2000-02-29T00:00:00Z"),
            (1_709_164_800.0, "2024-02-29T00:00:00Z"),
            (1_787_211_000.0, "2026-08-20T07:30:00Z"),
            (4_107_542_400.0, "2100-03-01T00:00:00Z"),
            (f64::NAN, "1970-01-01T00:00:00Z"),
        ] {
            assert_eq!(seconds(epoch), expected);
        }
        assert_eq!(milliseconds(1_787_043_600.004), "2026-08-18T09:00:00.004Z");
    }
}
