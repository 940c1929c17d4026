//! `fuzz-smoke [--seconds N] [--seed N] [TARGET…]`, `fuzz-smoke --replay FILE TARGET`,
//! `fuzz-smoke --corpus FOLDER [TARGET…]`.

use crate::target;
use fuzz_targets::{TARGETS, Target};
use std::path::PathBuf;

/// Seconds per target where none are given.
const SECONDS: f64 = 10.0;

/// What is to be done.
pub(crate) enum Task {
    /// To run targets.
    Run,
    /// To run one with the input in a file.
    Replay(Target, PathBuf),
    /// To write down what the inputs of the targets are made of.
    Corpus(PathBuf),
}

/// The command line.
pub(crate) struct Arguments {
    pub(crate) task: Task,
    pub(crate) seconds: f64,
    pub(crate) seed: u64,
    pub(crate) targets: Vec<Target>,
}

impl Arguments {
    pub(crate) fn read(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut seconds, mut seed) = (SECONDS, None);
        let (mut replay, mut corpus) = (None, None);
        let mut targets = Vec::new();
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            let mut value = || {
                let value = arguments.next();
                value.ok_or_else(|| format!("{argument} needs a value"))
            };
            let number = |error: &dyn std::fmt::Display| format!("no number: {error}");
            match argument.as_str() {
                "--seconds" => seconds = value()?.parse().map_err(|error| number(&error))?,
                "--seed" => seed = Some(value()?.parse().map_err(|error| number(&error))?),
                "--replay" => replay = Some(PathBuf::from(value()?)),
                "--corpus" => corpus = Some(PathBuf::from(value()?)),
                name => targets.push(target(name)?),
            }
        }
        let task = match (replay, corpus, targets.as_slice()) {
            (Some(file), None, [target]) => Task::Replay(*target, file),
            (Some(_), ..) => return Err("--replay needs exactly one target".to_owned()),
            (None, Some(folder), _) => Task::Corpus(folder),
            (None, None, _) => Task::Run,
        };
        if targets.is_empty() {
            targets = TARGETS.to_vec();
        }
        Ok(Self {
            task,
            seconds: if seconds.is_finite() {
                seconds.clamp(0.0, 86_400.0)
            } else {
                SECONDS
            },
            seed: seed.unwrap_or_else(|| fastrand::u64(..1_000_000_000)),
            targets,
        })
    }
}
