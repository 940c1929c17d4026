//! What is read from a built executable: its stripped form, the weight of its crates, and the glibc
//! that it asks for.

use crate::error::TaskError;
use crate::process::{command, output, run as run_command};
use std::collections::BTreeMap;
use std::path::Path;

/// The executable without symbols.
pub(super) fn stripped(executable: &[u8], folder: &Path) -> Result<Vec<u8>, TaskError> {
    let path = folder.join("stripped.tmp");
    std::fs::write(&path, executable).map_err(|error| TaskError::file(&path, error))?;
    run_command(command("strip").arg("--strip-all").arg(&path))?;
    let bytes = std::fs::read(&path).map_err(|error| TaskError::file(&path, error));
    let _ = std::fs::remove_file(&path);
    bytes
}

/// The crates that weigh most, by the sizes of their symbols; one line each.
pub(super) fn heaviest(executable: &[u8], many: usize) -> Result<String, TaskError> {
    let folder =
        tempfile::tempdir().map_err(|error| TaskError::file("a temporary folder", error))?;
    let path = folder.path().join("executable");
    std::fs::write(&path, executable).map_err(|error| TaskError::file(&path, error))?;
    let listed = output(command("nm").args(["--size-sort", "-S", "-C"]).arg(&path))?;
    let mut weights: BTreeMap<String, u64> = BTreeMap::new();
    for line in String::from_utf8_lossy(&listed.stdout).lines() {
        let mut words = line.splitn(4, ' ');
        let (Some(_), Some(size), Some(_), Some(name)) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            continue;
        };
        let size = u64::from_str_radix(size, 16).unwrap_or(0);
        *weights.entry(crate_of(name)).or_default() += size;
    }
    let mut weights: Vec<(u64, String)> = weights
        .into_iter()
        .map(|(name, size)| (size, name))
        .collect();
    weights.sort_by(|a, b| b.cmp(a));
    let lines: Vec<String> = weights
        .iter()
        .take(many)
        .map(|(size, name)| format!("{size:>9} {name}"))
        .collect();
    Ok(lines.join("\n"))
}

/// The crate that a symbol is of; C symbols count as one.
fn crate_of(symbol: &str) -> String {
    let start = symbol.trim_start_matches(['<', '&', '*']);
    let name: String = start
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect();
    if start[name.len()..].starts_with("::") {
        name
    } else {
        "(C and data)".to_owned()
    }
}

/// The newest version of glibc whose symbols an executable asks for, read from its version names.
pub(super) fn newest_glibc(executable: &[u8]) -> (u32, u32) {
    const PREFIX: &[u8] = b"GLIBC_";
    let mut newest = (0, 0);
    for at in 0..executable.len().saturating_sub(PREFIX.len()) {
        if !executable[at..].starts_with(PREFIX) {
            continue;
        }
        let rest = &executable[at + PREFIX.len()..];
        let version: Vec<u8> = rest
            .iter()
            .copied()
            .take_while(|b| b.is_ascii_digit() || *b == b'.')
            .collect();
        let text = String::from_utf8_lossy(&version);
        let mut parts = text.split('.').map(|part| part.parse().unwrap_or(0));
        newest = newest.max((parts.next().unwrap_or(0), parts.next().unwrap_or(0)));
    }
    newest
}
