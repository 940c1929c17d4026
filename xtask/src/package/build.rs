//! Builds the deployable binaries in their size profile, with nothing of the building machine in
//! them.

use super::stand_ins;
use crate::error::TaskError;
use crate::process::{cargo, command, output, root, run as run_command, target_dir};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What most automation services run on.
const USUAL: &str = "x86_64-unknown-linux-gnu";
/// What others run on.
const OTHER: &str = "aarch64-unknown-linux-gnu";
/// The profile in the root's Cargo.toml.
const PROFILE: &str = "deploy";
/// Variables that would change what is built.
const INFLUENCES: [&str; 12] = [
    "RUSTFLAGS",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_INCREMENTAL",
    "CFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "LIBRARY_PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "GCC_EXEC_PREFIX",
    "RUSTC_BOOTSTRAP",
];

/// What is built for.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) triple: String,
    host: String,
}

impl Machine {
    /// The target, or this machine.
    ///
    /// # Errors
    /// [`TaskError::CannotRunHere`] when Rust's library for the target is not installed.
    pub(super) fn new(target: Option<&str>) -> Result<Self, TaskError> {
        let told = text_of(&["-vV"])?;
        let mut lines = told.lines();
        let host = lines.find_map(|line| line.strip_prefix("host: "));
        let host = host.unwrap_or_default().to_owned();
        let triple = target.map_or_else(|| host.clone(), str::to_owned);
        let library = text_of(&["--print", "target-libdir", "--target", &triple])?;
        if !Path::new(library.trim()).is_dir() {
            return Err(TaskError::CannotRunHere(format!(
                "Rust's library for {triple} is not installed: rustup target add {triple}"
            )));
        }
        Ok(Self { triple, host })
    }

    /// The kind that is not this machine's, if it can be built for here.
    pub(super) fn other() -> Result<Option<&'static str>, TaskError> {
        let here = Self::new(None)?;
        let other = if here.triple == OTHER { USUAL } else { OTHER };
        let machine = match Self::new(Some(other)) {
            Err(TaskError::CannotRunHere(_)) => return Ok(None),
            machine => machine?,
        };
        let compiler = output(command(machine.compiler()).arg("--version"));
        let works = compiler.is_ok_and(|told| told.status.success());
        Ok(works.then_some(other))
    }

    /// Whether what is built runs on this machine.
    pub(super) fn is_here(&self) -> bool {
        self.triple == self.host
    }

    /// Such as `x86_64`.
    pub(super) fn processor(&self) -> &str {
        self.triple.split('-').next().unwrap_or_default()
    }

    /// The C compiler that links for it: this machine's, or Debian's for another processor, unless
    /// cargo was told which.
    pub(super) fn compiler(&self) -> OsString {
        if self.is_here() {
            return std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        }
        let usual = format!("{}-linux-gnu-gcc", self.processor());
        std::env::var_os(self.linker_variable()).unwrap_or_else(|| usual.into())
    }

    fn linker_variable(&self) -> String {
        let triple = self.triple.to_uppercase().replace('-', "_");
        format!("CARGO_TARGET_{triple}_LINKER")
    }

    /// Whether there are stand-ins for its libraries.
    fn has_stand_ins(&self) -> bool {
        self.triple == USUAL || self.triple == OTHER
    }

    /// Whether the filter for x86 code fits.
    pub(super) fn is_x86(&self) -> bool {
        self.triple.starts_with("x86_64-")
    }

    /// What the names of its archives end with.
    pub(super) fn suffix(&self) -> String {
        if self.triple == USUAL {
            String::new()
        } else {
            format!("-{}", self.processor())
        }
    }
}

/// Where the compiler of this machine has its linkers.
fn linkers(host: &str) -> Result<String, TaskError> {
    let root = text_of(&["--print", "sysroot"])?;
    let folder = format!("{}/lib/rustlib/{host}/bin/gcc-ld", root.trim());
    if Path::new(&folder).join("ld.lld").is_file() {
        Ok(folder)
    } else {
        Err(TaskError::CannotRunHere(format!(
            "this Rust has no linker of its own in {folder}"
        )))
    }
}

/// What rustc tells about itself.
fn text_of(arguments: &[&str]) -> Result<String, TaskError> {
    let program = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let told = output(command(program).args(arguments))?;
    if told.status.success() {
        return Ok(String::from_utf8_lossy(&told.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&told.stderr);
    Err(TaskError::CannotRunHere(format!("rustc: {}", said.trim())))
}

/// What has been built.
#[derive(Debug)]
pub(super) struct Build<'a> {
    pub(super) machine: &'a Machine,
    /// What `cargo metadata` says of the packages.
    pub(super) packages: Value,
}

impl<'a> Build<'a> {
    /// Builds the binaries with their symbols, which the weights are read from.
    ///
    /// # Errors
    /// The build fails.
    pub(super) fn run(machine: &'a Machine, names: &[&str]) -> Result<Self, TaskError> {
        let build = Self {
            machine,
            packages: packages()?,
        };
        let mut cargo = cargo(&["build", "--locked", "--package", "cli"]);
        cargo.args(["--profile", PROFILE, "--target", &machine.triple]);
        for name in names {
            cargo.args(["--bin", name]);
        }
        for name in INFLUENCES {
            cargo.env_remove(name);
        }
        cargo
            .env("CARGO_ENCODED_RUSTFLAGS", build.flags()?.join("\u{1f}"))
            .env("CARGO_PROFILE_DEPLOY_STRIP", "false")
            .env("LC_ALL", "C")
            .env("TZ", "UTC")
            .env("SOURCE_DATE_EPOCH", "0");
        if !machine.is_here() {
            cargo.env(machine.linker_variable(), machine.compiler());
        }
        run_command(&mut cargo)?;
        Ok(build)
    }

    /// A binary that was built.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn executable(&self, name: &str) -> Result<Vec<u8>, TaskError> {
        let folder = target_dir().join(&self.machine.triple).join(PROFILE);
        let path = folder.join(name);
        std::fs::read(&path).map_err(|error| TaskError::file(&path, error))
    }

    fn flags(&self) -> Result<Vec<String>, TaskError> {
        let mut flags = vec![
            // A panic ends the process, so nothing is kept for unwinding.
            "-Cforce-unwind-tables=no".to_owned(),
            // Names that say which crate generic code was made for.
            "-Csymbol-mangling-version=v0".to_owned(),
        ];
        let mut link = vec!["-Wl,--build-id=none".to_owned()];
        if self.machine.has_stand_ins() {
            // Addresses that are known when linking need no table of them.
            flags.push("-Crelocation-model=static".to_owned());
            // The linker that comes with Rust: join what is equal, order it as it packs best.
            if self.machine.triple != USUAL {
                // There it is not used by itself.
                let folder = linkers(&self.machine.host)?;
                link.extend(["-fuse-ld=lld".to_owned(), format!("-B{folder}")]);
            }
            link.extend(
                [
                    "-O2",
                    "--icf=all",
                    "--bp-compression-sort=both",
                    "--no-eh-frame-hdr",
                ]
                .map(|flag| format!("-Wl,{flag}")),
            );
            link.extend(stand_ins::make(self.machine)?);
        }
        flags.extend(link.into_iter().map(|flag| format!("-Clink-arg={flag}")));
        flags.extend(
            self.prefixes()
                .into_iter()
                .map(|(path, name)| format!("--remap-path-prefix={path}={name}")),
        );
        Ok(flags)
    }

    /// Where sources lie on this machine, and what stands for it in the binary.
    fn prefixes(&self) -> Vec<(String, &'static str)> {
        let mut prefixes = vec![(root().display().to_string(), ".")];
        let crates = self.packages["packages"].as_array().into_iter().flatten();
        let folders: BTreeSet<String> = crates
            .filter(|package| !package["source"].is_null())
            .filter_map(|package| {
                Path::new(package["manifest_path"].as_str()?)
                    .parent()?
                    .parent()
            })
            .map(|folder| folder.display().to_string())
            .collect();
        prefixes.extend(folders.into_iter().map(|folder| (folder, "crates")));
        prefixes
    }

    /// Makes sure that nothing tells where a binary was built.
    ///
    /// # Errors
    /// Names the path that is in it.
    pub(super) fn no_traces(&self, executable: &[u8]) -> Result<(), TaskError> {
        let homes = ["HOME", "CARGO_HOME", "RUSTUP_HOME"].map(std::env::var_os);
        let mut places: Vec<PathBuf> = homes.into_iter().flatten().map(PathBuf::from).collect();
        places.push(root());
        places.push(target_dir());
        places.extend(
            self.prefixes()
                .into_iter()
                .map(|(path, _)| PathBuf::from(path)),
        );
        for place in places.iter().filter(|place| place.components().count() > 1) {
            let place = format!("{}/", place.display());
            let mut windows = executable.windows(place.len());
            if windows.any(|window| window == place.as_bytes()) {
                return Err(TaskError::found(format!(
                    "{place} is written in the executable"
                )));
            }
        }
        Ok(())
    }
}

fn packages() -> Result<Value, TaskError> {
    let told = output(&mut cargo(&[
        "metadata",
        "--format-version",
        "1",
        "--locked",
    ]))?;
    serde_json::from_slice(&told.stdout).map_err(|error| {
        let said = String::from_utf8_lossy(&told.stderr);
        TaskError::found(format!("cargo metadata: {error}: {}", said.trim()))
    })
}
