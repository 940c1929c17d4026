//! The other ways in which a conversation ends: words, a refusal, an interruption, a crash, deletion.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use testbed::scripted_llm::{Play, ScriptedLlm, Turn};

use super::{LIMIT, Scene, UNKNOWN};
use crate::e2e::error::E2eError;
use crate::e2e::facts::Facts;
use crate::e2e::services::RealServices;

pub(super) fn check(
    scene: &Scene<'_>,
    llm: &ScriptedLlm,
    facts: &mut Facts,
) -> Result<(), E2eError> {
    llm.play_for(
        "contract: words",
        Play::new().turn(Turn::Say("Only words.".to_owned())),
    );
    scene.start(&scene.body(2, "contract: words"))?;
    let end = scene.end(2)?;
    let wanted = ("finished".to_owned(), json!("Only words."));
    facts.check(
        "words without a tool end it as finished",
        end == wanted,
        &format!("{end:?}"),
    );

    llm.play_for("contract: refused", Play::new().turn(Turn::Refuse(400)));
    scene.start(&scene.body(3, "contract: refused"))?;
    let end = scene.end(3)?;
    let wanted = ("error".to_owned(), json!(""));
    facts.check(
        "a model that refuses ends it as error",
        end == wanted,
        &format!("{end:?}"),
    );

    llm.play_for(
        "contract: interrupted",
        Play::new().terminal("touch begun; sleep 60"),
    );
    scene.start(&scene.body(4, "contract: interrupted"))?;
    let begun = scene.services.workspaces().join("contract-4/begun");
    for _ in 0..200 {
        if begun.exists() {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    let path = format!("/{}/interrupt", Scene::id(4));
    facts.status(
        "a running agent can be interrupted",
        &scene.call("POST", &path).send()?,
        200,
    );
    let end = scene.end(4)?.0;
    facts.equal("… and is then paused", &json!(end), &json!("paused"));
    let path = format!("/{UNKNOWN}/interrupt");
    facts.status(
        "interrupting the unknown is 404",
        &scene.call("POST", &path).send()?,
        404,
    );

    scene.services.delete_conversation(&Scene::id(2))?;
    let gone = scene.get(&format!("/{}", Scene::id(2)))?;
    facts.status("a deleted conversation is 404", &gone, 404);
    Ok(())
}

/// A server that dies while an agent works.
pub(super) fn crash(
    services: &mut RealServices,
    llm: &ScriptedLlm,
    facts: &mut Facts,
) -> Result<(), E2eError> {
    let play = Play::new().finish("Never.").slowly(LIMIT);
    llm.play_for("contract: crash", play);
    let scene = Scene {
        services,
        llm: services.llm()?,
    };
    scene.start(&scene.body(8, "contract: crash"))?;
    for _ in 0..200 {
        if llm.turns_taken("contract: crash") > 0 {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    services.crash_agent_server()?;
    let scene = Scene {
        services,
        llm: Value::Null,
    };
    let end = scene.end(8)?.0;
    facts.equal(
        "what ran when the server died is in error",
        &json!(end),
        &json!("error"),
    );
    let kept = services.llm()?["api_key"].clone();
    facts.equal("settings outlive the server", &kept, &json!("scripted"));
    Ok(())
}
