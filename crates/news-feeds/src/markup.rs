//! A tolerant tokenizer for markup, shared by the XML of feeds and the HTML inside them.
//!
//! It never fails and never looks back: what is no tag stays text, an attribute that is never
//! closed ends where its tag does, and [`Scanner::cut`] tells whether the input ended inside a
//! construct. The work is linear in the input. Entities are left alone (see [`crate::entity`]);
//! comments, processing instructions and internal DTD subsets are passed over, so an entity that
//! a document declares is never expanded.

mod attribute;

use attribute::{Piece, piece};

/// How strictly attribute values end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// A `<` inside a quoted value means that the quote was forgotten.
    Xml,
    /// A quoted value ends at its quote.
    Html,
}

/// One piece of markup, borrowed from the input.
pub(crate) enum Token<'a> {
    /// Character data with its entities as written.
    Text(&'a str),
    /// The inside of a CDATA section: taken as it is.
    Cdata(&'a str),
    Start(Tag<'a>),
    /// The name in an end tag.
    End(&'a str),
    /// The inside of `<!…>`, of a document type for example.
    Declaration(&'a str),
}

/// A start tag.
pub(crate) struct Tag<'a> {
    pub(crate) name: &'a str,
    /// Names and raw values, in order; at most [`MAX_ATTRIBUTES`].
    pub(crate) attributes: Vec<(&'a str, &'a str)>,
    /// Whether the tag closes itself (`<a/>`).
    pub(crate) empty: bool,
}

/// More attributes than any feed has; the others are passed over.
const MAX_ATTRIBUTES: usize = 64;

/// What a `<` turned out to begin.
enum Found<'a> {
    Token(Token<'a>),
    /// Something that is passed over, such as a comment.
    Nothing,
    /// No markup: the `<` belongs to the text.
    Text,
}

/// The tokenizer; iterate over it.
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    syntax: Syntax,
    /// A declaration was not balanced: the later ones end at their first `>`, unlooked at, or the
    /// same rest of the input would be searched again and again.
    unbalanced: bool,
    /// Whether the input ended inside a tag, comment, CDATA section or the like.
    pub(crate) cut: bool,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str, syntax: Syntax) -> Self {
        Scanner {
            text,
            at: 0,
            syntax,
            unbalanced: false,
            cut: false,
        }
    }

    /// Passes over everything up to the end tag of `name` (for script and style, whose inside is
    /// not markup), or to the end of the input.
    pub(crate) fn skip_to_end_of(&mut self, name: &str) {
        while let Some(found) = self.text[self.at..].find("</") {
            self.at += found + 2;
            let start = self.text.as_bytes().get(self.at..self.at + name.len());
            if start.is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes())) {
                self.at = self.text[self.at..]
                    .find('>')
                    .map_or(self.text.len(), |n| self.at + n + 1);
                return;
            }
        }
        self.at = self.text.len();
    }

    /// Takes what stands before `end`, and moves behind it; all of the rest if there is none.
    fn until(&mut self, start: usize, end: &str) -> &'a str {
        let rest = &self.text[start..];
        if let Some(found) = rest.find(end) {
            self.at = start + found + end.len();
            &rest[..found]
        } else {
            self.cut = true;
            self.at = self.text.len();
            rest
        }
    }

    /// Reads what begins with the `<` at the current place.
    fn markup(&mut self) -> Found<'a> {
        let (start, rest) = (self.at, &self.text[self.at..]);
        if rest.starts_with("<![CDATA[") {
            return Found::Token(Token::Cdata(self.until(start + 9, "]]>")));
        }
        if rest.starts_with("<!--") {
            self.until(start + 4, "-->");
            return Found::Nothing;
        }
        if rest.starts_with("<?") {
            self.until(start + 2, ">");
            return Found::Nothing;
        }
        if rest.starts_with("<!") {
            return Found::Token(self.declaration());
        }
        if let Some(name) = rest.strip_prefix("</").and_then(tag_name) {
            let after = start + 2 + name.len();
            let end = self.text[after..].find(['>', '<']);
            self.cut |= end.is_none();
            self.at = end.map_or(self.text.len(), |end| {
                after + end + usize::from(self.text.as_bytes()[after + end] == b'>')
            });
            return end.map_or(Found::Nothing, |_| Found::Token(Token::End(name)));
        }
        match rest.strip_prefix('<').and_then(tag_name) {
            Some(name) => self.tag(name),
            None => Found::Text,
        }
    }

    /// Reads the attributes of a tag, which may turn out to be no tag.
    fn tag(&mut self, name: &'a str) -> Found<'a> {
        let mut at = self.at + 1 + name.len();
        let mut attributes = Vec::new();
        loop {
            match piece(self.text, &mut at, self.syntax) {
                Piece::Attribute(name, value) => {
                    if attributes.len() < MAX_ATTRIBUTES {
                        attributes.push((name, value));
                    }
                }
                Piece::End { empty } => {
                    self.at = at;
                    return Found::Token(Token::Start(Tag {
                        name,
                        attributes,
                        empty,
                    }));
                }
                Piece::Broken => return Found::Text,
                Piece::Cut => {
                    self.cut = true;
                    self.at = self.text.len();
                    return Found::Nothing;
                }
            }
        }
    }

    /// Passes over `<!…>`, including the internal subset of a document type.
    fn declaration(&mut self) -> Token<'a> {
        let start = self.at + 2;
        if let Some(end) = self.end_of_declaration(start) {
            self.at = end + 1;
            return Token::Declaration(&self.text[start..end]);
        }
        // Not balanced: it ends at the first `>`, if there is one.
        self.unbalanced = true;
        Token::Declaration(self.until(start, ">"))
    }

    /// Where the `>` is that closes the declaration which starts at `at`.
    fn end_of_declaration(&self, mut at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let (mut depth, mut quote) = (0_usize, None);
        while at < bytes.len() && !self.unbalanced {
            match (quote, bytes[at]) {
                (Some(open), byte) => quote = Some(open).filter(|open| *open != byte),
                (None, byte @ (b'"' | b'\'')) if depth > 0 => quote = Some(byte),
                (None, b'<') if bytes[at..].starts_with(b"<!--") => {
                    at += self.text[at..].find("-->")? + 2;
                }
                (None, b'[') => depth += 1,
                (None, b']') => depth = depth.saturating_sub(1),
                (None, b'>') if depth == 0 => return Some(at),
                _ => {}
            }
            at += 1;
        }
        None
    }
}

impl<'a> Iterator for Scanner<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        while self.at < self.text.len() {
            let start = self.at;
            let mut text_from = start;
            if self.text.as_bytes()[start] == b'<' {
                match self.markup() {
                    Found::Token(token) => return Some(token),
                    Found::Nothing => continue,
                    Found::Text => text_from += 1,
                }
            }
            let end = self.text[text_from..]
                .find('<')
                .map_or(self.text.len(), |n| text_from + n);
            self.at = end;
            return Some(Token::Text(&self.text[start..end]));
        }
        None
    }
}

/// The name at the start of `text`, if what follows it lets it be the name of a tag.
fn tag_name(text: &str) -> Option<&str> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let first = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    // `<https://…>` is an address in angle brackets.
    (first && !name.ends_with(':') && rest.starts_with(['>', '/', '<', ' ', '\t', '\n', '\r']))
        .then_some(name)
}
