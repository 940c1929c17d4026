//! What a document says about its entries, before it is known which of them are stories.
//!
//! The readers of XML and JSON fill this in; they decide what belongs together by local names,
//! because real feeds use prefixes that nobody declared and namespaces that nobody defined.

use crate::canonical::{split_scheme, trim_blanks};
use crate::date::parse_date;
use crate::prose::{Format, capped, line};

/// The family a feed belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// RSS 2.0, and `<rss>` of an unknown version.
    Rss2,
    /// RSS 0.91 to 0.94.
    Rss0,
    /// RSS 1.0 and 0.90, which are RDF.
    Rss1,
    /// Atom 1.0 (RFC 4287).
    Atom,
    /// Atom 0.3, its predecessor.
    Atom03,
    /// JSON Feed 1.0 and 1.1.
    JsonFeed,
}

impl Dialect {
    /// The name that people know it by.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Rss2 => "RSS 2.0",
            Dialect::Rss0 => "RSS 0.9x",
            Dialect::Rss1 => "RSS 1.0",
            Dialect::Atom => "Atom 1.0",
            Dialect::Atom03 => "Atom 0.3",
            Dialect::JsonFeed => "JSON Feed",
        }
    }
}

/// A summary shorter than this says nothing, like the "Comments" of a link list.
const MIN_SUMMARY: usize = 30;
/// More of a summary is not kept; the prompt shows less still.
const MAX_SUMMARY: usize = 1000;
/// No title is longer.
const MAX_TITLE: usize = 1000;
/// More entries of one document are not read; real feeds stay far below.
pub(crate) const MAX_ENTRIES: usize = 20_000;
/// More candidates for one field of an entry are not kept.
const MAX_CANDIDATES: usize = 8;

/// A document as it was read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Document {
    pub(crate) dialect: Dialect,
    pub(crate) title: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) items: Vec<Item>,
}

/// An entry, as far as the feed tells. Texts are one line of prose, empty when absent.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Item {
    pub(crate) title: String,
    /// Absolute where it could be made so; otherwise as written, without surrounding blanks.
    pub(crate) link: String,
    pub(crate) id: Option<String>,
    pub(crate) published: Option<f64>,
    pub(crate) summary: String,
}

impl Item {
    /// Whether there is anything to tell this entry from others by.
    pub(crate) fn is_identified(&self) -> bool {
        self.id.is_some() || !self.link.is_empty() || !self.title.is_empty()
    }
}

/// A text with the way it has to be read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    pub(crate) content: String,
    pub(crate) format: Format,
}

/// Collects the fields of one entry while it is read; each candidate has a rank, the lowest wins.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    pub(crate) titles: Ranked<Text>,
    pub(crate) links: Ranked<String>,
    pub(crate) ids: Ranked<String>,
    pub(crate) dates: Ranked<String>,
    pub(crate) texts: Ranked<Text>,
}

impl Candidates {
    /// Decides for each field.
    pub(crate) fn settle(self) -> Item {
        let some = |text: &String| !text.is_empty();
        let mut titles = self.titles.into_best().map(|text| title(&text));
        let mut ids = self.ids.into_best().map(|id| trim_blanks(&id).to_owned());
        Item {
            title: titles.find(some).unwrap_or_default(),
            link: self.links.into_best().find(some).unwrap_or_default(),
            id: ids.find(some),
            // A date that cannot be read may have a readable one beside it.
            published: self.dates.into_best().find_map(|date| parse_date(&date)),
            summary: self
                .texts
                .into_best()
                .find_map(|text| summary(&text))
                .unwrap_or_default(),
        }
    }
}

/// Candidates for one field, each with its rank.
#[derive(Debug)]
pub(crate) struct Ranked<T>(Vec<(u8, T)>);

impl<T> Default for Ranked<T> {
    fn default() -> Self {
        Ranked(Vec::new())
    }
}

impl<T> Ranked<T> {
    /// Adds a candidate; among those of one rank the first is the best.
    pub(crate) fn add(&mut self, rank: u8, candidate: T) {
        if self.0.len() < MAX_CANDIDATES {
            self.0.push((rank, candidate));
        } else if let Some(worst) = self.0.iter_mut().max_by_key(|(rank, _)| *rank)
            && worst.0 > rank
        {
            *worst = (rank, candidate);
        }
    }

    pub(crate) fn into_best(mut self) -> impl Iterator<Item = T> {
        self.0.sort_by_key(|(rank, _)| *rank);
        self.0.into_iter().map(|(_, candidate)| candidate)
    }
}

/// A title as one line of prose.
pub(crate) fn title(text: &Text) -> String {
    capped(line(&text.content, text.format), MAX_TITLE)
}

/// A summary as one line of prose, if it is long enough to be one.
pub(crate) fn summary(text: &Text) -> Option<String> {
    let line = line(&text.content, text.format);
    (line.chars().nth(MIN_SUMMARY - 1).is_some()).then(|| capped(line, MAX_SUMMARY))
}

/// Makes a link absolute. One that has a scheme already is kept as written, trimmed only: a URL
/// library would change its spelling, and with it its fingerprint.
pub(crate) fn resolve(link: &str, base: Option<&url::Url>) -> String {
    let link: String = trim_blanks(link)
        .chars()
        .filter(|c| !c.is_control())
        .collect();
    if link.is_empty() || !split_scheme(&link).0.is_empty() {
        return link;
    }
    base.and_then(|base| base.join(&link).ok())
        .map_or(link, String::from)
}
