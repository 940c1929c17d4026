//! `deploy list`, `runs`, `logs` and `remove`: what is there, how it went, and its end.

use super::arguments::{List, Logs, Remove, Runs};
use super::follow::ending;
use super::kind::kind;
use super::report::RunReport;
use super::{output, site};
use crate::automation_service::{Automation as Deployed, Run};
use crate::commands::error::CommandError;
use crate::commands::plain::{harmless, table};
use crate::commands::session::Session;
use crate::commands::{DONE, WRONG};
use crate::console::Console;
use serde::Serialize;
use serde_json::json;
use std::io::IsTerminal as _;

/// Characters of a name or an error in a table.
const CELL: usize = 80;
/// Runs among which one is looked for.
const RUNS: usize = 100;

/// An automation in the list.
#[derive(Debug, Serialize)]
struct Listed {
    id: String,
    name: String,
    /// Which of ours; `None` for something else.
    automation: Option<&'static str>,
    entrypoint: String,
    schedule: String,
    timezone: String,
    timeout: Option<u64>,
    active: bool,
    disabled_reason: Option<String>,
    last_triggered_at: Option<String>,
}

impl From<&Deployed> for Listed {
    fn from(one: &Deployed) -> Self {
        Self {
            id: one.id.clone(),
            name: one.name.clone(),
            automation: kind(one).map(crate::run::Automation::name),
            entrypoint: one.entrypoint.clone(),
            schedule: one.schedule().to_owned(),
            timezone: one.timezone().to_owned(),
            timeout: one.timeout,
            active: one.is_active(),
            disabled_reason: one.disabled_reason.clone(),
            last_triggered_at: one.last_triggered_at.clone(),
        }
    }
}

/// Lists all automations: those that run something else may be waiting for an upgrade.
pub(super) async fn list(asked: &List, session: &Session) -> Result<u8, CommandError> {
    let service = site::visit(session, &asked.place, asked.json).await?;
    let all: Vec<Listed> = service
        .automations()
        .await?
        .iter()
        .map(Listed::from)
        .collect();
    let console = &session.console;
    if asked.json {
        print(console, &json!({ "automations": all }));
        return Ok(DONE);
    }
    if all.is_empty() {
        console.output(&format!("There are no automations at {}", service.host()));
        return Ok(DONE);
    }
    let heads = ["ID", "NAME", "RUNS", "SCHEDULE", "STATE", "LAST STARTED"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(all.iter().map(|one| {
        let state = if one.active { "active" } else { "off" };
        vec![
            one.id.clone(),
            harmless(&one.name, CELL),
            one.automation
                .map_or_else(|| harmless(&one.entrypoint, CELL), str::to_owned),
            harmless(&format!("{} ({})", one.schedule, one.timezone), CELL),
            state.to_owned(),
            one.last_triggered_at
                .clone()
                .unwrap_or_else(|| "never".to_owned()),
        ]
    }));
    console.output(&table("", &rows));
    Ok(DONE)
}

/// Shows the latest runs.
pub(super) async fn runs(asked: &Runs, session: &Session) -> Result<u8, CommandError> {
    let service = site::visit(session, &asked.place, asked.json).await?;
    let runs = service.runs(asked.id.trim(), asked.limit).await?;
    let console = &session.console;
    if asked.json {
        let runs: Vec<RunReport> = runs.iter().map(RunReport::from).collect();
        print(console, &json!({ "runs": runs }));
        return Ok(DONE);
    }
    if runs.is_empty() {
        console.output("It has not run yet");
        return Ok(DONE);
    }
    let heads = ["RUN", "STARTED", "BY", "STATUS", "WHAT"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(runs.iter().map(|run| {
        let what = run.error_detail.as_ref().or(run.current_phase.as_ref());
        let when = run.started_at.as_ref().or(run.created_at.as_ref());
        vec![
            run.id.clone(),
            when.cloned().unwrap_or_default(),
            run.trigger_source.clone().unwrap_or_else(|| "-".to_owned()),
            run.status.to_lowercase(),
            what.map(|what| harmless(what, CELL)).unwrap_or_default(),
        ]
    }));
    console.output(&table("", &rows));
    Ok(DONE)
}

/// Shows one run, with its output where that can be had.
pub(super) async fn logs(asked: &Logs, session: &Session) -> Result<u8, CommandError> {
    let service = site::visit(session, &asked.place, asked.json).await?;
    let id = asked.id.trim();
    let console = &session.console;
    let runs = service.runs(id, RUNS).await?;
    let run = match &asked.run {
        Some(wanted) => runs.into_iter().find(|run| run.id == wanted.trim()),
        None => runs.into_iter().next(),
    };
    let Some(run) = run else {
        let text = asked.run.as_ref().map_or_else(
            || format!("{id} has not run yet"),
            |wanted| format!("{wanted} is not among the latest {RUNS} runs of {id}"),
        );
        return Err(CommandError::Failed(text));
    };
    let printed = output::of(&run, session).await;
    if asked.json {
        let (output, missing) = match &printed {
            Ok(output) => (Some(output), None),
            Err(why) => (None, Some(why)),
        };
        let report = RunReport::from(&run);
        print(
            console,
            &json!({"run": report, "output": output, "no_output": missing}),
        );
        return Ok(DONE);
    }
    console.output(&in_words(&run));
    match printed {
        Ok(output) => console.output(&format!("Output:\n{}", printable(&output))),
        Err(why) => console.output(&format!("Output: {why}")),
    }
    Ok(DONE)
}

fn in_words(run: &Run) -> String {
    let mut lines = vec![format!("Run {} {}", run.id, ending(run))];
    let facts = [
        ("started", &run.started_at),
        ("ended", &run.completed_at),
        ("by", &run.trigger_source),
        ("phase", &run.current_phase),
        ("conversation", &run.conversation_id),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            lines.push(format!("  {name:<12}  {}", harmless(value, 300)));
        }
    }
    lines.join("\n")
}

/// Somebody else's text of many lines, without what steers a terminal.
fn printable(text: &str) -> String {
    let harmless = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    text.trim_end().chars().filter(|c| harmless(*c)).collect()
}

/// Removes an automation after asking, and its archive with it.
pub(super) async fn remove(asked: &Remove, session: &Session) -> Result<u8, CommandError> {
    let service = site::visit(session, &asked.place, asked.json).await?;
    let console = &session.console;
    let one = service.automation(asked.id.trim()).await?;
    let what = kind(&one).map_or_else(
        || harmless(&one.entrypoint, CELL),
        |kind| kind.name().into(),
    );
    let named = format!(
        "{} ({}), which runs {what}",
        harmless(&one.name, CELL),
        one.id
    );
    consent(
        asked,
        &format!("Remove {named}, with everything it remembers?"),
        console,
    )?;
    service.remove(&one.id).await?;
    let mut code = DONE;
    let mut left = None;
    if let Some(upload) = one.upload_id()
        && let Err(error) = service.remove_upload(upload).await
    {
        let text = format!("its archive is left behind ({}): {error}", one.tarball_path);
        console.warning(&text);
        left = Some(text);
        code = WRONG;
    }
    if asked.json {
        let archive = one.tarball_path.as_str();
        print(
            console,
            &json!({"status": "removed", "id": one.id, "name": one.name, "archive": archive, "left": left}),
        );
    } else {
        console.output(&format!("Removed {named}"));
    }
    Ok(code)
}

fn consent(asked: &Remove, question: &str, console: &Console) -> Result<(), CommandError> {
    if asked.yes {
        return Ok(());
    }
    if asked.json || !std::io::stdin().is_terminal() {
        let text = format!("{question} Nobody can be asked here; say --yes if that is meant");
        return Err(CommandError::Usage(text));
    }
    match console.ask(&format!("{question} Type yes to go on:")) {
        Ok(answer) if answer.eq_ignore_ascii_case("yes") => Ok(()),
        Ok(_) => Err(CommandError::Failed("nothing was removed".to_owned())),
        Err(error) => Err(CommandError::Failed(format!("nobody answered ({error})"))),
    }
}

fn print(console: &Console, value: &serde_json::Value) {
    console.output(&serde_json::to_string_pretty(value).unwrap_or_default());
}
