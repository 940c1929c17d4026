//! Titles and excerpts as one line of prose.
//!
//! Feeds carry HTML, HTML escaped twice, plain text that only looks like HTML, and plain text.
//! What comes out has no markup, no entities, no line breaks and no characters that would act on
//! a terminal or turn the text around. The reader is a small HTML tokenizer, not a browser:
//! script and style go with their content, block elements separate words, everything else that is
//! a tag just goes.

use crate::entity::decode_into;
use crate::markup::{Scanner, Syntax, Token};

/// More text than is shown of any title or summary: what follows it is not looked at.
const ENOUGH: usize = 64 * 1024;

/// How a text is to be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    Html,
    /// Plain by its declaration; many feeds put HTML there all the same.
    Plain,
}

/// Elements whose content is not text.
const SILENT: &str = " script style template noscript iframe object svg head title textarea ";

/// Elements that stay inside a word; any other known element separates words.
const INLINE: &str = " a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark \
    math mi mn mo mrow msub msup nobr q s samp small span strike strong sub sup time tt u var wbr ";

/// The other elements of HTML. What is in neither list may be meant as text: `Vec<T>`.
const OTHERS: &str = " address area article aside audio blockquote body br button canvas caption \
    center col colgroup dd details dialog dir div dl dt embed fieldset figcaption figure footer \
    form frame frameset h1 h2 h3 h4 h5 h6 header hgroup hr html img input label legend li link \
    main map menu meta meter nav ol optgroup option output p param picture pre progress rp rt \
    ruby section select source summary table tbody td tfoot th thead tr track ul video ";

/// Turns `text` into one line without markup, entities and needless white space.
pub(crate) fn line(text: &str, format: Format) -> String {
    let mut html = format == Format::Html || looks_like_html(text);
    let mut out = if html { strip(text) } else { decoded(text) };
    // A second time for what was escaped twice; it leaves plain text as it is.
    html |= looks_like_html(&out);
    if html && (out.contains('&') || out.contains('<')) {
        out = strip(&out);
    }
    collapsed(&out)
}

/// At most `limit` characters of `text`, the last an ellipsis if something was left out.
pub(crate) fn capped(text: String, limit: usize) -> String {
    if text.chars().nth(limit).is_none() {
        return text;
    }
    let end = text.char_indices().nth(limit - 1).map_or(0, |(at, _)| at);
    let cut = &text[..end];
    // After a word if one ends near, as in most languages with blanks between them.
    let word = cut
        .rfind(' ')
        .filter(|at| cut.len() - at < 60)
        .unwrap_or(cut.len());
    format!("{}…", cut[..word].trim_end())
}

/// Whether a text that is declared plain has an end tag or a tag that only HTML has.
fn looks_like_html(text: &str) -> bool {
    text.match_indices('<').take(200).any(|(at, _)| {
        let rest = &text[at + 1..];
        let name = |text: &str| {
            let end = text
                .find(|c: char| !c.is_ascii_alphanumeric())
                .unwrap_or(text.len());
            text[..end].to_ascii_lowercase()
        };
        match rest.strip_prefix('/') {
            Some(rest) => known(&name(rest)),
            None => matches!(name(rest).as_str(), "p" | "br" | "img" | "hr"),
        }
    })
}

fn known(name: &str) -> bool {
    let word = format!(" {name} ");
    !name.is_empty()
        && [SILENT, INLINE, OTHERS]
            .iter()
            .any(|list| list.contains(&word))
}

fn strip(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut scanner = Scanner::new(html, Syntax::Html);
    let mut odd_tags = OddTags::new(html);
    while out.len() < ENOUGH
        && let Some(token) = scanner.next()
    {
        match token {
            Token::Text(text) => decode_into(&mut out, text, true),
            Token::Cdata(text) => out.push_str(text),
            Token::Declaration(_) => {}
            Token::Start(tag) => {
                let name = tag.name.to_ascii_lowercase();
                let word = format!(" {name} ");
                if SILENT.contains(&word) && (tag.empty || !odd_tags.is_meant_as_text(tag.name)) {
                    out.push(' ');
                    if !tag.empty {
                        scanner.skip_to_end_of(&name);
                    }
                } else if (SILENT.contains(&word) || !known(&name) && tag.attributes.is_empty())
                    && odd_tags.is_meant_as_text(tag.name)
                {
                    out.push('<');
                    out.push_str(tag.name);
                    out.push_str(if tag.empty { "/>" } else { ">" });
                } else if !INLINE.contains(&word) {
                    out.push(' ');
                }
            }
            Token::End(name) => {
                if !INLINE.contains(&format!(" {} ", name.to_ascii_lowercase())) {
                    out.push(' ');
                }
            }
        }
    }
    out
}

/// Tells tags from words in angle brackets: nothing ends `Vec<T>` or "the <script> tag".
struct OddTags<'a> {
    /// The text, if it is short enough to be prose that talks about tags.
    text: Option<&'a str>,
    /// How often the text may still be searched.
    searches: u8,
}

impl<'a> OddTags<'a> {
    fn new(text: &'a str) -> Self {
        OddTags {
            text: Some(text).filter(|text| text.len() < 2000),
            searches: 64,
        }
    }

    fn is_meant_as_text(&mut self, name: &str) -> bool {
        let Some(text) = self.text.filter(|_| self.searches > 0) else {
            return false;
        };
        self.searches -= 1;
        let end = format!("</{}", name.to_ascii_lowercase());
        !text.to_ascii_lowercase().contains(&end)
    }
}

fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    decode_into(&mut out, text, false);
    out
}

/// Drops control and direction characters and makes every run of white space one blank.
fn collapsed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blank = false;
    for character in text.chars() {
        if character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character) {
            blank = true;
        } else if !silent(character) {
            if blank && !out.is_empty() {
                out.push(' ');
            }
            blank = false;
            out.push(character);
        }
    }
    out
}

/// Characters that are not seen: controls, byte order marks, soft hyphens, blanks without width,
/// and those that change the direction of what follows. Joiners stay, scripts need them.
fn silent(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'
                | '\u{2066}'..='\u{2069}'
                | '\u{feff}'
                | '\u{fffe}'
                | '\u{ffff}'
        )
}

#[cfg(test)]
mod tests;
