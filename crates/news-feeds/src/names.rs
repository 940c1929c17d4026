//! The names of feed elements and what each of them means, over all dialects.

use crate::document::Dialect;

/// The vocabularies that matter for telling one `title` from another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Namespace {
    /// No namespace, or one that is not known.
    Unknown,
    Rss,
    Atom,
    /// Dublin Core, old and new.
    Dublin,
    Content,
    Media,
    /// Podcast vocabularies.
    Podcast,
    Xhtml,
}

impl Namespace {
    /// By its address; feeds write `http` or `https`, and with or without the last slash.
    pub(crate) fn by_address(address: &str) -> Self {
        let address = address.trim().to_ascii_lowercase();
        let address = address
            .trim_start_matches("https://")
            .trim_start_matches("http://");
        match address.trim_end_matches(['/', '#']) {
            "www.w3.org/2005/atom" | "purl.org/atom/ns" => Namespace::Atom,
            "purl.org/rss/1.0"
            | "my.netscape.com/rdf/simple/0.9"
            | "channel.netscape.com/rdf/simple/0.9" => Namespace::Rss,
            "purl.org/rss/1.0/modules/content" => Namespace::Content,
            "www.w3.org/1999/xhtml" => Namespace::Xhtml,
            other if other.starts_with("backend.userland.com/") => Namespace::Rss,
            other if other.starts_with("purl.org/dc/") => Namespace::Dublin,
            other if other.starts_with("search.yahoo.com/mrss") => Namespace::Media,
            other if other.contains("itunes.com/dtds") => Namespace::Podcast,
            _ => Namespace::Unknown,
        }
    }

    /// By the prefix that everybody uses for it, for documents that do not declare it.
    pub(crate) fn by_prefix(prefix: &str) -> Self {
        match prefix.to_ascii_lowercase().as_str() {
            "atom" | "a10" => Namespace::Atom,
            "rss" => Namespace::Rss,
            "dc" | "dcterms" => Namespace::Dublin,
            "content" => Namespace::Content,
            "media" => Namespace::Media,
            "itunes" | "googleplay" | "podcast" => Namespace::Podcast,
            "xhtml" => Namespace::Xhtml,
            _ => Namespace::Unknown,
        }
    }
}

/// How near an element is to the dialect of its document.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Nearness {
    /// An element of the dialect itself.
    Own,
    /// One of the vocabularies that say the same things.
    Kindred,
    /// Anything else that happens to have such a name.
    Foreign,
}

impl Nearness {
    pub(crate) fn of(namespace: Namespace, prefixed: bool, dialect: Dialect) -> Self {
        let home = match dialect {
            Dialect::Atom | Dialect::Atom03 => Namespace::Atom,
            _ => Namespace::Rss,
        };
        match namespace {
            namespace if namespace == home => Nearness::Own,
            Namespace::Unknown | Namespace::Rss if !prefixed => Nearness::Own,
            Namespace::Atom | Namespace::Rss | Namespace::Dublin | Namespace::Content => {
                Nearness::Kindred
            }
            _ => Nearness::Foreign,
        }
    }
}

/// What a child element of an entry says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Slot {
    Title,
    Link,
    Id,
    Date,
    Text,
}

/// The slot of an element in an entry and its rank among the candidates (lower is better). The
/// orders of names are those of the deployed scripts: `guid` before `id`, `pubDate` before
/// `published` before `date`, `description` before `summary` before `content`.
pub(crate) fn field(name: &str, namespace: Namespace, near: Nearness) -> Option<(Slot, u8)> {
    let (slot, order) = match name {
        "title" => (Slot::Title, 0),
        "link" => (Slot::Link, 0),
        "guid" => (Slot::Id, 0),
        "id" => (Slot::Id, 1),
        "pubdate" => (Slot::Date, 0),
        "published" => (Slot::Date, 1),
        "issued" => (Slot::Date, 2),
        "date" => (Slot::Date, 3),
        "updated" => (Slot::Date, 4),
        "modified" => (Slot::Date, 5),
        "created" => (Slot::Date, 6),
        "description" => (Slot::Text, 0),
        "summary" => (Slot::Text, 1),
        "content" if namespace != Namespace::Media => (Slot::Text, 2),
        "encoded" => (Slot::Text, 3),
        "body" if namespace == Namespace::Xhtml => (Slot::Text, 4),
        _ => return None,
    };
    Some((slot, order * 3 + near as u8))
}

/// Whether an element cannot stand inside the field `slot`: the end tag before it was forgotten
/// or misspelt. In texts that is so for names that HTML does not have.
pub(crate) fn ends(slot: Slot, name: &str) -> bool {
    const NAMES: &str = " title link id published updated description summary content encoded \
        category author comments enclosure source creator date ";
    is_entry(name)
        || matches!(name, "guid" | "pubdate")
        || slot != Slot::Text && NAMES.contains(&format!(" {name} "))
}

/// Whether an element is one entry.
pub(crate) fn is_entry(name: &str) -> bool {
    matches!(name, "item" | "entry")
}
