//! Fetching from a stand-in on loopback: redirects, time limits, broken answers, compression.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use http_client::{Client, HttpError, Policy};
use news_feeds::{Feed, FeedError, FetchLimits, fetch_all, fetch_feed};
use testbed::faults::Fault;
use testbed::feeds::{Feeds, Format, Story};

const SHORT: FetchLimits = FetchLimits {
    timeout: Duration::from_millis(400),
    max_bytes: 100_000,
};
const USUAL: FetchLimits = FetchLimits {
    timeout: Duration::from_secs(20),
    max_bytes: 100_000,
};

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

fn client() -> Client {
    let policy = Policy {
        retry_pause: Duration::from_millis(1),
        ..Policy::default()
    };
    Client::new(policy).unwrap()
}

fn fetched(url: &str, limits: FetchLimits) -> Result<Feed, FeedError> {
    run(fetch_feed(&client(), url, limits))
}

/// What befell the feed: the error of a fetch names the address as it was configured.
fn refused(configured: &str, limits: FetchLimits) -> FeedError {
    match fetched(configured, limits).unwrap_err() {
        FeedError::Fetch { url, why } if url == configured => *why,
        other => panic!("{other:?}"),
    }
}

fn stories() -> Vec<Story> {
    (1..=4)
        .map(|n| Story::numbered(n, 1_787_044_320.0))
        .collect()
}

#[test]
fn every_format_is_read_over_the_network() {
    let site = Feeds::start().unwrap();
    for (path, format) in [
        ("/rss", Format::Rss),
        ("/atom", Format::Atom),
        ("/json", Format::JsonFeed),
    ] {
        let url = site.feed(path, "Site", format, &stories());
        let feed = fetched(&url, USUAL).unwrap();
        assert_eq!(
            (feed.title.as_str(), feed.entries.len()),
            ("Site", 4),
            "{path}"
        );
        assert_eq!(
            feed.entries[0].link, "https://news.example.com/story/1",
            "{path}"
        );
        assert_eq!(feed.entries[0].published, Some(1_787_044_320.0), "{path}");
        assert_eq!(feed.warnings, Vec::<String>::new(), "{path}");
    }
    site.server().check().unwrap();
}

#[test]
fn compression_is_noticed_announced_or_not() {
    let site = Feeds::start().unwrap();
    for announced in [true, false] {
        let url = site.feed("/rss", "Packed", Format::Rss, &stories());
        site.set_gzip("/rss", announced);
        assert_eq!(
            fetched(&url, USUAL).unwrap().entries.len(),
            4,
            "announced: {announced}"
        );
    }
}

#[test]
fn relative_links_follow_the_final_address_and_errors_name_the_configured_one() {
    let site = Feeds::start().unwrap();
    let xml = "<rss version='2.0'><channel><title>T</title>\
        <item><title>A</title><link>a.html</link></item></channel></rss>";
    site.raw("/en/rss", "application/rss+xml", xml);
    site.redirect("/rss", 302, "/en/rss?lang=en");
    let configured = site.redirect("/feed", 301, &site.url("/rss"));
    let feed = fetched(&configured, USUAL).unwrap();
    assert_eq!(feed.entries[0].link, site.url("/en/a.html"));

    site.status("/en/rss", 500);
    let error = fetched(&configured, USUAL).unwrap_err();
    assert!(matches!(error, FeedError::Fetch { .. }), "{error:?}");
    assert_eq!(error.to_string(), format!("{configured}: HTTP 500"));
    let error = refused(&configured, USUAL);
    assert!(
        matches!(error, FeedError::Status { status: 500 }),
        "{error:?}"
    );
}

#[test]
fn passwords_in_an_address_reach_neither_links_nor_errors() {
    let site = Feeds::start().unwrap();
    let xml = "<rss version='2.0'><channel><item><link>/a</link></item></channel></rss>";
    let with_user = |url: String| url.replace("http://", "http://me:hunter2@");
    let feed = fetched(&with_user(site.raw("/rss", "text/xml", xml)), USUAL).unwrap();
    assert_eq!(feed.entries[0].link, site.url("/a"));

    let error = fetched(&with_user(site.status("/gone", 410)), USUAL)
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("HTTP 410") && !error.contains("hunter2"),
        "{error}"
    );
}

#[test]
fn what_is_no_feed_is_named_with_status_and_type() {
    let site = Feeds::start().unwrap();
    let page = "<!DOCTYPE html><html><body>Just a moment</body></html>";
    let url = site.raw("/rss", "application/rss+xml; charset=utf-8", page);
    assert_eq!(
        fetched(&url, USUAL).unwrap_err().to_string(),
        format!(
            "{url}: HTTP 200, an HTML page and not a feed (root element <html>, content type \
             application/rss+xml)"
        )
    );
    let FeedError::Answer { status: 200, why } = refused(&url, USUAL) else {
        panic!("another error");
    };
    assert!(matches!(*why, FeedError::HtmlPage { .. }), "{why:?}");
    for url in ["file:///etc/passwd", "news.example.org/rss", ""] {
        let error = refused(url, USUAL);
        assert!(matches!(error, FeedError::Address), "{error:?}");
        let error = fetched(url, USUAL).unwrap_err().to_string();
        assert_eq!(error, format!("{url}: not an http or https address"));
    }
}

#[test]
fn not_modified_never_hides_the_stories_of_a_failed_run() {
    let site = Feeds::start().unwrap();
    let url = site.feed("/rss", "Site", Format::Rss, &stories());
    let client = client();
    for _ in 0..2 {
        let feed = run(fetch_feed(&client, &url, USUAL)).unwrap();
        assert_eq!(feed.entries.len(), 4);
    }
    for request in site.server().log().matching("GET", "/rss") {
        assert_eq!(request.header("if-none-match"), None);
        assert_eq!(request.header("if-modified-since"), None);
    }
    // A server that says so unasked is at fault.
    let error = fetched(&site.status("/304", 304), USUAL)
        .unwrap_err()
        .to_string();
    assert!(error.ends_with("HTTP 304"), "{error}");
}

#[test]
fn a_document_over_the_limit_is_refused_packed_or_not() {
    let site = Feeds::start().unwrap();
    let big = format!(
        "<rss><channel><title>{}</title></channel></rss>",
        "x".repeat(200_000)
    );
    let url = site.raw("/rss", "text/xml", big);
    for announced in [None, Some(true), Some(false)] {
        if let Some(announced) = announced {
            site.set_gzip("/rss", announced);
        }
        let error = refused(&url, USUAL);
        assert!(error.to_string().contains("100000 bytes"), "{error}");
        // What is packed unannounced is small on its way and is unpacked here.
        match (announced, error) {
            (Some(false), FeedError::Answer { why, .. }) => {
                assert!(
                    matches!(*why, FeedError::TooLarge { limit: 100_000 }),
                    "{why:?}"
                );
            }
            (_, FeedError::Http(HttpError::TooLarge { .. })) => {}
            (_, other) => panic!("{announced:?}: {other:?}"),
        }
    }
}

#[test]
fn a_body_that_breaks_off_is_asked_for_again_and_then_read_as_far_as_it_goes() {
    let site = Feeds::start().unwrap();
    let url = site.feed("/rss", "Site", Format::Rss, &stories());
    site.server().faults().add(Fault::half_then_close());
    assert_eq!(fetched(&url, USUAL).unwrap().warnings, Vec::<String>::new());

    site.server()
        .faults()
        .add(Fault::half_then_close().times(2));
    let feed = fetched(&url, USUAL).unwrap();
    assert!((1..4).contains(&feed.entries.len()), "{:?}", feed.entries);
    assert!(
        feed.warnings.iter().any(|w| w.contains("before the break")),
        "{:?}",
        feed.warnings
    );
    assert!(
        feed.warnings.iter().any(|w| w.contains("cut off")),
        "{:?}",
        feed.warnings
    );
}

#[test]
fn a_feed_without_an_answer_says_what_failed_on_the_way() {
    let site = Feeds::start().unwrap();
    let url = site.feed("/rss", "Site", Format::Rss, &stories());
    site.server().faults().add(Fault::reset().always());
    let error = refused(&url, USUAL);
    assert!(
        matches!(error, FeedError::Http(HttpError::Broken { .. })),
        "{error:?}"
    );
    assert!(site.hits("/rss") > 1, "it was not tried again");
}

#[test]
fn half_a_body_without_a_whole_entry_is_a_broken_answer() {
    let site = Feeds::start().unwrap();
    let title = "x".repeat(1000);
    let url = site.feed("/rss", &title, Format::Rss, &stories()[..1]);
    site.server()
        .faults()
        .add(Fault::half_then_close().times(2));
    let error = refused(&url, USUAL);
    assert!(
        matches!(error, FeedError::Http(HttpError::Broken { .. })),
        "{error:?}"
    );
}

/// The limit is for the whole fetch: bytes that keep coming do not extend it, and ten such feeds
/// take no longer than one.
#[test]
fn slow_feeds_cost_one_time_limit_together_and_spare_the_others() {
    let site = Feeds::start().unwrap();
    let good = site.feed("/rss", "Site", Format::Rss, &stories());
    let mut urls: Vec<String> = (0..10).map(|_| drip()).collect();
    urls.insert(5, good.clone());
    urls.push(good.clone());
    site.feed("/half", "Site", Format::Rss, &stories());
    site.server()
        .faults()
        .add(Fault::half_then_hang().on("GET", "/half"));
    urls.push(site.url("/half"));

    let started = Instant::now();
    let read = run(fetch_all(&client(), &urls, SHORT));
    assert!(
        started.elapsed() < SHORT.timeout * 8,
        "{:?}",
        started.elapsed()
    );
    // The address that is listed twice is read once.
    assert_eq!(read.len(), 12);
    for (url, feed) in &read {
        match feed {
            Ok(feed) => assert_eq!((url, feed.entries.len()), (&good, 4)),
            Err(FeedError::Fetch {
                url: configured,
                why,
            }) => {
                assert_eq!(configured, url);
                assert!(matches!(**why, FeedError::Slow { .. }), "{why:?}");
                assert!(why.to_string().starts_with("not read within "), "{why}");
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    let order: Vec<&String> = read.iter().map(|(url, _)| url).collect();
    assert_eq!(order[..11], urls.iter().take(11).collect::<Vec<_>>());
    assert_eq!(read.iter().filter(|(_, feed)| feed.is_ok()).count(), 1);
    assert_eq!(site.hits("/rss"), 1);
}

/// A server for one request that sends a byte every few milliseconds, for ever.
fn drip() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/rss", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let Ok((mut line, _)) = listener.accept() else {
            return;
        };
        let _ = line.read(&mut [0; 4096]);
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: 100000\r\n\r\n";
        let mut sent = line.write_all(head.as_bytes());
        while sent.is_ok() {
            std::thread::sleep(Duration::from_millis(5));
            sent = line.write_all(b"<");
        }
    });
    url
}
