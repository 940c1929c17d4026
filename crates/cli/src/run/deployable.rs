//! The deployable binaries: they only run.

use super::arguments::{self, Asked};
use super::wiring::report_target;
use super::{Automation, Ended, Given, Options, Program};
use crate::console::{Console, Stream};
use crate::environment::Environment;
use agent_server::{Delivery, Outcome, Reporter, last_words};
use http_client::{Client, Policy};
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time for the callback when nothing else works any more.
const LAST_WORDS: Duration = Duration::from_secs(15);
/// The callback was sent, so a panic that follows has nothing to add.
static REPORTED: AtomicBool = AtomicBool::new(false);

/// `main` of a deployable binary.
pub fn deployable<P: Program>() -> ExitCode {
    let environment = Environment::of_process();
    let arguments = std::env::args_os().skip(1);
    let options = match arguments::read(P::AUTOMATION, arguments) {
        Ok(Asked::Run(options)) => options,
        Ok(Asked::Show(text)) => {
            // A closed pipe is no failure.
            let _ = std::io::stdout().lock().write_all(text.as_bytes());
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            let _ = std::io::stderr().lock().write_all(error.as_bytes());
            speak_up(&environment, error);
            return ExitCode::from(2);
        }
    };
    ExitCode::from(once::<P>(&options, &environment))
}

/// Runs an automation once, tells how it went, sends the callback; returns the exit code.
pub(crate) fn once<P: Program>(options: &Options, environment: &Environment) -> u8 {
    let stream = if options.json {
        Stream::Stderr
    } else {
        Stream::Stdout
    };
    let console = Console::new(stream, environment.no_color);
    for secret in environment.secrets() {
        console.hide(secret);
    }
    if !options.dry_run {
        report_panics(environment.clone());
    }
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            console.error(&format!("no runtime: {error}"));
            speak_up(environment, format!("no runtime: {error}"));
            return 1;
        }
    };
    let ended = runtime.block_on(async {
        let given = Given {
            options,
            environment,
            console: &console,
        };
        let ended = supervised::<P>(&given).await;
        if !options.dry_run {
            callback(environment, &console, &ended).await;
        }
        ended
    });
    // Threads that still block (a name lookup, a lock) must not hold up the end.
    runtime.shutdown_background();
    tell(P::AUTOMATION, options, &console, &ended);
    ended.exit_code(options.strict)
}

async fn supervised<P: Program>(given: &Given<'_>) -> Ended {
    tokio::select! {
        result = P::run(given) => match result {
            Ok(report) => Ended::Ran(Box::new(report)),
            Err(error) => Ended::NotBegun(error),
        },
        () = stop_signal() => Ended::Stopped,
    }
}

#[cfg(unix)]
async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut term), Ok(mut interrupt)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = term.recv() => {}
        _ = interrupt.recv() => {}
    }
}

#[cfg(not(unix))]
async fn stop_signal() {
    let _ = tokio::signal::ctrl_c().await;
}

async fn callback(environment: &Environment, console: &Console, ended: &Ended) {
    let target = report_target(environment);
    if target.callback_url.is_none() {
        return;
    }
    let policy = Policy {
        env: environment.network.clone(),
        ..Policy::default()
    };
    let delivery = match Client::new(policy) {
        Ok(client) => {
            let conversation = match ended {
                Ended::Ran(report) => report.only_conversation(),
                _ => None,
            };
            let outcome = match ended.outcome() {
                Outcome::Failed(error) => Outcome::Failed(console.clean(&error)),
                Outcome::Completed => Outcome::Completed,
            };
            Reporter::new(client, target)
                .complete(&outcome, conversation)
                .await
        }
        Err(error) => Delivery::Lost(error.to_string()),
    };
    REPORTED.store(true, Ordering::SeqCst);
    if let Delivery::Lost(why) = delivery {
        console.warning(&format!("the callback did not get through: {why}"));
    }
}

fn tell(automation: Automation, options: &Options, console: &Console, ended: &Ended) {
    match ended {
        Ended::Ran(report) => {
            report.tell(console);
            if options.json {
                console.output(&serde_json::to_string_pretty(report).unwrap_or_default());
            }
        }
        other => {
            let error = other.error().unwrap_or_default();
            console.error(&error);
            if options.json {
                let report = serde_json::json!({
                    "automation": automation.name(),
                    "status": "failed",
                    "error": error,
                    "targets": [],
                });
                console.output(&serde_json::to_string_pretty(&report).unwrap_or_default());
            }
        }
    }
}

/// The callback, when there is no run to send it.
pub(crate) fn speak_up(environment: &Environment, error: String) {
    if REPORTED.swap(true, Ordering::SeqCst) {
        return;
    }
    let policy = Policy {
        env: environment.network.clone(),
        ..Policy::default()
    };
    last_words(
        policy,
        report_target(environment),
        Outcome::Failed(error),
        LAST_WORDS,
    );
}

/// A panic of the main thread, or any panic where a panic ends the process, is reported before the
/// process ends.
fn report_panics(environment: Environment) {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        usual(panic);
        let fatal = cfg!(panic = "abort") || std::thread::current().name() == Some("main");
        if fatal {
            speak_up(&environment, format!("a defect ended the run: {panic}"));
        }
    }));
}
