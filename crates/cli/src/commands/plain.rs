//! Plain text for terminals: tables, durations, and text from elsewhere made harmless.

use http_client::redact;
use lifecycle::text::{cut_chars, one_line};

/// One line of somebody else's text, without control characters and credentials and not longer than
/// `max` characters.
pub(super) fn harmless(text: &str, max: usize) -> String {
    cut_chars(&one_line(&redact(text, &[])), max)
}

/// A duration in one unit: `40 s`, `12 min`, `3 h`, `5 d`.
pub(super) fn span(seconds: f64) -> String {
    if seconds == f64::INFINITY {
        return "a long time".to_owned();
    }
    let seconds = seconds.max(0.0);
    let units = [(86_400.0, "d"), (3600.0, "h"), (60.0, "min")];
    // From two of a unit on: 90 minutes say more than 1 hour.
    let fitting = units.iter().find(|(length, _)| seconds >= 2.0 * length);
    let (length, unit) = fitting.copied().unwrap_or((1.0, "s"));
    format!("{:.0} {unit}", (seconds / length).floor())
}

/// How long ago a moment was, or how long it will take.
pub(super) fn relative(moment: f64, now: f64) -> String {
    if moment > now {
        format!("in {}", span(moment - now))
    } else {
        format!("{} ago", span(now - moment))
    }
}

/// `one thing` or `2 things`.
pub(super) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Columns as wide as their widest cell, the last one as it comes. Each line is indented.
pub(super) fn table(indent: &str, rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths);
        let padded: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        format!("{indent}{}", padded.join("  ").trim_end())
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_one_unit() {
        let cases = [
            (-5.0, "0 s"),
            (119.0, "119 s"),
            (120.0, "2 min"),
            (7199.0, "119 min"),
            (7200.0, "2 h"),
            (172_800.0, "2 d"),
            (f64::INFINITY, "a long time"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(span(seconds), expected);
        }
        assert_eq!(relative(100.0, 400.0), "5 min ago");
        assert_eq!(relative(400.0, 100.0), "in 5 min");
    }

    #[test]
    fn columns_are_aligned_by_characters() {
        let rows = [vec!["größe", "1"], vec!["b", "22"]]
            .map(|row| row.into_iter().map(str::to_owned).collect());
        assert_eq!(table("  ", &rows), "  größe  1\n  b      22");
        assert_eq!(table("", &[]), "");
    }

    #[test]
    fn escapes_of_strangers_do_nothing() {
        assert_eq!(harmless("a\u{1b}[31m\nb", 20), "a [31m b");
        // Cut before, a password would have lost what tells it.
        assert_eq!(
            harmless("https://me:password@h.example", 15),
            "https://***@h.…"
        );
    }
}
