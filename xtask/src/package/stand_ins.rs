//! Stand-ins for the libraries of an older glibc, made from a list of their symbols. A program that
//! is linked against them asks for these versions only, whatever the building machine has, and
//! something that is not on the list does not link.

use super::build::Machine;
use crate::error::TaskError;
use crate::process::{command, output, root, target_dir};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Where the list, the start code and the linker script are.
const SOURCES: &str = "packaging/link";
/// Libraries that Rust names on every command line and that nothing is taken from.
const EMPTY: [(&str, &str); 3] = [
    ("gcc_s", "libgcc_s.so.1"),
    ("rt", "librt.so.1"),
    ("util", "libutil.so.1"),
];

/// A library of the list.
#[derive(Debug, PartialEq)]
struct Library {
    /// Such as `libc.so.6`.
    name: String,
    /// In the order of the list, which is that of the versions.
    versions: Vec<Version>,
}

#[derive(Debug, PartialEq)]
struct Version {
    name: String,
    symbols: Vec<Symbol>,
}

#[derive(Debug, PartialEq)]
struct Symbol {
    name: String,
    /// Bytes, if it is data.
    data: Option<u32>,
}

/// Makes the stand-ins and the start code in a folder, and tells the linker's arguments.
///
/// # Errors
/// The list is wrong, or the C compiler fails.
pub(super) fn make(machine: &Machine) -> Result<Vec<String>, TaskError> {
    let sources = root().join(SOURCES);
    let list = sources.join(format!("glibc-2.31-{}.txt", machine.processor()));
    let folder = &target_dir().join("package/link").join(machine.processor());
    let text = std::fs::read_to_string(&list).map_err(|error| TaskError::file(&list, error))?;
    std::fs::create_dir_all(folder).map_err(|error| TaskError::file(folder, error))?;
    let libraries =
        read(&text).map_err(|error| TaskError::found(format!("{}: {error}", list.display())))?;
    for library in &libraries {
        let stem = library.name.split('.').next().unwrap_or_default();
        let file = folder.join(format!("{stem}.so"));
        let text = (assembly(library), script(library));
        shared(machine, &file, &library.name, &text)?;
    }
    for (short, name) in EMPTY {
        let file = folder.join(format!("lib{short}.so"));
        shared(machine, &file, name, &<(String, String)>::default())?;
    }
    let start = folder.join("start.o");
    let mut compile = command(machine.compiler());
    compile.args(["-Os", "-c", "-ffreestanding", "-fno-pic", "-fno-pie"]);
    compile.args(["-fno-asynchronous-unwind-tables", "-fno-stack-protector"]);
    if machine.is_x86() {
        compile.arg("-fcf-protection=none");
    }
    compile.arg("-o").arg(&start).arg(sources.join("start.c"));
    done(&mut compile)?;
    Ok(vec![
        "-nostartfiles".to_owned(),
        format!("-Wl,{}", sources.join("discard.ld").display()),
        start.display().to_string(),
        format!("-L{}", folder.display()),
        "-lpthread".to_owned(),
        "-ldl".to_owned(),
    ])
}

/// Runs the compiler to its end.
pub(super) fn done(compile: &mut std::process::Command) -> Result<(), TaskError> {
    let ended = output(compile)?;
    if ended.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    Err(TaskError::found(format!("the C compiler failed: {said}")))
}

/// A shared library of symbols without any code behind them.
fn shared(
    machine: &Machine,
    file: &Path,
    name: &str,
    (assembly, script): &(String, String),
) -> Result<(), TaskError> {
    let write = |extension: &str, text: &str| -> Result<PathBuf, TaskError> {
        let path = file.with_extension(extension);
        std::fs::write(&path, text).map_err(|error| TaskError::file(&path, error))?;
        Ok(path)
    };
    let source = write("s", assembly)?;
    let mut link = command(machine.compiler());
    link.args(["-shared", "-nostdlib"]);
    link.arg(format!("-Wl,-soname,{name}"));
    if !script.is_empty() {
        let script = write("map", script)?;
        link.arg(format!("-Wl,--version-script={}", script.display()));
    }
    done(link.arg("-o").arg(file).arg(source))
}

/// Reads the list: a library and a version at the start of a line, their symbols in indented ones.
fn read(text: &str) -> Result<Vec<Library>, String> {
    let mut libraries: Vec<Library> = Vec::new();
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    for line in lines.filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        if line.starts_with(' ') {
            let symbols: Result<Vec<Symbol>, String> = words.map(symbol).collect();
            let version = libraries.last_mut().and_then(|one| one.versions.last_mut());
            let version = version.ok_or("a symbol before any library")?;
            version.symbols.extend(symbols?);
            continue;
        }
        let (Some(name), Some(version), None) = (words.next(), words.next(), words.next()) else {
            return Err(format!("`{line}` is no library and version"));
        };
        if libraries.last().is_none_or(|library| library.name != name) {
            libraries.push(Library {
                name: name.to_owned(),
                versions: Vec::new(),
            });
        }
        if let Some(library) = libraries.last_mut() {
            library.versions.push(Version {
                name: version.to_owned(),
                symbols: Vec::new(),
            });
        }
    }
    Ok(libraries)
}

fn symbol(word: &str) -> Result<Symbol, String> {
    let (name, data) = match word.split_once('=') {
        Some((name, size)) => {
            let size = size.parse().map_err(|_| format!("`{word}` has no size"))?;
            (name, Some(size))
        }
        None => (word, None),
    };
    Ok(Symbol {
        name: name.to_owned(),
        data,
    })
}

fn assembly(library: &Library) -> String {
    let mut text = String::new();
    for Symbol { name, data } in library.versions.iter().flat_map(|version| &version.symbols) {
        let (section, kind, size) = match data {
            Some(size) => (".bss", "object", *size),
            None => (".text", "function", 0),
        };
        let _ = writeln!(
            text,
            "{section}\n.globl {name}\n.type {name},@{kind}\n.size {name},{size}\n{name}: .zero {size}"
        );
    }
    text
}

fn script(library: &Library) -> String {
    let mut text = String::new();
    let mut before = String::new();
    for version in &library.versions {
        let names = version.symbols.iter().map(|symbol| symbol.name.as_str());
        let names = names.collect::<Vec<_>>().join("; ");
        let _ = writeln!(text, "{} {{ global: {names}; }}{before};", version.name);
        before = format!(" {}", version.name);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{assembly, read, script};

    const LIST: &str = "# what for\nlibc.so.6 GLIBC_2.2.5\n    abort environ=8\n    read\n\n\
                        libc.so.6 GLIBC_2.14\n    memcpy\nlibdl.so.2 GLIBC_2.2.5\n    dlsym\n";

    #[test]
    fn a_list_becomes_libraries_with_versions() {
        let libraries = read(LIST).unwrap();
        let names: Vec<_> = libraries
            .iter()
            .map(|library| library.name.as_str())
            .collect();
        assert_eq!(names, ["libc.so.6", "libdl.so.2"]);
        assert_eq!(
            script(&libraries[0]),
            "GLIBC_2.2.5 { global: abort; environ; read; };\nGLIBC_2.14 { global: memcpy; } GLIBC_2.2.5;\n"
        );
        let assembly = assembly(&libraries[0]);
        assert!(assembly.contains(".bss\n.globl environ\n.type environ,@object\n.size environ,8"));
        assert!(assembly.contains(".text\n.globl abort\n.type abort,@function"));
    }

    #[test]
    fn mistakes_in_the_list_are_named() {
        assert!(
            read("    abort\n")
                .unwrap_err()
                .contains("before any library")
        );
        assert!(read("libc.so.6\n").unwrap_err().contains("`libc.so.6`"));
        let size = read("libc.so.6 GLIBC_2.2.5\n    environ=x\n");
        assert!(size.unwrap_err().contains("no size"));
    }
}
