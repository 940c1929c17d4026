//! Running a binary once and measuring it from outside.

use crate::error::TaskError;
use crate::process::target_dir;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testbed::StandIn;
use testbed::callback::Prepared;

/// What one run took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Figures {
    pub(super) milliseconds: u128,
    /// The most memory that it held, in KiB.
    pub(super) peak_kib: u64,
    /// Requests to the servers watched.
    pub(super) requests: usize,
    /// Connections to them.
    pub(super) connections: u64,
}

impl Figures {
    /// The better of two measurements of the same thing.
    pub(super) fn better(self, other: Self) -> Self {
        Self {
            milliseconds: self.milliseconds.min(other.milliseconds),
            peak_kib: self.peak_kib.min(other.peak_kib),
            requests: self.requests.max(other.requests),
            connections: self.connections.max(other.connections),
        }
    }
}

/// Runs a binary to its end. Requests are counted at the servers in `watched`.
pub(super) fn run(
    automation: &str,
    config: &Value,
    run: &Prepared,
    watched: &[&StandIn],
) -> Result<Figures, TaskError> {
    let path = run.directory.join("config.json");
    std::fs::write(&path, config.to_string()).map_err(|error| TaskError::file(&path, error))?;
    let before: Vec<(usize, u64)> = watched
        .iter()
        .map(|server| (server.log().len(), server.connections()))
        .collect();
    let binary = target_dir().join("release").join(automation);
    let mut command = Command::new(&binary);
    command
        .current_dir(&run.directory)
        .env_clear()
        .envs(&run.variables);
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let mut child = command
        .spawn()
        .map_err(|error| TaskError::file(&binary, error))?;
    let mut peak_kib = 0;
    let status = loop {
        peak_kib = peak_kib.max(peak_of(child.id()));
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => std::thread::sleep(Duration::from_millis(1)),
            Err(error) => return Err(TaskError::file(&binary, error)),
        }
    };
    let milliseconds = began.elapsed().as_millis();
    let _ = std::fs::remove_file(&path);
    if !status.success() {
        return Err(TaskError::found(format!("{automation} failed ({status})")));
    }
    let mut figures = Figures {
        milliseconds,
        peak_kib,
        ..Figures::default()
    };
    for (server, (requests, connections)) in watched.iter().zip(before) {
        figures.requests += server.log().len() - requests;
        figures.connections += server.connections() - connections;
    }
    Ok(figures)
}

/// The most memory that a process has held so far, in KiB; 0 when it is gone.
fn peak_of(process: u32) -> u64 {
    let path = Path::new("/proc").join(process.to_string()).join("status");
    let status = std::fs::read_to_string(path).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}
