//! Reads what the checks need from an executable: 64-bit little-endian ELF (System V ABI, chapter 4
//! and 5; symbol versions as in the Linux Standard Base, chapter 10).

/// Section types.
const SYMBOL_TABLE: u32 = 2;
const DYNAMIC: u32 = 6;
const NO_BYTES: u32 = 8;
const VERSION_NEEDS: u32 = 0x6fff_fffe;
/// Kinds of symbols: data and functions.
const OBJECT: u8 = 1;
const FUNCTION: u8 = 2;
/// The tag of a library that is needed.
const NEEDED: u64 = 1;
/// Flag of a section that is in memory at run time.
const ALLOCATED: u64 = 2;

/// An executable.
#[derive(Debug)]
pub(super) struct Elf<'a> {
    bytes: &'a [u8],
    sections: Vec<Section>,
}

#[derive(Clone, Copy, Debug)]
struct Section {
    kind: u32,
    flags: u64,
    offset: usize,
    size: usize,
    link: usize,
}

/// A function or a piece of data.
#[derive(Debug, PartialEq)]
pub(super) struct Symbol {
    pub(super) name: String,
    pub(super) address: u64,
    pub(super) size: u64,
}

/// A version of a library that is needed.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Need {
    pub(super) library: String,
    pub(super) version: String,
}

impl<'a> Elf<'a> {
    /// Reads the tables of an executable that still has its symbols.
    ///
    /// # Errors
    /// What is not as it has to be.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, &'static str> {
        if !bytes.starts_with(b"\x7fELF\x02\x01") {
            return Err("no 64-bit little-endian ELF file");
        }
        let cut_off = "the ELF file is cut off";
        let table = to_usize(number(bytes, 0x28, 8)).ok_or(cut_off)?;
        let size = to_usize(number(bytes, 0x3a, 2)).ok_or(cut_off)?;
        let count = to_usize(number(bytes, 0x3c, 2)).ok_or(cut_off)?;
        let sections = (0..count).map(|index| {
            let at = table + index * size;
            Some(Section {
                kind: u32::try_from(number(bytes, at + 4, 4)?).ok()?,
                flags: number(bytes, at + 8, 8)?,
                offset: to_usize(number(bytes, at + 0x18, 8))?,
                size: to_usize(number(bytes, at + 0x20, 8))?,
                link: to_usize(number(bytes, at + 0x28, 4))?,
            })
        });
        let sections: Option<Vec<Section>> = sections.collect();
        Ok(Self {
            bytes,
            sections: sections.ok_or(cut_off)?,
        })
    }

    /// The executable without everything that is not loaded: symbols, debug information, and the
    /// table of sections.
    pub(super) fn loaded(&self) -> Vec<u8> {
        let end = self.segments().map(|(offset, size)| offset + size).max();
        let mut bytes = self.bytes[..end.unwrap_or(0).min(self.bytes.len())].to_vec();
        // Where the table of sections is, how many there are, and which one names them.
        for (at, size) in [(0x28, 8), (0x3c, 2), (0x3e, 2)] {
            bytes[at..at + size].fill(0);
        }
        bytes
    }

    /// Offset and size in the file of each part that is loaded.
    fn segments(&self) -> impl Iterator<Item = (usize, usize)> {
        let field = |at, size| to_usize(number(self.bytes, at, size)).unwrap_or(0);
        let (table, size, count) = (field(0x20, 8), field(0x36, 2), field(0x38, 2));
        (0..count).map(move |index| {
            let at = table + index * size;
            (field(at + 8, 8), field(at + 0x20, 8))
        })
    }

    /// Bytes that are loaded from the file into memory.
    pub(super) fn loaded_size(&self) -> u64 {
        let loaded = self.sections.iter();
        loaded
            .filter(|section| section.flags & ALLOCATED != 0 && section.kind != NO_BYTES)
            .map(|section| section.size as u64)
            .sum()
    }

    /// The functions and data that have bytes in the file. What lies at the same place, because the
    /// linker joined what is equal, is named once.
    pub(super) fn symbols(&self) -> Vec<Symbol> {
        let mut symbols: Vec<Symbol> = self
            .of_kind(SYMBOL_TABLE)
            .flat_map(|section| {
                let names = self.sections.get(section.link).copied();
                let entries = self.part(section).as_chunks::<24>().0;
                entries.iter().filter_map(move |entry| {
                    let kind = entry[4] & 0xf;
                    let home = usize::from(u16::from_le_bytes([entry[6], entry[7]]));
                    let home = self
                        .sections
                        .get(home)
                        .filter(|home| home.kind != NO_BYTES)?;
                    let (address, size) = (number(entry, 8, 8)?, number(entry, 16, 8)?);
                    let counted = size > 0 && home.flags & ALLOCATED != 0;
                    (counted && (kind == FUNCTION || kind == OBJECT)).then(|| Symbol {
                        name: self.text(names, number(entry, 0, 4)),
                        address,
                        size,
                    })
                })
            })
            .collect();
        symbols.sort_by(|one, other| (one.address, &one.name).cmp(&(other.address, &other.name)));
        symbols.dedup_by_key(|symbol| symbol.address);
        symbols
    }

    /// The libraries that it needs.
    pub(super) fn libraries(&self) -> Vec<String> {
        self.of_kind(DYNAMIC)
            .flat_map(|section| {
                let names = self.sections.get(section.link).copied();
                let entries = self.part(section).as_chunks::<16>().0;
                entries
                    .iter()
                    .filter(|entry| number(*entry, 0, 8) == Some(NEEDED))
                    .map(move |entry| self.text(names, number(entry, 8, 8)))
            })
            .collect()
    }

    /// The versions of libraries that it needs.
    pub(super) fn needs(&self) -> Vec<Need> {
        let mut needs = Vec::new();
        for section in self.of_kind(VERSION_NEEDS) {
            let names = self.sections.get(section.link).copied();
            let part = self.part(section);
            let field = |at, size| number(part, at, size);
            let mut at = 0;
            loop {
                let library = self.text(names, field(at + 4, 4));
                let mut version = at + to_usize(field(at + 8, 4)).unwrap_or(0);
                for _ in 0..field(at + 2, 2).unwrap_or(0) {
                    needs.push(Need {
                        library: library.clone(),
                        version: self.text(names, field(version + 8, 4)),
                    });
                    version += to_usize(field(version + 12, 4)).unwrap_or(0);
                }
                match to_usize(field(at + 12, 4)) {
                    Some(next) if next > 0 => at += next,
                    _ => break,
                }
            }
        }
        needs.sort();
        needs
    }

    fn of_kind(&self, kind: u32) -> impl Iterator<Item = Section> {
        let sections = self.sections.iter().copied();
        sections.filter(move |section| section.kind == kind)
    }

    fn part(&self, section: Section) -> &'a [u8] {
        let end = section.offset.saturating_add(section.size);
        self.bytes.get(section.offset..end).unwrap_or_default()
    }

    /// A text of a table of texts.
    fn text(&self, table: Option<Section>, at: Option<u64>) -> String {
        let table = table.map(|table| self.part(table)).unwrap_or_default();
        let text = to_usize(at).and_then(|at| table.get(at..));
        let text = text.and_then(|text| text.split(|byte| *byte == 0).next());
        String::from_utf8_lossy(text.unwrap_or_default()).into_owned()
    }
}

fn number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(size)?)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |all, byte| all << 8 | u64::from(*byte)),
    )
}

fn to_usize(number: Option<u64>) -> Option<usize> {
    number.and_then(|number| usize::try_from(number).ok())
}
