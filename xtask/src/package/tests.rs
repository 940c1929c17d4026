//! Archives as users meet them: unpacked with the tools that are there, or not.

use super::elf::Elf;
use super::trial::unpack;
use super::{archive, portable, wanted, weight};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What the script calls besides what unpacks.
const BASICS: [&str; 7] = ["bash", "chmod", "dirname", "mv", "rm", "uname", "cat"];
const PROGRAM: &[u8] = b"#!/bin/sh\necho news-digest 1.2.3\n";

/// A real tool, past whatever chooses between versions of it.
fn tool(name: &str) -> Option<PathBuf> {
    let asks = match name {
        "python3" => "python3 -c 'import lzma, sys; print(sys.executable)'".to_owned(),
        name => format!("command -v {name}"),
    };
    let told = Command::new("bash").args(["-c", &asks]).output().unwrap();
    let path = String::from_utf8(told.stdout).unwrap().trim().to_owned();
    (told.status.success() && !path.is_empty()).then(|| path.into())
}

/// An unpacked archive of a program, and a folder of programs that can be called.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn of(program: &[u8]) -> Self {
        let packed = archive::packed(program, true).unwrap();
        Self::packed(&archive::archive("news-digest", &packed).unwrap())
    }

    fn packed(bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        unpack(bytes, folder.path()).unwrap();
        let place = Self { folder };
        std::fs::create_dir(place.path("tools")).unwrap();
        for name in BASICS {
            symlink(tool(name).unwrap(), place.path("tools").join(name)).unwrap();
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn with(self, name: &str) -> Option<Self> {
        symlink(tool(name)?, self.path("tools").join(name)).unwrap();
        Some(self)
    }

    fn with_script(self, name: &str, text: &str) -> Self {
        let path = self.path("tools").join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        self
    }

    fn set_up(&self) -> Output {
        let mut bash = Command::new(tool("bash").unwrap());
        bash.arg("setup.sh").current_dir(self.folder.path());
        bash.env_clear().env("PATH", self.path("tools"));
        bash.output().unwrap()
    }

    fn executable(&self) -> PathBuf {
        self.path("bin/news-digest")
    }

    fn assert_done(&self) {
        let ended = self.set_up();
        assert!(ended.status.success(), "{ended:?}");
        assert_eq!(std::fs::read(self.executable()).unwrap(), PROGRAM);
        let mode = std::fs::metadata(self.executable()).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o755);
        assert!(!self.path("bin/news-digest.part").exists());
    }

    fn assert_fails(&self, parts: &[&str]) {
        let ended = self.set_up();
        assert_eq!(ended.status.code(), Some(1), "{ended:?}");
        let said = String::from_utf8(ended.stderr).unwrap();
        for part in parts {
            assert!(said.contains(part), "{part} is not in {said}");
        }
        assert!(!self.path("bin/news-digest.part").exists());
    }
}

#[test]
fn each_tool_unpacks_alone() {
    let mut there = 0;
    for name in ["xz", "python3", "busybox"] {
        let Some(place) = Place::of(PROGRAM).with(name) else {
            println!("{name} is not on this machine");
            continue;
        };
        place.assert_done();
        // A second run of the script does no harm.
        place.assert_done();
        there += 1;
    }
    assert!(there > 0, "nothing on this machine unpacks xz");
}

#[test]
fn a_tool_that_does_not_work_is_passed_over() {
    let Some(place) = Place::of(PROGRAM).with("python3") else {
        return;
    };
    let place = place.with_script("xz", "#!/bin/sh\necho not today >&2\nexit 1\n");
    place.assert_done();
}

#[test]
fn without_any_tool_it_says_what_is_missing() {
    Place::of(PROGRAM).assert_fails(&["cannot unpack news-digest", "xz-utils", "python3", "image"]);
    let without_module =
        "#!/bin/sh\necho \"ModuleNotFoundError: No module named '_lzma'\" >&2\nexit 1\n";
    let place = Place::of(PROGRAM).with_script("python3", without_module);
    place.assert_fails(&[
        "python3: ModuleNotFoundError: No module named '_lzma'",
        "xz-utils",
    ]);
}

#[test]
fn a_program_that_cannot_start_here_is_named_before_the_entrypoint() {
    let wrong = b"\x7fELF is not all that it takes";
    for name in ["xz", "python3"] {
        if let Some(place) = Place::of(wrong).with(name) {
            place.assert_fails(&["news-digest does not start on this machine", "glibc 2.31"]);
        }
    }
}

#[test]
fn an_archive_without_its_executable_is_not_complete() {
    let place = Place::of(PROGRAM);
    std::fs::remove_file(place.path("bin/news-digest.xz")).unwrap();
    place.assert_fails(&["not complete"]);
}

#[test]
fn an_archive_holds_what_it_needs_and_nothing_else() {
    for name in super::NAMES {
        let bytes = archive::archive(name, b"packed").unwrap();
        let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(bytes.as_slice()));
        let entries: Vec<(String, u32, u64, u64)> = tar
            .entries()
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let header = entry.header();
                let path = entry.path().unwrap().display().to_string();
                let mode = header.mode().unwrap();
                (path, mode, header.uid().unwrap(), header.mtime().unwrap())
            })
            .collect();
        let moment = 1_577_836_800;
        assert_eq!(
            entries,
            [
                (format!("bin/{name}.xz"), 0o644, 0, moment),
                ("config.json".to_owned(), 0o644, 0, moment),
                ("setup.sh".to_owned(), 0o755, 0, moment),
            ]
        );
        assert_eq!(bytes, archive::archive(name, b"packed").unwrap());
        // No time and no system in the head of the gzip.
        assert_eq!(
            (&bytes[..8], bytes[9]),
            (&b"\x1f\x8b\x08\0\0\0\0\0"[..], 255)
        );
    }
}

#[test]
fn the_example_configurations_are_right() {
    for name in super::NAMES {
        let path = crate::process::root().join(format!("packaging/config/{name}.json"));
        let text = std::fs::read_to_string(path).unwrap();
        let keys: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
        assert!(!keys.is_empty());
    }
}

#[test]
fn automations_are_named_or_all() {
    assert_eq!(wanted(&[]).unwrap(), super::NAMES);
    let one = ["github-pr-reviewer".to_owned()];
    assert_eq!(wanted(&one).unwrap(), ["github-pr-reviewer"]);
    let error = wanted(&["news".to_owned()]).unwrap_err().to_string();
    assert!(
        error.contains("news is no automation; there are news-digest"),
        "{error}"
    );
}

/// A small program, linked here, with its symbols.
fn linked(folder: &Path) -> Option<Vec<u8>> {
    let source = folder.join("a.c");
    let text = "#include <stdio.h>\nint table[3] = {1, 2, 3};\nint zeros[500];\n\
                int main(void) { printf(\"%d\", table[zeros[0]]); return 0; }\n";
    std::fs::write(&source, text).unwrap();
    let program = folder.join("a");
    let mut compile = Command::new("cc");
    compile.arg("-o").arg(&program).arg(&source);
    compile
        .status()
        .ok()
        .filter(std::process::ExitStatus::success)?;
    std::fs::read(program).ok()
}

#[test]
fn an_executable_is_read_and_cut_to_what_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = linked(folder.path()).unwrap();
    let elf = Elf::parse(&bytes).unwrap();
    let symbols = elf.symbols();
    let size = |name: &str| {
        let symbol = symbols.iter().find(|symbol| symbol.name == name);
        symbol.map(|symbol| symbol.size)
    };
    assert_eq!(size("table"), Some(12));
    assert!(size("main").unwrap() > 0);
    assert_eq!(size("zeros"), None, "it takes no bytes of the file");
    assert!(elf.libraries().contains(&"libc.so.6".to_owned()));
    let needs = elf.needs();
    assert!(
        needs
            .iter()
            .any(|need| need.library == "libc.so.6" && need.version.starts_with("GLIBC_2."))
    );
    assert!(weight::by_crate(&elf).of("(C)") > 12);

    let cut = elf.loaded();
    assert!(cut.len() < bytes.len());
    let path = folder.path().join("cut");
    std::fs::write(&path, &cut).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    let ended = Command::new(&path).output().unwrap();
    assert_eq!(
        (ended.status.code(), ended.stdout.as_slice()),
        (Some(0), b"1".as_slice())
    );
}

#[test]
fn an_executable_that_needs_too_much_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = linked(folder.path()).unwrap();
    let change = |from: &[u8], to: &[u8]| -> Vec<u8> {
        assert_eq!(from.len(), to.len());
        let mut bytes = bytes.clone();
        let places: Vec<usize> = (0..bytes.len() - from.len())
            .filter(|at| bytes[*at..].starts_with(from))
            .collect();
        for at in places {
            bytes[at..at + from.len()].copy_from_slice(to);
        }
        bytes
    };
    let newer = change(b"GLIBC_2.2.5\0", b"GLIBC_2.36\0\0");
    let error = portable::check(&Elf::parse(&newer).unwrap())
        .unwrap_err()
        .to_string();
    assert!(error.contains("libc.so.6 GLIBC_2.36"), "{error}");
    let strange = change(b"libc.so.6\0", b"libx.so.6\0");
    let error = portable::check(&Elf::parse(&strange).unwrap())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("libx.so.6, which not every system has"),
        "{error}"
    );
}

#[test]
fn what_is_no_executable_is_an_error() {
    assert!(Elf::parse(b"").is_err());
    assert!(Elf::parse(b"#!/bin/sh\n").is_err());
    let folder = tempfile::tempdir().unwrap();
    let bytes = linked(folder.path()).unwrap();
    for length in (0..bytes.len()).step_by(97) {
        if let Ok(elf) = Elf::parse(&bytes[..length]) {
            let _ = (elf.symbols(), elf.needs(), elf.libraries());
        }
    }
}
