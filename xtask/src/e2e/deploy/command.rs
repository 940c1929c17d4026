//! `openhands-automations deploy`, as a person runs it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::e2e::error::E2eError;
use crate::e2e::product::{Stage, issue, review};
use crate::e2e::services::RealServices;
use crate::process::{root, target_dir};

/// A person at a machine with a checkout: the address and key of the installation, the tokens of
/// the forges.
pub(super) struct Deployer {
    home: TempDir,
    variables: Vec<(&'static str, String)>,
}

/// What the command came to.
pub(super) struct Outcome {
    pub(super) exit: Option<i32>,
    /// What it printed as JSON.
    pub(super) report: Value,
    /// All that it printed.
    pub(super) log: String,
}

impl Deployer {
    pub(super) fn new(services: &RealServices) -> Result<Self, E2eError> {
        let home = tempfile::tempdir().map_err(E2eError::io("make a temporary directory"))?;
        let variables = vec![
            ("OPENHANDS_HOST", services.automation_url().to_owned()),
            ("OPENHANDS_API_KEY", services.api_key().to_owned()),
            ("AGENT_SERVER_URL", services.agent_url().to_owned()),
            ("SESSION_API_KEY", services.session_key().to_owned()),
            (review::SECRET, review::TOKEN.to_owned()),
            (issue::SECRET, issue::TOKEN.to_owned()),
        ];
        Ok(Self { home, variables })
    }

    /// The same person with another key.
    pub(super) fn with_key(&self, key: &str) -> DeployerWith<'_> {
        DeployerWith {
            deployer: self,
            key: key.to_owned(),
        }
    }

    /// Writes a configuration and returns its path.
    pub(super) fn write(&self, name: &str, config: &Value) -> Result<String, E2eError> {
        let path = self.home.path().join(name);
        fs::write(&path, config.to_string())
            .map_err(E2eError::io(format!("write {}", path.display())))?;
        Ok(path.display().to_string())
    }

    /// Runs `deploy` with these arguments in the project's root.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<Outcome, E2eError> {
        self.run_with(arguments, None)
    }

    fn run_with(&self, arguments: &[&str], key: Option<&str>) -> Result<Outcome, E2eError> {
        let mut command = Command::new(Stage::program("openhands-automations"));
        command
            .arg("deploy")
            .args(arguments)
            .current_dir(root())
            .env_clear()
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .env("HOME", self.home.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::null());
        if let Some(key) = key {
            command.env("OPENHANDS_API_KEY", key);
        }
        let output = command.output().map_err(E2eError::io("run deploy"))?;
        let (out, errors) = (
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        );
        Ok(Outcome {
            exit: output.status.code(),
            report: serde_json::from_str(&out).unwrap_or_default(),
            log: format!("{out}{errors}"),
        })
    }
}

/// A person with a key of its own.
pub(super) struct DeployerWith<'a> {
    deployer: &'a Deployer,
    key: String,
}

impl DeployerWith<'_> {
    pub(super) fn run(&self, arguments: &[&str]) -> Result<Outcome, E2eError> {
        self.deployer.run_with(arguments, Some(&self.key))
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit {:?}: {}", self.exit, self.log)
    }
}

/// The packaged archive of an automation.
pub(super) fn archive(name: &str) -> PathBuf {
    let packages = target_dir().join("package");
    packages.join(format!("{name}.tar.gz"))
}
