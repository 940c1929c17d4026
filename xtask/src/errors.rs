//! No kind of error is left out of the tests: each variant of an error enum is named, as
//! `Enum::Variant`, in the code of some test. That the test makes it come about is not checked. Tests
//! of its own crate count, and those of crates that have no enum of that name themselves: what a port
//! can answer is produced elsewhere.

use crate::error::TaskError;
use crate::process::root;
use crate::sources;
use std::collections::BTreeMap;
use std::path::Path;

/// Fewer variants than this were read wrongly.
const LEAST: usize = 100;
/// What stands before the tests in a file of sources.
const TESTS: &str = "#[cfg(test)]";

/// The sources of a crate.
#[derive(Default)]
struct Sources {
    code: String,
    tests: String,
}

/// Checks the crates.
pub(crate) fn run() -> Result<(), TaskError> {
    let mut crates = BTreeMap::new();
    for folder in sources::entries(&root().join("crates"))? {
        if folder.is_dir() {
            crates.insert(folder.clone(), read(&folder)?);
        }
    }
    let fuzz = root().join("fuzz/targets");
    crates.insert(fuzz.clone(), read(&fuzz)?);
    let variants: Vec<_> = crates
        .values()
        .map(|sources| variants(&sources.code))
        .collect();
    let number: usize = variants.iter().map(Vec::len).sum();
    if number < LEAST {
        return Err(TaskError::found(format!(
            "only {number} kinds of errors were found, fewer than there were"
        )));
    }
    let mut unnamed = Vec::new();
    for (at, own) in variants.iter().enumerate() {
        for (name, variant) in own {
            let is_named =
                crates
                    .values()
                    .zip(&variants)
                    .enumerate()
                    .any(|(other, (sources, theirs))| {
                        let counts = other == at || theirs.iter().all(|(their, _)| their != name);
                        counts && names(&sources.tests, &format!("{name}::{variant}"))
                    });
            if !is_named {
                let folder = crates.keys().nth(at).and_then(|path| path.file_name());
                let folder = folder.unwrap_or_default().to_string_lossy();
                unnamed.push(format!(
                    "no test names {name}::{variant} of {folder}: show how it comes about"
                ));
            }
        }
    }
    if unnamed.is_empty() {
        Ok(())
    } else {
        Err(TaskError::found(unnamed.join("\n")))
    }
}

fn read(folder: &Path) -> Result<Sources, TaskError> {
    let mut found = Sources::default();
    for file in sources::below(folder)? {
        let text = sources::read(&file)?;
        let is_comment = |line: &&str| !line.trim_start().starts_with("//");
        let lines: Vec<&str> = text.lines().filter(is_comment).collect();
        if is_of_tests(&file) {
            found.tests.push_str(&lines.join("\n"));
        } else {
            sort(&lines, &mut found);
        }
    }
    Ok(found)
}

/// Parts the code of a file from the modules of tests within it.
fn sort(lines: &[&str], sources: &mut Sources) {
    let mut in_tests = false;
    for (at, line) in lines.iter().enumerate() {
        let begins = at > 0 && lines[at - 1] == TESTS && line.starts_with("mod ");
        in_tests |= begins && line.ends_with('{');
        let to = if in_tests {
            &mut sources.tests
        } else {
            &mut sources.code
        };
        to.push_str(line);
        to.push('\n');
        in_tests &= *line != "}";
    }
}

/// All enums whose name ends in `Error`, with each of their variants.
fn variants(code: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut within = None;
    for line in code.lines() {
        if let Some((before, rest)) = line.split_once("enum ")
            && (before.is_empty() || before.starts_with("pub"))
        {
            let name = rest.trim_end_matches(" {");
            within = name.ends_with("Error").then_some(name);
        } else if line == "}" {
            within = None;
        } else if let Some(name) = within
            && let Some(rest) = line.strip_prefix("    ")
            && rest.starts_with(|c: char| c.is_ascii_uppercase())
        {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric());
            let variant = &rest[..end.unwrap_or(rest.len())];
            found.push((name.to_owned(), variant.to_owned()));
        }
    }
    found
}

/// Whether a text holds a variant, and not just one that begins like it.
fn names(text: &str, variant: &str) -> bool {
    text.match_indices(variant).any(|(at, _)| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (before, after) = (&text[..at], &text[at + variant.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

fn is_of_tests(file: &Path) -> bool {
    file.components().any(|part| part.as_os_str() == "tests")
        || file.to_string_lossy().ends_with("tests.rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "
/// What is wrong.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Lost.
    #[error(\"lost {text}\")]
    Lost {
        /// What.
        text: String,
    },
    #[error(transparent)]
    Http(#[from] HttpError),
    Full,
}

pub(super) enum OpenError {
    BadUrl(String),
}

pub enum Outcome {
    Done,
}

enum OwnError {
    Hidden,
}
";

    #[test]
    fn variants_of_errors_are_found() {
        let found: Vec<String> = variants(CODE)
            .into_iter()
            .map(|(name, variant)| format!("{name}::{variant}"))
            .collect();
        assert_eq!(
            found.join(" "),
            "StoreError::Lost StoreError::Http StoreError::Full OpenError::BadUrl OwnError::Hidden"
        );
    }

    #[test]
    fn tests_within_a_file_are_told_from_its_code() {
        let text = "a\n#[cfg(test)]\nmod tests;\nb\n#[cfg(test)]\nmod more {\n    c\n}\nd";
        let mut sources = Sources::default();
        sort(&text.lines().collect::<Vec<_>>(), &mut sources);
        assert_eq!(sources.tests, "mod more {\n    c\n}\n");
        assert!(sources.code.ends_with("mod tests;\nb\n#[cfg(test)]\nd\n"));
    }

    #[test]
    fn a_variant_is_named_whole() {
        assert!(names(
            "matches!(error, StoreError::Full)",
            "StoreError::Full"
        ));
        assert!(!names("StoreError::FullDisk", "StoreError::Full"));
        assert!(!names("MyStoreError::Full", "StoreError::Full"));
        assert!(names(
            "(StoreError::FullDisk, StoreError::Full { .. })",
            "StoreError::Full"
        ));
    }
}
