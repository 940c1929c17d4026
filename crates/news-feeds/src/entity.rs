//! Character references: the named ones of HTML 4 with some of HTML 5, and the numeric ones.
//!
//! XML knows five names, feeds use those of HTML, and some use the bytes of windows-1252 as
//! numbers. A name that is not known stays as written, which also keeps entities that a document
//! declares itself from being expanded.

/// `name:code point in hexadecimal`, sorted by the bytes of the name.
const NAMES: &str = "\
    AElig:c6 Aacute:c1 Acirc:c2 Agrave:c0 Alpha:391 Aring:c5 Atilde:c3 Auml:c4 Beta:392 \
    Ccedil:c7 Chi:3a7 Dagger:2021 Delta:394 ETH:d0 Eacute:c9 Ecirc:ca Egrave:c8 Epsilon:395 \
    Eta:397 Euml:cb Gamma:393 Iacute:cd Icirc:ce Igrave:cc Iota:399 Iuml:cf Kappa:39a \
    Lambda:39b Mu:39c NewLine:a Ntilde:d1 Nu:39d OElig:152 Oacute:d3 Ocirc:d4 Ograve:d2 \
    Omega:3a9 Omicron:39f Oslash:d8 Otilde:d5 Ouml:d6 Phi:3a6 Pi:3a0 Prime:2033 Psi:3a8 \
    Rho:3a1 Scaron:160 Sigma:3a3 THORN:de Tab:9 Tau:3a4 Theta:398 Uacute:da Ucirc:db \
    Ugrave:d9 Upsilon:3a5 Uuml:dc Xi:39e Yacute:dd Yuml:178 ZeroWidthSpace:200b Zeta:396 \
    aacute:e1 acirc:e2 acute:b4 aelig:e6 agrave:e0 alefsym:2135 alpha:3b1 amp:26 and:2227 \
    ang:2220 apos:27 aring:e5 ast:2a asymp:2248 atilde:e3 auml:e4 bdquo:201e beta:3b2 \
    brvbar:a6 bsol:5c bull:2022 cap:2229 ccedil:e7 cedil:b8 cent:a2 check:2713 chi:3c7 \
    circ:2c6 clubs:2663 colon:3a comma:2c commat:40 cong:2245 copy:a9 crarr:21b5 cup:222a \
    curren:a4 dArr:21d3 dagger:2020 darr:2193 deg:b0 delta:3b4 diams:2666 divide:f7 dollar:24 \
    eacute:e9 ecirc:ea egrave:e8 empty:2205 emsp:2003 ensp:2002 epsilon:3b5 equals:3d \
    equiv:2261 eta:3b7 eth:f0 euml:eb euro:20ac excl:21 exist:2203 fnof:192 forall:2200 \
    frac12:bd frac14:bc frac34:be frasl:2044 gamma:3b3 ge:2265 grave:60 gt:3e hArr:21d4 \
    harr:2194 hearts:2665 hellip:2026 horbar:2015 hyphen:2010 iacute:ed icirc:ee iexcl:a1 \
    igrave:ec image:2111 infin:221e int:222b iota:3b9 iquest:bf isin:2208 iuml:ef kappa:3ba \
    lArr:21d0 lambda:3bb lang:2329 laquo:ab larr:2190 lbrace:7b lbrack:5b lceil:2308 lcub:7b \
    ldquo:201c le:2264 lfloor:230a lowast:2217 lowbar:5f loz:25ca lpar:28 lrm:200e \
    lsaquo:2039 lsqb:5b lsquo:2018 lt:3c macr:af mdash:2014 micro:b5 middot:b7 minus:2212 \
    mu:3bc nabla:2207 nbsp:a0 ndash:2013 ne:2260 ni:220b not:ac notin:2209 nsub:2284 \
    ntilde:f1 nu:3bd num:23 oacute:f3 ocirc:f4 oelig:153 ograve:f2 oline:203e omega:3c9 \
    omicron:3bf oplus:2295 or:2228 ordf:aa ordm:ba oslash:f8 otilde:f5 otimes:2297 ouml:f6 \
    para:b6 part:2202 percnt:25 period:2e permil:2030 perp:22a5 phi:3c6 pi:3c0 piv:3d6 \
    plus:2b plusmn:b1 pound:a3 prime:2032 prod:220f prop:221d psi:3c8 quest:3f quot:22 \
    rArr:21d2 radic:221a rang:232a raquo:bb rarr:2192 rbrace:7d rbrack:5d rceil:2309 rcub:7d \
    rdquo:201d real:211c reg:ae rfloor:230b rho:3c1 rlm:200f rpar:29 rsaquo:203a rsqb:5d \
    rsquo:2019 sbquo:201a scaron:161 sdot:22c5 sect:a7 semi:3b shy:ad sigma:3c3 sigmaf:3c2 \
    sim:223c sol:2f spades:2660 starf:2605 sub:2282 sube:2286 sum:2211 sup:2283 sup1:b9 \
    sup2:b2 sup3:b3 supe:2287 szlig:df tau:3c4 there4:2234 theta:3b8 thetasym:3d1 thinsp:2009 \
    thorn:fe tilde:2dc times:d7 trade:2122 uArr:21d1 uacute:fa uarr:2191 ucirc:fb ugrave:f9 \
    uml:a8 upsih:3d2 upsilon:3c5 uuml:fc verbar:7c vert:7c weierp:2118 xi:3be yacute:fd \
    yen:a5 yuml:ff zeta:3b6 zwj:200d zwnj:200c";

/// What windows-1252 has at 0x80 to 0x9F; the five it leaves out keep their place.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The longest reference that is looked for, from `&` to `;`.
const LONGEST: usize = 16;

/// Appends `text` to `out` with its character references replaced.
///
/// With `lenient`, as in HTML, the commonest names and all numbers may lack their semicolon; an
/// XML text such as `?a=1&lt=2` must not be read that way.
pub(crate) fn decode_into(out: &mut String, text: &str, lenient: bool) {
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let (character, length) = reference(rest, lenient).unwrap_or((Some('&'), 1));
        out.extend(character);
        rest = &rest[length..];
    }
    out.push_str(rest);
}

/// The character for U+0080 to U+009F, which nobody means: they are bytes of windows-1252.
pub(crate) fn windows_1252(control: char) -> char {
    let index = u32::from(control).wrapping_sub(0x80);
    usize::try_from(index)
        .ok()
        .and_then(|at| WINDOWS_1252.get(at))
        .copied()
        .unwrap_or(control)
}

/// Reads one reference: its character (none for what XML forbids) and its length.
fn reference(text: &str, lenient: bool) -> Option<(Option<char>, usize)> {
    let word = |text: &str, is_part: fn(&u8) -> bool| {
        text.bytes().take(LONGEST).take_while(is_part).count()
    };
    let Some(number) = text.strip_prefix("&#") else {
        let end = 1 + word(&text[1..], u8::is_ascii_alphanumeric);
        let (name, rest) = (&text[1..end], &text[end..]);
        if rest.starts_with(';') {
            return Some((Some(named(name)?), end + 1));
        }
        // In HTML `&amp` works without its semicolon, unless it is part of a query string.
        let open = lenient && !rest.starts_with('=');
        let known = open && ["amp", "lt", "gt", "quot", "nbsp"].contains(&name);
        return if known {
            Some((Some(named(name)?), end))
        } else {
            None
        };
    };
    let hexadecimal = number.strip_prefix(['x', 'X']);
    let (digits, radix, is_digit): (_, _, fn(&u8) -> bool) = match hexadecimal {
        Some(digits) => (digits, 16, u8::is_ascii_hexdigit),
        None => (number, 10, u8::is_ascii_digit),
    };
    let digits = &digits[..word(digits, is_digit)];
    let end = 2 + usize::from(hexadecimal.is_some()) + digits.len();
    let closed = text[end..].starts_with(';');
    if digits.is_empty() || !(closed || lenient) {
        return None;
    }
    let code = u32::from_str_radix(digits, radix).unwrap_or(u32::MAX);
    Some((numeric(code), end + usize::from(closed)))
}

fn numeric(code: u32) -> Option<char> {
    match code {
        9 | 10 | 12 | 13 => Some(' '),
        0..0x20 | 0x7f => None,
        _ => Some(char::from_u32(code).map_or(char::REPLACEMENT_CHARACTER, windows_1252)),
    }
}

/// Looks a name up by halving the table at the blanks between its entries.
fn named(name: &str) -> Option<char> {
    let mut rest = NAMES;
    while !rest.is_empty() {
        let middle = rest[..rest.len() / 2]
            .rfind(' ')
            .map_or(0, |blank| blank + 1);
        let entry = rest[middle..].split(' ').next()?;
        let (known, code) = entry.split_once(':')?;
        match name.cmp(known) {
            std::cmp::Ordering::Equal => {
                return char::from_u32(u32::from_str_radix(code, 16).ok()?);
            }
            std::cmp::Ordering::Less => rest = rest[..middle].trim_end(),
            std::cmp::Ordering::Greater => rest = rest[middle + entry.len()..].trim_start(),
        }
    }
    None
}

#[cfg(test)]
mod tests;
