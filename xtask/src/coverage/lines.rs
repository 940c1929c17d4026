//! Lines of sources that tests have run, read from what `llvm-cov export --format=lcov` writes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// What comes before the figure in the README of a crate.
const STATED: &str = "Tests run ";
/// Places that a row of the table names.
const SHOWN: usize = 12;

/// By file, below `src`: by line, whether it was run.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Lines(BTreeMap<String, BTreeMap<u32, bool>>);

impl Lines {
    /// Reads those of the files below a folder; none if there are none.
    pub(super) fn read(lcov: &str, below: &Path) -> Option<Self> {
        let mut files: BTreeMap<String, BTreeMap<u32, bool>> = BTreeMap::new();
        let mut file = None;
        for line in lcov.lines() {
            if let Some(path) = line.strip_prefix("SF:") {
                let name = Path::new(path).strip_prefix(below).ok();
                file = name
                    .map(|name| name.display().to_string())
                    .filter(|name| !is_of_tests(name));
            } else if let (Some(file), Some(data)) = (&file, line.strip_prefix("DA:")) {
                let mut numbers = data.split(',');
                let line = numbers.next().and_then(|number| number.parse().ok());
                let Some(line) = line else { continue };
                let ran = numbers.next().is_some_and(|count| count != "0");
                // Generic code is there once for each of its uses.
                *files
                    .entry(file.clone())
                    .or_default()
                    .entry(line)
                    .or_default() |= ran;
            }
        }
        (!files.is_empty()).then_some(Self(files))
    }

    /// The part that was run, in percent.
    pub(super) fn percent(&self) -> f64 {
        percent(self.0.values().flat_map(BTreeMap::values))
    }

    /// A row for each file that was not run whole, with the lines that were not, and the sum.
    pub(super) fn table(&self) -> String {
        let mut table = String::new();
        for (file, lines) in &self.0 {
            let missed: Vec<u32> = lines
                .iter()
                .filter(|(_, ran)| !**ran)
                .map(|(line, _)| *line)
                .collect();
            if !missed.is_empty() {
                let part = percent(lines.values());
                let _ = writeln!(
                    table,
                    "  {part:5.1} %  {file:<28} not run: {}",
                    places(&missed)
                );
            }
        }
        let _ = write!(table, "  {:5.1} %  of all lines", self.percent());
        table
    }
}

/// The figure that a README states.
pub(super) fn stated(readme: &str) -> Option<f64> {
    let (_, rest) = readme.split_once(STATED)?;
    rest.split_once(" %")?.0.parse().ok()
}

/// Tests, and what is there for tests: fixtures, the contract of stores, entries for fuzz targets.
fn is_of_tests(file: &str) -> bool {
    ["tests.rs", "fixtures.rs", "fuzzing.rs"]
        .iter()
        .any(|end| file.ends_with(end))
        || ["tests/", "contract/"]
            .iter()
            .any(|folder| file.contains(folder))
}

fn percent<'a>(lines: impl Iterator<Item = &'a bool>) -> f64 {
    let (mut ran, mut all) = (0_u32, 0_u32);
    for line in lines {
        all += 1;
        ran += u32::from(*line);
    }
    if all == 0 {
        return 0.0;
    }
    f64::from(ran) * 100.0 / f64::from(all)
}

/// Numbers as ranges, the first of them.
fn places(lines: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for line in lines {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *line => *last = *line,
            _ => ranges.push((*line, *line)),
        }
    }
    let mut shown: Vec<String> = ranges
        .iter()
        .take(SHOWN)
        .map(|(first, last)| {
            if first == last {
                first.to_string()
            } else {
                format!("{first}-{last}")
            }
        })
        .collect();
    if ranges.len() > SHOWN {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPORTED: &str = "SF:/root/crates/a/src/engine/poll.rs\nDA:1,5\nDA:2,0\nDA:3,0\nDA:9,0\n\
        end_of_record\nSF:/root/crates/a/src/engine/poll.rs\nDA:2,1\nend_of_record\n\
        SF:/root/crates/a/src/engine/tests.rs\nDA:1,0\nend_of_record\n\
        SF:/root/crates/b/src/lib.rs\nDA:1,0\nend_of_record\n";

    #[test]
    fn lines_of_the_crate_count_and_tests_do_not() {
        let lines = Lines::read(EXPORTED, Path::new("/root/crates/a/src")).unwrap();
        assert!((lines.percent() - 50.0).abs() < 1e-9, "{lines:?}");
        let table = lines.table();
        assert!(table.contains("engine/poll.rs"), "{table}");
        assert!(table.contains("not run: 3, 9\n"), "{table}");
        assert_eq!(Lines::read(EXPORTED, Path::new("/root/crates/c/src")), None);
        assert_eq!(Lines::read("", Path::new("/")), None);
    }

    #[test]
    fn a_readme_states_its_figure() {
        assert_eq!(stated("x\n\nTests run 97.1 % of its lines (…)"), Some(97.1));
        assert_eq!(stated("Tests run 97 % of"), Some(97.0));
        assert_eq!(stated("Tests run most of it"), None);
    }

    #[test]
    fn neighbours_are_one_place() {
        assert_eq!(places(&[1, 2, 3, 7, 9, 10]), "1-3, 7, 9-10");
        let many: Vec<u32> = (0..40).map(|number| number * 2).collect();
        assert!(places(&many).ends_with("22, …"), "{}", places(&many));
    }
}
