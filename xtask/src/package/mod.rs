//! `cargo xtask package`: one archive per automation, small enough for the automation service.
//!
//! An archive holds the executable as xz, an example `config.json` and `setup.sh`, which unpacks the
//! executable where it is to run. The same commit gives the same bytes. How the executables got
//! small enough, and why they run on older systems than the one that builds: `docs/packaging.md`.

mod archive;
mod bill;
mod build;
mod elf;
mod portable;
mod stand_ins;
mod trial;
mod weight;

#[cfg(test)]
mod tests;

use crate::console::{block, heading, say};
use crate::error::TaskError;
use crate::process::target_dir;
use build::{Build, Machine};
use elf::Elf;
use std::path::Path;

/// The most bytes that the automation service takes as an upload.
const LIMIT: usize = 1_048_576;
/// How many crates are named by their weight.
const HEAVIEST: usize = 10;

/// The automations.
pub(crate) const NAMES: [&str; 3] = ["news-digest", "github-pr-reviewer", "gitlab-issue-to-mr"];

/// Builds the archives of these automations, or of all, for this machine.
pub(crate) fn run(automations: &[String]) -> Result<(), TaskError> {
    run_for(automations, None)
}

/// Builds the archives of these automations, or of all, for a target.
pub(crate) fn run_for(automations: &[String], target: Option<&str>) -> Result<(), TaskError> {
    let wanted = wanted(automations)?;
    let machine = Machine::new(target)?;
    let folder = target_dir().join("package");
    std::fs::create_dir_all(&folder).map_err(|error| TaskError::file(&folder, error))?;
    let build = Build::run(&machine, &wanted)?;
    let mut wrong = Vec::new();
    for name in wanted {
        heading(name);
        if let Err(error) = one(name, &build, &folder) {
            say(&format!("WRONG: {error}"));
            wrong.push(format!("{name}: {error}"));
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(TaskError::found(wrong.join("\n")))
    }
}

/// For this machine, and for the other kind of processor where what that needs is installed.
pub(crate) fn run_all() -> Result<(), TaskError> {
    run(&[])?;
    let other = Machine::other()?;
    if let Some(other) = other {
        run_for(&[], Some(other))
    } else {
        say(
            "\nnot built for the other kind of processor: Rust's library or a C compiler is missing",
        );
        Ok(())
    }
}

fn wanted(automations: &[String]) -> Result<Vec<&'static str>, TaskError> {
    let known = |wanted: &String| NAMES.into_iter().find(|name| name == wanted);
    if let Some(unknown) = automations.iter().find(|name| known(name).is_none()) {
        return Err(TaskError::found(format!(
            "{unknown} is no automation; there are {}",
            NAMES.join(", ")
        )));
    }
    let all = NAMES.into_iter();
    Ok(all
        .filter(|name| automations.is_empty() || automations.iter().any(|wanted| wanted == name))
        .collect())
}

/// Packs, measures, checks and tries out one automation.
fn one(name: &str, build: &Build<'_>, folder: &Path) -> Result<(), TaskError> {
    let built = build.executable(name)?;
    let elf = Elf::parse(&built).map_err(|error| TaskError::found(format!("{name}: {error}")))?;
    let executable = elf.loaded();
    let packed = archive::packed(&executable, build.machine.is_x86())?;
    let bytes = archive::archive(name, &packed)?;
    let path = folder.join(format!("{name}{}.tar.gz", build.machine.suffix()));
    write(&path, &bytes)?;

    let weights = weight::by_crate(&elf);
    report(&path, executable.len(), packed.len(), bytes.len());
    block(&weights.table(HEAVIEST));
    let bill = bill::of(name, build, &weights)?;
    write(
        &folder.join(format!("{name}{}.sbom.json", build.machine.suffix())),
        bill.as_bytes(),
    )?;

    say(&portable::check(&elf)?);
    build.no_traces(&executable)?;
    if bytes.len() > LIMIT {
        return Err(TaskError::found(format!(
            "the archive is {} bytes too large for an upload",
            bytes.len() - LIMIT
        )));
    }
    if build.machine.is_here() {
        trial::run(build.machine, name, &bytes, &executable)?;
        say("tried: unpacked, set up, started; a panic is reported before the process ends");
    }
    Ok(())
}

fn report(path: &Path, executable: usize, packed: usize, archive: usize) {
    let left = LIMIT.cast_signed() - archive.cast_signed();
    say(&path.display().to_string());
    for (what, bytes) in [
        ("executable", executable.cast_signed()),
        ("packed", packed.cast_signed()),
        ("archive", archive.cast_signed()),
        ("left", left),
    ] {
        say(&format!("  {what:<11}{bytes:>9} bytes"));
    }
    say("  heaviest crates, in bytes of the executable:");
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), TaskError> {
    std::fs::write(path, bytes).map_err(|error| TaskError::file(path, error))
}
