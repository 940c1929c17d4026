//! The deployable binary of `news-digest`.

use cli::run::{News, deployable};
use std::process::ExitCode;

fn main() -> ExitCode {
    deployable::<News>()
}
