//! Whether an executable runs on the oldest system that is promised: Debian 11.

use super::elf::Elf;
use crate::error::TaskError;

/// Its C library.
const GLIBC: (u32, u32) = (2, 31);
/// What every such system has. `libgcc_s.so.1` comes with the C library on all of them; the
/// executables for x86-64 do without.
const LIBRARIES: [&str; 8] = [
    "libc.so.6",
    "libpthread.so.0",
    "libdl.so.2",
    "libm.so.6",
    "librt.so.1",
    "libgcc_s.so.1",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
];

/// Checks the libraries and versions that an executable needs, and tells the newest.
///
/// # Errors
/// Names what is too new or not there.
pub(super) fn check(elf: &Elf<'_>) -> Result<String, TaskError> {
    let libraries = elf.libraries();
    let strange: Vec<&str> = libraries
        .iter()
        .map(String::as_str)
        .filter(|library| !LIBRARIES.contains(library))
        .collect();
    let needs = elf.needs();
    let too_new: Vec<String> = needs
        .iter()
        .filter(|need| glibc(&need.version).is_some_and(|version| version > GLIBC))
        .map(|need| format!("{} {}", need.library, need.version))
        .collect();
    let (major, minor) = GLIBC;
    if !strange.is_empty() {
        let strange = strange.join(", ");
        return Err(TaskError::found(format!(
            "needs {strange}, which not every system has"
        )));
    }
    if !too_new.is_empty() {
        let too_new = too_new.join(", ");
        return Err(TaskError::found(format!(
            "needs {too_new}: newer than glibc {major}.{minor} (docs/packaging.md, Portable)"
        )));
    }
    let newest = needs.iter().filter_map(|need| glibc(&need.version)).max();
    let (major, minor) = newest.unwrap_or((0, 0));
    Ok(format!(
        "  needs glibc {major}.{minor} or newer ({})",
        libraries.join(", ")
    ))
}

/// The version in a name such as `GLIBC_2.31`.
fn glibc(name: &str) -> Option<(u32, u32)> {
    let (major, minor) = name.strip_prefix("GLIBC_")?.split_once('.')?;
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::glibc;

    #[test]
    fn versions_compare_by_number() {
        assert_eq!(glibc("GLIBC_2.2.5"), Some((2, 2)));
        assert_eq!(glibc("GLIBC_2.31"), Some((2, 31)));
        assert!(glibc("GLIBC_2.9") < glibc("GLIBC_2.31"));
        assert_eq!(glibc("GCC_3.0"), None);
        assert_eq!(glibc("GLIBC_PRIVATE"), None);
    }
}
