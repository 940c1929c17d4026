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
