//! What ends the services when nobody else can: the task runner was killed, or interrupted at the
//! terminal. A shell waits at the end of a pipe, which closes however its owner dies, and then ends
//! every process with the mark and removes the services' files.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::error::E2eError;

/// `$1` is how the line of the environment begins, `$2` the directory.
const SCRIPT: &str = r#"
read -r _
for round in 1 2 3 4 5 6 7 8 9 10; do
    found=
    for file in /proc/[0-9]*/environ; do
        if grep -qz -- "^$1" "$file" 2>/dev/null; then
            process=${file#/proc/}
            kill -KILL "${process%/environ}" 2>/dev/null && found=yes
        fi
    done
    [ -n "$found" ] || break
done
rm -rf -- "$2"
"#;

/// The waiting shell. Dropping it lets it do its work.
#[derive(Debug)]
pub(super) struct Guard {
    shell: Child,
}

impl Guard {
    /// Waits to end the processes whose environment has a line that begins so, and to remove
    /// `directory`.
    pub(super) fn start(line: &str, directory: &Path) -> Result<Self, E2eError> {
        let shell = Command::new("bash")
            .args(["-c", SCRIPT, "bash", line])
            .arg(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // An interrupt at the terminal is not for this one.
            .process_group(0)
            .spawn()
            .map_err(E2eError::io("start bash to watch over the services"))?;
        Ok(Self { shell })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        drop(self.shell.wait());
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn a_guard_ends_what_carries_the_mark_and_removes_the_files() {
        let files = tempfile::tempdir().unwrap();
        let directory = files.path().join("services");
        std::fs::create_dir(&directory).unwrap();
        let name = format!("guard-test-{}", std::process::id());
        let start = |mark: &str| {
            let mut command = Command::new("sleep");
            command
                .arg("60")
                .env("XTASK_E2E_MARK", mark)
                .process_group(0);
            command.spawn().unwrap()
        };
        let mut marked = start(&format!("{name}-agent server"));
        let mut other = start("of somebody else");

        drop(Guard::start(&format!("XTASK_E2E_MARK={name}-"), &directory).unwrap());

        assert_eq!(marked.wait().unwrap().signal(), Some(9));
        assert!(other.try_wait().unwrap().is_none());
        assert!(!directory.exists());
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
