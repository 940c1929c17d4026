//! A run as a process: started as the automation service does, killed or waited for.

use super::Stage;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs::File;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use testbed::callback::{Run, RunStatus};

/// No run of a test takes longer.
const LIMIT: Duration = Duration::from_secs(150);

/// A run that has been started.
pub struct Process {
    pub id: String,
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
    begun: Instant,
}

/// A run that is over.
#[derive(Debug)]
pub struct Ran {
    pub id: String,
    pub status: ExitStatus,
    /// The log, which goes to standard error beside `--json`.
    pub log: String,
    pub stdout: String,
    /// The report; null when the process did not get that far.
    pub report: Value,
    /// What the service heard.
    pub told: Run,
    pub took: Duration,
}

impl Process {
    pub fn start(stage: &Stage, arguments: &[&str]) -> Self {
        let run = stage.setup().prepare().unwrap();
        if stage.config_beside {
            let config = serde_json::to_string_pretty(&stage.config).unwrap();
            std::fs::write(run.directory.join("config.json"), config).unwrap();
        }
        let path = |ending: &str| stage.aside.path().join(format!("{}.{ending}", run.id));
        let (stdout, stderr) = (path("out"), path("err"));
        let mut command = Command::new(stage.automation.binary());
        command
            .args(arguments)
            .current_dir(&run.directory)
            .env_clear()
            .envs(&run.variables)
            .env("HOME", stage.aside.path())
            .stdin(Stdio::null())
            .stdout(File::create(&stdout).unwrap())
            .stderr(File::create(&stderr).unwrap());
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        Self {
            id: run.id,
            child: command.spawn().unwrap(),
            stdout,
            stderr,
            begun: Instant::now(),
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().try_into().unwrap()).unwrap();
        // It may have ended in this very moment.
        let _ = kill_process(pid, signal);
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits until something is so, or the process ends; tells whether it was so.
    pub fn wait_until(&mut self, is_so: impl Fn() -> bool) -> bool {
        let until = Instant::now() + LIMIT;
        while Instant::now() < until {
            if is_so() {
                return true;
            }
            if !self.is_running() {
                return is_so();
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("waited in vain: {}", self.log());
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.stderr).unwrap_or_default()
    }

    /// Waits for its end.
    pub fn end(mut self, stage: &Stage) -> Ran {
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if self.begun.elapsed() > LIMIT {
                let _ = self.child.kill();
                panic!("the run did not end: {}", self.log());
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let stdout = std::fs::read_to_string(&self.stdout).unwrap_or_default();
        Ran {
            status,
            log: self.log(),
            report: serde_json::from_str(&stdout).unwrap_or_default(),
            stdout,
            told: stage.callbacks.run(&self.id).unwrap(),
            took: self.begun.elapsed(),
            id: self.id,
        }
    }
}

impl Ran {
    /// It ended well and said so.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.status.code(), Some(0), "{}", self.all());
        assert_eq!(self.told.status, RunStatus::Completed, "{}", self.all());
        assert_eq!(self.told.callbacks.len(), 1, "{}", self.all());
        self
    }

    /// It ended with this exit code and the service was told that it failed; its words.
    #[track_caller]
    pub fn failed(&self, code: i32) -> String {
        assert_eq!(self.status.code(), Some(code), "{}", self.all());
        assert_eq!(self.told.status, RunStatus::Failed, "{}", self.all());
        assert_eq!(self.told.callbacks.len(), 1, "{}", self.all());
        let error = self.told.error.as_ref().and_then(Value::as_str);
        error.unwrap_or_default().to_owned()
    }

    /// It was killed before it could say a word.
    pub fn was_killed(&self) -> bool {
        self.status.signal().is_some()
    }

    /// What the report says of the first target.
    pub fn target(&self) -> &Value {
        &self.report["targets"][0]
    }

    /// What the report says of a target.
    pub fn target_named(&self, name: &str) -> &Value {
        let targets = self.report["targets"].as_array().unwrap();
        let found = targets.iter().find(|target| target["target"] == name);
        found.unwrap_or_else(|| panic!("no target {name}: {}", self.all()))
    }

    /// How many things of the first target a list of the report names.
    pub fn count(&self, list: &str) -> usize {
        self.target()[list].as_array().map_or(0, Vec::len)
    }

    /// Why an item of the first target was skipped; empty when it was not.
    pub fn skipped(&self, item: &str) -> String {
        let list = self.target()["skipped"].as_array();
        let found = list.into_iter().flatten().find(|one| one["item"] == item);
        found.map_or_else(String::new, |one| {
            one["reason"].as_str().unwrap_or_default().to_owned()
        })
    }

    /// Everything it said, for messages.
    pub fn all(&self) -> String {
        let told = &self.told;
        format!(
            "{}\n{}\n{}\ncallback: {:?} {:?}",
            self.status, self.log, self.stdout, told.status, told.error
        )
    }

    /// A secret appears nowhere in what it said.
    #[track_caller]
    pub fn never_said(&self, secret: &str) {
        let all = format!("{}{:?}", self.all(), self.told);
        assert!(!all.contains(secret), "{all}");
    }
}
