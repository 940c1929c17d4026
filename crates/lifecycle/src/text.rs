//! Cutting and closing of text that came from elsewhere.

use serde_json::Value;
use std::fmt::Write as _;

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

/// Characters that closing what a text leaves open may take.
const CLOSING_CHARS: usize = 80;
/// Longer fences than this are not looked at.
const LONGEST_FENCE: usize = 12;
/// More open sections than this are not closed.
const MOST_SECTIONS: usize = 4;

/// Markdown of at most `max` characters (if `max` leaves room for `note`), with `note` behind it
/// where something was cut. What the text or the cut leaves open is closed, so that whatever
/// follows is read as it was meant and not as part of a code block.
pub fn fit_markdown(text: &str, max: usize, note: &str) -> String {
    let whole = close_markdown(text);
    if whole.chars().count() <= max {
        return whole;
    }
    let room = max.saturating_sub(note.chars().count() + CLOSING_CHARS);
    format!("{}{note}", close_markdown(&cut_chars(text, room)))
}

/// Ends an open code fence and open sections, and makes an unfinished HTML comment plain text.
fn close_markdown(text: &str) -> String {
    let mut closed = text.to_owned();
    if let Some(at) = open_comment(text) {
        let open = closed.split_off(at);
        // All of them, for the next would be open then; character for character, for the text must
        // not grow.
        closed.push_str(&open.replace("<!--", "‹!--"));
    }
    if let Some(fence) = open_fence(text) {
        closed.push('\n');
        closed.push_str(&fence);
    }
    let opened = text.matches("<details").count();
    let ended = text.matches("</details>").count();
    for _ in 0..opened.saturating_sub(ended).min(MOST_SECTIONS) {
        closed.push_str("\n</details>");
    }
    closed
}

/// Where a comment begins that does not end. Some readers take `<!-->` for a whole one; to others it
/// is a beginning, and it counts as that.
fn open_comment(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find("<!--") {
        let inside = from + at + "<!--".len();
        match text[inside..].find("-->") {
            Some(end) => from = inside + end + "-->".len(),
            None => return Some(from + at),
        }
    }
    None
}

/// The fence that would end the code block that a text leaves open.
fn open_fence(text: &str) -> Option<String> {
    let mut open: Option<(char, usize)> = None;
    for line in text.lines() {
        let words = line.trim_start_matches(' ');
        let mark = words.chars().next().filter(|c| matches!(c, '`' | '~'));
        let (Some(mark), true) = (mark, line.len() - words.len() <= 3) else {
            continue;
        };
        let length = words.chars().take_while(|c| *c == mark).count();
        let rest = &words[length..];
        match open {
            None if (3..=LONGEST_FENCE).contains(&length) && !rest.contains('`') => {
                open = Some((mark, length));
            }
            Some((opened, least))
                if mark == opened && length >= least && rest.trim().is_empty() =>
            {
                open = None;
            }
            _ => {}
        }
    }
    open.map(|(mark, length)| mark.to_string().repeat(length))
}

/// One line: every run of white space and control characters becomes one blank.
pub fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// JSON on one line, to the eye as well: what ends a line for some readers, turns the direction of
/// writing, or cannot be seen at all is escaped. The value is the same.
pub fn json_line(value: &Value) -> String {
    let mut line = String::new();
    for c in value.to_string().chars() {
        if is_unseen(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(line, "\\u{unit:04x}");
            }
        } else {
            line.push(c);
        }
    }
    line
}

/// What a reader does not see and may obey: controls, line and paragraph separators, marks and
/// embeddings of direction, and the "tag" characters, in which whole sentences can hide.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                | '\u{feff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests;
