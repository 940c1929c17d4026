//! This machine: the place for workspaces, and git.

use super::Patient;
use super::finding::{Finding, Findings};
use crate::run::Automation;
use crate::run::issue::git_settings;
use crate::run::wiring::workspace_base;
use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use workspace_fs::GitRunner;

pub(super) async fn check(patient: &Patient<'_>, findings: &mut Findings<'_>) {
    let environment = &patient.session.environment;
    workspaces(&workspace_base(environment), findings);
    if patient.automation != Automation::Issue {
        return;
    }
    findings.add(match GitRunner::find(git_settings(environment)).await {
        Ok(_) => Finding::ok("git", "there and new enough"),
        Err(error) => Finding::failed(
            "git",
            error.to_string(),
            "Install git where PATH finds it; for deployed automations, in the agent's image.",
        ),
    });
}

fn workspaces(base: &Path, findings: &mut Findings<'_>) {
    const CHECK: &str = "workspaces";
    let name = base.display();
    let advice = "Set WORKSPACE_BASE to an absolute path that can be written to.";
    if !base.is_absolute() {
        findings.add(Finding::failed(
            CHECK,
            format!("{name} is not absolute"),
            advice,
        ));
        return;
    }
    findings.add(match probe(base) {
        Ok(true) => Finding::ok(CHECK, format!("{name} can be written to")),
        Ok(false) => Finding::ok(CHECK, format!("{name} is not there yet and can be made")),
        Err(error) => Finding::failed(
            CHECK,
            format!("{name} cannot be written to ({error})"),
            advice,
        ),
    });
}

/// Whether files can be made in a folder that is there, or (`false`) in the one in which it would be
/// made. Makes an empty file there and removes it.
pub(super) fn probe(folder: &Path) -> io::Result<bool> {
    for (steps, place) in folder.ancestors().enumerate() {
        match std::fs::metadata(place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
            Ok(_) => {
                // What is no folder fails here, as it would then.
                let file = place.join(format!(".writable-{:016x}", fastrand::u64(..)));
                OpenOptions::new()
                    .write(true)
                    .create_new(true)
                    .open(&file)?;
                std::fs::remove_file(&file)?;
                return Ok(steps == 0);
            }
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_probed_and_left_as_it_was() {
        let root = tempfile::tempdir().unwrap();
        assert!(probe(root.path()).unwrap());
        assert!(!probe(&root.path().join("a/b/c")).unwrap());
        let file = root.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(probe(&file).is_err());
        assert!(probe(&file.join("below")).is_err());
        let left: Vec<_> = std::fs::read_dir(root.path()).unwrap().collect();
        assert_eq!(left.len(), 1);
    }
}
