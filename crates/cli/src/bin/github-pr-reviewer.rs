//! The deployable binary of `github-pr-reviewer`.

use cli::run::{Review, deployable};
use std::process::ExitCode;

fn main() -> ExitCode {
    deployable::<Review>()
}
