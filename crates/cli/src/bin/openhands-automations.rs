//! The binary for people: runs, checks, shows and explains automations.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::commands::umbrella()
}
