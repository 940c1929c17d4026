//! What a command works with: the environment, where it writes, and the configuration it is asked
//! about. Everything it opens is for looking only.

use super::arguments::Whose;
use super::configured::Configured;
use super::error::CommandError;
use crate::clock::{RunClock, system_now};
use crate::config::{self, ConfigError, Named};
use crate::console::{Console, Stream};
use crate::environment::Environment;
use crate::run::wiring::Wiring;
use crate::run::{Automation, Given, Options, load_config};
use http_client::{Client, Policy};
use std::time::{Duration, Instant};

/// Seconds that a command may spend on the network.
const BUDGET_SECONDS: u64 = 60;

/// The ground of one command.
#[derive(Debug)]
pub(crate) struct Session {
    pub(super) environment: Environment,
    /// Errors and warnings go to standard error, output to standard output.
    pub(super) console: Console,
    options: Options,
}

impl Session {
    /// A session for looking. Secrets of the environment are hidden from now on.
    pub(super) fn new(environment: Environment, whose: &Whose) -> Self {
        let environment = whose.apply(environment);
        let console = Console::new(Stream::Stderr, environment.no_color);
        for secret in environment.secrets() {
            console.hide(secret);
        }
        let options = Options {
            config: whose.config.clone(),
            dry_run: true,
            ..Options::default()
        };
        Self {
            environment,
            console,
            options,
        }
    }

    /// The same session whose log is not seen.
    pub(super) fn silenced(&self) -> Self {
        Self {
            environment: self.environment.clone(),
            console: self.console.silenced(),
            options: self.options.clone(),
        }
    }

    /// What a dry run is given.
    pub(super) fn given(&self) -> Given<'_> {
        Given {
            options: &self.options,
            environment: &self.environment,
            console: &self.console,
        }
    }

    /// Seconds since the epoch.
    #[expect(clippy::unused_self, reason = "the clock belongs to the session")]
    pub(super) fn now(&self) -> f64 {
        system_now()
    }

    /// A client within the time of a command.
    pub(super) fn client(&self) -> Result<Client, CommandError> {
        let policy = Policy {
            env: self.environment.network.clone(),
            deadline: Some(Instant::now() + Duration::from_secs(BUDGET_SECONDS)),
            ..Policy::default()
        };
        Client::new(policy).map_err(CommandError::failed)
    }

    /// The configuration of an automation; what is odd about it is warned about.
    pub(super) fn configured(&self, automation: Automation) -> Result<Configured, ConfigError> {
        let given = self.given();
        Ok(match automation {
            Automation::News => Configured::News(load_config(&given)?),
            Automation::Review => Configured::Review(load_config(&given)?),
            Automation::Issue => Configured::Issue(load_config(&given)?),
        })
    }

    /// The automation that was named, else those that the configuration names targets for.
    pub(super) fn automations(
        &self,
        named: Option<Automation>,
    ) -> Result<Vec<Automation>, CommandError> {
        if let Some(automation) = named {
            return Ok(vec![automation]);
        }
        let executable = std::env::current_exe().ok();
        let working_dir = std::env::current_dir().unwrap_or_default();
        let loaded = config::load::<Named>(
            self.options.config.as_deref(),
            &self.environment,
            executable.as_deref(),
            &working_dir,
        )?;
        let Named(automations) = loaded.config;
        if automations.is_empty() {
            let source = loaded.source;
            let text = format!(
                "{source}: it names no feeds, repos or projects; name a configuration with \
                 --config, or say which automation is meant"
            );
            return Err(CommandError::Usage(text));
        }
        Ok(automations)
    }

    /// Wires a dry run of a configuration.
    pub(super) async fn wiring(&self, configured: &Configured) -> Result<Wiring<'_>, CommandError> {
        let clock = RunClock::start(BUDGET_SECONDS as f64, None);
        let given = self.given();
        let wiring = Wiring::new(configured.automation(), configured.shared(), &given, clock);
        Ok(Box::pin(wiring).await?)
    }
}

/// Runs the asynchronous part of a command to its end.
pub(super) fn block_on<T>(
    work: impl Future<Output = Result<T, CommandError>>,
) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandError::Failed(format!("no runtime: {error}")))?;
    let result = runtime.block_on(Box::pin(work));
    // Threads that still block (a name lookup) must not hold up the end.
    runtime.shutdown_background();
    result
}
