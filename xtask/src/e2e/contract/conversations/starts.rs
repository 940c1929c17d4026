//! What a start body may hold, several starts at once, and more than may run at once.

use std::sync::Barrier;
use std::thread;

use serde_json::json;
use testbed::TestbedError;
use testbed::scripted_llm::{Play, ScriptedLlm};

use super::{LIMIT, Scene};
use crate::e2e::error::E2eError;
use crate::e2e::facts::Facts;

pub(super) fn check(scene: &Scene<'_>, facts: &mut Facts) -> Result<(), E2eError> {
    let empty = scene.start(&json!({"surprise": 1}))?;
    facts.status("a start body without a workspace is 422", &empty, 422);
    let server = json!({"probe": {"command": "/bin/cat"}});
    let mut body = scene.body(5, "contract: servers of the body");
    body["mcp_config"] = server.clone();
    let taken = scene.start(&body)?.json()["agent"]["mcp_config"].clone();
    facts.equal("mcp_config beside the agent is ignored", &taken, &json!({}));
    let mut body = scene.body(6, "contract: servers of the agent");
    body["agent"]["mcp_config"] = server;
    let taken = scene.start(&body)?.json()["agent"]["mcp_config"]["probe"]["command"].clone();
    facts.equal(
        "mcp_config of the agent is taken",
        &taken,
        &json!("/bin/cat"),
    );

    let body = scene.body(7, "contract: at once");
    let start = Barrier::new(8);
    let answers: Result<Vec<u16>, TestbedError> = thread::scope(|scope| {
        let starters: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    scene.start(&body)
                })
            })
            .collect();
        starters
            .into_iter()
            .filter_map(|starter| starter.join().ok())
            .map(|answer| answer.map(|answer| answer.status))
            .collect()
    });
    let mut answers = answers?;
    answers.sort_unstable();
    facts.check(
        "of eight starts with one id at once one creates, the others find it",
        answers == [200, 200, 200, 200, 200, 200, 200, 201],
        &format!("{answers:?}"),
    );
    for number in 5..8 {
        scene.end(number)?;
    }
    Ok(())
}

/// More conversations than may run at once.
pub(super) fn capacity(
    scene: &Scene<'_>,
    llm: &ScriptedLlm,
    facts: &mut Facts,
) -> Result<(), E2eError> {
    let play = Play::new().finish("Late.").slowly(LIMIT);
    llm.play_for("contract: crowd", play);
    let mut running = Vec::new();
    let mut refused = None;
    for number in 20..60 {
        let answer = scene.start(&scene.body(number, "contract: crowd"))?;
        if answer.status != 201 {
            refused = Some((number, answer));
            break;
        }
        running.push(number);
    }
    match refused {
        Some((number, answer)) => {
            facts.status("a start beyond the capacity is 429", &answer, 429);
            let unknown = scene.get(&format!("/{}", Scene::id(number)))?;
            facts.status("… and leaves nothing behind", &unknown, 404);
        }
        None => facts.check(
            "a start beyond the capacity is 429",
            false,
            "forty were started",
        ),
    }
    if let Some(first) = running.first() {
        let again = scene.start(&scene.body(*first, "contract: crowd"))?;
        facts.status("an id that is taken is 200 even then", &again, 200);
    }
    for number in running {
        let path = format!("/{}/interrupt", Scene::id(number));
        scene.call("POST", &path).send()?;
        scene.end(number)?;
    }
    Ok(())
}
