//! Runs the fuzz targets for a while on stable: inputs made of the fixtures by a small mutator, each
//! within limits of time and memory. `cargo xtask fuzz` calls this.
//!
//! Not a replacement of the coverage-guided campaigns (see `fuzz/README.md`): it keeps what they
//! have found from coming back, and reaches the common ground around the fixtures on every change.

mod arguments;
mod mutator;
mod seeds;
mod watch;

use arguments::{Arguments, Task};
use fuzz_targets::{TARGETS, Target};
use mutator::Mutator;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use watch::Watch;

/// Inputs between two looks at the memory.
const MEMORY_EVERY: u64 = 32;

fn main() -> ExitCode {
    let done = Arguments::read(std::env::args().skip(1)).and_then(|arguments| run(&arguments));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            say(&format!("error: {why}"));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    match &arguments.task {
        Task::Replay(target, file) => {
            let input =
                std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
            (target.run)(&input);
            say(&format!("{}: nothing found", target.name));
            Ok(())
        }
        Task::Corpus(folder) => write_corpus(folder, &arguments.targets),
        Task::Run => {
            say(&format!("seed {}", arguments.seed));
            let watch = Watch::start(findings());
            for target in &arguments.targets {
                fuzz(target, arguments, &watch)?;
            }
            Ok(())
        }
    }
}

/// Where inputs that found something are kept.
fn findings() -> PathBuf {
    seeds::root().join(".cache/fuzz/found")
}

fn write_corpus(folder: &Path, targets: &[Target]) -> Result<(), String> {
    for target in targets {
        let folder = folder.join(target.name);
        let written = std::fs::create_dir_all(&folder).and_then(|()| {
            let inputs = seeds::inputs(target);
            for (number, input) in inputs.iter().enumerate() {
                std::fs::write(folder.join(format!("seed-{number:04}")), input)?;
            }
            Ok(inputs.len())
        });
        let count = written.map_err(|error| format!("{}: {error}", folder.display()))?;
        say(&format!("{}: {count} inputs", target.name));
    }
    Ok(())
}

/// One target, first with the inputs as they are, then with what the mutator makes of them.
fn fuzz(target: &Target, arguments: &Arguments, watch: &Watch) -> Result<(), String> {
    let inputs = seeds::inputs(target);
    if inputs.is_empty() {
        return Err(format!(
            "{}: no inputs; is fixtures/ complete?",
            target.name
        ));
    }
    watch.begin(target);
    let began = Instant::now();
    let time = Duration::from_secs_f64(arguments.seconds);
    let mut mutator = Mutator::new(arguments.seed, target.name, &inputs);
    let mut count: u64 = 0;
    for input in &inputs {
        watch.run(target, input)?;
        count += 1;
    }
    while began.elapsed() < time {
        let input = mutator.next_input();
        watch.run(target, &input)?;
        count += 1;
        if count.is_multiple_of(MEMORY_EVERY) {
            watch.check_memory(target)?;
        }
    }
    watch.check_memory(target)?;
    say(&format!(
        "{}: {count} inputs ({} as they are) in {:.1} s, at most {} ms and {} MiB",
        target.name,
        inputs.len(),
        began.elapsed().as_secs_f64(),
        watch.slowest().as_millis(),
        watch::peak_memory() >> 20,
    ));
    Ok(())
}

fn say(line: &str) {
    // A closed pipe is no reason to fail.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

fn target(name: &str) -> Result<Target, String> {
    let found = TARGETS.iter().find(|target| target.name == name);
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        format!(
            "there is no target {name:?}; there are {}",
            names.join(", ")
        )
    })
}
