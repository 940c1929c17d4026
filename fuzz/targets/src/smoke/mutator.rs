//! Changes inputs: a few small steps each, chosen by a seed, so that a run can be repeated.

use fastrand::Rng;
use std::ops::Range;

/// Inputs get no longer than this by ordinary steps, in bytes.
const MAX_BYTES: usize = 64 * 1024;
/// How long a piece is repeated now and then: what takes more than linear time shows.
const LONG_BYTES: usize = 256 * 1024;

/// Pieces that mean something to one reader or another.
const PIECES: &[&str] = &[
    "<",
    ">",
    "</",
    "/>",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "<!DOCTYPE x [",
    "<?xml version='1.0'?>",
    "<item>",
    "</item>",
    "<entry>",
    "<title>",
    "<link>",
    "<guid>",
    "xmlns:a='b'",
    "&",
    "&#x41;",
    "&#",
    "&lt;",
    "&nbsp;",
    "<script>",
    "<style>",
    "<p>",
    "<br>",
    "\"",
    "'",
    "\\",
    "\\u0000",
    "\\ud800",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "null",
    "true",
    "0",
    "-1",
    "1e999",
    "1.5",
    "18446744073709551615",
    "-9223372036854775808",
    "NaN",
    "../",
    "..",
    "/",
    "//",
    ".git",
    "%2e%2e",
    "%",
    "+",
    "?",
    "#",
    "&utm_a=b",
    "://",
    "@",
    "user:word@",
    "token=",
    "\n",
    "\r",
    "\r\n",
    "\0",
    "\t",
    "\u{1}",
    "\u{2}",
    "\u{4}",
    "\u{1b}[0m",
    "\u{7f}",
    "\u{85}",
    "\u{9b}",
    "\u{2028}",
    "\u{202e}",
    "\u{feff}",
    "é",
    "日",
    "İ",
    "ſ",
    "𝕏",
    "`",
    "```",
    "~~~",
    "<details>",
    "/close",
    "\r/close",
    "<!-- openhands-automation",
    "ghp_",
    "glpat-",
    "ustar\0",
    "Z",
    "T",
    "+00:00",
    "GMT",
    "2026",
    "status",
    "starting",
    "active",
    "version",
    "tasks",
    "reviews",
    "prs",
    "seen",
    "retries",
    "workspace_dir",
];

/// Makes inputs out of seeds.
pub(crate) struct Mutator<'a> {
    rng: Rng,
    seeds: &'a [Vec<u8>],
}

impl<'a> Mutator<'a> {
    pub(crate) fn new(seed: u64, name: &str, seeds: &'a [Vec<u8>]) -> Self {
        // Each target gets a sequence of its own, whichever others run.
        let own = name.bytes().fold(seed, |sum, byte| {
            sum.wrapping_mul(0x0100_0000_01b3)
                .wrapping_add(u64::from(byte))
        });
        Self {
            rng: Rng::with_seed(own),
            seeds,
        }
    }

    /// The next input.
    pub(crate) fn next_input(&mut self) -> Vec<u8> {
        let mut input = self.seed().to_vec();
        for _ in 0..=self.rng.usize(..6) {
            self.step(&mut input);
        }
        input.truncate(MAX_BYTES);
        if self.rng.u8(..) == 0 {
            self.stretch(&mut input);
        }
        input
    }

    fn seed(&mut self) -> &'a [u8] {
        let at = self.rng.usize(..self.seeds.len().max(1));
        self.seeds.get(at).map_or(&[], Vec::as_slice)
    }

    fn step(&mut self, input: &mut Vec<u8>) {
        let at = self.rng.usize(..=input.len());
        match self.rng.u8(..9) {
            0 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << self.rng.u8(..8);
                }
            }
            1 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte = self.rng.u8(..);
                }
            }
            2 => input.truncate(at),
            3 => drop(input.drain(self.range(input.len()))),
            4 => {
                let piece = input[self.range(input.len())].to_vec();
                input.splice(at..at, piece);
            }
            5 => {
                let other = self.seed();
                let piece = other[self.range(other.len())].to_vec();
                input.splice(at..at, piece);
            }
            6 => {
                let range = self.range(input.len());
                let other = self.seed();
                let piece = other[self.range(other.len())].to_vec();
                input.splice(range, piece);
            }
            _ => {
                let piece = PIECES[self.rng.usize(..PIECES.len())];
                let end = if self.rng.bool() {
                    at
                } else {
                    (at + piece.len()).min(input.len())
                };
                input.splice(at..end, piece.bytes());
            }
        }
    }

    /// Repeats a piece of the input many times in its place.
    fn stretch(&mut self, input: &mut Vec<u8>) {
        let start = self.rng.usize(..=input.len());
        let length = self.rng.usize(1..=12).min(input.len() - start);
        let piece = match &input[start..start + length] {
            [] => PIECES[self.rng.usize(..PIECES.len())].as_bytes().to_vec(),
            piece => piece.to_vec(),
        };
        let times = LONG_BYTES.saturating_sub(input.len()) / piece.len();
        input.splice(start..start, piece.repeat(times));
    }

    /// A part of something that long; short ones are likelier.
    fn range(&mut self, length: usize) -> Range<usize> {
        let start = self.rng.usize(..=length);
        let most = if self.rng.bool() { 16 } else { 4096 };
        let end = start + self.rng.usize(..=most.min(length - start));
        start..end
    }
}
