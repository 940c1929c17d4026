//! Pairs of input and result that were recorded from the deployed scripts.

use news_feeds::{canonical_link, fingerprint, parse_date, parse_feed};
use serde_json::Value;

use crate::{fixtures, json};

#[test]
fn links_and_fingerprints_agree_byte_for_byte() {
    let recorded = json(&fixtures("links").join("recorded.json"));
    let pairs = recorded["links"].as_array().unwrap();
    assert!(pairs.len() > 25);
    for pair in pairs {
        let canonical = canonical_link(pair["link"].as_str().unwrap());
        assert_eq!(
            canonical,
            pair["canonical"].as_str().unwrap(),
            "{}",
            pair["link"]
        );
        if let Some(expected) = pair["fingerprint"].as_str() {
            assert_eq!(fingerprint(&canonical), expected, "{}", pair["link"]);
        }
    }
}

/// Links made up at random, with what Python's `urllib.parse` makes of them.
#[test]
fn generated_links_agree_byte_for_byte() {
    let generated = json(&fixtures("links").join("generated.json"));
    let pairs = generated["links"].as_array().unwrap();
    assert!(pairs.len() > 300);
    for pair in pairs {
        let (link, canonical) = (pair[0].as_str().unwrap(), pair[1].as_str().unwrap());
        assert_eq!(canonical_link(link), canonical, "{link:?}");
    }
}

#[test]
fn dates_are_the_recorded_instants() {
    let recorded = json(&fixtures("dates").join("recorded.json"));
    let dates = recorded["dates"].as_array().unwrap();
    assert!(dates.len() > 15);
    for date in dates {
        let value = date["value"].as_str().unwrap();
        assert_eq!(parse_date(value), date["epoch"].as_f64(), "{value}");
    }
}

#[test]
fn further_dates_are_right_or_unknown() {
    let dates = json(&fixtures("dates").join("further.json"));
    for date in dates["dates"].as_array().unwrap() {
        let value = date["value"].as_str().unwrap();
        let instant = parse_date(value).and_then(news_feeds::rfc3339);
        assert_eq!(instant.as_deref(), date["instant"].as_str(), "{value}");
    }
}

#[test]
fn feeds_agree_in_titles_links_dates_and_fingerprints() {
    let recorded = json(&fixtures("feeds").join("recorded.json"));
    for (name, case) in recorded["feeds"].as_object().unwrap() {
        let feed = parse_feed(case["xml"].as_str().unwrap().as_bytes(), None, None).unwrap();
        assert_eq!(feed.title, case["source"].as_str().unwrap(), "{name}");
        assert_eq!(feed.warnings, Vec::<String>::new(), "{name}");
        let expected = case["entries"].as_array().unwrap();
        assert_eq!(feed.entries.len(), expected.len(), "{name}");
        for (entry, expected) in feed.entries.iter().zip(expected) {
            let text = |field: &str| expected[field].as_str().unwrap();
            assert_eq!(entry.title, text("title"), "{name}");
            assert_eq!(entry.link, text("link"), "{name}");
            assert_eq!(entry.summary, text("summary"), "{name}");
            assert_eq!(entry.published, expected["published"].as_f64(), "{name}");
            assert_eq!(
                Value::from(entry.keys.clone()),
                expected["fingerprints"],
                "{name}"
            );
        }
    }
}
