//! Writes feeds down in their formats.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::{Format, Story};
use crate::calendar;

/// Content type and text of a feed.
pub(super) fn feed(
    url: &str,
    title: &str,
    format: Format,
    stories: &[Story],
) -> (&'static str, String) {
    match format {
        Format::Rss => (
            "application/rss+xml; charset=utf-8",
            rss(url, title, stories),
        ),
        Format::Atom => (
            "application/atom+xml; charset=utf-8",
            atom(url, title, stories),
        ),
        Format::JsonFeed => ("application/feed+json", json_feed(url, title, stories)),
    }
}

fn rss(url: &str, title: &str, stories: &[Story]) -> String {
    let mut out =
        String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rss version=\"2.0\">\n");
    out.push_str("<channel>\n");
    element(&mut out, "title", title);
    element(&mut out, "link", url);
    element(&mut out, "description", title);
    for story in stories {
        out.push_str("<item>\n");
        element(&mut out, "title", &story.title);
        if let Some(link) = &story.link {
            element(&mut out, "link", link);
        }
        if let Some(id) = &story.id {
            let _ = writeln!(out, "<guid isPermaLink=\"false\">{}</guid>", escaped(id));
        }
        if let Some(published) = story.published {
            element(&mut out, "pubDate", &http_date(published));
        }
        if let Some(summary) = &story.summary {
            element(&mut out, "description", summary);
        }
        out.push_str("</item>\n");
    }
    out.push_str("</channel>\n</rss>\n");
    out
}

fn atom(url: &str, title: &str, stories: &[Story]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
    out.push_str("<feed xmlns=\"http://www.w3.org/2005/Atom\">\n");
    element(&mut out, "title", title);
    element(&mut out, "id", url);
    let newest = stories
        .iter()
        .filter_map(|story| story.published)
        .fold(0.0, f64::max);
    element(&mut out, "updated", &calendar::seconds(newest));
    for story in stories {
        out.push_str("<entry>\n");
        element(&mut out, "title", &story.title);
        if let Some(link) = &story.link {
            let _ = writeln!(out, "<link rel=\"alternate\" href=\"{}\"/>", escaped(link));
        }
        if let Some(id) = &story.id {
            element(&mut out, "id", id);
        }
        if let Some(published) = story.published {
            element(&mut out, "published", &calendar::seconds(published));
            element(&mut out, "updated", &calendar::seconds(published));
        }
        if let Some(summary) = &story.summary {
            let _ = writeln!(out, "<summary type=\"html\">{}</summary>", escaped(summary));
        }
        out.push_str("</entry>\n");
    }
    out.push_str("</feed>\n");
    out
}

fn json_feed(url: &str, title: &str, stories: &[Story]) -> String {
    let items: Vec<Value> = stories
        .iter()
        .map(|story| {
            let published = story.published.map(calendar::seconds);
            let members = [
                ("id", story.id.as_ref()),
                ("url", story.link.as_ref()),
                ("title", Some(&story.title)),
                ("date_published", published.as_ref()),
                ("content_html", story.summary.as_ref()),
            ];
            let given = members
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), json!(value?))));
            Value::Object(given.collect::<Map<_, _>>())
        })
        .collect();
    json!({
        "version": "https://jsonfeed.org/version/1.1", "title": title, "feed_url": url,
        "items": items,
    })
    .to_string()
}

fn element(out: &mut String, name: &str, text: &str) {
    let _ = writeln!(out, "<{name}>{}</{name}>", escaped(text));
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// `Thu, 20 Aug 2026 07:30:00 GMT`, as HTTP and RSS write a time given in seconds since the epoch.
///
/// ```
/// let date = testbed::feeds::http_date(1_787_211_000.0);
/// assert_eq!(date, "Thu, 20 Aug 2026 07:30:00 GMT");
/// ```
pub fn http_date(epoch: f64) -> String {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    // The epoch began on a Thursday.
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    let text = calendar::seconds(epoch);
    let (date, time) = text
        .trim_end_matches('Z')
        .split_once('T')
        .unwrap_or_default();
    let mut parts = date.splitn(3, '-');
    let year = parts.next().unwrap_or_default();
    let month = parts
        .next()
        .and_then(|month| month.parse::<usize>().ok())
        .unwrap_or(1);
    let day = parts.next().unwrap_or_default();
    let weekday = DAYS
        .into_iter()
        .enumerate()
        .find(|(number, _)| (epoch / 86_400.0).floor().rem_euclid(7.0) < *number as f64 + 0.5)
        .map_or(DAYS[0], |(_, name)| name);
    let month = MONTHS[(month - 1).min(11)];
    format!("{weekday}, {day} {month} {year} {time} GMT")
}
