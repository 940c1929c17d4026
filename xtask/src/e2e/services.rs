//! Agent server and automation service together, in local mode on SQLite, as a self-hosted
//! deployment runs them.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use testbed::call::{Answer, Call};

use super::error::E2eError;
use super::guard::Guard;
use super::keys::{Keys, random_number};
use super::process::{Family, Process};
use super::recipes::{AGENT_LOG, AUTOMATION_LOG, agent_recipe, automation_recipe};

/// How much of an unexpected answer an error shows.
const SHOWN_BYTES: usize = 600;

/// What to start the services with.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// The Python of the environment that they are installed in.
    pub(crate) python: PathBuf,
    /// Where their logs go: `agent-server.log` and `automation-service.log`.
    pub(crate) logs: PathBuf,
    /// More variables for the agent server. Runs inherit its environment.
    pub(crate) environment: Vec<(String, String)>,
    /// How many conversations may run at once before the agent server answers 429.
    pub(crate) max_concurrent_runs: u32,
    /// Whether the automation service has a KV secret; without one, runs keep their state in files.
    pub(crate) kv_store: bool,
    /// Whether only the agent server is started, as in a sandbox; the other one can be started later.
    pub(crate) agent_server_alone: bool,
}

impl Options {
    /// The usual: ten conversations at once, a KV store.
    pub(crate) fn new(python: &Path, logs: &Path) -> Self {
        Self {
            python: python.to_path_buf(),
            logs: logs.to_path_buf(),
            environment: Vec::new(),
            max_concurrent_runs: 10,
            kv_store: true,
            agent_server_alone: false,
        }
    }
}

/// Both services, running. Dropping it ends them with everything that they started and removes
/// their files, the workspaces included.
#[derive(Debug)]
pub(crate) struct RealServices {
    agent: Process,
    automations: Process,
    agent_url: String,
    automation_url: String,
    keys: Keys,
    /// Not below the project: its repository would be found around every workspace.
    files: TempDir,
    /// The last to go.
    _guard: Guard,
}

impl RealServices {
    /// Starts both services on free loopback ports and waits until they answer.
    ///
    /// # Errors
    /// [`E2eError::NotReady`] with the end of the log when one does not come up.
    pub(crate) fn start(options: &Options) -> Result<Self, E2eError> {
        let files = tempfile::Builder::new()
            .prefix("openhands-e2e-")
            .tempdir()
            .map_err(E2eError::io("make a temporary directory"))?;
        for path in [
            files.path().join("home"),
            files.path().join("agent-server"),
            files.path().join("workspaces"),
            options.logs.clone(),
        ] {
            fs::create_dir_all(&path).map_err(E2eError::io(format!("make {}", path.display())))?;
        }
        for log in [AGENT_LOG, AUTOMATION_LOG] {
            let path = options.logs.join(log);
            File::create(&path).map_err(E2eError::io(format!("empty {}", path.display())))?;
        }
        let keys = Keys::random()?;
        let family = Family::new();
        let guard = Guard::start(&family.line(), files.path())?;
        let [agent_port, automation_port] = free_ports()?;
        let agent_url = format!("http://127.0.0.1:{agent_port}");
        let automation_url = format!("http://127.0.0.1:{automation_port}");
        // Both at once: each takes seconds to load.
        let mut agent = Process::start(
            agent_recipe(options, &keys, files.path(), agent_port),
            &family,
        )?;
        let recipe = automation_recipe(options, &keys, files.path(), automation_port, &agent_url);
        let mut automations = Process::new(recipe, &family);
        if !options.agent_server_alone {
            automations.spawn()?;
        }
        agent.wait_until_ready()?;
        if !options.agent_server_alone {
            automations.wait_until_ready()?;
        }
        Ok(Self {
            agent,
            automations,
            agent_url,
            automation_url,
            keys,
            files,
            _guard: guard,
        })
    }

    /// Base URL of the agent server, without a slash at the end.
    pub(crate) fn agent_url(&self) -> &str {
        &self.agent_url
    }

    /// The agent server's key, for `X-Session-API-Key`.
    pub(crate) fn session_key(&self) -> &str {
        &self.keys.session
    }

    /// Base URL of the automation service as a person names it: without `/api/automation`.
    pub(crate) fn automation_url(&self) -> &str {
        &self.automation_url
    }

    /// What a run gets as `AUTOMATION_API_URL`.
    pub(crate) fn automation_api_url(&self) -> String {
        format!("{}/api/automation", self.automation_url)
    }

    /// The automation service's key, as bearer or for `X-Session-API-Key`.
    pub(crate) fn api_key(&self) -> &str {
        &self.keys.api
    }

    /// The secret that the automation service signs KV tokens with.
    pub(super) fn kv_secret(&self) -> &str {
        &self.keys.kv_secret
    }

    /// The root under which runs (`automation-runs/{run id}`) have their directories.
    pub(crate) fn workspaces(&self) -> PathBuf {
        self.files.path().join("workspaces")
    }

    /// The directory of one run: its working directory and its `WORKSPACE_BASE`.
    pub(crate) fn run_directory(&self, run_id: &str) -> PathBuf {
        self.workspaces().join("automation-runs").join(run_id)
    }

    /// Stops the automation service and starts it again: same port, same database.
    pub(crate) fn restart_automation_service(&mut self) -> Result<(), E2eError> {
        self.stop_automation_service()?;
        self.start_automation_service()
    }

    /// Stops the automation service. Runs go on, but have nowhere to report to.
    pub(crate) fn stop_automation_service(&mut self) -> Result<(), E2eError> {
        self.automations.stop()
    }

    /// Starts the automation service again after it was stopped.
    pub(crate) fn start_automation_service(&mut self) -> Result<(), E2eError> {
        self.automations.start_again()
    }

    /// Kills the agent server, as a crash would, and starts it again: same port, same files. What
    /// was running is then in `error`, and its terminals are gone.
    pub(crate) fn crash_agent_server(&mut self) -> Result<(), E2eError> {
        self.agent.kill();
        self.agent.start_again()
    }

    /// Ends both services with everything that they started and removes their files.
    pub(crate) fn stop(mut self) -> Result<(), E2eError> {
        // First the one that would notice the other's end.
        self.automations.stop()?;
        self.agent.stop()?;
        let path = self.files.path().to_path_buf();
        self.files
            .close()
            .map_err(E2eError::io(format!("remove {}", path.display())))
    }

    /// A call to the agent server with its key; `path` starts with `/api`.
    pub(crate) fn agent_call(&self, method: &str, path: &str) -> Call {
        // Deleting a conversation that runs a command takes the server half a minute.
        Call::new(method, &format!("{}{path}", self.agent_url))
            .header("x-session-api-key", &self.keys.session)
            .timeout(Duration::from_mins(1))
    }

    /// A call to the automation service with its key; `path` starts with `/v1`.
    pub(crate) fn automation_call(&self, method: &str, path: &str) -> Call {
        Call::new(method, &format!("{}{path}", self.automation_api_url()))
            .bearer(&self.keys.api)
            .timeout(Duration::from_mins(1))
    }
}

/// Sends a call and wants a 2xx answer.
pub(super) fn expect_ok(what: &str, call: &Call) -> Result<Answer, E2eError> {
    let answer = call.send()?;
    if (200..300).contains(&answer.status) {
        return Ok(answer);
    }
    Err(E2eError::Refused {
        call: what.to_owned(),
        status: answer.status,
        body: shown(&answer.text()),
    })
}

/// The text at this pointer of a JSON answer.
pub(super) fn text_at(what: &str, value: &Value, pointer: &str) -> Result<String, E2eError> {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .map(str::to_owned)
        .ok_or_else(|| E2eError::Shape {
            call: what.to_owned(),
            missing: format!("text at {pointer}"),
            body: shown(&value.to_string()),
        })
}

fn shown(text: &str) -> String {
    text.chars().take(SHOWN_BYTES).collect()
}

/// Two ports that are free now. The services bind them seconds later, so they are not of the range
/// that the system hands out to everybody who asks for any port.
fn free_ports() -> Result<[u16; 2], E2eError> {
    let first = free_port()?;
    let second = free_port()?;
    Ok([port_of(&first)?, port_of(&second)?])
}

/// A listener on a port between 20,000 and 32,767.
fn free_port() -> Result<TcpListener, E2eError> {
    let mut tries = 0;
    loop {
        let port = 20_000 + random_number()? % 12_768;
        match TcpListener::bind(("127.0.0.1", port)) {
            Ok(listener) => return Ok(listener),
            Err(_) if tries < 100 => tries += 1,
            Err(source) => return Err(E2eError::io("find a free loopback port")(source)),
        }
    }
}

fn port_of(listener: &TcpListener) -> Result<u16, E2eError> {
    let address = listener.local_addr();
    Ok(address.map_err(E2eError::io("read a port"))?.port())
}
