//! The command line: `--seeds N [--from S] [--automation A] [--mutation M [--only-ground]] [--first]
//! [--schedule]`.

use crate::{Automation, Mutation, Options, run};
use std::io::Write;
use std::process::ExitCode;

/// How it is called.
const USAGE: &str = "usage: simulate [--seeds N] [--from S] [--automation news|review|issue] \
                     [--mutation NAME [--only-ground]] [--first] [--schedule]";

/// Runs the simulation as the arguments (without the program's name) say, and prints its report.
/// With a mutation, success is that some seed fails.
pub fn cli(arguments: &[String]) -> ExitCode {
    let mut out = std::io::stdout().lock();
    let (seeds, options) = match parse(arguments) {
        Ok(parsed) => parsed,
        Err(error) => {
            let _ = writeln!(out, "{error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let report = run(seeds, &options);
    for (seed, schedule) in &report.schedules {
        let _ = writeln!(out, "schedule of seed {seed}:");
        for line in schedule {
            let _ = writeln!(out, "{line}");
        }
    }
    let _ = write!(out, "{report}");
    let expected = options.mutation.is_some() && !options.only_ground;
    if report.failures.is_empty() == expected {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn parse(arguments: &[String]) -> Result<(std::ops::Range<u64>, Options), String> {
    let (mut count, mut from, mut options) = (1000, 0, Options::default());
    let mut arguments = arguments.iter();
    while let Some(name) = arguments.next() {
        match name.as_str() {
            "--first" => options.first_only = true,
            "--only-ground" => options.only_ground = true,
            "--schedule" => options.schedules = true,
            "--seeds" | "--from" | "--automation" | "--mutation" => {
                let value = arguments
                    .next()
                    .ok_or_else(|| format!("{name} needs a value"))?;
                let number = || value.parse().map_err(|_| format!("{name}: {value}"));
                match name.as_str() {
                    "--seeds" => count = number()?,
                    "--from" => from = number()?,
                    "--automation" => {
                        let named = Automation::from_name(value);
                        options.automation = Some(named.ok_or(format!("no automation {value}"))?);
                    }
                    _ => {
                        let named = Mutation::from_name(value);
                        options.mutation = Some(named.ok_or(format!("no mutation {value}"))?);
                    }
                }
            }
            other => return Err(format!("unknown argument {other}")),
        }
    }
    Ok((from..from.saturating_add(count), options))
}
