//! What each crate weighs in an executable: the sizes of its functions and data. What is made for a
//! crate from generic code of the standard library counts for that crate.

use super::elf::{Elf, Symbol};
use std::collections::BTreeMap;

/// Crates that only say where generic code comes from.
const STANDARD: [&str; 3] = ["core", "alloc", "std"];
/// What the names of C and assembly of a crate begin with.
const FOREIGN: [(&str, &str); 2] = [("ring_core_", "ring"), ("_R", "(unnamed)")];

/// The weights.
#[derive(Debug)]
pub(super) struct Weights {
    by_crate: BTreeMap<String, u64>,
    nameless: u64,
}

/// Weighs all crates.
pub(super) fn by_crate(elf: &Elf<'_>) -> Weights {
    let mut by_crate: BTreeMap<String, u64> = BTreeMap::new();
    let symbols = elf.symbols();
    for Symbol { name, size, .. } in &symbols {
        *by_crate.entry(crate_of(name)).or_default() += size;
    }
    let named: u64 = by_crate.values().sum();
    Weights {
        by_crate,
        nameless: elf.loaded_size().saturating_sub(named),
    }
}

impl Weights {
    /// Bytes of a crate, by its name in code.
    pub(super) fn of(&self, name: &str) -> u64 {
        self.by_crate.get(name).copied().unwrap_or(0)
    }

    /// The heaviest crates, and what no crate can be said of.
    pub(super) fn table(&self, many: usize) -> String {
        let mut crates: Vec<(&String, &u64)> = self.by_crate.iter().collect();
        crates.sort_by(|one, other| (other.1, one.0).cmp(&(one.1, other.0)));
        let lines = crates.iter().take(many);
        let lines = lines.map(|(name, size)| format!("{size:>8} {name}\n"));
        let nameless = "texts, tables and pointers without a name";
        lines.collect::<String>() + &format!("{:>8} ({nameless})\n", self.nameless)
    }
}

/// The crate that a symbol is counted for.
fn crate_of(symbol: &str) -> String {
    let Ok(name) = rustc_demangle::try_demangle(symbol) else {
        let foreign = FOREIGN.iter().find(|(start, _)| symbol.starts_with(start));
        return foreign.map_or("(C)", |(_, name)| name).to_owned();
    };
    let name = format!("{name:#}");
    let mut first = None;
    for root in roots(&name) {
        if !STANDARD.contains(&root) {
            return root.to_owned();
        }
        first = first.or(Some(root));
    }
    first.unwrap_or("(unnamed)").to_owned()
}

/// The first words of all paths in a name, in order.
fn roots(name: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = name;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find(is_word)?;
            let after_colons = rest[..start].ends_with("::");
            let word = &rest[start..];
            let end = word.find(|c| !is_word(c)).unwrap_or(word.len());
            let (word, after) = word.split_at(end);
            rest = after;
            if !after_colons && after.starts_with("::") {
                return Some(word);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::crate_of;

    #[test]
    fn symbols_count_for_the_crate_that_made_them() {
        for (symbol, expected) in [
            ("_RNvNtCs1234_7mycrate3foo3bar", "mycrate"),
            ("_RINvNtC4core3ptr13drop_in_placeNtC3url3UrlEC3cli", "url"),
            ("_RNvC3std4main", "std"),
            ("_RNvXC5tokioNtB2_4TaskNtNtC4core3fmt5Debug3fmt", "tokio"),
            ("ring_core_0_17_14__aes_hw_encrypt", "ring"),
            ("_start", "(C)"),
            ("main", "(C)"),
            ("_ZN5tokio7runtime5build17h0123456789abcdefE", "tokio"),
        ] {
            assert_eq!(crate_of(symbol), expected, "{symbol}");
        }
    }
}
