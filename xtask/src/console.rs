//! What people see of a task. The one place that prints.

use std::io::Write as _;

/// Prints a line.
pub(crate) fn say(line: &str) {
    // A closed pipe is no reason to fail.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// Prints a heading.
pub(crate) fn heading(text: &str) {
    say(&format!("\n== {text}"));
}

/// Prints text with every line indented.
pub(crate) fn block(text: &str) {
    for line in text.lines() {
        say(&format!("    {line}"));
    }
}
