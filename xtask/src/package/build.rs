//! Builds the deployable binaries in their size profile.

use crate::error::TaskError;
use crate::process::{cargo, root, run as run_command, target_dir};
use std::path::PathBuf;

/// The target that archives are built for.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Builds the binaries with their symbols, which the weights are read from.
pub(super) fn binaries(names: &[&str]) -> Result<(), TaskError> {
    let mut build = cargo(&["build", "--package", "cli", "--profile", "deploy"]);
    build.args(["--target", TARGET]);
    for name in names {
        build.args(["--bin", name]);
    }
    build.env("CARGO_ENCODED_RUSTFLAGS", flags().join("\u{1f}"));
    build.env("CARGO_PROFILE_DEPLOY_STRIP", "false");
    run_command(&mut build)
}

/// Where a binary was built.
pub(super) fn binary(name: &str) -> Result<Vec<u8>, TaskError> {
    let path: PathBuf = target_dir().join(TARGET).join("deploy").join(name);
    std::fs::read(&path).map_err(|error| TaskError::file(path, error))
}

/// A panic ends the process, so nothing is kept for unwinding; and no path of the machine gets in.
fn flags() -> Vec<String> {
    let script = root().join("packaging/discard.ld");
    let mut flags = vec![
        "-Crelocation-model=static".to_owned(),
        "-Cforce-unwind-tables=no".to_owned(),
        "-Clink-arg=-Wl,--build-id=none".to_owned(),
        "-Clink-arg=-Wl,-O2".to_owned(),
        format!("-Clink-arg=-Wl,-T,{}", script.display()),
    ];
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    for (path, name) in [(Some(root()), "/project"), (home, "/cargo")] {
        if let Some(path) = path {
            flags.push(format!("--remap-path-prefix={}={name}", path.display()));
        }
    }
    flags
}
