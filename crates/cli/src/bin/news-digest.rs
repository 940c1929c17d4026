//! The deployable binary of `news-digest`.

use cli::run::{Automation, deployable};
use std::process::ExitCode;

fn main() -> ExitCode {
    deployable(Automation::News)
}
