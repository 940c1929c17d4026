//! Facts about the agent server: settings, secrets, and the life of a conversation.

mod ends;
mod starts;

use std::time::Duration;

use serde_json::{Value, json};
use testbed::TestbedError;
use testbed::call::{Answer, Call};
use testbed::scripted_llm::{Play, ScriptedLlm, Turn};

use crate::e2e::error::E2eError;
use crate::e2e::facts::Facts;
use crate::e2e::services::RealServices;

const LIMIT: Duration = Duration::from_mins(1);
const SECRET: &str = "GITLAB_TOKEN";
const SECRET_VALUE: &str = "glpat-of-the-contract";
const UNKNOWN: &str = "00000000-0000-4000-8000-00000000ffff";

/// The server and the script its agents follow.
struct Scene<'a> {
    services: &'a RealServices,
    llm: Value,
}

impl Scene<'_> {
    fn id(number: u8) -> String {
        format!("00000000-0000-4000-8000-0000000000{number:02x}")
    }

    fn body(&self, number: u8, prompt: &str) -> Value {
        let directory = self
            .services
            .workspaces()
            .join(format!("contract-{number}"));
        json!({
            "conversation_id": Self::id(number),
            "workspace": {"working_dir": directory},
            "agent": {
                "kind": "Agent", "llm": self.llm,
                "tools": [{"name": "terminal"}, {"name": "file_editor"}],
            },
            "initial_message": {"content": [{"text": prompt}]},
            "secrets": {SECRET: {
                "kind": "LookupSecret",
                "url": format!("/api/settings/secrets/{SECRET}"),
                "headers": {"X-Session-API-Key": self.services.session_key()},
            }},
        })
    }

    fn start(&self, body: &Value) -> Result<Answer, TestbedError> {
        self.call("POST", "").json(body).send()
    }

    fn call(&self, method: &str, rest: &str) -> Call {
        self.services
            .agent_call(method, &format!("/api/conversations{rest}"))
    }

    fn get(&self, rest: &str) -> Result<Answer, TestbedError> {
        self.call("GET", rest).send()
    }

    /// How a conversation ends, and its last words.
    fn end(&self, number: u8) -> Result<(String, Value), E2eError> {
        let id = Self::id(number);
        let status = self.services.wait_for_conversation(&id, LIMIT)?;
        let words = self.get(&format!("/{id}/agent_final_response"))?.json();
        Ok((status, words["response"].clone()))
    }
}

pub(super) fn check(
    services: &mut RealServices,
    llm: &ScriptedLlm,
    facts: &mut Facts,
) -> Result<(), E2eError> {
    services.use_llm(&llm.api_url())?;
    services.set_secret(SECRET, SECRET_VALUE)?;
    settings(services, facts)?;
    let scene = Scene {
        services,
        llm: services.llm()?,
    };
    whole_life(&scene, llm, facts)?;
    lookups(&scene, facts)?;
    ends::check(&scene, llm, facts)?;
    starts::check(&scene, facts)?;
    starts::capacity(&scene, llm, facts)?;
    ends::crash(services, llm, facts)
}

fn settings(services: &RealServices, facts: &mut Facts) -> Result<(), E2eError> {
    let key = services.llm()?["api_key"].clone();
    facts.equal(
        "settings tell the LLM's key when asked to",
        &key,
        &json!("scripted"),
    );
    let get = |path: &str| services.agent_call("GET", path).send();
    let list = get("/api/settings/secrets")?.json();
    facts.check(
        "secrets are listed by name",
        list["secrets"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one["name"] == SECRET)),
        &list.to_string(),
    );
    let value = get(&format!("/api/settings/secrets/{SECRET}"))?;
    facts.equal(
        "a secret is plain text",
        &json!(value.text()),
        &json!(SECRET_VALUE),
    );
    facts.status(
        "a secret that is not set is 404",
        &get("/api/settings/secrets/NONE")?,
        404,
    );
    facts.status(
        "a profile that is not there is 404",
        &get("/api/profiles/none")?,
        404,
    );
    let url = format!("{}/api/settings", services.agent_url());
    let wrong = Call::get(&url)
        .header("x-session-api-key", "wrong")
        .send()?;
    facts.status("a wrong key is 401", &wrong, 401);
    Ok(())
}

/// A conversation from its start to its end.
fn whole_life(scene: &Scene<'_>, llm: &ScriptedLlm, facts: &mut Facts) -> Result<(), E2eError> {
    let play = Play::new()
        .turn(Turn::terminal(&format!(
            "printf %s \"${SECRET}\" > secret.txt; echo \"${SECRET}\""
        )))
        .slowly(Duration::from_millis(500))
        .finish("The last words.");
    llm.play_for("contract: whole life", play);
    let body = scene.body(1, "contract: whole life");
    let path = format!("/{}", Scene::id(1));

    let created = scene.start(&body)?;
    facts.status("a conversation is created with 201", &created, 201);
    facts.equal(
        "… under the id that was asked for",
        &created.json()["id"],
        &json!(Scene::id(1)),
    );
    facts.equal(
        "… and is idle at first",
        &created.json()["execution_status"],
        &json!("idle"),
    );
    facts.check(
        "… with the message as its newest event: leaf_event_id = last_user_message_id",
        created.json()["leaf_event_id"].is_string()
            && created.json()["leaf_event_id"] == created.json()["last_user_message_id"],
        &created.text(),
    );
    let words = scene.get(&format!("{path}/agent_final_response"))?.json();
    facts.equal("… and without last words", &words, &json!({"response": ""}));
    facts.status("the same id again is 200", &scene.start(&body)?, 200);

    let (status, words) = scene.end(1)?;
    facts.equal(
        "the finish tool ends it as finished",
        &json!(status),
        &json!("finished"),
    );
    facts.equal(
        "… with the message as the last words",
        &words,
        &json!("The last words."),
    );
    let ended = scene.get(&path)?.json();
    facts.check(
        "… and leaf_event_id has moved on from last_user_message_id",
        ended["leaf_event_id"].is_string()
            && ended["leaf_event_id"] != ended["last_user_message_id"],
        &ended.to_string(),
    );
    facts.equal(
        "it was started once",
        &json!(llm.turns_taken("contract: whole life")),
        &json!(2),
    );
    let directory = scene.services.workspaces().join("contract-1");
    let secret = std::fs::read_to_string(directory.join("secret.txt")).unwrap_or_default();
    facts.equal(
        "a command sees the secret",
        &json!(secret),
        &json!(SECRET_VALUE),
    );
    let log = llm.server().log().matching("POST", "/chat/completions");
    let told = log
        .iter()
        .any(|request| request.text().contains(SECRET_VALUE));
    facts.check("… and the model never does", !told, "it was in a request");
    facts.check(
        "a directory that is no repository becomes one",
        directory.join(".git").is_dir(),
        "no .git",
    );
    let interrupted = scene.call("POST", &format!("{path}/interrupt")).send()?;
    facts.status("interrupting what has ended is 200", &interrupted, 200);
    let still = scene.get(&path)?.json()["execution_status"].clone();
    facts.equal("… and changes nothing", &still, &json!("finished"));
    Ok(())
}

fn lookups(scene: &Scene<'_>, facts: &mut Facts) -> Result<(), E2eError> {
    let known = Scene::id(1);
    facts.status(
        "an unknown conversation is 404",
        &scene.get(&format!("/{UNKNOWN}"))?,
        404,
    );
    facts.status("an id that is no UUID is 422", &scene.get("/no-uuid")?, 422);
    let batch = scene.get(&format!("?ids={UNKNOWN}&ids={known}"))?.json();
    facts.check(
        "a batch keeps the order and has null for the unknown",
        batch[0].is_null() && batch[1]["id"] == json!(known),
        &batch.to_string(),
    );
    let bad = scene.get(&format!("?ids={known}&ids=no-uuid"))?;
    facts.status("a batch with an id that is no UUID is 422", &bad, 422);
    let many = |count: usize| format!("?{}", vec![format!("ids={UNKNOWN}"); count].join("&"));
    facts.status("a batch may have 99 ids", &scene.get(&many(99))?, 200);
    facts.status("a batch of 100 is 422", &scene.get(&many(100))?, 422);
    Ok(())
}
