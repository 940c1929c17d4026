//! One service as a child process: started in a process group of its own with its output in a file,
//! and ended with everything that it started.
//!
//! Terminals and runs of the agent server live in sessions of their own and outlive it, so ending
//! the group is not enough: all of them carry a mark in their environment and are found by it
//! (where there is `/proc`; elsewhere only the group is ended).

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use testbed::call::Call;

use super::error::E2eError;

/// The environment variable that marks what belongs to a service.
const MARK: &str = "XTASK_E2E_MARK";
/// How many bytes of a log an error shows.
const TAIL_BYTES: usize = 4096;
const POLL: Duration = Duration::from_millis(50);

/// What the marks of services that belong together begin with.
#[derive(Debug)]
pub(super) struct Family(String);

impl Family {
    /// One that nobody else has.
    pub(super) fn new() -> Self {
        static FAMILIES: AtomicU32 = AtomicU32::new(0);
        let number = FAMILIES.fetch_add(1, Ordering::Relaxed);
        Self(format!("{}-{number}-", std::process::id()))
    }

    /// How the line in the environment of its members begins.
    pub(super) fn line(&self) -> String {
        format!("{MARK}={}", self.0)
    }
}

/// How to start a service.
#[derive(Debug)]
pub(super) struct Recipe {
    pub(super) name: &'static str,
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    /// The whole environment: nothing is inherited.
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) directory: PathBuf,
    /// Output is appended, so that a restart does not hide what came before.
    pub(super) log: PathBuf,
    /// Answers 200 once the service can be used.
    pub(super) ready_url: String,
    pub(super) start_limit: Duration,
    /// How long it may take to end by itself.
    pub(super) stop_limit: Duration,
}

/// A running service. Dropping it ends it, at once and with all that it started.
#[derive(Debug)]
pub(super) struct Process {
    recipe: Recipe,
    mark: String,
    child: Option<Child>,
}

impl Process {
    /// A process that has not been started.
    pub(super) fn new(recipe: Recipe, family: &Family) -> Self {
        Self {
            mark: format!("{}{}", family.0, recipe.name),
            recipe,
            child: None,
        }
    }

    /// Starts the process and returns at once; [`Process::wait_until_ready`] waits.
    pub(super) fn start(recipe: Recipe, family: &Family) -> Result<Self, E2eError> {
        let mut process = Self::new(recipe, family);
        process.spawn()?;
        Ok(process)
    }

    /// The same for one that is not running.
    pub(super) fn spawn(&mut self) -> Result<(), E2eError> {
        let recipe = &self.recipe;
        let log = open_log(&recipe.log)?;
        let errors = log
            .try_clone()
            .map_err(E2eError::io(format!("share {}", recipe.log.display())))?;
        let child = Command::new(&recipe.program)
            .args(&recipe.arguments)
            .env_clear()
            .envs(recipe.environment.iter().map(|(name, value)| (name, value)))
            .env(MARK, &self.mark)
            .current_dir(&recipe.directory)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .process_group(0)
            .spawn()
            .map_err(E2eError::io(format!(
                "start {} for the {}",
                recipe.program.display(),
                recipe.name
            )))?;
        self.child = Some(child);
        Ok(())
    }

    /// Waits until the service answers.
    ///
    /// # Errors
    /// [`E2eError::NotReady`] when it ends before that or takes longer than it may.
    pub(super) fn wait_until_ready(&mut self) -> Result<(), E2eError> {
        let since = Instant::now();
        let probe = Call::get(&self.recipe.ready_url).timeout(Duration::from_secs(2));
        loop {
            if let Some(status) = self.ended()? {
                return Err(self.not_ready(format!("ended while it started ({status})")));
            }
            if probe.send().is_ok_and(|answer| answer.status == 200) {
                return Ok(());
            }
            if since.elapsed() > self.recipe.start_limit {
                let seconds = self.recipe.start_limit.as_secs();
                return Err(self.not_ready(format!("is not ready after {seconds} s")));
            }
            sleep(POLL);
        }
    }

    /// Ends the service as an operator would, with SIGTERM, and kills what is left when it takes
    /// longer than it may. Does nothing when it is not running.
    pub(super) fn stop(&mut self) -> Result<(), E2eError> {
        if let Some(group) = self.child.as_ref().map(Child::id) {
            signal("TERM", &format!("-{group}"));
            let since = Instant::now();
            while self.ended()?.is_none() && since.elapsed() < self.recipe.stop_limit {
                sleep(POLL);
            }
        }
        self.kill();
        Ok(())
    }

    /// Ends the service and everything that it started without a warning.
    pub(super) fn kill(&mut self) {
        let Some(mut child) = self.child.take() else {
            return;
        };
        signal("KILL", &format!("-{}", child.id()));
        // A child that has ended already cannot be killed again: nothing to report.
        drop(child.kill());
        drop(child.wait());
        kill_marked(&self.mark);
        // The agent server keeps the sockets of its terminals here and leaves them behind.
        let sockets = format!("openhands-agent-server-{}", child.id());
        drop(fs::remove_dir_all(std::env::temp_dir().join(sockets)));
    }

    /// Starts the service again after [`Process::stop`] or [`Process::kill`], with the same port
    /// and files, and waits until it answers.
    pub(super) fn start_again(&mut self) -> Result<(), E2eError> {
        self.kill();
        self.spawn()?;
        self.wait_until_ready()
    }

    fn ended(&mut self) -> Result<Option<std::process::ExitStatus>, E2eError> {
        let Some(child) = self.child.as_mut() else {
            return Ok(None);
        };
        child
            .try_wait()
            .map_err(E2eError::io(format!("watch the {}", self.recipe.name)))
    }

    fn not_ready(&self, why: String) -> E2eError {
        E2eError::NotReady {
            service: self.recipe.name,
            why,
            log: self.recipe.log.clone(),
            tail: tail(&self.recipe.log),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn open_log(path: &Path) -> Result<File, E2eError> {
    File::options()
        .create(true)
        .append(true)
        .open(path)
        .map_err(E2eError::io(format!("open {}", path.display())))
}

/// The end of a log, for an error message.
fn tail(log: &Path) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let from = bytes.len().saturating_sub(TAIL_BYTES);
    String::from_utf8_lossy(bytes.get(from..).unwrap_or_default()).into_owned()
}

/// Sends a signal with the shell, because the standard library cannot. A target that does not exist
/// any more is what is wanted.
fn signal(name: &str, target: &str) {
    let sent = Command::new("bash")
        .args(["-c", "kill -s \"$1\" -- \"$2\"", "bash", name, target])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    drop(sent);
}

/// Kills every process that carries the mark, until none is left (they may be starting others).
fn kill_marked(mark: &str) {
    let line = format!("{MARK}={mark}");
    for _ in 0..20 {
        let marked = marked(line.as_bytes());
        if marked.is_empty() {
            return;
        }
        for process in marked {
            signal("KILL", &process);
        }
        sleep(Duration::from_millis(10));
    }
}

/// Ids of the processes whose environment holds this line.
fn marked(line: &[u8]) -> Vec<String> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(Result::ok)
        .filter(|entry| {
            // Of a process that is ending (or another user's) there is nothing to read.
            fs::read(entry.path().join("environ"))
                .is_ok_and(|all| all.split(|byte| *byte == 0).any(|one| one == line))
        })
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .collect()
}
