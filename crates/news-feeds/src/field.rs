//! One field of an entry while it is read: its text, and its markup if it has any.

use url::Url;

use crate::canonical::trim_blanks;
use crate::document::{Candidates, Dialect, Text, resolve};
use crate::markup::Tag;
use crate::names::{Nearness, Slot};
use crate::prose::Format;
use crate::xml::attribute;

/// A child element of an entry that says something.
pub(crate) struct Field {
    pub(crate) slot: Slot,
    rank: u8,
    near: Nearness,
    /// All character data in it, elements left out.
    text: String,
    /// The same with the elements as HTML, once there has been one.
    html: Option<String>,
    /// `href` of a link.
    href: Option<String>,
    /// `rel` of a link, lowercase.
    rel: String,
    /// `type` of a text, lowercase; empty if it is not said.
    kind: String,
    /// Whether a guid says that it is an address.
    permalink: bool,
}

impl Field {
    pub(crate) fn new(slot: Slot, rank: u8, near: Nearness, tag: &Tag<'_>) -> Self {
        let lower = |name| {
            attribute(tag, name)
                .unwrap_or_default()
                .trim()
                .to_ascii_lowercase()
        };
        // Atom 0.3 has the escaping beside the type, and what is escaped is markup.
        let kind = match lower("mode").as_str() {
            mode @ ("base64" | "escaped") => mode.to_owned(),
            _ => lower("type"),
        };
        Field {
            slot,
            rank,
            near,
            text: String::new(),
            html: None,
            href: attribute(tag, "href").filter(|href| !trim_blanks(href).is_empty()),
            rel: lower("rel"),
            kind,
            permalink: lower("ispermalink") != "false",
        }
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.text.push_str(text);
        if let Some(html) = &mut self.html {
            escape_into(html, text);
        }
    }

    /// An element starts inside the field.
    pub(crate) fn open(&mut self, name: &str) {
        self.html().extend(["<", name, ">"]);
    }

    /// An element ends inside the field.
    pub(crate) fn close(&mut self, name: &str) {
        self.html().extend(["</", name, ">"]);
    }

    fn html(&mut self) -> &mut String {
        let text = &self.text;
        self.html.get_or_insert_with(|| {
            let mut html = String::with_capacity(text.len());
            escape_into(&mut html, text);
            html
        })
    }

    /// Hands what was read to the entry.
    pub(crate) fn settle(self, to: &mut Candidates, base: Option<&Url>, dialect: Dialect) {
        match self.slot {
            Slot::Title => to.titles.add(self.rank, self.into_text(dialect)),
            Slot::Text => {
                if is_textual(&self.kind) {
                    let rank = self.rank;
                    let text = self.into_text(dialect);
                    if !trim_blanks(&text.content).is_empty() {
                        to.texts.add(rank, text);
                    }
                }
            }
            Slot::Date => {
                if !trim_blanks(&self.text).is_empty() {
                    to.dates.add(self.rank, self.text);
                }
            }
            Slot::Id => {
                let id = trim_blanks(&self.text);
                if id.is_empty() {
                    return;
                }
                // An RSS entry without a link has its address in the guid, unless it says no.
                let scheme = id.get(..8).unwrap_or(id).to_ascii_lowercase();
                let address = scheme.starts_with("http://") || scheme.starts_with("https://");
                let rss = matches!(dialect, Dialect::Rss0 | Dialect::Rss1 | Dialect::Rss2);
                if rss && self.permalink && address && self.rank < 3 {
                    to.links.add(LinkRank::Permalink as u8, resolve(id, base));
                }
                to.ids.add(self.rank, id.to_owned());
            }
            Slot::Link => {
                let link = resolve(self.href.as_deref().unwrap_or(&self.text), base);
                if !link.is_empty() {
                    to.links.add(self.link_rank() as u8, link);
                }
            }
        }
    }

    fn link_rank(&self) -> LinkRank {
        let mut relations = self.rel.split_ascii_whitespace().peekable();
        let story = self.href.is_none()
            || relations.peek().is_none()
            || relations.any(|rel| rel == "alternate" || rel.ends_with("/relation/alternate"));
        match (story, self.near) {
            (true, Nearness::Own) => LinkRank::Own,
            (true, _) => LinkRank::Kindred,
            (false, _) => LinkRank::Other,
        }
    }

    fn into_text(self, dialect: Dialect) -> Text {
        let atom = matches!(dialect, Dialect::Atom | Dialect::Atom03);
        let format = match self.kind.as_str() {
            "" | "text" | "text/plain" if atom && self.near == Nearness::Own => Format::Plain,
            "text" | "text/plain" if self.near != Nearness::Own => Format::Plain,
            _ => Format::Html,
        };
        match self.html {
            Some(html) => Text {
                content: html,
                format: Format::Html,
            },
            None => Text {
                content: self.text,
                format,
            },
        }
    }
}

/// Which link is the story's.
enum LinkRank {
    Own,
    Kindred,
    Permalink,
    Other,
}

/// Whether a content type is one of text; pictures and the like are not read.
fn is_textual(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim();
    matches!(kind, "" | "text" | "html" | "xhtml" | "plain" | "escaped")
        || kind.starts_with("text/")
        || kind == "application/xhtml+xml"
}

/// Whether an element of HTML has no end tag, or is commonly left without one.
pub(crate) fn is_void(name: &str) -> bool {
    matches!(
        name,
        "br" | "hr" | "img" | "input" | "meta" | "link" | "wbr" | "embed" | "source" | "col"
    )
}

fn escape_into(html: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            _ => html.push(character),
        }
    }
}
