//! Compares every document with the `expect.json` beside it.
//!
//! `X_any_of` lists further accepted values of `X`, `title_starts_with` and `title_ends_with`
//! stand in for a title, `warnings_contain` and `error_contains` list parts of what is said.

use news_feeds::{Feed, FeedReport};
use serde_json::Value;

use crate::Case;

#[test]
fn every_document_is_read_as_expected() {
    let mut faults = Vec::new();
    for case in Case::all() {
        for document in case.documents() {
            if let Err(fault) = check(&case, document) {
                faults.push(format!("{}/{}: {fault}", case.name, document["file"]));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

fn check(case: &Case, document: &Value) -> Result<(), String> {
    let accepted: Vec<&str> = std::iter::once(&document["outcome"])
        .chain(document["outcome_any_of"].as_array().into_iter().flatten())
        .filter_map(Value::as_str)
        .collect();
    match case.parse(document) {
        Ok(feed) if accepted.iter().any(|outcome| outcome.starts_with("ok")) => {
            check_feed(&feed, document)
        }
        Ok(feed) => Err(format!("was read, with {} entries", feed.entries.len())),
        Err(error) if accepted.contains(&"feed error") => {
            let text = error.to_string();
            parts(document, "error_contains", std::slice::from_ref(&text))
        }
        Err(error) => Err(error.to_string()),
    }
}

fn check_feed(feed: &Feed, document: &Value) -> Result<(), String> {
    let report = serde_json::to_value(FeedReport::from(feed)).unwrap();
    if let Some(title) = document["feed_title"].as_str()
        && report["title"] != title
    {
        return Err(format!(
            "feed title {} instead of {title:?}",
            report["title"]
        ));
    }
    parts(document, "warnings_contain", &feed.warnings)?;
    let Some(expected) = document["entries"].as_array() else {
        return Ok(());
    };
    let mut found = report["entries"].as_array().unwrap().iter();
    let extra = document["extra_entries_allowed"] == true;
    for expected in expected {
        let fits = |found: &Value| check_entry(expected, found);
        if extra {
            if !found.any(|found| fits(found).is_ok()) {
                return Err(format!("no entry like {expected}"));
            }
        } else {
            fits(
                found
                    .next()
                    .ok_or_else(|| format!("nothing for {expected}"))?,
            )?;
        }
    }
    match found.next() {
        Some(more) if !extra => Err(format!("one entry too many: {more}")),
        _ => Ok(()),
    }
}

fn check_entry(expected: &Value, found: &Value) -> Result<(), String> {
    let fields = expected.as_object().unwrap();
    for (name, value) in fields {
        let title = found["title"].as_str().unwrap();
        let (fits, name) = match name.as_str() {
            "title_starts_with" => (title.starts_with(value.as_str().unwrap()), "title"),
            "title_ends_with" => (title.ends_with(value.as_str().unwrap()), "title"),
            name if name.ends_with("_any_of") => continue,
            name => {
                let others = fields
                    .get(&format!("{name}_any_of"))
                    .and_then(Value::as_array);
                let other = others.is_some_and(|others| others.contains(&found[name]));
                (other || found[name] == *value, name)
            }
        };
        if !fits {
            return Err(format!("{name} is {} instead of {value}", found[name]));
        }
    }
    Ok(())
}

fn parts(document: &Value, name: &str, texts: &[String]) -> Result<(), String> {
    for part in document[name]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        if !texts.iter().any(|text| text.contains(part)) {
            return Err(format!("{part:?} is not in {texts:?}"));
        }
    }
    Ok(())
}
