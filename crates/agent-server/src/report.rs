//! What a run tells the automation service: the phase it is in, and its end.
//!
//! The end is reported exactly once by the run, on every way out; the service answers 409 when it
//! has ended the run itself. Neither report ever fails a run. Unknown members are refused (422), so
//! only the four that the service knows are sent.

use std::cell::Cell;
use std::sync::mpsc;
use std::time::Duration;

use http_client::{Client, HttpError, Policy, Request, Secret, Url, redact};
use lifecycle::text::{cut_chars, one_line};
use serde::Serialize;

/// The service's name in errors.
const SERVICE: &str = "automation service";
/// Characters of an error text that are sent.
const MAX_ERROR_CHARS: usize = 2_000;
/// Characters of a phase; the service refuses more.
const MAX_PHASE_CHARS: usize = 200;
/// Limit for the report of the end.
const COMPLETION_TIMEOUT: Duration = Duration::from_secs(10);
/// Limit for a phase: it is decoration, and the run waits for nothing less.
const PHASE_TIMEOUT: Duration = Duration::from_secs(3);

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It did what it could; some targets may have failed.
    Completed,
    /// It failed, with the reason for people.
    Failed(String),
}

/// Where a run reports, as the automation service says.
#[derive(Debug, Clone, Default)]
pub struct ReportTarget {
    /// `AUTOMATION_CALLBACK_URL`.
    pub callback_url: Option<Url>,
    /// `AUTOMATION_PHASE_URL`; absent on older services.
    pub phase_url: Option<Url>,
    /// `AUTOMATION_RUN_ID`.
    pub run_id: Option<String>,
    /// `AUTOMATION_CALLBACK_API_KEY`, in a sandbox `OPENHANDS_API_KEY`.
    pub key: Option<Secret>,
    /// What must not appear in a report, whatever error text it comes in.
    pub secrets: Vec<Secret>,
}

impl ReportTarget {
    /// Reads the variables. An address that is none counts as absent: a run without a service to
    /// report to is a run by hand.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let get = |name: &str| {
            lookup(name)
                .map(|value| value.trim().to_owned())
                .filter(|value| !value.is_empty())
        };
        let url = |name: &str| get(name).and_then(|value| Url::parse(&value).ok());
        Self {
            callback_url: url("AUTOMATION_CALLBACK_URL"),
            phase_url: url("AUTOMATION_PHASE_URL"),
            run_id: get("AUTOMATION_RUN_ID"),
            key: get("AUTOMATION_CALLBACK_API_KEY")
                .or_else(|| get("OPENHANDS_API_KEY"))
                .map(Secret::new),
            secrets: Vec::new(),
        }
    }

    fn post(&self, url: &Url) -> Request {
        let request = Request::post(SERVICE, url.clone());
        match &self.key {
            Some(key) => request.credential(
                "authorization",
                Secret::new(format!("Bearer {}", key.expose())),
            ),
            None => request,
        }
    }

    /// The report of the end; `None` when there is nowhere to send it.
    fn completion(
        &self,
        outcome: &Outcome,
        conversation_id: Option<&str>,
    ) -> Option<Result<Request, HttpError>> {
        let secrets: Vec<&Secret> = self.secrets.iter().chain(&self.key).collect();
        let (status, error) = match outcome {
            Outcome::Completed => ("COMPLETED", None),
            // Cut only after redacting: half a secret is not recognised any more.
            Outcome::Failed(error) => (
                "FAILED",
                Some(cut_chars(redact(error, &secrets).trim(), MAX_ERROR_CHARS)),
            ),
        };
        let report = Completion {
            status,
            run_id: self.run_id.as_deref(),
            error,
            conversation_id,
        };
        let request = self
            .post(self.callback_url.as_ref()?)
            .timeout(COMPLETION_TIMEOUT)
            .idempotent(true)
            .retry_server_error(true)
            .urgent();
        Some(request.json(&report))
    }
}

#[derive(Serialize)]
struct Completion<'a> {
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation_id: Option<&'a str>,
}

#[derive(Serialize)]
struct Phase {
    phase: String,
}

/// What became of a report. None of these fails a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// The service has it.
    Sent,
    /// The service had ended the run already (409): nothing to say about it.
    AlreadyOver,
    /// There is no service to report to.
    NowhereToSend,
    /// It did not get through; a line for the log.
    Lost(String),
}

/// Reports of one run.
#[derive(Debug)]
pub struct Reporter {
    client: Client,
    target: ReportTarget,
    /// The service takes no more phases: it is too old, or the run is over for it.
    no_phases: Cell<bool>,
}

impl Reporter {
    /// Reports to `target` over `client`. The end is reported even when the client's time budget
    /// is used up.
    pub fn new(client: Client, target: ReportTarget) -> Self {
        let no_phases = Cell::new(target.phase_url.is_none());
        Self {
            client,
            target,
            no_phases,
        }
    }

    /// Where it reports.
    pub fn target(&self) -> &ReportTarget {
        &self.target
    }

    /// Reports the end. Repeated on a lost connection and on a server error; takes 10 s for each
    /// attempt at most, and a hung service is asked once.
    pub async fn complete(&self, outcome: &Outcome, conversation_id: Option<&str>) -> Delivery {
        complete(&self.client, &self.target, outcome, conversation_id).await
    }

    /// Says what the run is doing now: one line, cut to 200 characters. Sent once and not waited
    /// for longer than 3 s; an empty text is not sent, and nothing more once the service has said
    /// that it takes none.
    pub async fn phase(&self, text: &str) {
        let phase = cut_chars(&one_line(text), MAX_PHASE_CHARS);
        let Some(url) = self
            .target
            .phase_url
            .as_ref()
            .filter(|_| !self.no_phases.get())
        else {
            return;
        };
        if phase.is_empty() {
            return;
        }
        let request = self
            .target
            .post(url)
            .timeout(PHASE_TIMEOUT)
            .retry_statuses(false);
        let Ok(request) = request.json(&Phase { phase }) else {
            return;
        };
        let gone_on = match self.client.send(request).await {
            // A server error may pass; whatever else it says, it will say again.
            Ok(response) => matches!(response.status, 200..300 | 500..),
            Err(_) => false,
        };
        self.no_phases.set(!gone_on);
    }
}

async fn complete(
    client: &Client,
    target: &ReportTarget,
    outcome: &Outcome,
    conversation_id: Option<&str>,
) -> Delivery {
    let request = match target.completion(outcome, conversation_id) {
        None => return Delivery::NowhereToSend,
        Some(Err(error)) => return Delivery::Lost(error.to_string()),
        Some(Ok(request)) => request,
    };
    match client.send(request).await {
        Ok(response) => match response.status {
            200..300 => Delivery::Sent,
            409 => Delivery::AlreadyOver,
            _ => Delivery::Lost(response.status_error().to_string()),
        },
        Err(error) => Delivery::Lost(error.to_string()),
    }
}

/// Reports the end when the run itself cannot any more: after a panic, or when it does not stop on
/// SIGTERM. Works on a thread, a runtime and a connection of its own and blocks for `limit` at
/// most.
pub fn last_words(
    policy: Policy,
    target: ReportTarget,
    outcome: Outcome,
    limit: Duration,
) -> Delivery {
    if target.callback_url.is_none() {
        return Delivery::NowhereToSend;
    }
    let (sender, receiver) = mpsc::channel();
    let speak = move || {
        let delivery = match tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
        {
            Ok(runtime) => runtime.block_on(async {
                match Client::new(policy) {
                    Ok(client) => complete(&client, &target, &outcome, None).await,
                    Err(error) => Delivery::Lost(error.to_string()),
                }
            }),
            Err(error) => Delivery::Lost(error.to_string()),
        };
        let _ = sender.send(delivery);
    };
    if let Err(error) = std::thread::Builder::new().spawn(speak) {
        return Delivery::Lost(error.to_string());
    }
    receiver
        .recv_timeout(limit)
        .unwrap_or_else(|_| Delivery::Lost(format!("the end was not reported within {limit:.1?}")))
}
