//! Time zones by name and by number.

/// Zones with one meaning, in minutes east of UTC. The North American ones and `UT` are those of
/// RFC 5322; the others are written by feeds and stand for one offset only.
const ZONES: &[(&str, i64)] = &[
    ("z", 0),
    ("ut", 0),
    ("utc", 0),
    ("gmt", 0),
    ("wet", 0),
    ("est", -300),
    ("edt", -240),
    ("cst", -360),
    ("cdt", -300),
    ("mst", -420),
    ("mdt", -360),
    ("pst", -480),
    ("pdt", -420),
    ("akst", -540),
    ("akdt", -480),
    ("hst", -600),
    ("adt", -180),
    ("ast", -240),
    ("bst", 60),
    ("west", 60),
    ("cet", 60),
    ("mez", 60),
    ("cest", 120),
    ("mesz", 120),
    ("sast", 120),
    ("eet", 120),
    ("eest", 180),
    ("msk", 180),
    ("pkt", 300),
    ("hkt", 480),
    ("sgt", 480),
    ("awst", 480),
    ("jst", 540),
    ("kst", 540),
    ("aest", 600),
    ("aedt", 660),
    ("nzst", 720),
    ("nzdt", 780),
];

/// Minutes east of UTC for `+0200`, `+02:00`, `-7`, `GMT+2`, `CEST`, …
pub(super) fn offset(zone: &str) -> Option<i64> {
    let zone = zone.trim().to_ascii_lowercase();
    let name_end = zone.find(['+', '-']).unwrap_or(zone.len());
    let (name, number) = zone.split_at(name_end);
    let name = name.trim();
    if number.is_empty() {
        // RFC 5322: the single letters of the old standard were used with either sign, so they
        // say no more than that the time is one of UTC.
        let military = name.len() == 1 && name.bytes().all(|b| b.is_ascii_lowercase() && b != b'j');
        return if military {
            Some(0)
        } else {
            ZONES
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, minutes)| *minutes)
        };
    }
    if !matches!(name, "" | "gmt" | "utc" | "ut") {
        return None;
    }
    let (sign, number) = (
        if number.starts_with('-') { -1 } else { 1 },
        number[1..].trim(),
    );
    let (hours, minutes) = match (number.split_once(':'), number.len()) {
        (Some((hours, minutes)), _) if minutes.len() == 2 => (hours, minutes),
        (None, 1 | 2) => (number, "0"),
        (None, 3 | 4) => (
            number.get(..number.len() - 2)?,
            number.get(number.len() - 2..)?,
        ),
        _ => return None,
    };
    let ((hours, _), (minutes, _)) = (plain_number(hours)?, plain_number(minutes)?);
    (hours <= 15 && minutes <= 59).then_some(sign * (hours * 60 + minutes))
}

/// A word of one to four digits, with how many there are.
pub(super) fn plain_number(word: &str) -> Option<(i64, usize)> {
    let digits = (1..=4).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit());
    if digits {
        Some((word.parse().ok()?, word.len()))
    } else {
        None
    }
}
