//! How each of the two services is started: arguments, environment, limits.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use super::keys::Keys;
use super::process::Recipe;
use super::services::Options;

/// The log files of the two services.
pub(super) const AGENT_LOG: &str = "agent-server.log";
pub(super) const AUTOMATION_LOG: &str = "automation-service.log";
/// Importing the services takes seconds, and several times that on a busy machine.
const START_LIMIT: Duration = Duration::from_mins(2);

pub(super) fn agent_recipe(options: &Options, keys: &Keys, files: &Path, port: u16) -> Recipe {
    let data = files.join("agent-server");
    let mut environment = base_environment(options, files);
    environment.extend(pairs([
        ("OH_SESSION_API_KEYS_0", keys.session.clone().into()),
        ("OH_SECRET_KEY", keys.storage_secret.clone().into()),
        ("OH_CONVERSATIONS_PATH", data.join("conversations").into()),
        ("OH_BASH_EVENTS_DIR", data.join("commands").into()),
        ("OH_WORKSPACE_PATH", data.join("project").into()),
        ("OH_PERSISTENCE_DIR", data.join("settings").into()),
        (
            "OH_MAX_CONCURRENT_RUNS",
            options.max_concurrent_runs.to_string().into(),
        ),
        ("OH_ENABLE_VSCODE", "false".into()),
    ]));
    environment.extend(
        options
            .environment
            .iter()
            .map(|(name, value)| (name.into(), value.into())),
    );
    Recipe {
        name: "agent server",
        program: options.python.clone(),
        arguments: [
            "-m",
            "openhands.agent_server",
            "--host",
            "127.0.0.1",
            "--port",
        ]
        .map(str::to_owned)
        .into_iter()
        .chain([port.to_string()])
        .collect(),
        environment,
        directory: data,
        log: options.logs.join(AGENT_LOG),
        ready_url: format!("http://127.0.0.1:{port}/ready"),
        start_limit: START_LIMIT,
        // It waits half a minute for commands that run: too long, and what it leaves is killed.
        stop_limit: Duration::from_secs(3),
    }
}

pub(super) fn automation_recipe(
    options: &Options,
    keys: &Keys,
    files: &Path,
    port: u16,
    agent_url: &str,
) -> Recipe {
    let mut environment = base_environment(options, files);
    let database = files.join("automations.db");
    let kv_secret = if options.kv_store {
        keys.kv_secret.as_str()
    } else {
        ""
    };
    environment.extend(pairs([
        (
            "AUTOMATION_DB_URL",
            format!("sqlite+aiosqlite:///{}", database.display()).into(),
        ),
        ("AUTOMATION_AGENT_SERVER_URL", agent_url.into()),
        (
            "AUTOMATION_AGENT_SERVER_API_KEY",
            keys.session.clone().into(),
        ),
        ("AUTOMATION_LOCAL_API_KEY", keys.api.clone().into()),
        ("AUTOMATION_WORKSPACE_BASE", files.join("workspaces").into()),
        ("AUTOMATION_KV_SECRET", kv_secret.into()),
        (
            "AUTOMATION_BASE_URL",
            format!("http://127.0.0.1:{port}").into(),
        ),
        ("LOCAL_STORAGE_PATH", files.join("uploads").into()),
        ("AUTOMATION_DISPATCHER_INTERVAL_SECONDS", "1".into()),
        ("AUTOMATION_WATCHDOG_INTERVAL_SECONDS", "5".into()),
    ]));
    Recipe {
        name: "automation service",
        program: options.python.clone(),
        arguments: [
            "-m",
            "uvicorn",
            "openhands.automation.app:app",
            "--host",
            "127.0.0.1",
            "--port",
        ]
        .map(str::to_owned)
        .into_iter()
        .chain([port.to_string()])
        .collect(),
        environment,
        directory: files.to_path_buf(),
        log: options.logs.join(AUTOMATION_LOG),
        ready_url: format!("http://127.0.0.1:{port}/ready"),
        start_limit: START_LIMIT,
        stop_limit: Duration::from_secs(10),
    }
}

/// Nothing of the caller's environment but the path, with the installed Python first, so that a
/// proxy, a key or a git identity of the person at the machine plays no part.
fn base_environment(options: &Options, files: &Path) -> Vec<(OsString, OsString)> {
    let mut path = OsString::from(options.python.parent().unwrap_or(Path::new("/usr/bin")));
    if let Some(callers) = std::env::var_os("PATH") {
        path.push(":");
        path.push(callers);
    }
    let mut environment = pairs([
        ("PATH", path),
        ("HOME", files.join("home").into()),
        ("LANG", "C.UTF-8".into()),
        // How wide the agent server's log is.
        ("COLUMNS", "200".into()),
        // Nothing leaves the machine: no usage reports, no price list of models.
        ("ANONYMIZED_TELEMETRY", "false".into()),
        ("LITELLM_LOCAL_MODEL_COST_MAP", "True".into()),
    ]);
    if let Some(directory) = std::env::var_os("TMPDIR") {
        environment.push(("TMPDIR".into(), directory));
    }
    environment
}

fn pairs<const N: usize>(list: [(&str, OsString); N]) -> Vec<(OsString, OsString)> {
    list.into_iter()
        .map(|(name, value)| (name.into(), value))
        .collect()
}
