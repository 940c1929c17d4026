//! Facts about runs: what one is given, how it reports, what the service keeps.

use serde_json::{Value, json};
use testbed::call::{Answer, Call};

use crate::e2e::automations::NewAutomation;
use crate::e2e::error::E2eError;
use crate::e2e::facts::Facts;
use crate::e2e::run_environment::RunEnvironment;
use crate::e2e::services::RealServices;

/// The most bytes of an archive that the service takes as an upload.
const UPLOAD_LIMIT: usize = 1_048_576;

pub(super) fn check(
    services: &mut RealServices,
    probe: &str,
    facts: &mut Facts,
) -> Result<(), E2eError> {
    uploads(services, facts)?;
    let run = services.open_run(probe)?;
    given(services, &run, facts);
    reports(services, &run, facts)?;

    services.kv_put(probe, "kept", &json!({"over": "a restart"}))?;
    services.restart_automation_service()?;
    let kept = services.kv_get(probe, "kept")?.unwrap_or_default();
    facts.equal(
        "a value outlives a restart of the service",
        &kept["over"],
        &json!("a restart"),
    );
    let token = run.get("AUTOMATION_KV_TOKEN").unwrap_or_default();
    let answer = Call::get(&format!("{}/v1/kv/kept", services.automation_api_url()))
        .bearer(token)
        .send()?;
    facts.status("… and so does a run's KV token", &answer, 200);

    let other = services.open_run(probe)?;
    facts.check(
        "WORKSPACE_BASE differs from run to run",
        run.get("WORKSPACE_BASE") != other.get("WORKSPACE_BASE"),
        "the same",
    );
    let failed = json!({"status": "FAILED", "run_id": other.run_id, "error": "as it should"});
    facts.status(
        "a callback may say FAILED",
        &callback(&other, &failed)?,
        200,
    );
    let history = services.runs(probe)?;
    let found = history.iter().find(|found| found.id == other.run_id);
    facts.check(
        "… and the history keeps status and reason",
        found.is_some_and(|run| {
            run.status == "FAILED"
                && run
                    .error
                    .as_deref()
                    .is_some_and(|why| why.contains("as it"))
        }),
        &format!("{found:?}"),
    );
    Ok(())
}

fn uploads(services: &RealServices, facts: &mut Facts) -> Result<(), E2eError> {
    let upload = |bytes: usize| {
        services
            .automation_call("POST", "/v1/uploads?name=limit")
            .body("application/gzip", vec![0; bytes])
            .send()
    };
    facts.status(
        "an upload of 1,048,576 bytes is taken",
        &upload(UPLOAD_LIMIT)?,
        201,
    );
    facts.status("one byte more is 413", &upload(UPLOAD_LIMIT + 1)?, 413);
    for (what, entrypoint) in [
        (
            "an entrypoint with shell metacharacters is 422",
            "./probe; true",
        ),
        ("an absolute entrypoint is 422", "/bin/true"),
    ] {
        let new = NewAutomation::new("refused", "oh-internal://uploads/none", entrypoint);
        let refused = services.create_automation(&new);
        facts.check(
            what,
            matches!(refused, Err(E2eError::Refused { status: 422, .. })),
            &format!("{refused:?}"),
        );
    }
    Ok(())
}

/// Section 1: what a run is given in local mode.
fn given(services: &RealServices, run: &RunEnvironment, facts: &mut Facts) {
    let directory = run.directory.display().to_string();
    let callback = format!(
        "{}/v1/runs/{}/complete",
        services.automation_api_url(),
        run.run_id
    );
    let phase = format!(
        "{}/v1/runs/{}/phase",
        services.automation_api_url(),
        run.run_id
    );
    let wanted = [
        ("AGENT_SERVER_URL", services.agent_url()),
        ("SESSION_API_KEY", services.session_key()),
        ("AUTOMATION_API_URL", &services.automation_api_url()),
        ("AUTOMATION_CALLBACK_URL", &callback),
        ("AUTOMATION_CALLBACK_API_KEY", services.api_key()),
        ("AUTOMATION_PHASE_URL", &phase),
        ("AUTOMATION_RUN_ID", &run.run_id),
        ("AUTOMATION_ID", &run.automation_id),
        ("AUTOMATION_NAME", "contract"),
        ("AUTOMATION_TRIGGER_TYPE", "cron"),
        ("WORKSPACE_BASE", &directory),
        ("PWD", &directory),
    ];
    for (name, value) in wanted {
        let found = run.get(name);
        facts.check(
            &format!("a run gets {name}"),
            found == Some(value),
            &format!("{found:?}"),
        );
    }
    let payload = run.get("AUTOMATION_EVENT_PAYLOAD").unwrap_or_default();
    let payload: Value = serde_json::from_str(payload).unwrap_or_default();
    facts.equal(
        "AUTOMATION_EVENT_PAYLOAD names the automation",
        &payload["automation_id"],
        &json!(run.automation_id),
    );
    for name in [
        "AUTOMATION_MODEL",
        "SANDBOX_ID",
        "OPENHANDS_API_KEY",
        "OH_SECRET_KEY",
    ] {
        let found = run.get(name);
        facts.check(
            &format!("a run gets no {name}"),
            found.is_none(),
            &format!("{found:?}"),
        );
    }
}

/// Section 1: phases and the callback.
fn reports(
    services: &RealServices,
    run: &RunEnvironment,
    facts: &mut Facts,
) -> Result<(), E2eError> {
    facts.status("a phase is taken", &phase(run, "reading feeds")?, 200);
    let long = "p".repeat(201);
    facts.status(
        "a phase over 200 characters is 422",
        &phase(run, &long)?,
        422,
    );
    let conversation = "22222222-2222-4222-8222-222222222222";
    let unknown = json!({"status": "COMPLETED", "run_id": run.run_id, "surprise": 1});
    facts.status(
        "a callback with an unknown field is 422",
        &callback(run, &unknown)?,
        422,
    );
    let done =
        json!({"status": "COMPLETED", "run_id": run.run_id, "conversation_id": conversation});
    facts.status("a callback is taken", &callback(run, &done)?, 200);
    let again = callback(run, &done)?.status;
    facts.note(format!("a callback sent again: {again}"));
    facts.status(
        "a phase after the end is 409",
        &phase(run, "too late")?,
        409,
    );
    let history = services.runs(&run.automation_id)?;
    let found = history.iter().find(|found| found.id == run.run_id);
    facts.check(
        "the history keeps status, phase and conversation",
        found.is_some_and(|found| {
            found.status == "COMPLETED"
                && found.phases == ["reading feeds"]
                && found.conversation_id.as_deref() == Some(conversation)
        }),
        &format!("{found:?}"),
    );
    Ok(())
}

fn phase(run: &RunEnvironment, phase: &str) -> Result<Answer, E2eError> {
    report(run, "AUTOMATION_PHASE_URL", &json!({ "phase": phase }))
}

fn callback(run: &RunEnvironment, body: &Value) -> Result<Answer, E2eError> {
    report(run, "AUTOMATION_CALLBACK_URL", body)
}

fn report(run: &RunEnvironment, url: &str, body: &Value) -> Result<Answer, E2eError> {
    let url = run.get(url).unwrap_or_default();
    let key = run.get("AUTOMATION_CALLBACK_API_KEY").unwrap_or_default();
    Ok(Call::post(url, body).bearer(key).send()?)
}
