//! Moments: seconds since the epoch as documents store them, and RFC 3339 as forges write them.
//!
//! Only the forms that the forges' APIs use are read here; the many forms of dates in feeds are
//! the feed reader's business.

/// Days from 1970-01-01 to a civil date (proleptic Gregorian calendar).
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let year_of_era = shifted - era * 400;
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The civil date of a day counted from 1970-01-01.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted - era * 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Reads an RFC 3339 moment such as `2026-08-18T09:12:00.5+02:00`; `None` when it is not one.
pub fn parse_rfc3339(text: &str) -> Option<f64> {
    let bytes = text.trim().as_bytes();
    let number = |from: usize, to: usize| -> Option<i64> {
        let part = bytes.get(from..to)?;
        part.iter().all(u8::is_ascii_digit).then_some(())?;
        std::str::from_utf8(part).ok()?.parse().ok()
    };
    let is = |at: usize, wanted: &[u8]| bytes.get(at).is_some_and(|b| wanted.contains(b));
    let separators = is(4, b"-") && is(7, b"-") && is(10, b"Tt ") && is(13, b":") && is(16, b":");
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let in_range = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !separators || !in_range {
        return None;
    }
    let mut at = 19;
    let mut fraction = 0.0;
    if is(at, b".") {
        let digits = bytes[at + 1..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count();
        fraction = format!(
            "0.{}",
            std::str::from_utf8(&bytes[at + 1..at + 1 + digits]).ok()?
        )
        .parse()
        .ok()?;
        at += 1 + digits;
    }
    let offset = if is(at, b"Zz") && bytes.len() == at + 1 {
        0
    } else if is(at, b"+-") && is(at + 3, b":") && bytes.len() == at + 6 {
        let seconds = number(at + 1, at + 3)? * 3600 + number(at + 4, at + 6)? * 60;
        if bytes[at] == b'-' { -seconds } else { seconds }
    } else {
        return None;
    };
    let whole = days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    Some((whole - offset) as f64 + fraction)
}

/// Writes a moment as RFC 3339 in UTC, to the second: `2026-08-18T09:12:00Z`.
pub fn rfc3339(moment: f64) -> String {
    // Years 0001 to 9999: what lies outside cannot be written in this form.
    let seconds = whole_seconds(moment);
    let (year, month, day) = civil_from_days(seconds.div_euclid(86_400));
    let rest = seconds.rem_euclid(86_400);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        rest / 3600,
        rest % 3600 / 60,
        rest % 60
    )
}

/// The day of a moment in UTC: `2026-08-18`.
pub fn day(moment: f64) -> String {
    rfc3339(moment)
        .split('T')
        .next()
        .unwrap_or_default()
        .to_owned()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "clamped to years 1 to 9999"
)]
fn whole_seconds(moment: f64) -> i64 {
    moment.clamp(-62_135_596_800.0, 253_402_300_799.0).floor() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_the_forges_are_read() {
        let cases = [
            ("2026-08-18T09:12:00Z", Some(1_787_044_320.0)),
            ("2026-08-18T11:03:00.000+02:00", Some(1_787_043_780.0)),
            ("2026-08-18T09:12:00.5-00:30", Some(1_787_046_120.5)),
            ("1970-01-01T00:00:00Z", Some(0.0)),
            ("2024-02-29T00:00:00Z", Some(1_709_164_800.0)),
            ("2026-08-18", None),
            ("2026-13-18T09:12:00Z", None),
            ("2026-08-18T09:12:00", None),
            ("yesterday", None),
            ("", None),
            ("2026-08-18T09:12:00+02", None),
            ("２０26-08-18T09:12:00Z", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_rfc3339(text), expected, "{text}");
        }
    }

    #[test]
    fn writing_and_reading_agree() {
        for moment in [
            0.0,
            951_782_399.0,
            1_787_044_320.0,
            4_102_444_800.0,
            -86_400.0,
        ] {
            assert_eq!(parse_rfc3339(&rfc3339(moment)), Some(moment));
        }
        assert_eq!(rfc3339(1_787_044_320.9), "2026-08-18T09:12:00Z");
        assert_eq!(day(1_787_044_320.9), "2026-08-18");
        assert_eq!(rfc3339(f64::INFINITY), "9999-12-31T23:59:59Z");
    }
}
