//! Percent-encoding and base64, as the forges have them in addresses, contents and credentials.

/// Undoes percent-encoding; what is not valid stays as it is.
pub(crate) fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let pair = (first == b'%').then(|| tail.get(..2)).flatten();
        let value = pair
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(byte) = value {
            bytes.push(byte);
            rest = &tail[2..];
        } else {
            bytes.push(first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Encodes everything but unreserved characters: a path goes in as one part of another path.
pub(crate) fn encode(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

/// Standard base64 without line breaks (RFC 4648, section 4).
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |index| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for index in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * index) & 63) as usize];
            text.push(if index <= group.len() {
                char::from(digit)
            } else {
                '='
            });
        }
    }
    text
}

/// Undoes [`base64`]; `None` when it is none.
pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for digit in text.bytes().filter(|digit| *digit != b'=') {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_encoding_there_and_back() {
        for (plain, coded) in [
            ("group/team/service", "group%2Fteam%2Fservice"),
            ("grüppe/ä b", "gr%C3%BCppe%2F%C3%A4%20b"),
            ("my.project~_-", "my.project~_-"),
        ] {
            assert_eq!(encode(plain), coded);
            assert_eq!(decode(coded), plain);
        }
        assert_eq!(decode("100%"), "100%");
        assert_eq!(decode("%zz%2"), "%zz%2");
    }

    #[test]
    fn base64_there_and_back() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("oauth2:glpat-1", "b2F1dGgyOmdscGF0LTE="),
        ] {
            assert_eq!(base64(plain.as_bytes()), coded);
            assert_eq!(from_base64(coded).unwrap(), plain.as_bytes());
        }
        assert_eq!(base64(&[0xfb, 0xff]), "+/8=");
        assert_eq!(from_base64("a b"), None);
    }
}
