//! What the runs of all automations are wired from.

use super::{Automation, Given, RunError, RunReport};
use crate::clock::RunClock;
use crate::config::Shared;
use crate::console::Console;
use crate::environment::Environment;
use crate::ports::{AgentsPort, WorkspacesPort};
use agent_server::{AgentServer, Connection, ReportTarget, Reporter};
use futures_util::{StreamExt as _, future, stream};
use http_client::{Client, Policy, Secret, Url};
use lifecycle::document::Schema;
use lifecycle::engine::Run;
use lifecycle::ports::AgentError;
use lifecycle::report::TargetReport;
use state_store::{Slot, StateStore, StoreEnv};
use std::path::PathBuf;
use workspace_fs::WorkspaceRoots;

/// Targets at once.
const TARGETS_AT_ONCE: usize = 8;
/// The automation id of a run without one, as the deployed scripts spell it.
const NO_AUTOMATION: &str = "default";

/// What all targets of a run share.
pub(crate) struct Wiring<'a> {
    pub(crate) automation: Automation,
    pub(crate) environment: &'a Environment,
    pub(crate) console: &'a Console,
    pub(crate) clock: RunClock,
    pub(crate) client: Client,
    pub(crate) agents: AgentsPort,
    pub(crate) workspaces: WorkspacesPort,
    pub(crate) run: Run,
    /// What the agent server holds as the token of the forge.
    token: Result<Option<Secret>, AgentError>,
    reporter: Reporter,
}

impl<'a> Wiring<'a> {
    /// Wires a run whose conversations get `shared.agent_secret_names`.
    pub(crate) async fn new(
        automation: Automation,
        shared: &Shared,
        given: &Given<'a>,
        clock: RunClock,
    ) -> Result<Self, RunError> {
        let environment = given.environment;
        let policy = Policy {
            env: environment.network.clone(),
            deadline: Some(clock.deadline()),
            ..Policy::default()
        };
        let client = Client::new(policy).map_err(|error| RunError::Setup(error.to_string()))?;
        let dry_run = given.options.dry_run;
        let connection = connection(environment, shared, dry_run)?;
        if connection.is_none() {
            given.console.warning(
                "AGENT_SERVER_URL is not set: without --dry-run, nothing could be started",
            );
        }
        let secrets_from = connection
            .clone()
            .map(|connection| AgentServer::new(client.clone(), connection));
        // What every run asks the agent server first is asked in one go.
        let (web_url, token) = future::join(
            web_url(shared, environment, secrets_from.as_ref()),
            held(secrets_from.as_ref(), automation.token_secret()),
        )
        .await;
        let server = connection.map(|connection| {
            let console = given.console.clone();
            let connection = Connection {
                web_url: web_url.unwrap_or(connection.web_url.clone()),
                ..connection
            };
            AgentServer::new(client.clone(), connection)
                .on_warning(move |text| console.warning(text))
        });
        let roots = WorkspaceRoots::new(workspace_base(environment), automation.area())
            .map_err(|error| RunError::Setup(error.to_string()))?;
        let reporter = Reporter::new(client.clone(), report_target(environment));
        let mut run = Run::new(run_id(environment), automation_id(environment));
        run.max_new = shared.max_new_per_run;
        run.max_active = shared.max_active;
        run.wait_seconds = shared.wait_seconds;
        run.dry_run = dry_run;
        Ok(Self {
            automation,
            environment,
            console: given.console,
            clock,
            client,
            agents: AgentsPort::new(server, environment.is_sandbox(), given.console.clone()),
            workspaces: WorkspacesPort::new(roots),
            run,
            token,
            reporter,
        })
    }

    /// The token of the forge: from the agent server by name, else the environment's.
    pub(crate) fn secret(
        &self,
        name: &str,
        from_environment: Option<&Secret>,
    ) -> Result<Secret, RunError> {
        let held = self.token.clone();
        let secret = match (held, from_environment) {
            (Ok(Some(secret)), _) => secret,
            (Ok(None), Some(secret)) => secret.clone(),
            (Err(error), Some(secret)) => {
                self.console
                    .warning(&format!("{name}: {error}; using the environment's"));
                secret.clone()
            }
            (Ok(None), None) => {
                return Err(RunError::Setup(format!(
                    "{name} is not set: add it to the secrets of the agent server, or to the \
                     environment"
                )));
            }
            (Err(error), None) => return Err(RunError::Setup(format!("{name}: {error}"))),
        };
        self.console.hide(&secret);
        Ok(secret)
    }

    /// Opens the place of a target's document.
    pub(crate) fn store(
        &self,
        schema: &'static Schema,
        target: &str,
        targets: usize,
    ) -> Result<StateStore, RunError> {
        let env = StoreEnv {
            run_id: self.run.run_id.clone(),
            targets,
            read_only: self.run.dry_run,
            ..store_env(self.environment)
        };
        let slot = Slot::new(schema, Some(&self.run.automation_id), target);
        state_store::open(&env, &self.client, slot)
            .map_err(|error| RunError::Setup(error.to_string()))
    }

    /// Tells the service what the run is doing.
    pub(crate) async fn phase(&self, text: &str) {
        if !self.run.dry_run {
            self.reporter.phase(text).await;
        }
    }

    /// Polls all targets, a few at once. Where to begin changes from run to run, so that no target
    /// is always the last to be served.
    pub(crate) async fn poll_all<T, F>(
        &self,
        targets: &[T],
        poll: impl Fn(usize) -> F,
    ) -> Vec<TargetReport>
    where
        F: Future<Output = TargetReport>,
    {
        let count = targets.len();
        let first = fastrand::usize(..count.max(1));
        let order = (0..count).map(|index| (index + first) % count);
        let mut reports: Vec<(usize, TargetReport)> = stream::iter(order)
            .map(|index| {
                let polled = poll(index);
                async move { (index, polled.await) }
            })
            .buffer_unordered(TARGETS_AT_ONCE)
            .collect()
            .await;
        reports.sort_by_key(|(index, _)| *index);
        reports.into_iter().map(|(_, report)| report).collect()
    }

    /// The report of the run.
    pub(crate) fn report(&self, targets: Vec<TargetReport>) -> RunReport {
        let mut report = RunReport {
            automation: self.automation.name(),
            run_id: self.run.run_id.clone(),
            status: "completed",
            dry_run: self.run.dry_run,
            duration_ms: self.clock.elapsed_ms(),
            targets,
            http: self.client.counters().into(),
        };
        if report.all_failed() {
            report.status = "failed";
        }
        report
    }
}

/// A secret of the agent server, if there is one to ask for.
async fn held(
    server: Option<&AgentServer>,
    name: Option<&str>,
) -> Result<Option<Secret>, AgentError> {
    match (server, name) {
        (Some(server), Some(name)) => server.secret(name).await,
        _ => Ok(None),
    }
}

/// The report of a target that could not even be wired.
pub(crate) fn unwired(target: &str, error: &RunError) -> TargetReport {
    let mut report = TargetReport::new(target);
    report.status = "failed";
    report.error = Some(error.to_string());
    report
}

/// Takes what a store has to say into the report of its target.
pub(crate) fn with_notes(
    mut report: TargetReport,
    store: &StateStore,
    console: &Console,
) -> TargetReport {
    for note in store.take_notes() {
        console.warning(&format!("{}: {note}", report.target));
        report.warnings.push(note);
    }
    report
}

pub(crate) fn connection(
    environment: &Environment,
    shared: &Shared,
    dry_run: bool,
) -> Result<Option<Connection>, RunError> {
    let Some(address) = &environment.agent_server_url else {
        if dry_run {
            return Ok(None);
        }
        let text = "AGENT_SERVER_URL is not set: the automation service sets it; by hand, give \
                    the address of an agent server, or look with --dry-run";
        return Err(RunError::Setup(text.to_owned()));
    };
    let base_url = Url::parse(address)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| {
            RunError::Setup(format!(
                "AGENT_SERVER_URL is no http or https address: {address}"
            ))
        })?;
    Ok(Some(Connection {
        base_url,
        session_key: environment.session_api_key.clone(),
        sandbox: environment.is_sandbox(),
        web_url: address.clone(),
        model_profile: environment.model.clone(),
        secret_names: shared.agent_secret_names.clone(),
        forward_mcp_servers: shared.forward_mcp_servers,
    }))
}

/// Where people look at conversations: the configuration, else the secret `OPENHANDS_URL`, else the
/// variable of that name.
async fn web_url(
    shared: &Shared,
    environment: &Environment,
    server: Option<&AgentServer>,
) -> Option<String> {
    if let Some(url) = &shared.openhands_url {
        return Some(url.clone());
    }
    if let Some(url) = &environment.openhands_url {
        return Some(url.clone());
    }
    let held = server?.secret("OPENHANDS_URL").await.ok()??;
    Some(held.expose().trim().to_owned()).filter(|url| url.starts_with("http"))
}

/// Where workspaces are made: `WORKSPACE_BASE`, in a sandbox without it `/workspace`, else below the
/// home folder.
pub(crate) fn workspace_base(environment: &Environment) -> PathBuf {
    match (
        &environment.workspace_base,
        environment.is_sandbox(),
        &environment.home,
    ) {
        (Some(base), _, _) => base.clone(),
        (None, false, Some(home)) => home.join(".openhands/workspaces/automation-runs/local"),
        (None, true, _) | (None, false, None) => PathBuf::from("/workspace"),
    }
}

/// What the state store is opened with.
pub(crate) fn store_env(environment: &Environment) -> StoreEnv {
    StoreEnv {
        kv_url: environment.automation_api_url.clone(),
        kv_token: environment.kv_token.clone(),
        workspace_base: environment.workspace_base.clone(),
        home: environment.home.clone(),
        ..StoreEnv::default()
    }
}

/// Where the end of a run is reported.
pub(crate) fn report_target(environment: &Environment) -> ReportTarget {
    let url = |text: &Option<String>| text.as_ref().and_then(|text| Url::parse(text).ok());
    ReportTarget {
        callback_url: url(&environment.callback_url),
        phase_url: url(&environment.phase_url),
        run_id: environment.run_id.clone(),
        key: environment
            .callback_api_key
            .clone()
            .or_else(|| environment.openhands_api_key.clone()),
        secrets: Vec::new(),
    }
}

fn run_id(environment: &Environment) -> String {
    // Exclusive rights are told apart by it, so a run by hand gets one of its own.
    environment
        .run_id
        .clone()
        .unwrap_or_else(|| format!("local-{:012x}", fastrand::u64(..) >> 16))
}

/// The id of the automation; `default` for a run by hand.
pub(crate) fn automation_id(environment: &Environment) -> String {
    environment
        .automation_id()
        .unwrap_or_else(|| NO_AUTOMATION.to_owned())
}
