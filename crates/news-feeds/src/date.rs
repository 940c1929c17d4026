//! Dates of feeds, as seconds since the epoch.
//!
//! Two families are read: the mail form of RSS (RFC 5322 with its obsolete zones, and the sloppy
//! spellings that feeds use) and the ISO 8601 profile of Atom (RFC 3339, W3C date and time). A
//! wrong instant is worse than none, so whatever could mean two instants reads as `None`: zones
//! that several countries use, months without a day, numbers whose order is anybody's guess.
//! A date without a zone is taken for UTC, as the deployed scripts take it.

mod mail;
mod zone;

use zone::offset;

/// No date of a feed is longer; what is, is not looked at.
const LONGEST: usize = 100;

/// Reads a feed's date as seconds since the epoch, `None` when it is not certain which instant
/// is meant.
///
/// ```
/// use news_feeds::parse_date;
/// assert_eq!(parse_date("Tue, 18 Aug 2026 09:12:00 +0000"), Some(1_787_044_320.0));
/// assert_eq!(parse_date("2026-08-18T11:12:00+02:00"), Some(1_787_044_320.0));
/// assert_eq!(parse_date("yesterday"), None);
/// ```
pub fn parse_date(text: &str) -> Option<f64> {
    let text = text.trim();
    if text.len() > LONGEST {
        return None;
    }
    let micros = iso(text).or_else(|| mail::parse(text))?;
    Some(micros as f64 / 1e6)
}

/// `seconds` since the epoch as RFC 3339 in UTC, to the second (rounded down).
///
/// Years outside 0000–9999 give `None`, because the format has no place for them.
pub fn rfc3339(seconds: f64) -> Option<String> {
    if !(-62_167_219_200.0..253_402_300_800.0).contains(&seconds) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the range is checked above"
    )]
    let seconds = seconds.floor() as i64;
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil_from_days(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    Some(format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"
    ))
}

/// `YYYY-MM-DD`, `YYYY/MM/DD` or `YYYYMMDD`, then perhaps a time, then perhaps a zone.
fn iso(text: &str) -> Option<i64> {
    let mut rest = Cursor(text);
    let year = rest.digits(4)?;
    let separator = rest.0.chars().next().filter(|c| matches!(c, '-' | '/'));
    let (month, day) = if let Some(separator) = separator {
        rest.take(separator)?;
        let month = rest.digits(2)?;
        rest.take(separator)?;
        (month, rest.digits(2)?)
    } else {
        (rest.digits(2)?, rest.digits(2)?)
    };
    let day = days(year, month, day)?;
    if rest.0.is_empty() {
        return instant(day, 0, 0);
    }
    if !(rest.take_any(&['T', 't']) || rest.0.starts_with(' ')) {
        return None;
    }
    let (clock, zone) = clock(rest.0.trim_start(), true)?;
    instant(day, clock, if zone.is_empty() { 0 } else { offset(zone)? })
}

/// Reads `HH:MM[:SS[.fraction]]` (and `HHMM[SS]` if `compact`) as microseconds of the day, and
/// returns what follows it.
fn clock(text: &str, compact: bool) -> Option<(i64, &str)> {
    let mut rest = Cursor(text);
    let colons = !compact || text.get(..3).is_some_and(|start| start.contains(':'));
    let hour = if colons {
        rest.digits_up_to(2)?
    } else {
        rest.digits(2)?
    };
    if colons {
        rest.take(':')?;
    }
    let minute = rest.digits(2)?;
    let mut second = 0;
    let more = if colons {
        rest.take(':').is_some()
    } else {
        rest.0.starts_with(|c: char| c.is_ascii_digit())
    };
    if more {
        second = rest.digits(2)?;
    }
    let mut micros = 0;
    if more && rest.take_any(&['.', ',']) {
        let end = rest
            .0
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.0.len());
        let (digits, after) = rest.0.split_at(end);
        micros = format!("{digits:0<6}")
            .get(..6)
            .filter(|_| end > 0)?
            .parse()
            .ok()?;
        rest.0 = after;
    }
    // A leap second is a second like any other here; 24:00 could be either midnight.
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some((
        ((hour * 60 + minute) * 60 + second) * 1_000_000 + micros,
        rest.0.trim_start(),
    ))
}

/// Microseconds since the epoch.
fn instant(days: i64, clock_micros: i64, zone_minutes: i64) -> Option<i64> {
    let day = days.checked_mul(86_400_000_000)?;
    Some(day + clock_micros - zone_minutes * 60_000_000)
}

/// Days since the epoch of a date of the Gregorian calendar, if there is such a day.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => return None,
    };
    if year < 1 || day < 1 || day > length {
        return None;
    }
    // Counting from March makes the leap day the last of a year.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    Some(365 * year + year / 4 - year / 100 + year / 400 + day_of_year - 719_468)
}

/// The inverse of [`days`].
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (era * 400 + year + carry, month, day)
}

/// What is left of a text that is read from the left.
struct Cursor<'a>(&'a str);

impl Cursor<'_> {
    fn take(&mut self, wanted: char) -> Option<()> {
        self.0 = self.0.strip_prefix(wanted)?;
        Some(())
    }

    fn take_any(&mut self, wanted: &[char]) -> bool {
        let rest = self.0.strip_prefix(wanted);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn digits(&mut self, count: usize) -> Option<i64> {
        let digits = self
            .0
            .get(..count)
            .filter(|d| d.bytes().all(|b| b.is_ascii_digit()))?;
        self.0 = &self.0[count..];
        digits.parse().ok()
    }

    fn digits_up_to(&mut self, count: usize) -> Option<i64> {
        (1..=count).rev().find_map(|count| self.digits(count))
    }
}
