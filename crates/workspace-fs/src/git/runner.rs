//! The one place that decides how git runs: which git, with which environment and settings, and for
//! how long.
//!
//! Nothing of the machine's or a user's git configuration counts, and nothing of the environment
//! but what [`GitSettings`] hands in.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::argument::GitRemote;
use super::credential::clean_git_output;
use super::process::{self, Input, Spec};
use crate::error::WorkspaceError;

/// The oldest git that takes all its settings from the environment.
const MINIMUM: &str = "2.32";
/// Slower than this many bytes per second …
const LOW_SPEED_BYTES: &str = "1000";
/// … for this many seconds ends a transfer.
const LOW_SPEED_SECONDS: &str = "30";

/// Settings that hold for every command. The values with a `/` are no configuration of anybody's,
/// and what could start another program is off.
const SETTINGS: &[(&str, &str)] = &[
    ("advice.detachedHead", "false"),
    ("commit.gpgSign", "false"),
    ("core.alternateRefsCommand", ""),
    ("core.askPass", ""),
    ("core.attributesFile", "/dev/null"),
    ("core.bigFileThreshold", "32m"),
    ("core.commitGraph", "false"),
    ("core.excludesFile", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.multiPackIndex", "false"),
    ("core.pager", "cat"),
    ("core.quotePath", "false"),
    ("core.safecrlf", "false"),
    ("core.sshCommand", "false"),
    ("core.untrackedCache", "false"),
    ("credential.helper", ""),
    ("fetch.recurseSubmodules", "false"),
    ("fetch.writeCommitGraph", "false"),
    ("gc.auto", "0"),
    ("http.followRedirects", "false"),
    ("http.lowSpeedLimit", LOW_SPEED_BYTES),
    ("http.lowSpeedTime", LOW_SPEED_SECONDS),
    ("init.defaultBranch", "main"),
    ("maintenance.auto", "false"),
    ("protocol.allow", "never"),
    ("protocol.http.allow", "always"),
    ("protocol.https.allow", "always"),
    ("push.followTags", "false"),
    ("push.gpgSign", "false"),
    // Without it, a push after the default branch has moved on sends the whole tree.
    ("push.negotiate", "true"),
    ("push.recurseSubmodules", "no"),
    ("submodule.recurse", "false"),
];

/// How git is run. All values are given; nothing is read from the environment.
#[derive(Clone, Debug)]
pub struct GitSettings {
    /// Value of `PATH`: where git is looked for. Relative entries do not count.
    pub search_path: OsString,
    /// Value of `HTTP_PROXY` or `http_proxy`.
    pub http_proxy: Option<String>,
    /// Value of `HTTPS_PROXY` or `https_proxy`.
    pub https_proxy: Option<String>,
    /// Value of `ALL_PROXY` or `all_proxy`.
    pub all_proxy: Option<String>,
    /// Value of `NO_PROXY` or `no_proxy`. This machine never goes through a proxy.
    pub no_proxy: Option<String>,
    /// Value of `SSL_CERT_FILE`: a bundle of CA certificates used in place of git's own.
    pub ca_file: Option<PathBuf>,
    /// Value of `SSL_CERT_DIR`.
    pub ca_dir: Option<PathBuf>,
    /// Time for one command.
    pub timeout: Duration,
    /// Whether `file://` remotes are allowed. For tests only.
    pub local_remotes: bool,
    /// How much an agent may leave behind.
    pub limits: GitLimits,
}

/// How much is taken from a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GitLimits {
    /// Objects in the clone's object store, packed, in bytes.
    pub max_object_bytes: u64,
    /// One file of the work tree, in bytes. A larger one that is new is left out, one that grew is
    /// left as it was.
    pub max_file_bytes: u64,
    /// All files of the work tree that are not ignored, in bytes.
    pub max_tree_bytes: u64,
    /// Entries of the work tree, ignored ones included.
    pub max_entries: u64,
}

impl Default for GitLimits {
    /// 8 GiB of objects; files of 100 MiB (what hosts commonly accept), 8 GiB of them; 2 million
    /// entries.
    fn default() -> Self {
        Self {
            max_object_bytes: 8 << 30,
            max_file_bytes: 100 << 20,
            max_tree_bytes: 8 << 30,
            max_entries: 2_000_000,
        }
    }
}

impl GitSettings {
    /// Settings with a search path, without proxy or CA file, and five minutes for a command.
    pub fn new(search_path: impl Into<OsString>) -> Self {
        Self {
            search_path: search_path.into(),
            http_proxy: None,
            https_proxy: None,
            all_proxy: None,
            no_proxy: None,
            ca_file: None,
            ca_dir: None,
            timeout: Duration::from_mins(5),
            local_remotes: false,
            limits: GitLimits::default(),
        }
    }
}

/// Runs git. The only thing in the project that does.
#[derive(Clone, Debug)]
pub struct GitRunner {
    program: PathBuf,
    settings: GitSettings,
}

/// A git command to be run.
pub(super) struct Call<'a> {
    /// For error texts, such as `git push`.
    pub name: &'static str,
    pub args: Vec<OsString>,
    /// Working directory.
    pub dir: &'a Path,
    pub env: Vec<(&'static str, OsString)>,
    pub input: Input,
    /// Where the command talks to, if it does.
    pub remote: Option<&'a GitRemote>,
}

/// What became of it.
#[derive(Debug)]
pub(super) struct Output {
    pub name: &'static str,
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    /// Standard error, cleaned.
    pub stderr: String,
}

impl GitRunner {
    /// Finds git on the search path and checks its version.
    pub async fn find(settings: GitSettings) -> Result<Self, WorkspaceError> {
        let dirs = std::env::split_paths(&settings.search_path);
        let program = dirs
            .filter(|dir| dir.is_absolute())
            .map(|dir| dir.join("git"))
            .find(|file| is_executable(file))
            .ok_or(WorkspaceError::GitMissing { minimum: MINIMUM })?;
        let runner = Self { program, settings };
        let output = runner
            .run(Call {
                name: "git version",
                args: vec!["version".into()],
                dir: Path::new("/"),
                env: Vec::new(),
                input: Input::Nothing,
                remote: None,
            })
            .await?;
        let found = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if version(&found) < version(MINIMUM) {
            return Err(WorkspaceError::GitTooOld {
                path: runner.program,
                found,
                minimum: MINIMUM,
            });
        }
        Ok(runner)
    }

    pub(super) fn limits(&self) -> &GitLimits {
        &self.settings.limits
    }

    /// Runs a command to its end, whatever its exit code.
    pub(super) async fn run(&self, call: Call<'_>) -> Result<Output, WorkspaceError> {
        let credential = call.remote.and_then(GitRemote::credential);
        let local = call.remote.is_some_and(GitRemote::is_local);
        if local && !self.settings.local_remotes {
            return Err(WorkspaceError::GitArgument {
                what: "address",
                value: call
                    .remote
                    .map(GitRemote::url)
                    .unwrap_or_default()
                    .to_owned(),
                reason: "only https and http are used",
            });
        }
        let mut env = self.environment(call.remote);
        env.extend(
            call.env
                .into_iter()
                .map(|(name, value)| (name.into(), value)),
        );
        let ended = process::run(Spec {
            program: self.program.clone(),
            args: call.args,
            dir: call.dir.to_owned(),
            env,
            input: call.input,
            timeout: self.settings.timeout,
        })
        .await
        .map_err(|source| WorkspaceError::io("run", &self.program, source))?;
        let ended = ended.ok_or(WorkspaceError::GitTimeout {
            call: call.name,
            seconds: self.settings.timeout.as_secs(),
        })?;
        Ok(Output {
            name: call.name,
            code: ended.status.code(),
            stdout: ended.stdout,
            stderr: clean_git_output(&String::from_utf8_lossy(&ended.stderr), credential),
        })
    }

    /// The whole environment of a command.
    fn environment(&self, remote: Option<&GitRemote>) -> Vec<(OsString, OsString)> {
        let settings = &self.settings;
        let absolute = std::env::split_paths(&settings.search_path).filter(|dir| dir.is_absolute());
        let protocols = if settings.local_remotes {
            "https:http:file"
        } else {
            "https:http"
        };
        let no_proxy = settings.no_proxy.as_deref().unwrap_or_default();
        let mut env: Vec<(OsString, OsString)> = [
            ("GIT_ADVICE", "0"),
            ("GIT_ALLOW_PROTOCOL", protocols),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_EDITOR", "false"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_PAGER", "cat"),
            ("GIT_SSH_COMMAND", "false"),
            ("GIT_TERMINAL_PROMPT", "0"),
            // No home, so neither a .netrc nor a configuration directory is found.
            ("HOME", "/dev/null"),
            ("LC_ALL", "C"),
            ("XDG_CONFIG_HOME", "/dev/null"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
        env.push((
            "PATH".into(),
            std::env::join_paths(absolute).unwrap_or_default(),
        ));
        let hosts = "localhost,127.0.0.1,::1";
        let no_proxy = if no_proxy.is_empty() {
            hosts.to_owned()
        } else {
            format!("{no_proxy},{hosts}")
        };
        for (name, value) in [
            ("http_proxy", settings.http_proxy.as_deref()),
            ("https_proxy", settings.https_proxy.as_deref()),
            ("all_proxy", settings.all_proxy.as_deref()),
            ("no_proxy", Some(no_proxy.as_str())),
        ] {
            env.extend(value.map(|value| (name.into(), value.into())));
        }
        for (name, value) in [
            ("GIT_SSL_CAINFO", &settings.ca_file),
            ("GIT_SSL_CAPATH", &settings.ca_dir),
        ] {
            env.extend(
                value
                    .iter()
                    .map(|value| (name.into(), value.clone().into())),
            );
        }
        let mut configuration: Vec<(String, String)> = SETTINGS
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        // Bound to the origin: git looks these up by address, and sends them nowhere else.
        if let Some((remote, credential)) = remote.and_then(|r| Some((r, r.credential()?))) {
            let header = format!("Authorization: {}", credential.header());
            configuration.push((format!("http.{}/.extraHeader", remote.origin()), header));
        }
        env.push((
            "GIT_CONFIG_COUNT".into(),
            configuration.len().to_string().into(),
        ));
        for (i, (key, value)) in configuration.into_iter().enumerate() {
            env.push((format!("GIT_CONFIG_KEY_{i}").into(), key.into()));
            env.push((format!("GIT_CONFIG_VALUE_{i}").into(), value.into()));
        }
        env
    }
}

/// Arguments, from text.
pub(super) fn args<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Vec<OsString> {
    args.into_iter()
        .map(|arg| arg.as_ref().to_owned())
        .collect()
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// The first two numbers of a version text.
fn version(text: &str) -> (u32, u32) {
    let mut numbers = text
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare() {
        assert!(version("git version 2.47.3") > version(MINIMUM));
        assert!(version("git version 2.32.0.windows.1") >= version(MINIMUM));
        assert!(version("git version 2.9.5") < version(MINIMUM));
        assert!(version("git version 3.0") > version(MINIMUM));
        assert!(version("") < version(MINIMUM));
    }
    #[test]
    fn the_environment_is_ours_alone() {
        let mut settings = GitSettings::new("/usr/bin:relative:/bin");
        settings.https_proxy = Some("http://proxy:3128".to_owned());
        settings.no_proxy = Some("intranet".to_owned());
        settings.ca_file = Some("/etc/company.pem".into());
        let runner = GitRunner {
            program: "/usr/bin/git".into(),
            settings,
        };
        let credential = crate::GitCredential::oauth2("x");
        let remote = GitRemote::new("https://host:8443/gitlab/g/p.git", Some(credential)).unwrap();
        let env = runner.environment(Some(&remote));
        let value = |name: &str| {
            let found = env.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| value.to_string_lossy().into_owned())
        };
        let count: usize = value("GIT_CONFIG_COUNT").unwrap().parse().unwrap();
        assert_eq!(count, SETTINGS.len() + 1);
        let key = value(&format!("GIT_CONFIG_KEY_{}", count - 1)).unwrap();
        assert_eq!(key, "http.https://host:8443/.extraHeader");
        let header = value(&format!("GIT_CONFIG_VALUE_{}", count - 1)).unwrap();
        assert_eq!(header, "Authorization: Basic b2F1dGgyOng=");
        let lines: Vec<String> = env
            .iter()
            .filter(|(name, _)| !name.to_string_lossy().starts_with("GIT_CONFIG_KEY_"))
            .filter(|(name, _)| !name.to_string_lossy().starts_with("GIT_CONFIG_VALUE_"))
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        GIT_ADVICE=0
        GIT_ALLOW_PROTOCOL=https:http
        GIT_ATTR_NOSYSTEM=1
        GIT_CONFIG_GLOBAL=/dev/null
        GIT_CONFIG_NOSYSTEM=1
        GIT_EDITOR=false
        GIT_NO_LAZY_FETCH=1
        GIT_NO_REPLACE_OBJECTS=1
        GIT_OPTIONAL_LOCKS=0
        GIT_PAGER=cat
        GIT_SSH_COMMAND=false
        GIT_TERMINAL_PROMPT=0
        HOME=/dev/null
        LC_ALL=C
        XDG_CONFIG_HOME=/dev/null
        PATH=/usr/bin:/bin
        https_proxy=http://proxy:3128
        no_proxy=intranet,localhost,127.0.0.1,::1
        GIT_SSL_CAINFO=/etc/company.pem
        GIT_CONFIG_COUNT=34
        ");
        let bare = runner.environment(None);
        assert!(
            !bare
                .iter()
                .any(|(_, value)| value.to_string_lossy().contains("Authorization"))
        );
    }
}
