//! CRC-32 as gzip has it (RFC 1952, section 8) under the name of the crate that flate2 uses. That
//! one stores 16 KB of tables, which do not compress; here they are computed on first use, in a few
//! microseconds. Holds what flate2 calls and no more.
//!
//! ```
//! let mut sum = crc32fast::Hasher::new();
//! sum.update(b"123456789");
//! assert_eq!(sum.finalize(), 0xcbf4_3926);
//! ```

use std::sync::OnceLock;

/// The polynomial, lowest bit first.
const POLYNOMIAL: u32 = 0xedb8_8320;
/// Bytes at a time.
const SLICE: usize = 8;

type Tables = [[u32; 256]; SLICE];

/// What is left of a byte after 1 to 8 further zero bytes.
fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(|| {
        let mut tables = [[0; 256]; SLICE];
        for (byte, entry) in (0_u32..).zip(&mut tables[0]) {
            *entry = (0..8).fold(byte, |sum, _| (sum >> 1) ^ (POLYNOMIAL * (sum & 1)));
        }
        for step in 1..SLICE {
            for byte in 0..256 {
                let before = tables[step - 1][byte];
                tables[step][byte] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            }
        }
        tables
    })
}

/// A sum under way.
#[derive(Clone, Debug, Default)]
pub struct Hasher {
    sum: u32,
    length: u64,
}

impl Hasher {
    /// The sum of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Goes on with these bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        let tables = tables();
        let mut sum = !self.sum;
        let (slices, rest) = bytes.as_chunks::<SLICE>();
        for slice in slices {
            let mut slice = *slice;
            for (byte, sum) in slice.iter_mut().zip(sum.to_le_bytes()) {
                *byte ^= sum;
            }
            sum = slice
                .iter()
                .zip(tables.iter().rev())
                .fold(0, |all, (byte, table)| all ^ table[usize::from(*byte)]);
        }
        for byte in rest {
            let [low, ..] = sum.to_le_bytes();
            sum = (sum >> 8) ^ tables[0][usize::from(low ^ byte)];
        }
        self.sum = !sum;
        self.length = self.length.wrapping_add(bytes.len() as u64);
    }

    /// The sum of all bytes so far.
    pub fn finalize(self) -> u32 {
        self.sum
    }

    /// Starts again.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Goes on with the bytes that another sum was made of.
    pub fn combine(&mut self, other: &Self) {
        self.sum = product(power_of_x(other.length), self.sum) ^ other.sum;
        self.length = self.length.wrapping_add(other.length);
    }
}

/// The product of two polynomials modulo [`POLYNOMIAL`], the coefficient of x^0 in the highest bit.
fn product(one: u32, mut other: u32) -> u32 {
    let mut sum = 0;
    for power in (0..u32::BITS).rev() {
        sum ^= other * ((one >> power) & 1);
        other = (other >> 1) ^ (POLYNOMIAL * (other & 1));
    }
    sum
}

/// x^(8 * bytes), which is what `bytes` zero bytes multiply a sum by.
fn power_of_x(mut bytes: u64) -> u32 {
    let mut result = 1 << 31;
    let mut power = 1 << 23;
    while bytes > 0 {
        if bytes & 1 == 1 {
            result = product(power, result);
        }
        power = product(power, power);
        bytes >>= 1;
    }
    result
}

#[cfg(test)]
mod tests;
