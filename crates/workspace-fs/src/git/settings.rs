//! How git runs: with which environment and configuration, and for how long.
//!
//! Nothing of the machine's or a user's git configuration counts, and nothing of the environment
//! but what [`GitSettings`] hands in.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::argument::GitRemote;

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

/// The whole environment of a command.
pub(super) fn environment(
    settings: &GitSettings,
    remote: Option<&GitRemote>,
) -> Vec<(OsString, OsString)> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::credential::GitCredential;

    #[test]
    fn the_environment_is_ours_alone() {
        let mut settings = GitSettings::new("/usr/bin:relative:/bin");
        settings.https_proxy = Some("http://proxy:3128".to_owned());
        settings.no_proxy = Some("intranet".to_owned());
        settings.ca_file = Some("/etc/company.pem".into());
        let credential = GitCredential::oauth2("x");
        let remote = GitRemote::new("https://host:8443/gitlab/g/p.git", Some(credential)).unwrap();
        let env = environment(&settings, Some(&remote));
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
        let bare = environment(&settings, None);
        assert!(
            !bare
                .iter()
                .any(|(_, value)| value.to_string_lossy().contains("Authorization"))
        );
    }
}
