//! Documents that nobody sane writes: mutations of the fixtures and patterns that repeat until a
//! careless reader is slow, deep or large. Nothing may panic, hang, or break what an entry promises.

use std::time::{Duration, Instant};

use news_feeds::{Feed, FeedError, canonical_link, fingerprint, parse_date, parse_feed};

use crate::Case;

/// The same numbers every time (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).unwrap()
    }

    fn one_of<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

const PIECES: [&[u8]; 36] = [
    b"<",
    b">",
    b"</",
    b"/>",
    b"&",
    b";",
    b"\"",
    b"'",
    b"=",
    b"<!--",
    b"-->",
    b"<![CDATA[",
    b"]]>",
    b"<?",
    b"?>",
    b"<!DOCTYPE [",
    b"<item>",
    b"</item>",
    b"<entry",
    b"</channel>",
    b"</rss>",
    b"<title>",
    b"</title>",
    b"<link href='",
    b" xmlns='",
    b" xml:base='http://[::",
    b"&#x110000;",
    b"&#xD800;",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\0",
    b"\x1f\x8b",
    b"{\"items\":[",
    b"\\ud800",
    b"%",
    b"<script>",
];

fn mutated(document: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = document.to_vec();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(bytes.len() + 1);
        let end = (at + numbers.below(40)).min(bytes.len());
        match numbers.below(6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let copy = bytes[at..end].to_vec();
                let to = numbers.below(bytes.len() + 1);
                bytes.splice(to..to, copy);
            }
            3 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << numbers.below(8);
                }
            }
            _ => drop(bytes.splice(at..at, numbers.one_of(&PIECES).iter().copied())),
        }
    }
    bytes
}

/// What holds for every entry, whatever it was read from.
fn check(feed: &Feed) {
    for entry in &feed.entries {
        let line = |text: &str| {
            assert!(!text.contains(char::is_control), "{text:?}");
            assert_eq!(text.trim(), text);
            assert!(text.chars().count() <= 1001, "{}", text.len());
        };
        line(&entry.summary);
        assert!(entry.summary.is_empty() || entry.summary.chars().count() >= 30);
        if entry.title != entry.link {
            line(&entry.title);
        }
        assert_eq!(entry.canonical, canonical_link(&entry.link));
        assert!((1..=2).contains(&entry.keys.len()));
        assert!(entry.keys.iter().all(|key| key.len() == 16));
        assert!(entry.published.is_none_or(f64::is_finite));
        assert!(entry.id.as_deref() != Some(""));
    }
}

#[test]
fn mutated_documents_are_read_or_refused() {
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    let mut read = 0;
    for case in Case::all() {
        for document in case.documents() {
            let bytes = case.bytes(document);
            for _ in 0..60 {
                let content_type = numbers.one_of(&["text/xml", "text/xml; charset=utf-16", ""]);
                let base = numbers.one_of(&["https://e.example/x", "mailto:me", "no base"]);
                let mutation = mutated(&bytes, &mut numbers);
                if let Ok(feed) = parse_feed(&mutation, Some(content_type), Some(base)) {
                    check(&feed);
                    read += 1;
                }
            }
        }
    }
    assert!(read > 1000, "only {read} were read");
}

#[test]
fn mutated_links_and_dates_are_read_or_refused() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let seeds = [
        "https://user@Example.com:443/a//b/?utm_source=x&a=%C3%A9#f",
        "//[::1]/;p?=&=",
        "Tue, 18 Aug 2026 09:12:00 +0200 (CEST)",
        "2026-08-18T09:12:00.123456+02:00",
        "mar., 18 août 2026 - 9:12 pm GMT-3",
    ];
    for _ in 0..4000 {
        let bytes = mutated(numbers.one_of(&seeds).as_bytes(), &mut numbers);
        let text = String::from_utf8_lossy(&bytes);
        assert_eq!(fingerprint(&canonical_link(&text)).len(), 16);
        assert!(parse_date(&text).is_none_or(f64::is_finite));
    }
}

/// A document in which `pattern` is repeated up to `size` bytes, between `start` and `end`.
fn repeated(start: &str, pattern: &str, end: &str, size: usize) -> Vec<u8> {
    format!("{start}{}{end}", pattern.repeat(size / pattern.len())).into_bytes()
}

#[test]
fn patterns_that_repeat_are_read_in_linear_time() {
    const STARTS: [&str; 6] = [
        "",
        "<rss><channel>",
        "<rss><channel><item><title>",
        "<rss><channel><item><title>t</title><description>",
        "<rss><channel><item><title>t</title><description><![CDATA[",
        "<feed xmlns='http://www.w3.org/2005/Atom'><entry><link href='",
    ];
    const PATTERNS: [&str; 34] = [
        "<",
        "<a",
        "<a b='",
        "<a b=\"'",
        "<a b=>",
        "<a>",
        "</a>",
        "<p>",
        "<b></a>",
        "&",
        "&amp",
        "&amp;",
        "&#",
        "&#x26;",
        "&zz;",
        "<!",
        "<![",
        "<![>",
        "<!--",
        "<!-->",
        "<![CDATA[",
        "<?",
        "<?x>",
        "]]>",
        "<item>",
        "<item/>",
        "<item><title>x</title>",
        "<script>",
        "</script",
        "<T>",
        "<title>",
        "<x:a xmlns:x='y' xml:base='z/'>",
        "\u{0}",
        "é",
    ];
    let mut slowest = (Duration::ZERO, String::new());
    for start in STARTS {
        for pattern in PATTERNS {
            let end = if start.contains("CDATA") {
                "]]></description></item>"
            } else {
                ""
            };
            let document = repeated(start, pattern, end, 24_000);
            let started = Instant::now();
            if let Ok(feed) = parse_feed(&document, None, Some("https://e.example/")) {
                check(&feed);
            }
            let case = (started.elapsed(), format!("{start} {pattern}"));
            slowest = slowest.max(case);
        }
    }
    // Far more than it takes, and far less than a quadratic reader would.
    assert!(slowest.0 < Duration::from_secs(4), "{slowest:?}");
}

#[test]
fn deep_and_long_json_is_read_or_refused() {
    let feed = "{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[";
    for (start, pattern) in [
        ("", "["),
        ("", "{\"a\":"),
        (feed, "["),
        (feed, "{\"id\":"),
        (feed, "{},"),
        (feed, "{\"id\":1},"),
        (feed, "{\"id\":\"\\ud800\"},"),
        (feed, "\""),
    ] {
        let document = repeated(start, pattern, "", 300_000);
        if let Ok(feed) = parse_feed(&document, None, None) {
            check(&feed);
        }
    }
}

#[test]
fn more_entries_than_anybody_reads_are_left_out() {
    let many = "<item><guid>x</guid></item>".repeat(20_500);
    let feed = parse_feed(
        format!("<rss><channel>{many}</channel></rss>").as_bytes(),
        None,
        None,
    );
    let feed = feed.unwrap();
    assert_eq!(feed.entries.len(), 20_000);
    assert!(
        feed.warnings
            .iter()
            .any(|w| w.contains("only the first 20000")),
        "{:?}",
        feed.warnings
    );
}

#[test]
fn a_document_over_four_mebibytes_is_refused() {
    let document = vec![b' '; news_feeds::MAX_DOCUMENT_BYTES + 1];
    let error = parse_feed(&document, None, None).unwrap_err();
    assert!(
        matches!(error, FeedError::TooLarge { limit } if limit == news_feeds::MAX_DOCUMENT_BYTES),
        "{error:?}"
    );
    assert_eq!(error.to_string(), "larger than 4194304 bytes");
}
