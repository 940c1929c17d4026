//! What `docs/security.md` claims rests on tests that exist: each claim names one, and a test that
//! was renamed or removed takes its claim along.
//!
//! A test is written as `crate::…::name` in backticks, where the crate is a folder below `crates/`
//! (or `fuzz-targets`, `xtask`) and the name is that of a test function in one of its files. The part
//! between them is for people.

use crate::error::TaskError;
use crate::process::root;
use crate::sources;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The page with the claims.
const PAGE: &str = "docs/security.md";
/// Fewer claims than this were read wrongly.
const LEAST: usize = 20;

/// Checks the page.
pub(crate) fn run() -> Result<(), TaskError> {
    let page = root().join(PAGE);
    let text = sources::read(&page)?;
    let mut wrong = unproved(&text);
    let named = tests_named(&text);
    if named.len() < LEAST {
        wrong.push(format!(
            "{PAGE} names {} tests, fewer than it did",
            named.len()
        ));
    }
    for (package, name) in &named {
        if !is_test(&folder_of(package), name) {
            wrong.push(format!(
                "{PAGE} names `{package}::{name}`, and there is no such test"
            ));
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(TaskError::found(wrong.join("\n")))
    }
}

/// Claims without a test. A claim is a row of a table below its head.
fn unproved(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut body = false;
    for line in text.lines() {
        if !line.starts_with('|') {
            body = false;
        } else if line.starts_with("|-") || line.starts_with("| -") {
            body = true;
        } else if body && tests_named(line).is_empty() {
            wrong.push(format!("{PAGE}: no test is named for: {line}"));
        }
    }
    wrong
}

/// Crate and name of each test that a text names.
fn tests_named(text: &str) -> BTreeSet<(String, String)> {
    let named = text.split('`').skip(1).step_by(2).filter_map(|code| {
        let (package, rest) = code.split_once("::")?;
        let name = rest.rsplit("::").next()?;
        let plain = |text: &str| {
            text.chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
        };
        (plain(package) && plain(name)).then(|| (package.to_owned(), name.to_owned()))
    });
    named.collect()
}

fn folder_of(package: &str) -> PathBuf {
    match package {
        "fuzz-targets" => root().join("fuzz/targets"),
        "xtask" => root().join("xtask"),
        other => root().join("crates").join(other),
    }
}

/// Whether a file below a folder has a test function of that name. A `#[test]` (or one with another
/// path, or of tokio) stands within the few lines before it.
fn is_test(folder: &Path, name: &str) -> bool {
    let files = sources::below(folder).unwrap_or_default();
    files
        .iter()
        .any(|file| sources::read(file).is_ok_and(|source| has_test(&source, name)))
}

fn has_test(source: &str, name: &str) -> bool {
    let head = format!("fn {name}(");
    let lines: Vec<&str> = source.lines().collect();
    lines.iter().enumerate().any(|(at, line)| {
        line.contains(&head)
            && lines[at.saturating_sub(6)..at]
                .iter()
                .any(|before| before.trim_start().starts_with("#[") && before.contains("test"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_claim_names_a_test_that_exists() {
        run().unwrap();
    }

    #[test]
    fn a_claim_without_a_test_is_found() {
        let page = "| claim | test |\n| - | - |\n| a | `cli::it::b` |\n| c | none |\n";
        assert_eq!(unproved(page).len(), 1);
        assert_eq!(
            tests_named(page),
            BTreeSet::from([("cli".to_owned(), "b".to_owned())])
        );
        assert!(has_test("#[tokio::test]\nasync fn b() {", "b"));
        assert!(!has_test("fn b() {", "b") && !has_test("#[test]\nfn bc() {", "b"));
    }
}
