//! Cutting and quoting of text that came from elsewhere.

/// At most `max` bytes of a text, cut at a character, with a mark where something was cut.
pub fn cut_bytes(text: &str, max: usize) -> String {
    const MARK: &str = "…";
    if text.len() <= max {
        return text.to_owned();
    }
    let mut end = max.saturating_sub(MARK.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    if max < MARK.len() {
        String::new()
    } else {
        format!("{}{MARK}", &text[..end])
    }
}

/// At most `max` characters of a text, with a mark where something was cut.
pub fn cut_chars(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(max.saturating_sub(1)).collect();
    if max > 0 {
        cut.push('…');
    }
    cut
}

/// One line: every run of white space and control characters becomes one blank.
pub fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
