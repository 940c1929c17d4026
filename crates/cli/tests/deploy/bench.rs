//! A place to deploy from: an automation service, an archive, a person with a key.

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use testbed::automation_service::{API_KEY, AutomationService};

/// The binary for people.
const PEOPLE: &str = env!("CARGO_BIN_EXE_openhands-automations");

/// The service and a folder of the person.
pub(crate) struct Bench {
    pub(crate) service: AutomationService,
    pub(crate) folder: tempfile::TempDir,
}

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A command that is to be given.
pub(crate) struct Deploy(Command);

impl Bench {
    pub(crate) fn new() -> Self {
        let bench = Self {
            service: AutomationService::start().unwrap(),
            folder: tempfile::tempdir().unwrap(),
        };
        for name in ["news-digest", "github-pr-reviewer", "gitlab-issue-to-mr"] {
            let executable = format!("bin/{name}");
            let entries = [
                (executable.as_str(), b"#!/bin/sh\n".to_vec(), 0o755),
                ("config.json", b"{}".to_vec(), 0o644),
            ];
            std::fs::write(bench.archive(name), packed(&entries)).unwrap();
        }
        bench
    }

    /// The archive of an automation.
    pub(crate) fn archive(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.tar.gz"))
    }

    /// Writes a file of the person.
    pub(crate) fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, contents).unwrap();
        path
    }

    /// `deploy` with these arguments, at this service and with its key.
    pub(crate) fn deploy(&self, arguments: &[&str]) -> Deploy {
        let mut command = Command::new(PEOPLE);
        command
            .arg("deploy")
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("OPENHANDS_HOST", self.service.host())
            .env("OPENHANDS_API_KEY", API_KEY);
        Deploy(command)
    }

    /// `deploy AUTOMATION` with the archive that lies here.
    pub(crate) fn bring(&self, automation: &str, arguments: &[&str]) -> Deploy {
        let archive = self.archive(automation).display().to_string();
        let mut all = vec![automation, "--archive", &archive];
        all.extend(arguments);
        self.deploy(&all)
    }

    /// `deploy github-pr-reviewer` for one repository.
    pub(crate) fn reviewer(&self, arguments: &[&str]) -> Deploy {
        let mut all = vec!["--repo", "acme/widget"];
        all.extend(arguments);
        self.bring("github-pr-reviewer", &all)
    }

    /// The configuration in the archive that an automation runs.
    pub(crate) fn config_of(&self, automation: &Value) -> Value {
        let path = automation["tarball_path"].as_str().unwrap();
        let bytes = self.service.upload(path).unwrap();
        serde_json::from_slice(&unpacked(&bytes)["config.json"].0).unwrap()
    }

    /// An automation that runs one of the scripts, with an archive at the service. Gives its id.
    pub(crate) fn script(&self, name: &str, config: Option<&Value>) -> String {
        let mut entries = vec![("main.py", b"print('polled')\n".to_vec(), 0o644)];
        if let Some(config) = config {
            entries.push(("config.json", config.to_string().into_bytes(), 0o644));
        }
        let path = self.service.add_upload(name, packed(&entries));
        let fields = json!({
            "tarball_path": path, "entrypoint": "python3 main.py",
            "trigger": {"type": "cron", "schedule": "*/7 * * * *", "timezone": "Europe/Berlin"},
        });
        self.service.add_automation(name, &fields)
    }

    /// Nothing was made, and nothing that was asked was unknown.
    pub(crate) fn is_untouched(&self) {
        assert_eq!(self.service.uploads(), 0);
        assert_eq!(self.service.automations(), Vec::<Value>::new());
    }

    /// A text without what differs from run to run.
    pub(crate) fn plain(&self, text: &str) -> String {
        let folder = self.folder.path().display().to_string();
        let text = text
            .replace(&folder, "FOLDER")
            .replace(self.service.host(), "HOST");
        let words = text.split_inclusive(|c: char| c.is_whitespace());
        let mut plain = String::new();
        let mut number: Option<&str> = None;
        for word in words {
            if let Some(number) = number.take() {
                let size = word.trim_end() == "bytes" || word.starts_with("bytes");
                plain.push_str(if size { "SIZE " } else { number });
            }
            if word.trim_end().parse::<u64>().is_ok() && word.ends_with(' ') {
                number = Some(word);
            } else {
                plain.push_str(word);
            }
        }
        plain.push_str(number.unwrap_or_default());
        plain
    }
}

impl Deploy {
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.0.env_remove(name);
        self
    }

    pub(crate) fn run(mut self) -> Ended {
        let output = self.0.stdin(Stdio::null()).output().unwrap();
        Ended {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ended {
    /// Standard output after an exit code.
    pub(crate) fn said(&self, code: i32) -> &str {
        assert_eq!(self.code, code, "{}\n{}", self.stdout, self.stderr);
        &self.stdout
    }

    /// The error that ended it with a code.
    pub(crate) fn refused(&self, code: i32) -> &str {
        assert_eq!(self.code, code, "{}\n{}", self.stdout, self.stderr);
        self.stderr
            .lines()
            .find_map(|line| line.strip_prefix("error: "))
            .unwrap_or_else(|| panic!("no error: {self:?}"))
    }

    /// Standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }
}

/// A `.tar.gz` of these names, contents and modes.
pub(crate) fn packed(entries: &[(&str, Vec<u8>, u32)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, contents, mode) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(contents.len().try_into().unwrap());
        header.set_mode(*mode);
        header.set_mtime(1_700_000_000);
        builder
            .append_data(&mut header, name, contents.as_slice())
            .unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

/// What a `.tar.gz` holds: contents and mode by name.
pub(crate) fn unpacked(bytes: &[u8]) -> BTreeMap<String, (Vec<u8>, u32)> {
    let mut archive = tar::Archive::new(GzDecoder::new(bytes));
    let entries = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        let mode = entry.header().mode().unwrap();
        let mut contents = Vec::new();
        entry.read_to_end(&mut contents).unwrap();
        (name, (contents, mode))
    });
    entries.collect()
}

/// Unpacks a `.tar.gz` into a folder, as a run finds it.
pub(crate) fn unpack(bytes: &[u8], folder: &Path) {
    tar::Archive::new(GzDecoder::new(bytes))
        .unpack(folder)
        .unwrap();
}
