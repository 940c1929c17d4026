//! `feeds inspect` over every feed under `fixtures/feeds`, by the real binary: what it prints is what
//! the `expect.json` beside the feed says.
//!
//! `X_any_of` lists further accepted values of `X`, `title_starts_with` and `title_ends_with` stand
//! in for a title, `warnings_contain` and `error_contains` list parts of what is said.

use crate::process::{Ended, Process};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use testbed::feeds::Feeds;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/feeds")
}

/// Every folder with an `expect.json`, and what that says.
fn cases() -> Vec<(PathBuf, Value)> {
    let folders = std::fs::read_dir(fixtures()).unwrap();
    let mut cases: Vec<(PathBuf, Value)> = folders
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|folder| {
            let text = std::fs::read_to_string(folder.join("expect.json")).unwrap();
            (folder, serde_json::from_str(&text).unwrap())
        })
        .collect();
    cases.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(
        cases.len() > 20,
        "the fixtures are not where they should be"
    );
    cases
}

fn inspect(feed: &str, case: &Value) -> Ended {
    let mut process = Process::people(&["feeds", "inspect", feed, "--json"]);
    if let Some(url) = case["fetch"]["final_url"].as_str() {
        process = process.args(["--url", url]);
    }
    if let Some(kind) = case["fetch"]["content_type"].as_str() {
        process = process.args(["--content-type", kind]);
    }
    process.run()
}

#[test]
fn every_feed_is_read_as_its_expectation_says() {
    let mut faults = Vec::new();
    for (folder, case) in cases() {
        for document in case["documents"].as_array().unwrap() {
            let file = folder.join(document["file"].as_str().unwrap());
            let ended = inspect(file.to_str().unwrap(), &case);
            if let Err(fault) = check(&ended, document) {
                faults.push(format!("{}: {fault}", file.display()));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn a_feed_is_read_the_same_from_an_address() {
    let site = Feeds::start().unwrap();
    for (index, (folder, case)) in cases().into_iter().enumerate().step_by(7) {
        // Links are resolved by the address, so only the titles and ids can be the same.
        for document in case["documents"].as_array().unwrap() {
            let file = folder.join(document["file"].as_str().unwrap());
            let kind = case["fetch"]["content_type"].as_str().unwrap_or("text/xml");
            let url = site.raw(&format!("/{index}"), kind, std::fs::read(&file).unwrap());
            let fetched = Process::people(&["feeds", "inspect", &url, "--json"]).run();
            let read = inspect(file.to_str().unwrap(), &case);
            assert_eq!(fetched.code, read.code, "{} {fetched:?}", file.display());
            let names = |ended: &Ended| -> Vec<(Value, Value)> {
                let entries = ended.json()["entries"].clone();
                let entries = entries.as_array().cloned().unwrap_or_default();
                entries
                    .iter()
                    .map(|entry| (entry["title"].clone(), entry["id"].clone()))
                    .collect()
            };
            assert_eq!(names(&fetched), names(&read), "{}", file.display());
        }
    }
    site.server().check().unwrap();
}

#[test]
fn people_see_the_same_in_words() {
    let file = fixtures().join("xml-base/feed.xml");
    let ended = Process::people(&["feeds", "inspect", file.to_str().unwrap()])
        .args(["--url", "https://feeds.example.org/news/feed.xml"])
        .run();
    insta::assert_snapshot!("feed-in-words", ended.said(0));
}

#[test]
fn standard_input_and_compressed_files_work_too() {
    let file = fixtures().join("packed-twice/feed.xml.gz");
    let bytes = std::fs::read(&file).unwrap();
    let piped = Process::people(&["feeds", "inspect", "-", "--json"]).run_with(bytes);
    let named = Process::people(&["feeds", "inspect", file.to_str().unwrap(), "--json"]).run();
    assert_eq!(piped.said(0), named.said(0));
    assert!(!piped.json()["entries"].as_array().unwrap().is_empty());
}

#[test]
fn what_cannot_be_inspected_says_why() {
    let missing = Process::people(&["feeds", "inspect", "no-such-file.xml"]).run();
    assert_eq!(missing.said(1), "");
    assert!(
        missing.stderr.contains("no-such-file.xml: cannot be read"),
        "{missing:?}"
    );

    let closed = testbed::ClosedPort::take().unwrap();
    let silent = Process::people(&["feeds", "inspect", closed.base_url(), "--json"]).run();
    assert!(silent.said(1).contains("error"), "{silent:?}");

    let both = Process::people(&[
        "feeds",
        "inspect",
        "http://127.0.0.1:1/",
        "--url",
        "http://x/",
    ]);
    assert!(both.run().stderr.contains("for files"));

    let folder = tempfile::tempdir().unwrap();
    let large = folder.path().join("large.xml");
    let mut text = "<rss version=\"2.0\"><channel><title>".to_owned();
    text.push_str(&" ".repeat(5 << 20));
    std::fs::write(&large, text).unwrap();
    let ended = Process::people(&["feeds", "inspect", large.to_str().unwrap()]).run();
    assert_eq!(ended.said(1), "");
    assert!(
        ended.stderr.contains("larger than 4194304 bytes"),
        "{ended:?}"
    );
}

fn check(ended: &Ended, document: &Value) -> Result<(), String> {
    let accepted: Vec<&str> = std::iter::once(&document["outcome"])
        .chain(document["outcome_any_of"].as_array().into_iter().flatten())
        .filter_map(Value::as_str)
        .collect();
    let report = ended.json();
    match ended.code {
        0 if accepted.iter().any(|outcome| outcome.starts_with("ok")) => {
            check_feed(&report, document)
        }
        1 if accepted.contains(&"feed error") => {
            let error = report["error"].as_str().unwrap_or_default();
            if !ended.stderr.contains("error: ") {
                return Err(format!("nothing on standard error: {ended:?}"));
            }
            contains(document, "error_contains", &[error])
        }
        code => Err(format!("exit code {code}: {}", ended.stderr)),
    }
}

fn check_feed(report: &Value, document: &Value) -> Result<(), String> {
    let members: Vec<&String> = report.as_object().unwrap().keys().collect();
    if members != ["dialect", "entries", "title", "warnings"] {
        return Err(format!("the members are {members:?}"));
    }
    if let Some(title) = document.get("feed_title")
        && report["title"] != *title
    {
        return Err(format!("the title is {}", report["title"]));
    }
    let warnings = report["warnings"].as_array().unwrap();
    let warnings: Vec<&str> = warnings.iter().filter_map(Value::as_str).collect();
    contains(document, "warnings_contain", &warnings)?;
    let Some(expected) = document["entries"].as_array() else {
        return Ok(());
    };
    let found = report["entries"].as_array().unwrap();
    if document["extra_entries_allowed"] == json!(true) {
        let missing = expected
            .iter()
            .find(|one| !found.iter().any(|entry| is(entry, one)));
        return missing.map_or(Ok(()), |one| Err(format!("no entry like {one}")));
    }
    if found.len() != expected.len() {
        return Err(format!("{} entries", found.len()));
    }
    let wrong = expected
        .iter()
        .zip(found)
        .find(|(expected, found)| !is(found, expected));
    wrong.map_or(Ok(()), |(expected, found)| {
        Err(format!("{found} is not {expected}"))
    })
}

/// Whether an entry is what is expected: every member that is named, and no more is asked.
fn is(found: &Value, expected: &Value) -> bool {
    let fields = expected.as_object().unwrap();
    let title = found["title"].as_str().unwrap();
    fields.iter().all(|(name, value)| match name.as_str() {
        "title_starts_with" => title.starts_with(value.as_str().unwrap()),
        "title_ends_with" => title.ends_with(value.as_str().unwrap()),
        name if name.ends_with("_any_of") => true,
        name => {
            let others = fields
                .get(&format!("{name}_any_of"))
                .and_then(Value::as_array);
            found[name] == *value || others.is_some_and(|others| others.contains(&found[name]))
        }
    })
}

fn contains(document: &Value, name: &str, texts: &[&str]) -> Result<(), String> {
    let parts = document[name].as_array().into_iter().flatten();
    for part in parts.filter_map(Value::as_str) {
        if !texts.iter().any(|text| text.contains(part)) {
            return Err(format!("{part:?} is not in {texts:?}"));
        }
    }
    Ok(())
}
