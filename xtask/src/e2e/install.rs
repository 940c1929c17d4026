//! Installs the real services with the project's script `xtask/e2e/install-services.sh`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::error::E2eError;

/// The script's exit code for "there is no fitting Python here".
const NO_PYTHON: i32 = 77;

/// Installs the services unless they are there already, and says which Python runs them.
///
/// The first time takes a minute or two and a package index; afterwards it takes a moment. What the
/// script says for people goes to stderr.
///
/// # Errors
/// [`E2eError::NoPython`] when the machine has no Python >= 3.12, [`E2eError::Install`] when the
/// installation fails.
pub(crate) fn ensure_installed(project_root: &Path) -> Result<PathBuf, E2eError> {
    let script = project_root.join("xtask/e2e/install-services.sh");
    let output = Command::new("bash")
        .arg(&script)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(E2eError::io(format!("run bash {}", script.display())))?;
    match output.status.code() {
        Some(0) => {
            let text = String::from_utf8_lossy(&output.stdout);
            Ok(PathBuf::from(text.lines().last().unwrap_or_default()))
        }
        Some(NO_PYTHON) => Err(E2eError::NoPython),
        _ => Err(E2eError::Install {
            script,
            status: output.status.to_string(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(arguments: &[&str], venv: &Path, python: &str) -> Option<i32> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("e2e/install-services.sh");
        let mut command = Command::new("bash");
        command.arg(script).args(arguments);
        command.env("E2E_VENV", venv).env("E2E_PYTHON", python);
        command.stderr(Stdio::null()).stdout(Stdio::null());
        command.status().unwrap().code()
    }

    #[test]
    fn the_script_tells_a_missing_python_from_a_failure() {
        let files = tempfile::tempdir().unwrap();
        let venv = files.path().join("venv");
        assert_eq!(script(&["--check"], &venv, "python3"), Some(1));
        assert_eq!(script(&[], &venv, "false"), Some(NO_PYTHON));
        assert_eq!(script(&["--wrong"], &venv, "false"), Some(2));
    }
}
