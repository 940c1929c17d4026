//! The news sites over their socket.

use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::json;

use super::*;
use crate::call::{Answer, Call};

fn get(url: &str) -> Answer {
    Call::get(url).send().unwrap()
}

fn stories() -> Vec<Story> {
    let first = Story::new("1", "Bread & <butter>", "https://example.com/a?x=1&y=2")
        .published(1_787_211_000.0)
        .summary("<p>Fish &amp; chips</p>");
    vec![
        first,
        Story::new("2", "Undated", "https://example.com/b").without_id(),
    ]
}

#[test]
fn writes_rss_with_everything_escaped() {
    let feeds = Feeds::start().unwrap();
    let url = feeds.feed("/rss", "News", Format::Rss, &stories());
    let answer = get(&url);
    assert_eq!(
        answer.header("content-type"),
        Some("application/rss+xml; charset=utf-8")
    );
    let text = answer.text();
    for part in [
        "<title>Bread &amp; &lt;butter&gt;</title>",
        "<link>https://example.com/a?x=1&amp;y=2</link>",
        "<guid isPermaLink=\"false\">1</guid>",
        "<pubDate>Thu, 20 Aug 2026 07:30:00 GMT</pubDate>",
        "<description>&lt;p&gt;Fish &amp;amp; chips&lt;/p&gt;</description>",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert_eq!(text.matches("<guid").count(), 1);
    assert_eq!(feeds.hits("/rss"), 1);
}

#[test]
fn writes_atom_and_json_feed() {
    let feeds = Feeds::start().unwrap();
    let atom = get(&feeds.feed("/atom", "News", Format::Atom, &stories())).text();
    assert!(
        atom.contains("<published>2026-08-20T07:30:00Z</published>"),
        "{atom}"
    );
    assert!(
        atom.contains("<link rel=\"alternate\" href=\"https://example.com/b\"/>"),
        "{atom}"
    );
    let feed = get(&feeds.feed("/json", "News", Format::JsonFeed, &stories())).json();
    assert_eq!(feed["items"][0]["date_published"], "2026-08-20T07:30:00Z");
    assert_eq!(
        feed["items"][1],
        json!({"title": "Undated", "url": "https://example.com/b"})
    );
}

#[test]
fn answers_conditions_until_something_is_published() {
    let feeds = Feeds::start().unwrap();
    let url = feeds.feed("/rss", "News", Format::Rss, &stories());
    let first = get(&url);
    let tag = first.header("etag").unwrap().to_owned();
    let since = first.header("last-modified").unwrap().to_owned();
    let by_tag = Call::get(&url).header("If-None-Match", &tag);
    assert_eq!(by_tag.send().unwrap().status, 304);
    assert_eq!(
        Call::get(&url)
            .header("If-Modified-Since", &since)
            .send()
            .unwrap()
            .status,
        304
    );
    feeds.publish("/rss", &[Story::numbered(7, 1_787_211_001.0)]);
    let fresh = by_tag.send().unwrap();
    assert_eq!(fresh.status, 200);
    let (new, old) = (
        fresh.text().find("Story number 7"),
        fresh.text().find("Bread"),
    );
    assert!(new.is_some() && new < old);
    feeds.set_validators("/rss", false);
    assert_eq!(get(&url).header("etag"), None);
}

#[test]
fn serves_bytes_redirects_and_statuses() {
    let feeds = Feeds::start().unwrap();
    let url = feeds.raw("/raw", "text/html", b"\xff\xfe<\0".to_vec());
    assert_eq!(get(&url).body, b"\xff\xfe<\0");
    let moved = get(&feeds.redirect("/old", 301, "/raw"));
    assert_eq!(
        (moved.status, moved.header("location")),
        (301, Some("/raw"))
    );
    assert_eq!(get(&feeds.status("/gone", 410)).status, 410);
    feeds.server().check().unwrap();
    assert_eq!(get(&feeds.url("/elsewhere")).status, 404);
    assert!(feeds.server().check().is_err());
}

#[test]
fn compresses_with_or_without_saying_so() {
    let feeds = Feeds::start().unwrap();
    let url = feeds.raw("/raw", "application/xml", b"<rss/>".to_vec());
    for announced in [true, false] {
        feeds.set_gzip("/raw", announced);
        let answer = get(&url);
        assert_eq!(
            answer.header("content-encoding"),
            announced.then_some("gzip")
        );
        let mut text = String::new();
        GzDecoder::new(answer.body.as_slice())
            .read_to_string(&mut text)
            .unwrap();
        assert_eq!(text, "<rss/>");
    }
    feeds.set_header("/raw", "content-type", "text/plain");
    assert_eq!(get(&url).header("content-type"), Some("text/plain"));
}

#[test]
fn dates_have_the_right_weekday() {
    assert_eq!(http_date(0.0), "Thu, 01 Jan 1970 00:00:00 GMT");
    assert_eq!(http_date(784_111_777.0), "Sun, 06 Nov 1994 08:49:37 GMT");
    assert_eq!(http_date(951_782_400.0), "Tue, 29 Feb 2000 00:00:00 GMT");
}
