//! Which stories of several feeds come into the shortlist, and how they are counted.

use std::collections::HashSet;

use news_feeds::{Criteria, Feed, Funnel, Selection, parse_date, parse_feed, select};

use crate::Case;

fn criteria() -> Criteria {
    let now = parse_date("2026-08-20T06:00:00Z").unwrap();
    Criteria {
        now,
        lookback_hours: 48,
        max_items: 50,
    }
}

fn selected(feeds: &[Feed], seen: &HashSet<String>, criteria: Criteria) -> Selection {
    let urls: Vec<String> = (0..feeds.len())
        .map(|n| format!("https://feed{n}.example/x"))
        .collect();
    select(
        urls.iter().map(String::as_str).zip(feeds),
        &|key| seen.contains(key),
        criteria,
    )
}

fn titles(selection: &Selection) -> Vec<&str> {
    selection
        .stories
        .iter()
        .map(|story| story.entry.title.as_str())
        .collect()
}

/// A feed of items given as `(title, date, link)`.
fn feed(items: &[(&str, &str, &str)]) -> Feed {
    let mut xml = String::from("<rss version='2.0'><channel><title>T</title>");
    for (title, date, link) in items {
        xml += &format!("<item><title>{title}</title><pubDate>{date}</pubDate>");
        xml += &format!("<link>{link}</link></item>");
    }
    xml += "</channel></rss>";
    parse_feed(xml.as_bytes(), None, None).unwrap()
}

#[test]
fn documents_hold_as_many_stories_as_expected() {
    let mut checked = 0;
    for case in Case::all() {
        if let Some(stories) = case.expect["distinct_stories"].as_u64() {
            let selection = selected(&case.feeds(), &HashSet::new(), criteria());
            assert_eq!(selection.stories.len() as u64, stories, "{}", case.name);
            checked += 1;
        }
    }
    assert!(checked >= 2);
}

#[test]
fn a_guid_shared_by_all_is_no_ones_key() {
    let feed = &Case::named("guid-shared-by-all").feeds()[0];
    for entry in &feed.entries {
        assert_eq!(entry.keys, [news_feeds::fingerprint(&entry.canonical)]);
    }
}

#[test]
fn a_new_guid_does_not_bring_a_story_again() {
    let feeds = Case::named("guid-new-on-every-fetch").feeds();
    let first = selected(&feeds[..1], &HashSet::new(), criteria());
    assert_eq!(first.stories.len(), 3);
    let seen = first
        .stories
        .iter()
        .flat_map(|story| story.entry.keys.clone())
        .collect();
    let second = selected(&feeds[1..], &seen, criteria());
    assert_eq!(
        second.funnel,
        Funnel {
            fetched: 3,
            unseen: 0,
            fresh: 0
        }
    );
}

#[test]
fn newest_first_within_the_window() {
    let feed = feed(&[
        ("old", "2026-08-17T00:00:00Z", "/old"),
        ("older but fresh", "2026-08-18T07:00:00Z", "/1"),
        ("newest", "2026-08-20T05:00:00Z", "/2"),
        ("undated", "", "/3"),
        ("a day ahead", "2026-08-21T05:00:00Z", "/4"),
        ("from the far future", "2036-01-01T00:00:00Z", "/5"),
        ("placeholder date", "0001-01-01T00:00:00Z", "/6"),
    ]);
    let selection = selected(&[feed], &HashSet::new(), criteria());
    assert_eq!(
        titles(&selection),
        [
            "a day ahead",
            "undated",
            "placeholder date",
            "newest",
            "older but fresh"
        ]
    );
    assert_eq!(
        selection.funnel,
        Funnel {
            fetched: 7,
            unseen: 7,
            fresh: 5
        }
    );
}

#[test]
fn the_same_story_is_taken_once_even_through_a_third() {
    let both = |guid: &str, link: &str| {
        format!("<item><title>{guid}{link}</title><guid>{guid}</guid><link>{link}</link></item>")
    };
    let parse = |items: String| {
        let xml = format!("<rss><channel>{items}</channel></rss>");
        parse_feed(xml.as_bytes(), None, Some("https://e.example/")).unwrap()
    };
    let feeds = [
        parse(both("g1", "/l1")),
        parse(both("g2", "/l1")),
        parse(both("g2", "/l2")),
    ];
    let selection = selected(&feeds, &HashSet::new(), criteria());
    assert_eq!(titles(&selection), ["g1/l1"]);
    assert_eq!(
        selection.funnel,
        Funnel {
            fetched: 3,
            unseen: 3,
            fresh: 1
        }
    );
    // A feed without a title is named by the host it is configured with.
    assert_eq!(selection.stories[0].source, "feed0.example");
    assert_eq!(selection.stories[0].feed, "https://feed0.example/x");
}

#[test]
fn a_stale_copy_does_not_hide_a_fresh_one() {
    let stale = feed(&[("stale", "2026-01-01", "https://e.example/1")]);
    let fresh = feed(&[("fresh", "2026-08-20", "https://e.example/1")]);
    let selection = selected(&[stale, fresh], &HashSet::new(), criteria());
    assert_eq!(titles(&selection), ["fresh"]);
}

#[test]
fn an_archive_without_dates_leaves_room_for_the_days_news() {
    let undated: Vec<String> = (0..30).map(|n| format!("/u{n}")).collect();
    let undated: Vec<_> = undated
        .iter()
        .map(|link| (link.as_str(), "", link.as_str()))
        .collect();
    let dated: Vec<String> = (0..30).map(|n| format!("/d{n}")).collect();
    let dated: Vec<_> = dated
        .iter()
        .map(|link| (link.as_str(), "2026-08-19T21:00:00Z", link.as_str()))
        .collect();
    let feeds = [feed(&undated), feed(&dated)];
    let count = |max_items| {
        let selection = selected(
            &feeds,
            &HashSet::new(),
            Criteria {
                max_items,
                ..criteria()
            },
        );
        assert_eq!(selection.funnel.fresh, 60);
        let undated = selection
            .stories
            .iter()
            .filter(|s| s.entry.published.is_none())
            .count();
        (selection.stories.len(), undated)
    };
    assert_eq!(count(20), (20, 10));
    assert_eq!(count(1), (1, 0));
    assert_eq!(count(50), (50, 25));
    assert_eq!(count(200), (60, 30));
}

#[test]
fn what_was_seen_by_either_key_is_known() {
    let feed = &Case::named("blank-lines-before-declaration").feeds()[0];
    for index in 0..2 {
        let seen = HashSet::from([feed.entries[0].keys[index].clone()]);
        let selection = selected(std::slice::from_ref(feed), &seen, criteria());
        assert_eq!(titles(&selection), ["Bakers strike ends"]);
        assert_eq!(
            selection.funnel,
            Funnel {
                fetched: 2,
                unseen: 1,
                fresh: 1
            }
        );
    }
}
