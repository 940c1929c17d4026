//! The deployable binary of `github-pr-reviewer`.

use cli::run::{Automation, deployable};
use std::process::ExitCode;

fn main() -> ExitCode {
    deployable(Automation::Review)
}
