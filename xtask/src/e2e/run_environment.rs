//! The environment that a real run gets, for programs that a test starts itself: several at once,
//! killed half-way, under a debugger.
//!
//! A tiny automation is uploaded and dispatched whose only deed is to write its environment into a
//! file. It sends no callback, so its run stays open in the history: whoever uses the environment
//! completes it with a callback of their own.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::automations::NewAutomation;
use super::error::E2eError;
use super::services::RealServices;

/// The file is renamed when it is whole.
const PROBE: &str = "#!/bin/sh\nenv -0 > environment.new && mv environment.new environment\n";
const LIMIT: Duration = Duration::from_secs(30);

/// What one run was given.
#[derive(Debug, Clone)]
pub(crate) struct RunEnvironment {
    /// The automation that the run belongs to; all runs of it share one KV store.
    pub(crate) automation_id: String,
    /// The run, open until its callback comes.
    pub(crate) run_id: String,
    /// Its working directory, which is also its `WORKSPACE_BASE`.
    pub(crate) directory: PathBuf,
    /// All variables, `PATH` and `HOME` of the agent server included.
    pub(crate) variables: Vec<(String, String)>,
}

impl RunEnvironment {
    /// The value of a variable.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.variables.iter().find(|(have, _)| have == name);
        found.map(|(_, value)| value.as_str())
    }
}

impl RealServices {
    /// Creates an automation whose runs only write down their environment, for
    /// [`RealServices::open_run`].
    pub(crate) fn create_probe(&self, name: &str) -> Result<String, E2eError> {
        let tarball = self.upload("probe", archive(&[("probe", 0o755, PROBE.as_bytes())])?)?;
        self.create_automation(&NewAutomation::new(name, &tarball, "./probe"))
    }

    /// Dispatches a run of such an automation and returns what it was given. The run stays open:
    /// the callback is the caller's to send.
    pub(crate) fn open_run(&self, probe_id: &str) -> Result<RunEnvironment, E2eError> {
        let run_id = self.dispatch(probe_id)?;
        self.given(probe_id, run_id)
    }

    /// The same for several runs at once.
    pub(crate) fn open_runs(
        &self,
        probe_id: &str,
        count: usize,
    ) -> Result<Vec<RunEnvironment>, E2eError> {
        let dispatched: Result<Vec<String>, E2eError> =
            (0..count).map(|_| self.dispatch(probe_id)).collect();
        let opened = dispatched?.into_iter();
        opened.map(|run_id| self.given(probe_id, run_id)).collect()
    }

    /// Waits for what a run was given.
    fn given(&self, probe_id: &str, run_id: String) -> Result<RunEnvironment, E2eError> {
        let directory = self.run_directory(&run_id);
        let file = directory.join("environment");
        let since = Instant::now();
        while !file.exists() {
            if since.elapsed() > LIMIT {
                return Err(E2eError::Run {
                    run: run_id,
                    automation: probe_id.to_owned(),
                    why: format!("wrote no {} in {} s", file.display(), LIMIT.as_secs()),
                    output: String::new(),
                });
            }
            sleep(Duration::from_millis(20));
        }
        let bytes = fs::read(&file).map_err(E2eError::io(format!("read {}", file.display())))?;
        let variables = bytes
            .split(|byte| *byte == 0)
            .filter_map(|line| {
                let line = String::from_utf8_lossy(line);
                let (name, value) = line.split_once('=')?;
                Some((name.to_owned(), value.to_owned()))
            })
            .collect();
        Ok(RunEnvironment {
            automation_id: probe_id.to_owned(),
            run_id,
            directory,
            variables,
        })
    }
}

/// A `.tar.gz` of these files: name, mode, content.
pub(super) fn archive(files: &[(&str, u32, &[u8])]) -> Result<Vec<u8>, E2eError> {
    let failed = "pack an archive";
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, mode, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_mode(*mode);
        header.set_size(content.len() as u64);
        tar.append_data(&mut header, name, *content)
            .map_err(E2eError::io(failed))?;
    }
    let mut packer = tar.into_inner().map_err(E2eError::io(failed))?;
    packer.flush().map_err(E2eError::io(failed))?;
    packer.finish().map_err(E2eError::io(failed))
}
