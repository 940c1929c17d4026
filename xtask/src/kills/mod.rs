//! `cargo xtask kills`: the matrix of killed runs. Each automation, with its documents in the KV
//! store and in files, is killed with SIGKILL and SIGTERM at many moments of its runs; later runs
//! have to come to one conversation, one result, and nothing left behind. The matrix itself is a
//! test of the binaries (`crates/cli/tests/it/kills`); a few of its moments run with every
//! `cargo test`.

use crate::error::TaskError;
use crate::process::{cargo, run as run_command};

/// The test that goes through all of it and prints the table.
const TEST: &str = "kills::the_whole_matrix";

/// Kills runs at `moments` moments in each cell.
pub(crate) fn run(moments: usize) -> Result<(), TaskError> {
    let mut matrix = cargo(&["test", "--package", "cli", "--test", "it", "--"]);
    matrix.args(["--exact", TEST, "--ignored", "--nocapture"]);
    matrix.env("KILL_MOMENTS", moments.to_string());
    run_command(&mut matrix)
}
