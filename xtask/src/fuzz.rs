//! Runs the fuzz targets on stable, for a while each. What they are and how coverage-guided
//! campaigns are run is said in `fuzz/README.md`.

use crate::error::TaskError;
use crate::process::{cargo, run as run_command};

/// Seconds for each target in `cargo xtask ci`.
const SECONDS_IN_CI: &str = "4";
/// The same inputs whenever the checks run, so that nobody's change fails for what it did not do;
/// other seeds are tried by hand.
const SEED_IN_CI: &str = "1";

/// Runs `fuzz-smoke` with its arguments (`--seconds N`, `--seed N`, `--replay FILE`, names of
/// targets).
pub(crate) fn run(arguments: &[String]) -> Result<(), TaskError> {
    let mut smoke = cargo(&[
        "run",
        "--quiet",
        "--package",
        "fuzz-targets",
        "--bin",
        "fuzz-smoke",
        "--",
    ]);
    run_command(smoke.args(arguments))
}

/// A short run of every target.
pub(crate) fn smoke() -> Result<(), TaskError> {
    run(&["--seconds", SECONDS_IN_CI, "--seed", SEED_IN_CI].map(str::to_owned))
}
