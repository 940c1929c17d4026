//! How much of the core the tests run: the lines of `lifecycle` and `state-store`, compared with the
//! figure in the README of each crate.
//!
//! The tests are built with the compiler's own instruments, and read by the LLVM tools of the same
//! compiler (the component `llvm-tools`, which is added where rustup can). Files of tests do not
//! count. A figure that has fallen is found; so is one that the README says too low.

mod lines;

use crate::console::say;
use crate::error::TaskError;
use crate::process::{cargo, command, output, root, run as run_command, target_dir};
use crate::sources;
use lines::Lines;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Crates with a figure, and the packages whose tests count for it.
const MEASURED: [(&str, &[&str]); 2] = [
    ("lifecycle", &["lifecycle", "simulation"]),
    ("state-store", &["state-store"]),
];
/// How far the README may be from what is measured, in percent of the lines: interleavings differ
/// from run to run.
const TOLERANCE: f64 = 0.5;

/// Measures the crates and holds their READMEs to it.
pub(crate) fn run() -> Result<(), TaskError> {
    let tools = Tools::find()?;
    let mut wrong = Vec::new();
    for (package, tested_by) in MEASURED {
        let lines = measure(&tools, package, tested_by)?;
        say(&format!("\n{package}\n{}", lines.table()));
        let readme = root().join("crates").join(package).join("README.md");
        let text = sources::read(&readme)?;
        let percent = lines.percent();
        match lines::stated(&text) {
            Some(stated) if (stated - percent).abs() <= TOLERANCE => {}
            Some(stated) => wrong.push(format!(
                "crates/{package}/README.md says that {stated} % of the lines are run by tests, and \
                 it is {percent:.1} %"
            )),
            None => wrong.push(format!(
                "crates/{package}/README.md does not say \"Tests run {percent:.1} % of its lines\""
            )),
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(TaskError::found(wrong.join("\n")))
    }
}

fn measure(tools: &Tools, package: &str, tested_by: &[&str]) -> Result<Lines, TaskError> {
    let folder = target_dir().join("coverage/profiles").join(package);
    // What an earlier time has left would count.
    let _ = std::fs::remove_dir_all(&folder);
    let (built, ran) = (folder.join("built"), folder.join("ran"));
    let executables = executables(instrumented(&built, tested_by))?;
    run_command(&mut instrumented(&ran, tested_by))?;
    let profile = folder.join("all.profdata");
    let mut merge = command(&tools.profdata);
    // Tests kill processes of theirs, which leave half a file.
    merge.args(["merge", "--sparse", "--failure-mode=all", "--output"]);
    quiet(merge.arg(&profile).args(sources::entries(&ran)?))?;
    let mut export = command(&tools.cov);
    export.args(["export", "--format=lcov", "--instr-profile"]);
    export.arg(&profile);
    for executable in executables {
        export.arg("--object").arg(executable);
    }
    let exported = quiet(&mut export)?;
    let sources = root().join("crates").join(package).join("src");
    Lines::read(&exported, &sources).ok_or_else(|| {
        TaskError::found(format!(
            "the tests of {package} have left no trace in {}",
            sources.display()
        ))
    })
}

/// `cargo test` of these packages, built with instruments that write into a folder.
fn instrumented(profiles: &Path, packages: &[&str]) -> Command {
    let mut test = cargo(&["test", "--quiet", "--tests"]);
    for package in packages {
        test.args(["--package", package]);
    }
    // A folder of its own, or everything else would be built anew afterwards.
    test.env("CARGO_TARGET_DIR", target_dir().join("coverage"))
        .env("RUSTFLAGS", "-C instrument-coverage")
        .env("LLVM_PROFILE_FILE", profiles.join("%p-%m.profraw"))
        .env("INSTA_UPDATE", "no");
    test
}

/// Builds the tests; where they are.
fn executables(mut test: Command) -> Result<BTreeSet<String>, TaskError> {
    let said = quiet(test.args(["--no-run", "--message-format=json"]))?;
    let messages = said
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    Ok(messages
        .filter(|message| message["profile"]["test"] == true)
        .filter_map(|message| message["executable"].as_str().map(str::to_owned))
        .collect())
}

/// Runs a command that must end well; what it wrote.
fn quiet(command: &mut Command) -> Result<String, TaskError> {
    let done = output(command)?;
    if done.status.success() {
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    } else {
        Err(TaskError::found(String::from_utf8_lossy(&done.stderr)))
    }
}

/// The two programs of LLVM.
struct Tools {
    profdata: PathBuf,
    cov: PathBuf,
}

impl Tools {
    /// Those of the compiler, added by rustup if need be: others may not know its format.
    fn find() -> Result<Self, TaskError> {
        let libraries = quiet(command("rustc").args(["--print", "target-libdir"]))?;
        let folder = Path::new(libraries.trim()).with_file_name("bin");
        let tools = Self {
            profdata: folder.join("llvm-profdata"),
            cov: folder.join("llvm-cov"),
        };
        if !tools.profdata.is_file() || !tools.cov.is_file() {
            say("the LLVM tools of the compiler are not here; adding them");
            let mut add = command("rustup");
            let added = output(add.args(["component", "add", "llvm-tools"]));
            if !added.is_ok_and(|added| added.status.success()) {
                return Err(TaskError::CannotRunHere(
                    "COVERAGE was not measured: `rustup component add llvm-tools` does not work \
                     here"
                        .to_owned(),
                ));
            }
        }
        Ok(tools)
    }
}
