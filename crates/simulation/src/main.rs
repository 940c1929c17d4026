//! Runs the simulation from the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    simulation::cli(&arguments)
}
