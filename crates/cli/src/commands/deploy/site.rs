//! The installation that is deployed to: where it is, the key, and what it is like.

use super::arguments::Place;
use super::mode::Mode;
use super::questions::Questions;
use crate::automation_service::{AutomationService, Capabilities, Host, ServiceError};
use crate::commands::error::CommandError;
use crate::commands::session::Session;
use crate::console::Console;
use crate::environment::Environment;
use http_client::{Client, Policy, Secret};

/// Where to deploy to, and with which key.
#[derive(Debug)]
pub(super) struct Address {
    host: Host,
    key: Secret,
}

impl From<ServiceError> for CommandError {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::NoSuchAutomation { .. } => Self::Usage(error.to_string()),
            other => Self::failed(other),
        }
    }
}

/// The host that was named, else the environment's, else the answer to a question; and the key of
/// the environment. `None` when something is missing, which the questions then know.
pub(super) fn address(
    place: &Place,
    environment: &Environment,
    questions: &mut Questions<'_>,
) -> Result<Option<Address>, CommandError> {
    let host = place
        .host
        .clone()
        .or_else(|| environment.openhands_host.clone());
    let host = match host {
        Some(host) => Some(host),
        None => questions.needed(
            "Address of the OpenHands installation (https://...):",
            "the address of the installation: --host or OPENHANDS_HOST",
        )?,
    };
    let key = environment
        .automation_api_key
        .clone()
        .or_else(|| environment.openhands_api_key.clone());
    if key.is_none() {
        questions.is_missing(
            "the key: set OPENHANDS_AUTOMATION_API_KEY or OPENHANDS_API_KEY in the environment",
        );
    }
    let host = host.map(|host| Host::parse(&host)).transpose();
    let host = host.map_err(CommandError::Usage)?;
    Ok(host.zip(key).map(|(host, key)| Address { host, key }))
}

/// A client that waits for a person: no run's time budget applies.
pub(super) fn client(session: &Session) -> Result<Client, CommandError> {
    let policy = Policy {
        env: session.environment.network.clone(),
        ..Policy::default()
    };
    Client::new(policy).map_err(CommandError::failed)
}

/// Connects to the service; what it can do is `None` for one that is too old to say.
pub(super) async fn connect(
    client: &Client,
    address: Address,
    console: &Console,
) -> Result<(AutomationService, Option<Capabilities>), CommandError> {
    let Address { host, key } = address;
    if host.is_open() {
        console.warning(&format!(
            "{host} is asked without TLS: the key can be read by others on the way"
        ));
    }
    Ok(AutomationService::connect(client.clone(), host, key).await?)
}

/// Connects for a command that only needs to know where.
pub(super) async fn visit(
    session: &Session,
    place: &Place,
    json: bool,
) -> Result<AutomationService, CommandError> {
    let mut questions = Questions::at_terminal(&session.console, json);
    let address = address(place, &session.environment, &mut questions)?;
    let address = questions.settle_with(address)?;
    Ok(connect(&client(session)?, address, &session.console)
        .await?
        .0)
}

/// The kind of deployment: as was said, else as it looks.
pub(super) async fn mode(service: &AutomationService, said: Option<Mode>) -> Mode {
    match said {
        Some(mode) => mode,
        None if service.has_accounts().await => Mode::Sandbox,
        None => Mode::Local,
    }
}
