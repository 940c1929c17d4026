//! From the XML of a feed, in whatever state it is, to its entries.
//!
//! One pass over the tokens with a short stack of open elements. End tags match without regard to
//! case; one that matches nothing is passed over, one that matches an outer element closes those
//! between. An entry that was still open where the document ends is not an entry.

mod root;

use url::Url;

use crate::canonical::trim_blanks;
use crate::decode::Decoded;
use crate::document::{Candidates, Dialect, Document, Item, MAX_ENTRIES};
use crate::entity::decode_into;
use crate::error::FeedError;
use crate::field::{Field, is_void};
use crate::markup::{Scanner, Syntax, Tag, Token};
use crate::names::{Namespace, Nearness, ends, field, is_entry};

/// Elements deeper than this are flattened into the one that is open.
const MAX_DEPTH: usize = 64;
/// Namespace and base declarations in force at the same time.
const MAX_DECLARATIONS: usize = 64;
/// Reads a document; `base` is the address it came from.
pub(crate) fn read(
    decoded: Decoded,
    base: Option<Url>,
    content_type: &str,
) -> Result<Document, FeedError> {
    let mut scanner = Scanner::new(&decoded.text, Syntax::Xml);
    let (dialect, root) = root::root(&mut scanner, &decoded.text, content_type)?;
    let mut reader = Reader {
        document: Document {
            dialect,
            title: String::new(),
            warnings: decoded.warnings,
            items: Vec::new(),
        },
        stack: Vec::new(),
        namespaces: Vec::new(),
        bases: base.into_iter().map(|base| (0, base)).collect(),
        item: None,
        field: None,
        feed_titles: Candidates::default(),
        mismatched: false,
        closed: false,
    };
    reader.open_root(&root);
    for token in scanner {
        match token {
            Token::Text(text) => reader.text(text, true),
            Token::Cdata(text) => reader.text(text, false),
            Token::Start(tag) => reader.start(&tag),
            Token::End(name) => reader.end(name),
            Token::Declaration(_) => {}
        }
        if reader.closed {
            break;
        }
    }
    reader.finish()
}

struct Reader<'a> {
    document: Document,
    /// The names of the open elements, the root first.
    stack: Vec<&'a str>,
    /// Declared prefixes with the depth of the element that declares them.
    namespaces: Vec<(usize, &'a str, Namespace)>,
    /// `xml:base` with the depth of its element; depth 0 is the address of the document.
    bases: Vec<(usize, Url)>,
    /// The entry that is open, with the depth of its element.
    item: Option<(usize, Candidates)>,
    /// The field that is open, with the depth of its element.
    field: Option<(usize, Field)>,
    feed_titles: Candidates,
    mismatched: bool,
    closed: bool,
}

impl<'a> Reader<'a> {
    fn open_root(&mut self, tag: &Tag<'a>) {
        if local(tag.name).eq_ignore_ascii_case("rss") && attribute(tag, "version").is_none() {
            self.warn("<rss> without a version");
        }
        let old = |(_, value): &(&str, &str)| value.contains("purl.org/atom/ns");
        if self.document.dialect == Dialect::Atom && tag.attributes.iter().any(old) {
            self.document.dialect = Dialect::Atom03;
        }
        self.push(tag);
        self.closed = tag.empty;
    }

    fn text(&mut self, text: &str, escaped: bool) {
        if let Some((_, field)) = &mut self.field {
            if escaped {
                let mut decoded = String::with_capacity(text.len());
                decode_into(&mut decoded, text, false);
                field.text(&decoded);
            } else {
                field.text(text);
            }
        }
    }

    fn start(&mut self, tag: &Tag<'a>) {
        let name = local(tag.name).to_ascii_lowercase();
        if let Some((depth, field)) = &mut self.field {
            if ends(field.slot, &name) {
                self.mismatched = true;
                let depth = *depth;
                self.close_to(depth - 1);
            } else {
                field.open(&name);
                // Elements without an end tag are no elements to wait for.
                if !tag.empty && !is_void(&name) {
                    self.push(tag);
                }
                return;
            }
        }
        if is_entry(&name) {
            if let Some((depth, _)) = self.item {
                self.mismatched = true;
                self.close_to(depth - 1);
            }
            if !self.push(tag) {
                return;
            }
            self.item = Some((self.stack.len(), Candidates::default()));
        } else {
            if !self.push(tag) {
                return;
            }
            let parent = self.stack.len() - 1;
            let is_field = match self.item {
                Some((depth, _)) => parent == depth,
                // The title of the feed stands in the channel, or in the root.
                None => {
                    name == "title"
                        && (parent == 1
                            || parent == 2 && local(self.stack[1]).eq_ignore_ascii_case("channel"))
                }
            };
            let namespace = self.namespace(tag.name);
            let near = Nearness::of(namespace, tag.name.contains(':'), self.document.dialect);
            if is_field && let Some((slot, rank)) = field(&name, namespace, near) {
                self.field = Some((self.stack.len(), Field::new(slot, rank, near, tag)));
            }
        }
        if tag.empty {
            self.close_to(self.stack.len() - 1);
        }
    }

    fn end(&mut self, name: &str) {
        match self
            .stack
            .iter()
            .rposition(|open| open.eq_ignore_ascii_case(name))
        {
            Some(at) => {
                let inner = self.field.as_ref().is_some_and(|(depth, _)| at >= *depth);
                if inner && let Some((_, field)) = &mut self.field {
                    field.close(&local(name).to_ascii_lowercase());
                }
                self.mismatched |= at + 1 != self.stack.len() && !inner;
                self.close_to(at);
            }
            None => self.mismatched |= self.field.is_none(),
        }
    }

    /// Opens an element, unless there is no room for it: its end tag will then find nothing.
    fn push(&mut self, tag: &Tag<'a>) -> bool {
        if self.stack.len() >= MAX_DEPTH {
            return false;
        }
        self.stack.push(tag.name);
        let depth = self.stack.len();
        for (name, value) in &tag.attributes {
            if let Some(prefix) = name.strip_prefix("xmlns")
                && self.namespaces.len() < MAX_DECLARATIONS
            {
                let prefix = prefix.trim_start_matches(':');
                self.namespaces
                    .push((depth, prefix, Namespace::by_address(value)));
            }
        }
        if let Some(base) = attribute(tag, "xml:base")
            && self.bases.len() < MAX_DECLARATIONS
        {
            let base = trim_blanks(&base);
            let url = match self.bases.last() {
                Some((_, outer)) => outer.join(base).ok(),
                None => Url::parse(base).ok(),
            };
            self.bases.extend(url.map(|url| (depth, url)));
        }
        true
    }

    /// Closes elements until `depth` of them are open.
    fn close_to(&mut self, depth: usize) {
        if let Some((_, field)) = self.field.take_if(|(at, _)| *at > depth) {
            self.close_field(field);
        }
        if let Some((_, candidates)) = self.item.take_if(|(at, _)| *at > depth) {
            self.close_item(candidates.settle());
        }
        self.stack.truncate(depth);
        self.namespaces.retain(|(at, ..)| *at <= depth);
        self.bases.retain(|(at, _)| *at <= depth);
        self.closed |= depth == 0;
    }

    fn close_field(&mut self, field: Field) {
        let base = self.bases.last().map(|(_, url)| url);
        let candidates = match &mut self.item {
            Some((_, candidates)) => candidates,
            None => &mut self.feed_titles,
        };
        field.settle(candidates, base, self.document.dialect);
    }

    fn close_item(&mut self, item: Item) {
        if item.is_identified() && self.document.items.len() <= MAX_ENTRIES {
            self.document.items.push(item);
        }
    }

    fn namespace(&self, name: &str) -> Namespace {
        let prefix = name.split_once(':').map_or("", |(prefix, _)| prefix);
        match self
            .namespaces
            .iter()
            .rev()
            .find(|(_, known, _)| *known == prefix)
        {
            Some((_, _, Namespace::Unknown)) | None => Namespace::by_prefix(prefix),
            Some((_, _, namespace)) => *namespace,
        }
    }

    fn warn(&mut self, warning: &str) {
        self.document.warnings.push(warning.to_owned());
    }

    fn finish(mut self) -> Result<Document, FeedError> {
        self.document.title = std::mem::take(&mut self.feed_titles).settle().title;
        if self.mismatched {
            self.warn("start and end tags do not match everywhere");
        }
        if self.document.items.len() > MAX_ENTRIES {
            self.document.items.truncate(MAX_ENTRIES);
            self.warn(&format!("only the first {MAX_ENTRIES} entries were read"));
        }
        if !self.closed {
            if self.document.items.is_empty() {
                return Err(FeedError::CutOff);
            }
            self.warn("the document is cut off: only the entries before the break were read");
        }
        Ok(self.document)
    }
}

/// The part of a name behind its prefix.
fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// The decoded value of an attribute, its name compared without regard to case.
pub(crate) fn attribute(tag: &Tag<'_>, name: &str) -> Option<String> {
    let (_, raw) = tag
        .attributes
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    let mut value = String::with_capacity(raw.len());
    decode_into(&mut value, raw, false);
    Some(value)
}
