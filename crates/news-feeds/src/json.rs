//! JSON Feed 1.0 and 1.1, read item by item.
//!
//! Feeds write numbers where the standard wants strings, leave out what it requires, and get cut
//! off; so every field is optional and of any type, and the items before a break count. Nothing
//! but the fields that are wanted is kept in memory.

mod lenient;

use std::cell::RefCell;
use std::fmt;

use lenient::{FromJson, Lenient, Scalar, scalar};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use url::Url;

use crate::decode::Decoded;
use crate::document::{Candidates, Dialect, Document, Item, MAX_ENTRIES, Text, resolve, title};
use crate::error::FeedError;
use crate::prose::Format;

/// Reads a document that starts like JSON; `base` is the address it came from.
pub(crate) fn read(
    mut decoded: Decoded,
    base: Option<&Url>,
    content_type: &str,
) -> Result<Document, FeedError> {
    let other = |detail: &str| FeedError::OtherJson {
        detail: detail.to_owned(),
        content_type: content_type.to_owned(),
    };
    let text = without_lone_surrogates(&decoded.text.replace(['\n', '\t'], " "));
    let found = RefCell::new(Found::default());
    let mut json = serde_json::Deserializer::from_str(&text);
    let end = Feed {
        found: &found,
        base,
    }
    .deserialize(&mut json);
    let found = found.into_inner();

    if !found.version.contains("jsonfeed.org/version/") {
        return Err(match end {
            Err(error) if !error.is_data() => other(&format!("broken: {error}")),
            _ => other("no version of JSON Feed in it"),
        });
    }
    if let Err(error) = end {
        if found.items.is_empty() {
            return Err(if error.is_eof() {
                FeedError::CutOff
            } else {
                other(&error.to_string())
            });
        }
        let what = "the document breaks off: only the entries before the break were read";
        decoded.warnings.push(what.to_owned());
    } else if !found.has_items {
        return Err(other("no items in it"));
    }
    if found.more {
        decoded
            .warnings
            .push(format!("only the first {MAX_ENTRIES} entries were read"));
    }
    Ok(Document {
        dialect: Dialect::JsonFeed,
        title: title(&Text {
            content: found.title,
            format: Format::Plain,
        }),
        warnings: decoded.warnings,
        items: found.items,
    })
}

/// What has been read so far; it outlives a break in the document.
#[derive(Default)]
struct Found {
    version: String,
    title: String,
    has_items: bool,
    items: Vec<Item>,
    /// There were more items than are read.
    more: bool,
}

/// The top level.
struct Feed<'a> {
    found: &'a RefCell<Found>,
    base: Option<&'a Url>,
}

impl<'de> DeserializeSeed<'de> for Feed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Feed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Scalar(key)) = map.next_key::<Scalar>()? {
            match key.as_deref() {
                Some("version") => self.found.borrow_mut().version = scalar(&mut map)?,
                Some("title") => self.found.borrow_mut().title = scalar(&mut map)?,
                Some("items") => {
                    self.found.borrow_mut().has_items = true;
                    map.next_value_seed(Items {
                        found: self.found,
                        base: self.base,
                    })?;
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// The list of items.
struct Items<'a> {
    found: &'a RefCell<Found>,
    base: Option<&'a Url>,
}

impl<'de> DeserializeSeed<'de> for Items<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Items<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while self.found.borrow().items.len() < MAX_ENTRIES {
            let Some(item) = seq.next_element_seed(ItemSeed(self.base))? else {
                return Ok(());
            };
            self.found
                .borrow_mut()
                .items
                .extend(item.filter(Item::is_identified));
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {
            self.found.borrow_mut().more = true;
        }
        Ok(())
    }
}

/// One item; `None` for what is no object.
struct ItemSeed<'a>(Option<&'a Url>);

impl<'de> DeserializeSeed<'de> for ItemSeed<'_> {
    type Value = Option<Item>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Option<Item>, D::Error> {
        json.deserialize_any(Lenient(self))
    }
}

impl<'de> FromJson<'de> for ItemSeed<'_> {
    type Value = Option<Item>;

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<Item>, A::Error> {
        let mut candidates = Candidates::default();
        let plain = |content| Text {
            content,
            format: Format::Plain,
        };
        while let Some(Scalar(key)) = map.next_key::<Scalar>()? {
            match key.as_deref().unwrap_or_default() {
                "id" => candidates.ids.add(0, scalar(&mut map)?),
                "url" => candidates.links.add(0, resolve(&scalar(&mut map)?, self.0)),
                "external_url" => candidates.links.add(1, resolve(&scalar(&mut map)?, self.0)),
                "title" => candidates.titles.add(0, plain(scalar(&mut map)?)),
                "date_published" => candidates.dates.add(0, scalar(&mut map)?),
                "date_modified" => candidates.dates.add(1, scalar(&mut map)?),
                "summary" => candidates.texts.add(0, plain(scalar(&mut map)?)),
                "content_html" => {
                    let content = scalar(&mut map)?;
                    candidates.texts.add(
                        1,
                        Text {
                            content,
                            format: Format::Html,
                        },
                    );
                }
                "content_text" => candidates.texts.add(2, plain(scalar(&mut map)?)),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Some(candidates.settle()))
    }
}

/// Replaces halves of surrogate pairs without the other half, which cut excerpts end in, and
/// which no string of ours can hold.
fn without_lone_surrogates(json: &str) -> String {
    let half = |text: &str, range: std::ops::Range<u32>| {
        text.get(..6)
            .and_then(|escape| escape.strip_prefix("\\u"))
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .is_some_and(|code| range.contains(&code))
    };
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let high = half(rest, 0xd800..0xdc00);
        let length = if high && rest.get(6..).is_some_and(|rest| half(rest, 0xdc00..0xe000)) {
            12
        } else if high || half(rest, 0xdc00..0xe000) {
            out.push('\u{fffd}');
            rest = &rest[6..];
            continue;
        } else {
            // The backslash and what it escapes, so that an escaped one does not count again.
            1 + rest[1..].chars().next().map_or(0, char::len_utf8)
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}
