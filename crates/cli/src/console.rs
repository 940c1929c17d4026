//! What people see: the log of a run, digests, and JSON. The one place that writes to the terminal.

use http_client::{Secret, mask, redact};
use lifecycle::ports::Journal;
use lifecycle::text::is_unseen;
use std::cell::RefCell;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::rc::Rc;

/// Where the log goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error, when standard output is for JSON.
    Stderr,
    /// Nowhere, when only the outcome counts.
    Nowhere,
}

/// The human log of a run. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Console {
    stream: Stream,
    color: bool,
    secrets: Rc<RefCell<Vec<Secret>>>,
}

impl Console {
    /// A log that goes to `stream`, in colour where that is a terminal and nobody minds.
    pub fn new(stream: Stream, no_color: bool) -> Self {
        let terminal = match stream {
            Stream::Stdout => io::stdout().is_terminal(),
            Stream::Stderr => io::stderr().is_terminal(),
            Stream::Nowhere => false,
        };
        Self {
            stream,
            color: terminal && !no_color,
            secrets: Rc::default(),
        }
    }

    /// The same without a log: only its output is seen. Both hide the same secrets.
    #[must_use]
    pub fn silenced(&self) -> Self {
        Self {
            stream: Stream::Nowhere,
            color: false,
            secrets: Rc::clone(&self.secrets),
        }
    }

    /// From now on this secret never appears.
    pub fn hide(&self, secret: &Secret) {
        self.secrets.borrow_mut().push(secret.clone());
    }

    /// The text without any secret.
    pub fn clean(&self, text: &str) -> String {
        let secrets = self.secrets.borrow();
        redact(text, &secrets.iter().collect::<Vec<_>>())
    }

    /// The text of somebody else without any of our secrets, as it was in all else.
    pub fn without_secrets(&self, text: &str) -> String {
        let secrets = self.secrets.borrow();
        mask(text, &secrets.iter().collect::<Vec<_>>())
    }

    /// A line of the log.
    pub fn line(&self, text: &str) {
        self.write(&format!("{}\n", harmless(&self.clean(text))));
    }

    /// A line that asks for attention.
    pub fn warning(&self, text: &str) {
        let text = harmless(&self.clean(text));
        if self.color {
            self.write(&format!("\x1b[33mwarning:\x1b[0m {text}\n"));
        } else {
            self.write(&format!("warning: {text}\n"));
        }
    }

    /// A line that says why it ends here.
    pub fn error(&self, text: &str) {
        let text = harmless(&self.clean(text));
        if self.color {
            self.write(&format!("\x1b[31merror:\x1b[0m {text}\n"));
        } else {
            self.write(&format!("error: {text}\n"));
        }
    }

    /// Output for programs, or text that is the result itself: always on standard output.
    pub fn output(&self, text: &str) {
        let _ = writeln!(io::stdout().lock(), "{}", self.clean(text));
    }

    /// Output that is somebody's data and is passed on byte for byte, such as a document or a feed.
    pub fn verbatim(&self, text: &str) {
        let _ = writeln!(io::stdout().lock(), "{text}");
    }

    /// Asks the person at the terminal and waits for a line.
    ///
    /// # Errors
    /// When nothing can be written or read.
    pub fn ask(&self, question: &str) -> io::Result<String> {
        let mut errors = io::stderr().lock();
        write!(errors, "{} ", harmless_lines(&self.clean(question)))?;
        errors.flush()?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        Ok(answer.trim().to_owned())
    }

    // A log that cannot be written must not stop the run.
    fn write(&self, text: &str) {
        let _ = match self.stream {
            Stream::Stdout => io::stdout().lock().write_all(text.as_bytes()),
            Stream::Stderr => io::stderr().lock().write_all(text.as_bytes()),
            Stream::Nowhere => Ok(()),
        };
    }
}

/// Text of strangers (titles, answers of servers) may hold line ends, terminal sequences and what
/// turns the direction of writing: a line of the log stays one line, reads as it was written, and
/// moves no cursor.
fn harmless(text: &str) -> String {
    text.chars()
        .map(|c| if is_unseen(c) { ' ' } else { c })
        .collect()
}

/// Text of several lines without anything that a terminal would obey.
fn harmless_lines(text: &str) -> String {
    text.chars()
        .filter(|c| matches!(c, '\n' | '\t') || !is_unseen(*c))
        .collect()
}

fn place(target: &str, item: &str) -> String {
    match (target.is_empty(), item.is_empty()) {
        (true, true) => String::new(),
        (false, true) => format!("{target}: "),
        (true, false) => format!("{item}: "),
        // The news say `news:DAY` themselves.
        (false, false) if item.starts_with(target) => format!("{item}: "),
        (false, false) => format!("{target} {item}: "),
    }
}

impl Journal for Console {
    fn note(&self, target: &str, item: &str, text: &str) {
        self.line(&format!("{}{text}", place(target, item)));
    }

    fn warn(&self, target: &str, item: &str, text: &str) {
        self.warning(&format!("{}{text}", place(target, item)));
    }

    fn digest(&self, period: &str, text: &str) {
        let rule = "-".repeat(24);
        // In this order: a secret that control characters part comes together when they go.
        let text = self.clean(&harmless_lines(text));
        self.write(&format!(
            "{rule} digest of {period} {rule}\n{text}\n{}\n",
            "-".repeat(69)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stays_one_line_and_moves_no_cursor() {
        assert_eq!(harmless("a\nb\x1b[2Jc\u{9b}31md\r"), "a b [2Jc 31md ");
        assert_eq!(harmless("a\u{2028}b\u{202e}c"), "a b c");
        assert_eq!(harmless_lines("a\n\tb\x1b[2Jc\r\n"), "a\n\tb[2Jc\n");
    }
}
