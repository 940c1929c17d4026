//! One process and what it said.

use serde_json::Value;
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// The binary for people.
pub(crate) const PEOPLE: &str = env!("CARGO_BIN_EXE_openhands-automations");
/// The deployable binaries, by automation.
pub(crate) const DEPLOYABLE: [(&str, &str); 3] = [
    ("news-digest", env!("CARGO_BIN_EXE_news-digest")),
    (
        "github-pr-reviewer",
        env!("CARGO_BIN_EXE_github-pr-reviewer"),
    ),
    (
        "gitlab-issue-to-mr",
        env!("CARGO_BIN_EXE_gitlab-issue-to-mr"),
    ),
];

/// A process to be started. It inherits nothing of the environment but `PATH`.
pub(crate) struct Process(Command);

/// How it ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Process {
    pub(crate) fn new(binary: &str) -> Self {
        let mut command = Command::new(binary);
        command.env_clear();
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        Self(command)
    }

    /// The binary for people.
    pub(crate) fn people(arguments: &[&str]) -> Self {
        Self::new(PEOPLE).args(arguments)
    }

    pub(crate) fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.0.args(arguments);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    pub(crate) fn current_dir(mut self, folder: &Path) -> Self {
        self.0.current_dir(folder);
        self
    }

    pub(crate) fn run(self) -> Ended {
        self.run_with("")
    }

    /// With something on standard input.
    pub(crate) fn run_with(mut self, input: impl AsRef<[u8]>) -> Ended {
        self.0
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = self.0.spawn().unwrap();
        // A process that reads nothing may be gone already.
        let _ = child.stdin.take().unwrap().write_all(input.as_ref());
        let output = child.wait_with_output().unwrap();
        Ended {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ended {
    /// Standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }

    /// Standard output after an exit code.
    pub(crate) fn said(&self, code: i32) -> &str {
        assert_eq!(self.code, code, "{}\n{}", self.stdout, self.stderr);
        &self.stdout
    }
}

/// Every path below a folder, sorted: what is on the disk.
pub(crate) fn tree(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            found.push(path.strip_prefix(folder).unwrap().display().to_string());
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    found.sort();
    found
}
