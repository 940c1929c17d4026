//! Dates of feeds and moments of the forges' APIs: two readers, which must agree where both read.

use lifecycle::moment;
use news_feeds::{parse_date, rfc3339};

/// Reads a date in both ways and writes it again.
///
/// # Panics
/// When a property does not hold.
pub fn target(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let of_feed = parse_date(&text);
    let of_forge = moment::parse_rfc3339(&text);
    for read in [of_feed, of_forge].into_iter().flatten() {
        assert!(is_moment(read), "{text:?} became {read}");
        // What is written begins with the year 1.
        if read >= -62_135_596_800.0 {
            let written = rfc3339(read).unwrap_or_default();
            assert_eq!(parse_date(&written), Some(read.floor()), "{text:?}");
            let written = moment::rfc3339(read);
            assert_eq!(
                moment::parse_rfc3339(&written),
                Some(read.floor()),
                "{text:?}"
            );
        }
    }
    if let (Some(a), Some(b)) = (of_feed, of_forge) {
        assert!(
            (a - b).abs() <= 1.0,
            "{text:?} is {a} to one and {b} to the other"
        );
    }
}

/// A finite number of seconds within what four digits of a year can say, give or take a day.
pub(crate) fn is_moment(seconds: f64) -> bool {
    (-62_167_219_200.0 - 90_000.0..253_402_300_800.0 + 90_000.0).contains(&seconds)
}
