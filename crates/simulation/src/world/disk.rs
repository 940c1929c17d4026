//! The disk: directories that agents work in, and those that are nobody's business.

use super::{Home, World};
use crate::mutation::Mutation;
use crate::plan::Automation;
use std::collections::BTreeMap;

/// Holds one directory per run in local mode.
const RUNS: &str = "/home/user/workspaces/automation-runs";

/// A clone of the project.
#[derive(Clone, Debug)]
pub(crate) struct Clone {
    pub(crate) base: String,
    pub(crate) tip: String,
    pub(crate) has_leftovers: bool,
    pub(crate) branch: String,
}

/// A directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Folder {
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) clone: Option<Clone>,
    /// It is not ours and must never be touched.
    pub(crate) is_precious: bool,
}

/// All directories, by whose disk they are on and their path.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    pub(crate) folders: BTreeMap<(Home, String), Folder>,
}

impl World {
    /// `WORKSPACE_BASE` of a new run.
    pub(crate) fn base_for(&self, run: usize) -> String {
        if self.plan.sandbox {
            "/workspace".to_owned()
        } else if self.plan.base_per_run {
            format!("{RUNS}/run-{run}")
        } else {
            format!("{RUNS}/fixed")
        }
    }

    /// Whose disk and whose agent server a run has.
    pub(crate) fn home_of(&self, run: usize) -> Home {
        if self.plan.sandbox {
            Home::Sandbox(run)
        } else {
            Home::Local
        }
    }

    pub(crate) fn area(&self) -> &'static str {
        match self.plan.automation {
            Automation::News => "news-digest",
            Automation::Review => "repositories",
            Automation::Issue => "issue-to-mr",
        }
    }

    fn parts(&self) -> usize {
        if self.plan.automation == Automation::News {
            1
        } else {
            2
        }
    }

    /// The path of a workspace of a run.
    pub(crate) fn workspace_path(&self, run: usize, parts: &[String]) -> String {
        let mut path = format!("{}/{}", self.runs[run].base, self.area());
        for part in parts {
            path.push('/');
            path.push_str(part);
        }
        path
    }

    /// Whether a directory is that of a workspace below the roots of a run.
    pub(crate) fn is_ours(&self, run: usize, dir: &str) -> bool {
        if self.is_mutated(Mutation::RootCheck) {
            return true;
        }
        let shape = |below: &str, before: usize| {
            let steps: Vec<&str> = below.split('/').collect();
            steps.len() == before + 1 + self.parts()
                && steps[before] == self.area()
                && steps.iter().all(|step| !step.is_empty() && *step != "..")
        };
        let base = &self.runs[run].base;
        let under = |root: &str| dir.strip_prefix(root)?.strip_prefix('/').map(str::to_owned);
        under(base).is_some_and(|below| shape(&below, 0))
            || (base.starts_with(RUNS) && under(RUNS).is_some_and(|below| shape(&below, 1)))
    }

    /// Removes what is at a path, and looks whether it may go.
    pub(crate) fn remove_folder(&mut self, run: usize, dir: &str) -> bool {
        let home = self.home_of(run);
        let Some(folder) = self.disk.folders.get(&(home, dir.to_owned())) else {
            return false;
        };
        if folder.is_precious {
            self.broken(|| format!("{dir} is not ours and was removed"));
        }
        self.check_removal(run, home, dir);
        self.disk.folders.remove(&(home, dir.to_owned()));
        self.counts.removed += 1;
        true
    }

    /// A workspace goes only when its conversation has stopped.
    fn check_removal(&mut self, run: usize, home: Home, dir: &str) {
        let is_it = |one: &super::Conversation| one.home == home && one.dir == dir;
        let mut all = self.server.conversations.iter();
        let Some(index) = all.position(|one| is_it(one) && one.could_run()) else {
            return;
        };
        if self.server.conversations[index].is_paused() && self.is_given_up(run, dir) {
            // Whoever resumes it from now on knows what they do.
            self.server.conversations[index].is_halted = true;
            return;
        }
        let conversation = &self.server.conversations[index];
        let text = format!(
            "the workspace {dir} was removed while conversation {} could run ({:?})",
            conversation.id, conversation.stage
        );
        self.broken(|| text);
    }

    /// What a person has paused may be given up after two hours, by the clock of whoever does it.
    fn is_given_up(&self, run: usize, dir: &str) -> bool {
        let records = self
            .document()
            .and_then(|document| document.get(self.schema().records)?.as_object());
        let now = self.clock_of(run);
        records.into_iter().flatten().any(|(_, record)| {
            let is_it = record.get("workspace_dir").and_then(|d| d.as_str()) == Some(dir);
            let last = record
                .get("last_activity")
                .and_then(serde_json::Value::as_f64);
            let age = now - last.unwrap_or(0.0);
            is_it && (!(-86_400.0..7_200.0).contains(&age))
        })
    }
}
