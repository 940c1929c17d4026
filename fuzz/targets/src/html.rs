//! HTML as it stands in feeds, made one line of prose.
//!
//! The same text is given where each kind of feed has HTML: escaped, in a CDATA section, as XHTML,
//! and as a string of JSON.

use crate::{feeds, is_line};
use news_feeds::parse_feed;
use serde_json::json;

/// Reads a text in four places.
///
/// # Panics
/// When a property does not hold.
pub fn target(data: &[u8]) {
    let html = String::from_utf8_lossy(data);
    let as_json = json!({
        "version": "https://jsonfeed.org/version/1.1",
        "items": [{"id": "1", "title": html, "content_html": html}],
    });
    let feed = parse_feed(as_json.to_string().as_bytes(), None, None);
    let Ok(feed) = feed else {
        panic!("a JSON Feed of one item was refused: {feed:?}");
    };
    feeds::check(&feed);
    let escaped = html
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let cdata = html.replace("]]>", "]] >");
    for document in [
        format!(
            "<rss version='2.0'><channel><item><guid>1</guid><title>{escaped}</title>\
             <description>{escaped}</description></item></channel></rss>"
        ),
        format!(
            "<rss version='2.0'><channel><item><guid>1</guid><title><![CDATA[{cdata}]]></title>\
             <description><![CDATA[{cdata}]]></description></item></channel></rss>"
        ),
        format!(
            "<feed xmlns='http://www.w3.org/2005/Atom'><entry><id>1</id>\
             <title type='html'>{escaped}</title><content type='xhtml'><div>{html}</div>\
             </content></entry></feed>"
        ),
    ] {
        if let Ok(feed) = parse_feed(document.as_bytes(), None, Some("https://example.org/")) {
            feeds::check(&feed);
            assert!(feed.entries.iter().all(|entry| is_line(&entry.title)));
        }
    }
}
