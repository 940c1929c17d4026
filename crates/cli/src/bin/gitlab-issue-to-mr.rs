//! The deployable binary of `gitlab-issue-to-mr`.

use cli::run::{Automation, deployable};
use std::process::ExitCode;

fn main() -> ExitCode {
    deployable(Automation::Issue)
}
