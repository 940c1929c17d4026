//! All checks, one after the other. A check that cannot run here says so loudly at the end.

use crate::console::{heading, say};
use crate::error::TaskError;
use crate::process::{cargo, command, output, run as run_command};
use crate::{claims, coverage, e2e, errors, fuzz, package, schema, supply, tidy};
use std::time::Instant;

type Check = (&'static str, fn() -> Result<(), TaskError>);

const CHECKS: &[Check] = &[
    ("format", format),
    ("tidy", tidy::run),
    ("claims", claims::run),
    ("errors", errors::run),
    ("supply", supply::run),
    ("clippy", clippy),
    ("tests", all_tests),
    ("coverage", coverage::run),
    ("simulate", simulation),
    ("fuzz", fuzz::smoke),
    ("docs", docs),
    ("schema", schema_drift),
    ("package", packages),
    ("e2e", real_services),
];

/// Runs the checks.
pub(crate) fn run(skip_tests: bool, only: &[String]) -> Result<(), TaskError> {
    let mut failed = Vec::new();
    let mut could_not = Vec::new();
    for (name, check) in CHECKS {
        let wanted = only.is_empty() || only.iter().any(|only| only == name);
        if !wanted || (skip_tests && *name == "tests") {
            continue;
        }
        heading(name);
        let began = Instant::now();
        match check() {
            Ok(()) => say(&format!(
                "{name}: ok ({:.0} s)",
                began.elapsed().as_secs_f64()
            )),
            Err(TaskError::CannotRunHere(why)) => could_not.push(format!("{name}: {why}")),
            Err(error) => {
                say(&format!("{name}: FAILED: {error}"));
                failed.push(*name);
            }
        }
    }
    for line in &could_not {
        say(&format!("\n!!! NOT CHECKED HERE !!! {line}"));
    }
    if failed.is_empty() {
        say("\nall checks that can run here passed");
        Ok(())
    } else {
        Err(TaskError::found(format!("failed: {}", failed.join(", "))))
    }
}

/// Runs all tests.
pub(crate) fn tests(rest: &[String]) -> Result<(), TaskError> {
    needs_git()?;
    let mut tests = cargo(&["test", "--workspace", "--no-fail-fast"]);
    tests.args(rest);
    tests.env("INSTA_UPDATE", "no").env("INSTA_FORCE_PASS", "0");
    run_command(&mut tests)
}

/// Runs the simulation over some seeds.
pub(crate) fn simulate(seeds: u64, from: u64) -> Result<(), TaskError> {
    let (seeds, from) = (seeds.to_string(), from.to_string());
    let mut simulation = cargo(&["run", "--quiet", "--package", "simulation", "--"]);
    run_command(simulation.args(["--seeds", &seeds, "--from", &from]))
}

fn simulation() -> Result<(), TaskError> {
    simulate(10_000, 0)
}

fn all_tests() -> Result<(), TaskError> {
    tests(&[])
}

/// The tests use the real git; where it is missing, Debian's package brings it.
fn needs_git() -> Result<(), TaskError> {
    if output(command("git").arg("--version")).is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    say("git is not installed; installing it");
    run_command(command("apt-get").args(["update"]))?;
    run_command(command("apt-get").args(["install", "-y", "git"]))
}

fn format() -> Result<(), TaskError> {
    run_command(&mut cargo(&["fmt", "--all", "--check"]))
}

fn clippy() -> Result<(), TaskError> {
    let arguments = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    run_command(&mut cargo(&arguments))
}

fn docs() -> Result<(), TaskError> {
    let mut docs = cargo(&["doc", "--workspace", "--no-deps", "--lib"]);
    docs.env("RUSTDOCFLAGS", "-D warnings");
    run_command(&mut docs)
}

fn schema_drift() -> Result<(), TaskError> {
    schema::run(true)
}

fn packages() -> Result<(), TaskError> {
    package::run_all()
}

fn real_services() -> Result<(), TaskError> {
    e2e::run(&[])
}
