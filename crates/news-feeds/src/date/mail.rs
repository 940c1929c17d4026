//! The mail form of dates: RFC 5322, and what feeds make of it.
//!
//! Weekdays are not looked at (they are often wrong, or in another language), the other words may
//! come in any order that leaves no doubt which is which.

use super::zone::{offset, plain_number};
use super::{clock, days, instant};

/// Accepted spellings per month: English as the standards say, and the unambiguous names of some
/// languages that feed software is known to write.
const MONTHS: [&str; 12] = [
    " jan january januar jänner januari janvier janv enero ene gennaio gen janeiro янв января ",
    " feb february februar februari février févr fév febrero febbraio fevereiro fev фев февраля ",
    " mar march märz mär mrt maart mars marzo março мар марта ",
    " apr april avril avr abril abr aprile апр апреля ",
    " may mai mei mayo maggio mag maio мая май ",
    " jun june juni juin junio giugno giu junho июн июня ",
    " jul july juli juillet juil julio luglio lug julho июл июля ",
    " aug august augustus août agosto ago авг августа ",
    " sep sept september septembre septiembre settembre setembro сен сент сентября ",
    " oct october oktober okt octobre octubre ottobre ott outubro out окт октября ",
    " nov november novembre noviembre novembro ноя нояб ноября ",
    " dec december dezember dez décembre déc diciembre dic dicembre dezembro дек декабря ",
];

/// Reads weekday, day, month by name, year, time, zone, in the orders that occur.
pub(super) fn parse(text: &str) -> Option<i64> {
    let text = without_comments(text);
    let mut words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|w| !w.is_empty())
        .collect();
    // `18-Aug-2026` and `18.08.2026` are one word each.
    let joined = words
        .iter()
        .position(|w| w.starts_with(|c: char| c.is_ascii_digit()));
    if let Some(at) = joined {
        let parts: Vec<&str> = words[at].split('-').collect();
        if parts.len() == 3 && month_by_name(parts[1]).is_some() {
            words.splice(at..=at, parts);
        }
    }

    let mut date = MailDate::default();
    let mut words = words.into_iter().enumerate().peekable();
    while let Some((index, word)) = words.next() {
        let ordinal = ["st", "nd", "rd", "th", "."]
            .iter()
            .find_map(|end| word.strip_suffix(end));
        if word == "-" {
            // French feeds set a dash between the date and the time.
        } else if word.starts_with(|c: char| c.is_ascii_digit()) && word.contains(':') {
            let (clock, zone) = clock(word, false)?;
            let half = words
                .peek()
                .map(|(_, w)| w.to_ascii_lowercase().replace('.', ""));
            let clock = match half.as_deref() {
                Some(half @ ("am" | "pm")) => {
                    words.next();
                    twelve_hours(clock, half == "pm")?
                }
                _ => clock,
            };
            date.set_clock(clock)?;
            if !zone.is_empty() {
                date.set_zone(offset(zone)?)?;
            }
        } else if let Some(number) = plain_number(word).or_else(|| ordinal.and_then(plain_number)) {
            date.set_number(number)?;
        } else if let Some(dotted) = dotted_date(word) {
            date.set_dotted(dotted)?;
        } else if let Some(month) = month_by_name(word).filter(|_| date.clock.is_none()) {
            // In Spanish and Italian a weekday may look like a month: `mar, 18 ago 2026`.
            if date.month.is_some() && date.month_word != Some(0) {
                return None;
            }
            (date.month, date.month_word) = (Some(month), Some(index));
        } else if date.clock.is_some() {
            date.set_zone(offset(word)?)?;
        } else if index > 0 || !word.chars().all(|c| c.is_alphabetic() || "-.'".contains(c)) {
            return None;
        }
    }
    date.instant()
}

/// What has been read of a date in the mail form so far.
#[derive(Default)]
struct MailDate {
    year: Option<i64>,
    month: Option<i64>,
    month_word: Option<usize>,
    day: Option<i64>,
    clock: Option<i64>,
    zone: Option<i64>,
}

impl MailDate {
    /// A number with its digit count: the day comes first, four digits are always the year.
    fn set_number(&mut self, (number, digits): (i64, usize)) -> Option<()> {
        if digits < 3 && self.day.is_none() {
            self.day = Some(number);
        } else if self.year.is_none() {
            // RFC 5322: two digits below 50 are of this century (the scripts draw the line at
            // 69, which is kept), three digits count from 1900.
            self.year = Some(match (digits, number) {
                (4, year) => year,
                (2, year) if year < 69 => 2000 + year,
                (2 | 3, year) => 1900 + year,
                _ => return None,
            });
        } else {
            return None;
        }
        Some(())
    }

    fn set_dotted(&mut self, (day, month, year): (i64, i64, i64)) -> Option<()> {
        (self.day.is_none() && self.year.is_none() && self.month.is_none()).then(|| {
            (self.day, self.month, self.year) = (Some(day), Some(month), Some(year));
        })
    }

    fn set_clock(&mut self, clock: i64) -> Option<()> {
        self.clock.replace(clock).is_none().then_some(())
    }

    fn set_zone(&mut self, zone: i64) -> Option<()> {
        self.zone.replace(zone).is_none().then_some(())
    }

    fn instant(self) -> Option<i64> {
        let day = days(self.year?, self.month?, self.day?)?;
        instant(day, self.clock.unwrap_or(0), self.zone.unwrap_or(0))
    }
}

fn twelve_hours(clock: i64, afternoon: bool) -> Option<i64> {
    const HOUR: i64 = 3_600_000_000;
    match clock / HOUR {
        12 => Some(clock - if afternoon { 0 } else { 12 * HOUR }),
        1..=11 => Some(clock + if afternoon { 12 * HOUR } else { 0 }),
        _ => None,
    }
}

/// `18.08.2026`: with dots the order is always day, month, year.
fn dotted_date(word: &str) -> Option<(i64, i64, i64)> {
    let mut parts = word.split('.').map(plain_number);
    let ((day, _), (month, _), (year, 4)) = (parts.next()??, parts.next()??, parts.next()??) else {
        return None;
    };
    parts.next().is_none().then_some((day, month, year))
}

fn month_by_name(word: &str) -> Option<i64> {
    let word = word.trim_end_matches('.').to_lowercase();
    let word = format!(" {word} ");
    let index = MONTHS.iter().position(|names| names.contains(&word))?;
    i64::try_from(index + 1).ok()
}

/// Drops what stands in parentheses: comments of the mail form, such as `(CEST)`.
fn without_comments(text: &str) -> String {
    let mut depth = 0_usize;
    text.chars()
        .filter(|c| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => return depth == 0,
            }
            false
        })
        .collect()
}
