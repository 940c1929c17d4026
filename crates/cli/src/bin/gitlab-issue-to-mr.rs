//! The deployable binary of `gitlab-issue-to-mr`.

use cli::run::{Issue, deployable};
use std::process::ExitCode;

fn main() -> ExitCode {
    deployable::<Issue>()
}
