//! `feeds inspect`: how one feed is read, for people who wonder why a story is missing.

use super::arguments::Whose;
use super::error::CommandError;
use super::plain::{counted, harmless};
use super::session::{Session, block_on};
use super::{DONE, WRONG};
use crate::environment::Environment;
use clap::{Args, Subcommand};
use news_feeds::{
    Feed, FeedError, FeedReport, FetchLimits, MAX_DOCUMENT_BYTES, fetch_feed, parse_feed, rfc3339,
};
use serde_json::json;
use std::io::{self, Read};

const GROUP: &str = "\
Looks into news feeds, as news-digest reads them.";

const GROUP_EXAMPLES: &str = "\
Examples:
  openhands-automations feeds inspect https://example.org/feed.xml
  openhands-automations feeds inspect saved.xml --url https://example.org/feed.xml";

const ABOUT: &str = "\
Reads one feed as news-digest reads it and shows what came of it: its title, the
dialect it is written in, what had to be repaired, and each entry with the link,
date, summary and fingerprints that the digest goes by.

FILE|URL is an address (http:// or https://), a file, or - for standard input. A
file may be compressed with gzip. An address is fetched within the limits of a
run: 20 seconds and 4 MiB, and no redirect from a public host into a private
network.

A story counts as told when either of its fingerprints is known. They are the
first 16 digits of a SHA-256: of the feed's own identifier, and of the canonical
link (without fragment, trailing slash and utm_ parameters).

What is no feed ends with exit code 1 and the reason.";

const EXAMPLES: &str = "\
Examples:
  openhands-automations feeds inspect https://example.org/feed.xml
  # A saved answer: relative links need to know where it came from
  openhands-automations feeds inspect saved.xml --url https://example.org/feed.xml
  # As a program reads it
  openhands-automations feeds inspect https://example.org/feed.xml --json

With --json:
  {\"title\", \"dialect\", \"warnings\", \"entries\": [{\"title\", \"link\", \"id\",
   \"published\", \"summary\", \"canonical\", \"keys\"}]}
  published is RFC 3339 in UTC or null, id as the feed gives it or null, keys are
  the fingerprints. What is no feed: {\"error\"}.";

/// Look into news feeds
#[derive(Debug, Args)]
#[command(long_about = GROUP, after_long_help = GROUP_EXAMPLES)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Inspect(Inspect),
}

/// Show how one feed is read
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
struct Inspect {
    /// An address, a file, or - for standard input
    #[arg(value_name = "FILE|URL")]
    feed: String,
    /// Where a file came from: the base of its relative links
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The content type that a file was served with, such as text/xml; charset=koi8-r
    #[arg(long, value_name = "CT")]
    content_type: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Does what the arguments say.
pub(super) fn feeds(arguments: &Arguments, environment: Environment) -> Result<u8, CommandError> {
    let Command::Inspect(arguments) = &arguments.command;
    let session = Session::new(environment, &Whose::default());
    let read = if is_address(&arguments.feed) {
        fetched(arguments, &session)?
    } else {
        let bytes = bytes_of(&arguments.feed).map_err(|error| {
            CommandError::Failed(format!("{}: cannot be read ({error})", arguments.feed))
        })?;
        let (kind, url) = (arguments.content_type.as_deref(), arguments.url.as_deref());
        parse_feed(&bytes, kind, url).map_err(|error| format!("{}: {error}", arguments.feed))
    };
    let console = &session.console;
    match read {
        Ok(feed) if arguments.json => {
            let report = serde_json::to_string_pretty(&FeedReport::from(&feed));
            console.verbatim(&report.unwrap_or_default());
            Ok(DONE)
        }
        Ok(feed) => {
            console.verbatim(&in_words(&feed));
            Ok(DONE)
        }
        Err(error) => {
            console.error(&error);
            if arguments.json {
                let report = json!({ "error": console.clean(&error) });
                console.verbatim(&serde_json::to_string_pretty(&report).unwrap_or_default());
            }
            Ok(WRONG)
        }
    }
}

fn is_address(text: &str) -> bool {
    let text = text.trim().to_ascii_lowercase();
    text.starts_with("http://") || text.starts_with("https://")
}

fn fetched(arguments: &Inspect, session: &Session) -> Result<Result<Feed, String>, CommandError> {
    if arguments.url.is_some() || arguments.content_type.is_some() {
        let text = "--url and --content-type are for files: an address says both by itself";
        return Err(CommandError::Usage(text.to_owned()));
    }
    let client = session.client()?;
    block_on(async {
        let feed = fetch_feed(&client, arguments.feed.trim(), FetchLimits::default()).await;
        Ok(feed.map_err(|error: FeedError| error.to_string()))
    })
}

/// The bytes of a file, one more than a feed may have at most.
fn bytes_of(file: &str) -> io::Result<Vec<u8>> {
    let limit = u64::try_from(MAX_DOCUMENT_BYTES).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    let source: Box<dyn Read> = if file == "-" {
        Box::new(io::stdin().lock())
    } else {
        Box::new(std::fs::File::open(file)?)
    };
    source
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn in_words(feed: &Feed) -> String {
    let title = if feed.title.is_empty() {
        "(a feed without a title)"
    } else {
        &feed.title
    };
    let entries = counted(feed.entries.len(), "entry", "entries");
    let mut lines = vec![format!(
        "{} ({}, {entries})",
        harmless(title, 200),
        feed.dialect.name()
    )];
    for warning in &feed.warnings {
        lines.push(format!("warning: {}", harmless(warning, 400)));
    }
    for (index, entry) in feed.entries.iter().enumerate() {
        let title = if entry.title.is_empty() {
            "(no title)"
        } else {
            &entry.title
        };
        lines.push(format!("\n{:>3}. {}", index + 1, harmless(title, 200)));
        let published = entry.published.and_then(rfc3339);
        let mut fact = |name: &str, value: &str, max| {
            lines.push(format!("     {name:<10} {}", harmless(value, max)));
        };
        fact("link", or(&entry.link, "none"), 1000);
        if entry.canonical != entry.link {
            fact("canonical", &entry.canonical, 1000);
        }
        fact("id", entry.id.as_deref().unwrap_or("none"), 400);
        fact("published", published.as_deref().unwrap_or("undated"), 40);
        fact("keys", &entry.keys.join(", "), 100);
        fact(
            "summary",
            or(&entry.summary, "none, or a few words only"),
            300,
        );
    }
    lines.join("\n")
}

fn or<'a>(text: &'a str, instead: &'a str) -> &'a str {
    if text.is_empty() { instead } else { text }
}
