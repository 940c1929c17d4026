//! What strangers send, as plain functions of bytes that panic when something does not hold: no
//! input makes a panic, takes long, needs much memory, or reaches a path outside its folder.
//!
//! The same functions serve three callers: `cargo fuzz` (the crate around this one, coverage-guided,
//! on nightly), `cargo xtask fuzz` (the binary of this crate, on stable), and the test that plays
//! `fixtures/fuzz/` back. Properties are asserted with `assert!`: here, to panic is the purpose.
//!
//! ```
//! let targets = fuzz_targets::TARGETS;
//! assert!(targets.iter().any(|target| target.name == "feeds"));
//! ```
#![expect(
    clippy::panic,
    reason = "a property that does not hold is a panic, which every fuzzer understands"
)]

pub mod answers;
pub mod archives;
pub mod config;
pub mod dates;
pub mod documents;
pub mod feeds;
pub mod html;
pub mod links;
pub mod names;
pub mod texts;

/// A target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, which is also that of its folder in `fixtures/fuzz/`.
    pub name: &'static str,
    /// What is called with each input.
    pub run: fn(&[u8]),
    /// Folders and files below `fixtures/` that inputs are made from, besides its own folder.
    pub seeds: &'static [&'static str],
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "feeds",
        run: feeds::target,
        seeds: &["feeds"],
    },
    Target {
        name: "html",
        run: html::target,
        seeds: &["feeds/markup-in-titles", "feeds/wordpress"],
    },
    Target {
        name: "links",
        run: links::target,
        seeds: &["links"],
    },
    Target {
        name: "dates",
        run: dates::target,
        seeds: &["dates"],
    },
    Target {
        name: "archives",
        run: archives::target,
        seeds: &["archives"],
    },
    Target {
        name: "documents",
        run: documents::target,
        seeds: &["state", "schemas", "lifecycle"],
    },
    Target {
        name: "answers",
        run: answers::target,
        seeds: &["github", "gitlab", "agent-server", "runtime", "network"],
    },
    Target {
        name: "names",
        run: names::target,
        seeds: &[],
    },
    Target {
        name: "config",
        run: config::target,
        seeds: &[],
    },
    Target {
        name: "texts",
        run: texts::target,
        seeds: &["lifecycle", "git", "network"],
    },
];

/// Whether a text is one line without anything that a terminal or a prompt would take for more.
fn is_line(text: &str) -> bool {
    !text.contains(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))
}
