//! One header block of a tar archive, and the records of a pax header.
//!
//! Source of the format: POSIX.1-2001 (`pax`, ustar interchange format) and the GNU tar manual
//! (long names, large numbers). Only what code hosts write is understood.

/// Bytes of a block.
pub(super) const BLOCK: usize = 512;

/// What a header block says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Path as bytes, prefix included.
    pub path: Vec<u8>,
    /// Content in bytes.
    pub size: u64,
    /// Permission bits, with set-uid and the like.
    pub mode: u32,
    /// The type flag.
    pub kind: u8,
}

/// Reads a block; `None` when it is all zeros, which ends the archive.
pub(super) fn parse(block: &[u8; BLOCK]) -> Result<Option<Header>, &'static str> {
    if block.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let sum = octal(&block[148..156]).ok_or("a header without a checksum")?;
    if sum != checksum(block) {
        return Err("a header whose checksum is wrong");
    }
    let mut path = text(&block[..100]).to_vec();
    // Only the POSIX layout has a prefix; GNU keeps other things there.
    let prefix = text(&block[345..500]);
    if block[257..263] == *b"ustar\0" && !prefix.is_empty() {
        path = [prefix, b"/", &path].concat();
    }
    Ok(Some(Header {
        path,
        size: number(&block[124..136]).ok_or("a header with an unreadable size")?,
        mode: number(&block[100..108])
            .and_then(|mode| u32::try_from(mode).ok())
            .ok_or("a header with an unreadable mode")?,
        kind: block[156],
    }))
}

/// The sum of all bytes, with the checksum itself taken as blanks.
fn checksum(block: &[u8; BLOCK]) -> u64 {
    let sum: u64 = block.iter().map(|byte| u64::from(*byte)).sum();
    let own: u64 = block[148..156].iter().map(|byte| u64::from(*byte)).sum();
    sum - own + 8 * u64::from(b' ')
}

/// A field up to its first NUL.
fn text(field: &[u8]) -> &[u8] {
    let end = field.iter().position(|byte| *byte == 0);
    &field[..end.unwrap_or(field.len())]
}

/// A number in octal digits, or in binary when the first bit is set.
fn number(field: &[u8]) -> Option<u64> {
    if field[0] & 0x80 == 0 {
        return octal(field);
    }
    let mut value: u64 = 0;
    for (i, byte) in field.iter().enumerate() {
        // 0x80 marks a positive number; 0xff would be a negative one.
        let byte = if i == 0 { byte & 0x7f } else { *byte };
        value = value.checked_mul(256)?.checked_add(byte.into())?;
    }
    Some(value)
}

fn octal(field: &[u8]) -> Option<u64> {
    let field = text(field).trim_ascii();
    let digits = std::str::from_utf8(field).ok()?;
    if digits.is_empty() {
        return Some(0);
    }
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| u64::from_str_radix(digits, 8).ok()).flatten()
}

/// A key and its value.
type Record<'a> = (&'a [u8], &'a [u8]);

/// The records `length key=value\n` of a pax header, in order.
pub(super) fn records(mut data: &[u8]) -> Result<Vec<Record<'_>>, &'static str> {
    const ODD: &str = "an unreadable pax header";
    let mut records = Vec::new();
    while !data.is_empty() {
        let blank = data.iter().position(|byte| *byte == b' ').ok_or(ODD)?;
        let length: usize = std::str::from_utf8(&data[..blank])
            .ok()
            .and_then(|digits| digits.parse().ok())
            .ok_or(ODD)?;
        if length <= blank + 1 || length > data.len() || data[length - 1] != b'\n' {
            return Err(ODD);
        }
        let record = &data[blank + 1..length - 1];
        let equals = record.iter().position(|byte| *byte == b'=').ok_or(ODD)?;
        records.push((&record[..equals], &record[equals + 1..]));
        data = &data[length..];
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(number(b"0000644\0"), Some(0o644));
        assert_eq!(number(b"   644 \0"), Some(0o644));
        assert_eq!(number(b"\0\0\0\0\0\0\0\0"), Some(0));
        assert_eq!(number(b"\x80\0\0\0\0\0\x01\x02"), Some(258));
        assert_eq!(number(b"\x80\x01\0\0\0\0\0\0\0\0\0\0"), None);
        assert_eq!(number(b"00008\0\0\0"), None);
        assert_eq!(number(b"-1\0\0\0\0\0\0"), None);
        assert_eq!(number(b"+1\0\0\0\0\0\0"), None);
    }

    #[test]
    fn pax_records() {
        let data = b"12 path=a/b\n13 comment=c\n";
        let expected: [(&[u8], &[u8]); 2] = [(b"path", b"a/b"), (b"comment", b"c")];
        assert_eq!(records(data).unwrap(), expected);
        for odd in [
            &b"99 path=a\n"[..],
            b"9 path=a",
            b"x path=a\n",
            b"0 path=a\n",
            b"2 \n",
            b"7 path\n",
            b"10path=ab\n",
            b"18446744073709551616 a=b\n",
        ] {
            assert!(records(odd).is_err(), "{odd:?}");
        }
    }
}
