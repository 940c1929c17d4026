//! Bare repositories, worked with by git itself: creating them, committing into them, moving their
//! branches. Nothing of the user's or the system's git
//! configuration counts.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::hooks::{POST_RECEIVE, PRE_RECEIVE, SETTINGS};
use crate::TestbedError;
use crate::tree::Entry;

/// Who commits and when.
#[derive(Clone, Debug)]
pub(super) struct Signature<'a> {
    pub(super) name: &'a str,
    pub(super) email: &'a str,
    /// Seconds since the epoch.
    pub(super) at: f64,
}

/// A bare repository.
#[derive(Clone, Debug)]
pub(super) struct Bare {
    pub(super) dir: PathBuf,
}

impl Bare {
    /// Creates an empty one whose `HEAD` names `main`.
    pub(super) fn create(dir: PathBuf) -> Result<Self, TestbedError> {
        let bare = Self { dir };
        scratch(&bare.dir, fs::create_dir_all(&bare.dir))?;
        bare.run(
            &[
                "init",
                "--quiet",
                "--bare",
                "--template=",
                "--initial-branch=main",
                ".",
            ],
            &[],
        )?;
        let config = bare.dir.join("config");
        let written = fs::OpenOptions::new()
            .append(true)
            .open(&config)
            .and_then(|mut file| file.write_all(SETTINGS.as_bytes()));
        scratch(&config, written)?;
        bare.hook("pre-receive", PRE_RECEIVE)?;
        bare.hook("post-receive", POST_RECEIVE)?;
        bare.set_rule("protected", "")?;
        Ok(bare)
    }

    fn hook(&self, name: &str, script: &str) -> Result<(), TestbedError> {
        use std::os::unix::fs::PermissionsExt;
        let hooks = self.dir.join("hooks");
        let path = hooks.join(name);
        let written = fs::create_dir_all(&hooks)
            .and_then(|()| fs::write(&path, script))
            .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o755)));
        scratch(&path, written)
    }

    /// Sets what the hooks read: `protected`, `committer` or `push-rule`.
    pub(super) fn set_rule(&self, name: &str, text: &str) -> Result<(), TestbedError> {
        let path = self.dir.join(name);
        scratch(&path, fs::write(&path, text))
    }

    /// Commits a change on top of a branch, which is created if need be, and returns the commit.
    pub(super) fn commit(
        &self,
        branch: &str,
        message: &str,
        who: &Signature<'_>,
        change: &[(String, Entry)],
    ) -> Result<String, TestbedError> {
        let mut stream = Vec::new();
        let parent = self.tip(branch);
        let head = format!(
            "commit refs/heads/{branch}\ncommitter {} <{}> {:.0} +0000\ndata {}\n{message}\n",
            who.name,
            who.email,
            who.at.floor(),
            message.len()
        );
        stream.extend_from_slice(head.as_bytes());
        if let Some(parent) = parent {
            stream.extend_from_slice(format!("from {parent}\n").as_bytes());
        }
        for (path, entry) in change {
            let path = quoted(path);
            let line = match entry {
                Entry::Removed => format!("D {path}\n"),
                Entry::Submodule(sha) => format!("M 160000 {sha} {path}\n"),
                entry => {
                    let (mode, size) = (entry.mode(), entry.bytes().len());
                    format!("M {mode:o} inline {path}\ndata {size}\n")
                }
            };
            stream.extend_from_slice(line.as_bytes());
            if !matches!(entry, Entry::Removed | Entry::Submodule(_)) {
                stream.extend_from_slice(entry.bytes());
                stream.push(b'\n');
            }
        }
        stream.extend_from_slice(b"done\n");
        self.run(&["fast-import", "--quiet", "--done", "--force"], &stream)?;
        self.tip(branch)
            .ok_or_else(|| failed(&["fast-import"], "the branch is not there"))
    }

    /// All branches and their tips.
    pub(super) fn branches(&self) -> BTreeMap<String, String> {
        let format = "--format=%(refname:lstrip=2) %(objectname)";
        let listed = self
            .run(&["for-each-ref", format, "refs/heads"], &[])
            .unwrap_or_default();
        let pairs = text(&listed);
        let pairs = pairs.lines().filter_map(|line| line.rsplit_once(' '));
        pairs
            .map(|(name, sha)| (name.to_owned(), sha.to_owned()))
            .collect()
    }

    /// The tip of a branch.
    pub(super) fn tip(&self, branch: &str) -> Option<String> {
        // Most tips are files of their own, and reading one is much quicker than asking git.
        let file = self.dir.join("refs/heads").join(branch);
        let loose = fs::read_to_string(file)
            .ok()
            .map(|text| text.trim().to_owned());
        let hex = |sha: &String| sha.len() == 40 && sha.bytes().all(|b| b.is_ascii_hexdigit());
        loose
            .filter(hex)
            .or_else(|| self.parse(&format!("refs/heads/{branch}")))
    }

    /// The commit that a branch or a commit id names.
    pub(super) fn resolve(&self, name: &str) -> Option<String> {
        self.tip(name).or_else(|| {
            let hex = name.len() >= 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
            hex.then(|| self.parse(name)).flatten()
        })
    }

    fn parse(&self, name: &str) -> Option<String> {
        let wanted = format!("{name}^{{commit}}");
        let found = self.run(
            &[
                "rev-parse",
                "--verify",
                "--quiet",
                "--end-of-options",
                &wanted,
            ],
            &[],
        );
        found
            .ok()
            .map(|sha| text(&sha).trim().to_owned())
            .filter(|sha| !sha.is_empty())
    }

    /// The best common ancestor.
    pub(super) fn merge_base(&self, one: &str, other: &str) -> Option<String> {
        let found = self.run(&["merge-base", one, other], &[]);
        found
            .ok()
            .map(|sha| text(&sha).trim().to_owned())
            .filter(|sha| !sha.is_empty())
    }

    /// The branches that hold a commit.
    pub(super) fn branches_with(&self, sha: &str) -> Vec<String> {
        let format = "--format=%(refname:lstrip=2)";
        let listed = self.run(
            &["for-each-ref", format, "--contains", sha, "refs/heads"],
            &[],
        );
        text(&listed.unwrap_or_default())
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// Names of the files that differ, with the letter git gives the difference.
    pub(super) fn differences(&self, from: &str, to: &str) -> Vec<(char, String)> {
        let listed = self.run(&["diff-tree", "-r", "-z", "--name-status", from, to], &[]);
        let listed = text(&listed.unwrap_or_default());
        let mut parts = listed.split('\0');
        let mut found = Vec::new();
        while let (Some(letter), Some(path)) = (parts.next(), parts.next()) {
            found.push((letter.chars().next().unwrap_or('M'), path.to_owned()));
        }
        found
    }

    /// Moves a branch to a commit, or creates it there.
    pub(super) fn set_branch(&self, name: &str, sha: &str) -> Result<(), TestbedError> {
        self.run(&["update-ref", &format!("refs/heads/{name}"), sha], &[])
            .map(drop)
    }

    /// Deletes a branch.
    pub(super) fn delete_branch(&self, name: &str) -> Result<(), TestbedError> {
        self.run(&["update-ref", "-d", &format!("refs/heads/{name}")], &[])
            .map(drop)
    }

    /// Runs git in the repository with these bytes on its standard input.
    pub(super) fn run(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, TestbedError> {
        // A file, not a pipe: whatever the sizes, neither side waits for the other.
        let file = tempfile::tempfile().and_then(|mut file| {
            file.write_all(input)?;
            file.rewind()?;
            Ok(file)
        });
        let input = file.map_err(|error| failed(arguments, &error.to_string()))?;
        let mut command = Command::new("git");
        for (name, value) in environment(&self.dir) {
            command.env(name, value);
        }
        for name in FOREIGN {
            command.env_remove(name);
        }
        let output = command
            .args(arguments)
            .current_dir(&self.dir)
            .stdin(Stdio::from(input))
            .output()
            .map_err(|error| failed(arguments, &error.to_string()))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(failed(arguments, text(&output.stderr).trim()))
    }
}

/// Variables of a surrounding git that must not reach ours.
pub(super) const FOREIGN: [&str; 7] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_PREFIX",
];

/// What keeps every git of ours to its own repository and configuration.
pub(super) fn environment(home: &Path) -> [(&'static str, String); 5] {
    [
        ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
        ("GIT_TERMINAL_PROMPT", "0".to_owned()),
        ("LC_ALL", "C".to_owned()),
        ("HOME", home.display().to_string()),
    ]
}

/// A path as fast-import takes it, whatever is in it.
fn quoted(path: &str) -> String {
    let escaped = path
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{escaped}\"")
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn failed(arguments: &[&str], reason: &str) -> TestbedError {
    let name = arguments.first().copied().unwrap_or_default();
    TestbedError::Deeds {
        failures: vec![format!("git {name}: {reason}")],
    }
}

fn scratch<T>(path: &Path, result: std::io::Result<T>) -> Result<T, TestbedError> {
    let path = path.display().to_string();
    result.map_err(|source| TestbedError::Scratch { path, source })
}
